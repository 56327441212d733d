//! Category codes: which code a value is, and sets of codes.

/// Words that hold all codes that a value can have.
const MOST_WORDS: usize = (1 << 31) / u32::BITS as usize;

/// A set of category codes, one bit a code.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CategorySet {
    words: Box<[u32]>,
}

impl CategorySet {
    /// From words of 32 codes each, the lowest code in the lowest bit. Empty words at the end do not
    /// count, nor do codes from 2^31 up, which no value has.
    #[must_use]
    pub fn from_words(words: &[u32]) -> Self {
        let words = &words[..words.len().min(MOST_WORDS)];
        let used = words
            .iter()
            .rposition(|word| *word != 0)
            .map_or(0, |at| at + 1);
        Self {
            words: words[..used].into(),
        }
    }

    /// The words, without empty ones at the end.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Whether the code is in the set.
    #[must_use]
    pub fn contains(&self, code: u32) -> bool {
        let word = self.words.get(code as usize / u32::BITS as usize);
        word.is_some_and(|word| word >> (code % u32::BITS) & 1 == 1)
    }

    /// Whether the category of a feature's value is in the set.
    #[must_use]
    pub fn contains_value(&self, value: f64) -> bool {
        code(value).is_some_and(|code| self.contains(code))
    }

    /// The codes in the set, ascending.
    pub fn codes(&self) -> impl Iterator<Item = u32> + '_ {
        (0_u32..).zip(&self.words).flat_map(|(at, word)| {
            (0..u32::BITS)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| at * u32::BITS + bit)
        })
    }
}

/// The category code of a value: its whole part. NaN, values whose whole part is negative, and values of 2^31 and
/// more have none, so they are in no set.
pub(crate) fn code(value: f64) -> Option<u32> {
    const END: f64 = 2_147_483_648.0;
    // NaN fails both comparisons; the cast cuts off the fraction
    (value > -1.0 && value < END).then_some(value as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_whole_parts_and_nothing_else() {
        for (value, expected) in [
            (0.0, Some(0)),
            (-0.0, Some(0)),
            (-0.9, Some(0)),
            (3.99, Some(3)),
            (2_147_483_647.0, Some(2_147_483_647)),
            (2_147_483_648.0, None),
            (-1.0, None),
            (-7.5, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
            (f64::NEG_INFINITY, None),
        ] {
            assert_eq!(code(value), expected, "{value}");
        }
    }

    #[test]
    fn set_holds_the_codes_of_its_bits() {
        let set = CategorySet::from_words(&[0b1001, 0, 1 << 31, 0]);
        assert_eq!(set.codes().collect::<Vec<_>>(), [0, 3, 95]);
        assert_eq!(set.words().len(), 3);
        assert!(set.contains_value(3.5) && set.contains_value(95.0));
        assert!(!set.contains_value(1.0) && !set.contains_value(96.0) && !set.contains_value(4e9));
        assert!(!set.contains_value(f64::NAN));
    }
}
