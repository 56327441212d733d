//! The as-of rules, once, as pure functions: every path through the product, by night and by day, asks here.

use crate::time::{Instant, TimeSpan, Ttl};

/// Whether an event counts in a window as of an instant: `as_of - window <= event_time < as_of` (rule 2).
/// `None` is the lifetime window, which has no lower edge.
#[must_use]
pub fn event_counts(event_time: Instant, window: Option<TimeSpan>, as_of: Instant) -> bool {
    event_time < as_of && window.is_none_or(|w| event_time >= as_of.saturating_sub(w))
}

/// Whether a feature row's event time is visible as of an instant: `event_time <= as_of` (rule 3).
#[must_use]
pub fn row_visible(event_time: Instant, as_of: Instant) -> bool {
    event_time <= as_of
}

/// Whether a row was already known at an instant: `created_time <= as_of`, always so without a created time (rule 4).
#[must_use]
pub fn known(created_time: Option<Instant>, as_of: Instant) -> bool {
    created_time.is_none_or(|created| created <= as_of)
}

/// Whether a value may still be used: `as_of - event_time <= ttl`, edge included (rule 5).
#[must_use]
pub fn within_ttl(event_time: Instant, ttl: Ttl, as_of: Instant) -> bool {
    match ttl {
        Ttl::Unlimited => true,
        Ttl::AtMost(span) => as_of.micros().saturating_sub(event_time.micros()) <= span.micros(),
    }
}

/// The state of one value in an answer (rule 6). The five are different facts and are never folded into each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The row is there, within its TTL, and holds a value.
    Present,
    /// The row is there, within its TTL, and holds a null: an observed value.
    Null,
    /// There is no row for the key.
    Missing,
    /// There is a row, older than its TTL allows.
    Expired,
    /// The store did not answer.
    Unavailable,
}

impl State {
    /// The state's name in answers and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Null => "null",
            Self::Missing => "missing",
            Self::Expired => "expired",
            Self::Unavailable => "unavailable",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(micros: i64) -> Instant {
        Instant::from_micros(micros)
    }

    #[test]
    fn windows_hold_their_lower_edge_and_not_as_of() {
        let window = TimeSpan::from_micros(10);
        for (event, counts) in [(89, false), (90, true), (99, true), (100, false)] {
            assert_eq!(event_counts(at(event), window, at(100)), counts, "{event}");
        }
        assert!(event_counts(at(i64::MIN), None, at(100)));
    }

    #[test]
    fn rows_at_as_of_are_visible_and_known() {
        assert!(row_visible(at(100), at(100)) && !row_visible(at(101), at(100)));
        assert!(known(Some(at(100)), at(100)) && !known(Some(at(101)), at(100)));
        assert!(known(None, at(100)));
    }

    #[test]
    fn ttl_includes_its_edge_and_zero_means_that_instant() {
        let ten = Ttl::AtMost(TimeSpan::from_micros(10).expect("span"));
        assert!(within_ttl(at(90), ten, at(100)) && !within_ttl(at(89), ten, at(100)));
        let zero = Ttl::AtMost(TimeSpan::from_micros(0).expect("span"));
        assert!(within_ttl(at(100), zero, at(100)) && !within_ttl(at(99), zero, at(100)));
        assert!(within_ttl(at(i64::MIN), Ttl::Unlimited, at(i64::MAX)));
        assert!(!within_ttl(at(i64::MIN), ten, at(i64::MAX)));
    }
}
