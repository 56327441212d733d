//! Numbers on the command line.

use std::num::NonZeroUsize;

/// Units of memory, with their lengths in MiB.
const MEMORY_UNITS: [(&str, usize); 3] = [("MiB", 1), ("GiB", 1 << 10), ("TiB", 1 << 20)];

/// MiB of memory: a plain number, or one with its unit (`2GiB`).
///
/// # Errors
/// What to write instead.
pub(crate) fn memory(text: &str) -> Result<NonZeroUsize, String> {
    let refused = || {
        "write MiB as a plain number, like `2048`, or a number with its unit, like `512MiB` or `2GiB`".to_owned()
    };
    let unit = MEMORY_UNITS
        .into_iter()
        .find_map(|(unit, mebibytes)| Some((text.strip_suffix(unit)?, mebibytes)));
    let (digits, mebibytes) = unit.unwrap_or((text, 1));
    let count = digits.trim_end().parse::<usize>().map_err(|_| refused())?;
    let all = count.checked_mul(mebibytes).ok_or_else(refused)?;
    NonZeroUsize::new(all).ok_or_else(|| format!("nothing fits into no memory: {}", refused()))
}

/// How many threads.
///
/// # Errors
/// What to write instead.
pub(crate) fn threads(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| {
        "write a whole number from 1, like `4`, or leave it out for one a processor".to_owned()
    })
}

/// The number of a release.
///
/// # Errors
/// What to write instead.
pub(crate) fn release(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        "write the number of a release, like `3`: `nightfill release list` shows them".to_owned()
    })
}

/// How many releases are kept.
///
/// # Errors
/// What to write instead.
pub(crate) fn kept_releases(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| *count >= 2);
    count.ok_or_else(|| {
        "write a whole number from 2, like `14`: the served release, and one to go back to"
            .to_owned()
    })
}

/// The number of a version of the definitions.
///
/// # Errors
/// What to write instead.
pub(crate) fn version(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        "write the number of a version, like `3`: `nightfill log` shows them".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_in_mebibytes_or_says_its_unit() {
        for (text, mebibytes) in [
            ("2048", 2048),
            ("512MiB", 512),
            ("2GiB", 2048),
            ("1 TiB", 1 << 20),
        ] {
            assert_eq!(memory(text).map(NonZeroUsize::get), Ok(mebibytes), "{text}");
        }
        for text in [
            "2GB",
            "2G",
            "0",
            "0GiB",
            "",
            "GiB",
            "-1",
            "1.5GiB",
            "99999999999999999999",
            "99999999999999999TiB",
        ] {
            let refused = memory(text).expect_err(text);
            assert!(
                refused.contains("`2048`") && refused.contains("`2GiB`"),
                "{refused}"
            );
        }
    }
}
