//! What texts say of time.

use super::*;

#[test]
fn instants_parse_dates_and_zones() {
    let midnight = Instant::parse("1997-10-01").expect("date");
    assert_eq!(midnight.micros(), 875_664_000_000_000);
    let same = Instant::parse("1997-10-01T02:00:00+02:00").expect("rfc 3339");
    assert_eq!(same, midnight);
    assert_eq!(midnight.to_string(), "1997-10-01T00:00:00Z");
    assert_eq!(midnight.path_form(), "19971001T000000Z");
    let after = Instant::from_micros(midnight.micros() + 1);
    assert_eq!(after.path_form(), "19971001T000000.000001Z");
    assert!(Instant::parse("1997-10-01T00:00:00").is_err());
    assert!(Instant::parse("yesterday").is_err());
    let berlin = Instant::parse_in("2026-07-02", Tz::Europe__Berlin).expect("date");
    assert_eq!(berlin.to_string(), "2026-07-01T22:00:00Z");
    let told = "2026-07-02T00:00:00+09:00";
    let told_in_berlin = Instant::parse_in(told, Tz::Europe__Berlin);
    assert_eq!(told_in_berlin, Instant::parse(told));
}

#[test]
fn spans_parse_and_print() {
    for (text, micros, shown) in [
        ("7d", 604_800_000_000, "7d"),
        ("1w", 604_800_000_000, "7d"),
        ("36h", 129_600_000_000, "36h"),
        ("0s", 0, "0s"),
        ("0d", 0, "0s"),
        ("1500ms", 1_500_000, "1500ms"),
    ] {
        let span = TimeSpan::parse(text).expect(text);
        assert_eq!((span.micros(), span.to_string().as_str()), (micros, shown));
    }
    for text in [
        "",
        "7",
        "d",
        "-7d",
        "7 d",
        "7y",
        "1.5d",
        "99999999999999999d",
    ] {
        assert!(TimeSpan::parse(text).is_err(), "{text}");
    }
}

#[test]
fn times_are_read_with_and_without_seconds() {
    let half_past = Instant::parse("2026-02-03T10:30:00Z").expect("rfc 3339");
    for text in [
        "2026-02-03T10:30Z",
        "2026-02-03 10:30Z",
        "2026-02-03 12:30+02:00",
        "2026-02-03T10:30:00.000Z",
    ] {
        for parse in [Instant::parse, Instant::parse_zoned] {
            assert_eq!(parse(text), Ok(half_past), "{text}");
        }
    }
    let berlin = Tz::Europe__Berlin;
    for (text, read) in [
        ("2026-07-01", "2026-06-30T22:00:00Z"),
        ("2026-07-01 12:00", "2026-07-01T10:00:00Z"),
        ("2026-07-01T12:00", "2026-07-01T10:00:00Z"),
        ("2026-07-01 12:00:00", "2026-07-01T10:00:00Z"),
        ("2026-07-01T12:00Z", "2026-07-01T12:00:00Z"),
        ("2026-07-01T12:00:00.25+00:00", "2026-07-01T12:00:00.250Z"),
    ] {
        let instant = Instant::parse_local(text, berlin).expect(text);
        assert_eq!(instant.to_string(), read, "{text}");
    }
}

#[test]
fn what_calendars_and_clocks_do_not_have_is_named() {
    for (text, said) in [
        ("2026-13-02", "there is no month 13"),
        ("2026-00-02", "there is no month 00"),
        ("2026-04-31", "there is no day 31 in 2026-04, which has 30"),
        (
            "2026-02-29T10:00:00Z",
            "there is no day 29 in 2026-02, which has 28",
        ),
        ("2026-02-03T25:00:00Z", "there is no hour 25"),
        ("2026-02-03 24:00", "there is no hour 24"),
        ("2026-02-03T10:60Z", "there is no minute 60"),
        ("2026-02-03 10:30:61", "there is no second 61"),
    ] {
        let local = Instant::parse_local(text, Tz::UTC).expect_err(text);
        assert_eq!(
            local.to_string(),
            format!("`{text}` is not a timestamp: {said}")
        );
        let instant = Instant::parse(text).expect_err(text);
        assert_eq!(
            instant.to_string(),
            format!("`{text}` is not an instant: {said}")
        );
    }
    let day = parse_day("2026-02-30").expect_err("no day");
    assert!(day.to_string().contains("no day 30"), "{day}");
}

#[test]
fn refusals_say_what_to_write() {
    let said = |refused: Result<Instant, TimeError>| refused.expect_err("refused").to_string();
    let without = said(Instant::parse("2026-02-03 10:30"));
    assert!(
        without.contains("no zone") && without.contains("`2026-02-03 10:30Z`"),
        "{without}"
    );
    let without = said(Instant::parse_zoned("2026-02-03T10:30:00"));
    assert!(without.contains("no zone"), "{without}");
    for text in [
        "03.02.2026",
        "2026-02-03 10",
        "2026-02-03 10:30.5",
        "1770114600",
        "",
    ] {
        let forms = said(Instant::parse_local(text, Tz::UTC));
        assert!(forms.contains("`1997-10-01 02:00`"), "{forms}");
    }
    let finer = said(Instant::parse_local(
        "2026-02-03T10:30:00.0000001Z",
        Tz::UTC,
    ));
    assert!(finer.contains("at most microseconds"), "{finer}");
}

#[test]
fn units_without_one_length_are_refused_with_days() {
    for (text, said) in [
        ("1mo", "write days, like `30d` (`m` is minutes)"),
        ("1M", "write days, like `30d` (`m` is minutes)"),
        ("1y", "write days, like `365d`"),
        ("2 years", "write days, like `365d`"),
        ("7 days", "write `7d`"),
        ("90min", "write `90m`"),
    ] {
        let refused = TimeSpan::parse(text).expect_err(text).to_string();
        assert!(refused.ends_with(said), "{refused}");
    }
}
