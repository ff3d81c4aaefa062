//! Times on pages: the distance from now in words, and the exact time in UTC or another zone.

use askama::Template;
use askama::filters::HtmlSafe;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A `<time>` element: "3 minutes ago", and the exact time. A script keeps the words true while the page is open.
#[derive(Debug, Clone, Template)]
#[template(
    source = "<time datetime=\"{{ iso }}\"{% if counts_down %} data-countdown{% else %} data-ago=\"{{ ago_s }}\"{% if lasts %} data-lasts{% endif %}{% endif %}><span class=\"words\">{{ words }}</span> <span class=\"exact\">{{ exact }}</span></time>",
    ext = "html"
)]
pub struct RelativeTime {
    iso: String,
    words: String,
    exact: String,
    /// Seconds from the time to now; negative before the time.
    ago_s: i64,
    /// The words say how long something has lasted.
    lasts: bool,
    counts_down: bool,
}

impl HtmlSafe for RelativeTime {}

impl RelativeTime {
    /// A time that a script counts down to during the last day before it. Without script it stays as it is.
    pub fn countdown(at: Timestamp, now: Timestamp) -> Self {
        Self { counts_down: at > now, ..Self::new(at, now) }
    }

    /// How long something has lasted that began at `at`: "for 3 minutes", and since when.
    pub fn lasting(at: Timestamp, now: Timestamp) -> Self {
        let words = match distance(now.duration_since(at).as_secs().unsigned_abs()) {
            None => "for a few seconds".to_owned(),
            Some(distance) => format!("for {distance}"),
        };
        let time = Self::new(at, now);
        Self { words, exact: format!("since {}", time.exact), lasts: true, ..time }
    }

    /// The distance in words, such as "3 minutes ago".
    pub fn words(&self) -> &str {
        &self.words
    }

    /// The time `at` in UTC, with its distance from `now`.
    pub fn new(at: Timestamp, now: Timestamp) -> Self {
        Self::in_zone(at, now, TimeZone::UTC)
    }

    /// The time `at` in a zone, which is named, with its distance from `now`.
    pub fn in_zone(at: Timestamp, now: Timestamp, zone: TimeZone) -> Self {
        let ago_s = now.duration_since(at).as_secs();
        Self {
            iso: kit_runtime::clock::rfc3339_ms(at),
            words: words(ago_s),
            ago_s,
            lasts: false,
            // A no-break space keeps the time and its zone on one line.
            exact: at.to_zoned(zone).strftime("%-d %b %Y, %H:%M:%S\u{a0}%Z").to_string(),
            counts_down: false,
        }
    }
}

/// A number of seconds before now in words; negative seconds are in the future.
fn words(ago_s: i64) -> String {
    match (distance(ago_s.unsigned_abs()), ago_s >= 0) {
        (None, true) => "just now".to_owned(),
        (None, false) => "in a moment".to_owned(),
        (Some(distance), true) => format!("{distance} ago"),
        (Some(distance), false) => format!("in {distance}"),
    }
}

/// A number of seconds, rounded to the nearest whole unit; none for less than five.
fn distance(seconds: u64) -> Option<String> {
    let nearest = |unit_s: u64| (seconds + unit_s / 2) / unit_s;
    // Each unit is used up to where it would round to the next one: 23 h 59 min is a day, not 24 hours.
    let (count, unit) = match (seconds, nearest(60), nearest(3_600)) {
        (0..5, ..) => return None,
        (5..60, ..) => (seconds, "second"),
        (_, minutes @ ..60, _) => (minutes, "minute"),
        (.., hours @ ..24) => (hours, "hour"),
        _ => (nearest(86_400), "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    Some(format!("{count} {unit}{plural}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_is_shown_in_its_largest_unit() {
        for (ago_s, text) in [
            (0, "just now"),
            (-3, "in a moment"),
            (5, "5 seconds ago"),
            (60, "1 minute ago"),
            (3_569, "59 minutes ago"),
            (3_599, "1 hour ago"),
            (7_200, "2 hours ago"),
            (-86_340, "in 1 day"),
            (-84_000, "in 23 hours"),
            (-257_000, "in 3 days"),
            (-604_795, "in 7 days"),
            (86_400, "1 day ago"),
            (-300, "in 5 minutes"),
            (8_640_000, "100 days ago"),
        ] {
            assert_eq!(words(ago_s), text);
        }
    }

    #[test]
    fn a_state_lasts_for_a_time_and_since_a_time() {
        let (at, now) = ("2026-11-01T06:08:03Z".parse().unwrap(), "2026-11-01T06:08:40Z".parse().unwrap());
        let html = RelativeTime::lasting(at, now).to_string();
        assert!(html.contains(">for 37 seconds<") && html.contains(">since 1 Nov 2026, 06:08:03"), "{html}");
        assert!(RelativeTime::lasting(at, at).to_string().contains(">for a few seconds<"));
    }

    #[test]
    fn a_time_is_shown_in_words_and_exactly() {
        let at = "2026-11-01T06:08:03.12Z".parse().unwrap();
        let now = "2026-11-01T06:10:04Z".parse().unwrap();
        let html = RelativeTime::new(at, now).to_string();
        assert!(html.contains("datetime=\"2026-11-01T06:08:03.120Z\" data-ago=\"120\">"), "{html}");
        assert!(html.contains(">2 minutes ago<") && html.contains(">1 Nov 2026, 06:08:03\u{a0}UTC<"), "{html}");
        let there = RelativeTime::in_zone(at, now, TimeZone::get("Europe/Paris").unwrap()).to_string();
        assert!(there.contains(">1 Nov 2026, 07:08:03\u{a0}CET<") && there.contains("06:08:03.120Z"), "{there}");
    }
}
