//! What is wrong with a Parquet file, in the words of our messages.

use std::error::Error;

use feature_defs::foreign;

/// Why a file does not read as Parquet, after the file's name.
#[must_use]
pub fn parquet_fault(error: &(dyn Error + 'static)) -> String {
    if let Some(system) = foreign::system_cause(error) {
        return format!("cannot be read: {}", foreign::system(system));
    }
    let text = error.to_string();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&[
        "Corrupt footer",
        "Invalid Parquet file",
        "nvalid magic",
        "Invalid Parquet magic",
    ]) {
        return "is not a Parquet file, or is cut off: write it again".to_owned();
    }
    if has(&[
        "EOF",
        "eof",
        "end of file",
        "not enough data",
        "underlying file",
    ]) {
        return "is a Parquet file that is cut off: write it again".to_owned();
    }
    if has(&[
        "NYI",
        "not supported",
        "Disabled feature",
        "not yet supported",
    ]) {
        return "is a Parquet file of a form that is not read: write it again with plain settings, without encryption".to_owned();
    }
    "is a Parquet file that is damaged: write it again".to_owned()
}

#[cfg(test)]
mod tests {
    use parquet::errors::ParquetError;

    use super::*;

    #[test]
    fn no_word_of_the_reader_shows() {
        let system = std::io::Error::from_raw_os_error(13);
        for (error, said) in [
            (
                ParquetError::General("Invalid Parquet file. Corrupt footer".to_owned()),
                "is not a Parquet file, or is cut off",
            ),
            (ParquetError::EOF("need 8 bytes".to_owned()), "is cut off"),
            (
                ParquetError::NYI("encryption".to_owned()),
                "of a form that is not read",
            ),
            (ParquetError::General("page".to_owned()), "is damaged"),
            (
                ParquetError::External(Box::new(system)),
                "cannot be read: this user is not allowed to",
            ),
        ] {
            let told = parquet_fault(&error);
            assert!(told.contains(said), "{told}");
        }
    }
}
