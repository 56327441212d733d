//! Schedules: how long a view's rows must last from one firing to the next.

use chrono::{DateTime, Datelike, Duration, LocalResult, NaiveDate, NaiveDateTime, TimeZone};
use chrono_tz::Tz;
use croner::Cron;

use crate::feature_view::Schedule;
use crate::parse::objects::{DeclaredComputation, DeclaredView};
use crate::time::{TimeSpan, Ttl};
use crate::validate::Validator;

/// The days that are looked through: from one leap day to the one after the next.
const DAYS: usize = 8 * 366;

impl Validator<'_> {
    /// A view's values are usable until the next firing of its schedule. A `latest` view's age is that of its source's
    /// rows, which no schedule renews.
    pub(super) fn outlasts_schedule(&mut self, view: &DeclaredView) {
        let is_latest = matches!(view.computation, Some(DeclaredComputation::Latest { .. }));
        let (Some(ttl), Some(schedule), false) = (&view.ttl, &view.schedule, is_latest) else {
            return;
        };
        let Ttl::AtMost(span) = ttl.value else {
            return;
        };
        let gap = self.gaps.entry(schedule.clone());
        let gap = *gap.or_insert_with_key(longest_gap);
        if let Some(gap) = gap.filter(|gap| span < *gap) {
            let message = format!(
                "the values expire after {span}, and the schedule `{}` has gaps of {gap}",
                schedule.cron
            );
            let help = format!("write a `ttl` of at least {gap}, or run the view more often");
            self.refuse(&ttl.span, message, help);
        }
    }
}

/// The longest time between two firings. `None` for a schedule that fires at most once.
pub(crate) fn longest_gap(schedule: &Schedule) -> Option<TimeSpan> {
    let cron = Schedule::read_cron(&schedule.cron)?;
    let minutes = minutes_of_day(&cron);
    let (first, last) = (*minutes.first()?, *minutes.last()?);
    let within = minutes.windows(2).map(|pair| pair[1] - pair[0]).max();
    let mut longest = within.map(|minutes| Duration::minutes(i64::from(minutes)));
    let mut ended: Option<DateTime<Tz>> = None;
    for day in days().filter(|day| fires_on(&cron, *day)) {
        let begins = instant(schedule.timezone, day, first)?;
        longest = longest.max(ended.map(|ended| begins - ended));
        ended = instant(schedule.timezone, day, last);
    }
    TimeSpan::from_micros(longest?.num_microseconds()?)
}

/// Whether a schedule fires at all.
pub(crate) fn fires(cron: &Cron) -> bool {
    !minutes_of_day(cron).is_empty() && days().any(|day| fires_on(cron, day))
}

fn days() -> impl Iterator<Item = NaiveDate> {
    let first = NaiveDate::from_ymd_opt(2024, 2, 29);
    first
        .into_iter()
        .flat_map(|first| first.iter_days().take(DAYS))
}

fn fires_on(cron: &Cron, day: NaiveDate) -> bool {
    let pattern = &cron.pattern;
    pattern.month_match(day.month()).unwrap_or(false)
        && pattern
            .day_match(day.year(), day.month(), day.day())
            .unwrap_or(false)
}

/// The minutes at which a day has firings.
fn minutes_of_day(cron: &Cron) -> Vec<u32> {
    let fires = |minute: &u32| {
        let pattern = &cron.pattern;
        pattern.hour_match(minute / 60).unwrap_or(false)
            && pattern.minute_match(minute % 60).unwrap_or(false)
    };
    (0..24 * 60).filter(fires).collect()
}

/// When a zone's clocks show a minute of a day. A time that they pass over fires as they move on.
fn instant(timezone: Tz, day: NaiveDate, minute: u32) -> Option<DateTime<Tz>> {
    let time: NaiveDateTime = day.and_hms_opt(minute / 60, minute % 60, 0)?;
    match timezone.from_local_datetime(&time) {
        LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => Some(at),
        LocalResult::None => {
            let later = time.checked_add_signed(Duration::hours(1))?;
            timezone.from_local_datetime(&later).earliest()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(cron: &str, timezone: Tz) -> String {
        let schedule = Schedule {
            cron: cron.to_owned(),
            timezone,
        };
        longest_gap(&schedule).map_or_else(String::new, |gap| gap.to_string())
    }

    #[test]
    fn gaps_are_those_of_the_calendar() {
        for (cron, expected) in [
            ("* * * * *", "1m"),
            ("*/15 * * * *", "15m"),
            ("0 2 * * *", "1d"),
            ("0 2,14 * * *", "12h"),
            ("0 8-18 * * *", "14h"),
            ("0 2 * * 1-5", "3d"),
            ("30 1 * * 0", "7d"),
            ("0 0 1 * *", "31d"),
            ("0 0 1 1 *", "366d"),
            ("0 0 29 2 *", "1461d"),
            ("* * 1 1 *", "525601m"),
            ("0 0 30 2 *", ""),
        ] {
            assert_eq!(gap(cron, chrono_tz::UTC), expected, "{cron}");
        }
    }

    #[test]
    fn a_day_on_which_clocks_go_back_is_an_hour_longer() {
        assert_eq!(gap("0 2 * * *", chrono_tz::America::New_York), "25h");
        assert_eq!(gap("0 * * * *", chrono_tz::America::New_York), "1h");
        assert_eq!(gap("0 2 * * *", chrono_tz::Asia::Tokyo), "1d");
    }
}
