//! Dates and times of spreadsheets, which are numbers of days since the end of 1899 or the beginning of 1904.

use jiff::ToSpan as _;
use jiff::civil::{Date, Time, date};

/// The day of the number 60 since 1900: spreadsheets count a leap day that 1900 did not have.
const DAY_THAT_WAS_NOT: f64 = 60.0;
/// Numbers from here on are after the year 9999.
const DAYS_MAX: f64 = 2_958_466.0;
const DAY_MS: f64 = 86_400_000.0;

/// A date, a date with a time, or a time without a date; none for a number that is none.
pub(super) fn time_text(days: f64, is_duration: bool, has_1904_dates: bool) -> Option<String> {
    if !days.is_finite() || days >= DAYS_MAX {
        return None;
    }
    // Spreadsheets keep milliseconds. A time that rounds up to midnight belongs to the next day.
    let ms = (days.max(0.0).fract() * DAY_MS).round();
    let (whole, ms) = if ms >= DAY_MS { (days.max(0.0).floor() + 1.0, 0.0) } else { (days.max(0.0).floor(), ms) };
    let time = time_of(ms as i64)?;
    let time_text = match time.second() {
        0 => time.strftime("%H:%M").to_string(),
        _ => time.strftime("%H:%M:%S").to_string(),
    };
    if is_duration || days < 1.0 {
        return Some(time_text);
    }
    let date_text = if !has_1904_dates && whole == DAY_THAT_WAS_NOT {
        "1900-02-29".to_owned()
    } else {
        date_of(whole, has_1904_dates)?.to_string()
    };
    Some(if days.fract() == 0.0 { date_text } else { format!("{date_text} {time_text}") })
}

fn time_of(ms: i64) -> Option<Time> {
    let seconds = ms / 1_000;
    let part = |part: i64| i8::try_from(part).ok();
    Time::new(part(seconds / 3_600)?, part(seconds / 60 % 60)?, part(seconds % 60)?, 0).ok()
}

fn date_of(days: f64, has_1904_dates: bool) -> Option<Date> {
    let begin = match has_1904_dates {
        true => date(1904, 1, 1),
        false if days < DAY_THAT_WAS_NOT => date(1899, 12, 31),
        false => date(1899, 12, 30),
    };
    begin.checked_add((days as i64).days()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_days_are_dates_and_times() {
        let since_1900 = |days| time_text(days, false, false);
        for (days, expected) in [
            (46_347.0, Some("2026-11-21")),
            (45_943.541, Some("2025-10-13 12:59:02")),
            (45_943.5, Some("2025-10-13 12:00")),
            (0.25, Some("06:00")),
            (0.0, Some("00:00")),
            (-3.0, Some("00:00")),
            (1.0, Some("1900-01-01")),
            (59.0, Some("1900-02-28")),
            (60.0, Some("1900-02-29")),
            (61.0, Some("1900-03-01")),
            (366.0, Some("1900-12-31")),
            (367.0, Some("1901-01-01")),
            (2_958_465.0, Some("9999-12-31")),
            (2_958_466.0, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
        ] {
            assert_eq!(since_1900(days).as_deref(), expected, "{days}");
        }
        assert_eq!(time_text(0.0, false, true).as_deref(), Some("00:00"));
        assert_eq!(time_text(44_885.0, false, true).as_deref(), Some("2026-11-21"));
        assert_eq!(time_text(1.0625, true, false).as_deref(), Some("01:30"));
    }
}
