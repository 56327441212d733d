//! Small pieces of JSON, appended to an answer.

use std::io::Write;

use feature_defs::data_type::DataType;
use feature_defs::value::Value;

/// Microseconds in the units of an age, longest first.
const AGE_UNITS: [(&str, i64); 4] = [
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
];

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

/// An age in its two largest units, rounded down to seconds: `"2h11m"`, `"3d"`, `"0s"`.
pub(crate) fn write_age(micros: i64, out: &mut Vec<u8>) {
    let mut rest = micros.max(0);
    let mut parts = 0;
    out.push(b'"');
    for (unit, length) in AGE_UNITS {
        let count = rest / length;
        rest %= length;
        let done = parts == 2 || (parts == 1 && count == 0);
        if done {
            break;
        }
        if count > 0 || (parts == 0 && unit == "s") {
            write_integer(count.unsigned_abs(), out);
            out.extend_from_slice(unit.as_bytes());
            parts += 1;
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_show_their_two_largest_units() {
        for (seconds, shown) in [
            (0, "0s"),
            (59, "59s"),
            (61, "1m1s"),
            (7_860, "2h11m"),
            (7_200, "2h"),
            (86_400 + 59, "1d"),
            (90_000, "1d1h"),
            (-5, "0s"),
        ] {
            let mut out = Vec::new();
            write_age(seconds * 1_000_000 + 999, &mut out);
            assert_eq!(
                String::from_utf8(out).expect("utf-8"),
                format!("\"{shown}\"")
            );
        }
    }
}
