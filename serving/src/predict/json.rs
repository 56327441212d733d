//! Small pieces of JSON, appended to an answer.

use std::io::Write;

use feature_defs::age::Age;
use feature_defs::data_type::DataType;
use feature_defs::value::Value;

pub(crate) fn write_integer(value: u64, out: &mut Vec<u8>) {
    let written = serde_json::to_writer(&mut *out, &value);
    debug_assert!(written.is_ok(), "writing to memory does not fail");
}

/// A number; NaN and the infinities as the strings that [`Value::write_json`] documents.
pub(crate) fn write_f64(value: f64, out: &mut Vec<u8>) {
    Value::Float(value).write_json(DataType::Float64, out);
}

/// A string of characters that JSON need not escape: a name, an instant.
pub(crate) fn write_plain(text: &dyn std::fmt::Display, out: &mut Vec<u8>) {
    let written = write!(out, "\"{text}\"");
    debug_assert!(written.is_ok(), "writing to memory does not fail");
}

/// An age, as it is shown: `"2h11m"`.
pub(crate) fn write_age(age: Age, out: &mut Vec<u8>) {
    out.push(b'"');
    for (count, unit) in age.parts() {
        write_integer(count, out);
        out.extend_from_slice(unit.as_bytes());
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use feature_defs::time::Instant;

    use super::*;

    #[test]
    fn an_age_is_a_string_of_its_units() {
        let at = |seconds: i64| Instant::from_micros(seconds * 1_000_000);
        for (seconds, written) in [(0, "\"0s\""), (7_860, "\"2h11m\"")] {
            let mut out = Vec::new();
            write_age(Age::at(at(seconds), at(0)), &mut out);
            assert_eq!(out, written.as_bytes());
        }
    }
}
