//! The text of a `uuid`: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12 (RFC 9562). Written in lower case, read
//! in both; no braces, no `urn:uuid:`, no digits without groups.

/// Bytes of the longest text.
const LENGTH: usize = 36;

/// Places of the hyphens.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// The bytes that a text names, if it is a `uuid`.
#[must_use]
pub fn parse(text: &str) -> Option<[u8; 16]> {
    let text: &[u8; LENGTH] = text.as_bytes().try_into().ok()?;
    let mut bytes = [0; 16];
    let mut digits = 0;
    for (place, byte) in text.iter().enumerate() {
        if HYPHENS.contains(&place) {
            if *byte != b'-' {
                return None;
            }
            continue;
        }
        let digit = u8::try_from(char::from(*byte).to_digit(16)?).ok()?;
        bytes[digits / 2] |= if digits % 2 == 0 { digit << 4 } else { digit };
        digits += 1;
    }
    Some(bytes)
}

/// The text of 16 bytes, which is ASCII.
#[must_use]
pub fn text(bytes: &[u8; 16]) -> String {
    let mut text = String::with_capacity(LENGTH);
    for byte in bytes {
        if HYPHENS.contains(&text.len()) {
            text.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(digit.into(), 16));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_cases_are_read_and_the_lower_one_is_written() {
        let lower = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";
        let bytes = parse(lower).expect("a uuid");
        assert_eq!(&bytes[..6], [0xf8, 0x1d, 0x4f, 0xae, 0x7d, 0xec]);
        assert_eq!(parse(&lower.to_uppercase()), Some(bytes));
        assert_eq!(text(&bytes), lower);
    }

    #[test]
    fn other_forms_are_none() {
        for text in [
            "",
            "f81d4fae7dec11d0a76500a0c91e6bf6",
            "{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}",
            "f81d4fae-7dec-11d0-a765-00a0c91e6bf",
            "f81d4fae-7dec-11d0-a765-00a0c91e6bfg",
            "f81d4fae-7dec-11d0-a765-00a0c91e6bf66",
            "f81d4fae7-dec-11d0-a765-00a0c91e6bf6",
            "f81d4fae-7dec-11d0-a765-+0a0c91e6bf6",
            "ſ81d4fae-7dec-11d0-a765-00a0c91e6bf",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
