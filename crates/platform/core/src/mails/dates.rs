//! Dates in the languages of mails, in the time zone of the sale.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::port::Language;

/// A time with its weekday and the name of its zone, such as `Friday 4 December 2026, 19:00 (Europe/London)`.
pub(super) fn show(language: Language, at: Timestamp, zone: &str) -> String {
    let (zone, name) = TimeZone::get(zone).map_or((TimeZone::UTC, "UTC"), |found| (found, zone));
    let there = at.to_zoned(zone);
    format!("{} ({name})", in_words(language, &there))
}

fn in_words(language: Language, at: &Zoned) -> String {
    let index = |number: i8| usize::from(number.unsigned_abs()).saturating_sub(1);
    let weekday = language.weekdays()[index(at.weekday().to_monday_one_offset()) % 7];
    let month = language.months()[index(at.month()) % 12];
    let (day, year, hour, minute) = (at.day(), at.year(), at.hour(), at.minute());
    match language {
        Language::English => format!("{weekday} {day} {month} {year}, {hour:02}:{minute:02}"),
        Language::German => format!("{weekday}, {day}. {month} {year}, {hour}:{minute:02} Uhr"),
        Language::French => {
            let day = if day == 1 { "1er".to_owned() } else { day.to_string() };
            format!("{weekday} {day} {month} {year} à {hour} h {minute:02}")
        }
        Language::Spanish => format!("{weekday}, {day} de {month} de {year}, {hour:02}:{minute:02} h"),
        Language::Italian => format!("{weekday} {day} {month} {year}, ore {hour:02}:{minute:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_in_the_language_of_the_house_and_the_zone_of_the_sale() {
        let at: Timestamp = "2027-03-01T08:05:00Z".parse().unwrap();
        for (language, zone, shown) in [
            (Language::English, "Europe/London", "Monday 1 March 2027, 08:05 (Europe/London)"),
            (Language::German, "Europe/Berlin", "Montag, 1. März 2027, 9:05 Uhr (Europe/Berlin)"),
            (Language::French, "Europe/Paris", "lundi 1er mars 2027 à 9 h 05 (Europe/Paris)"),
            (Language::Spanish, "Europe/Madrid", "lunes, 1 de marzo de 2027, 09:05 h (Europe/Madrid)"),
            (Language::Italian, "Europe/Rome", "lunedì 1 marzo 2027, ore 09:05 (Europe/Rome)"),
            (Language::English, "Nowhere/Town", "Monday 1 March 2027, 08:05 (UTC)"),
        ] {
            assert_eq!(show(language, at, zone), shown);
        }
    }
}
