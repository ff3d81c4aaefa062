//! Times in the time zone of a sale, with the zone named.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use kit_design::relative_time::RelativeTime;
use platform_core::port::Language;
use platform_rules::Auction;

/// The time zone that a sale's times are shown in.
#[derive(Debug, Clone)]
pub struct SaleZone {
    zone: TimeZone,
    language: Language,
}

impl SaleZone {
    /// The zone of an auction; UTC when the machine does not know it.
    pub fn of(auction: &Auction) -> Self {
        Self::named(&auction.time_zone)
    }

    /// The zone with this IANA name; UTC when the machine does not know it.
    pub fn named(name: &str) -> Self {
        Self { zone: TimeZone::get(name).unwrap_or(TimeZone::UTC), language: Language::English }
    }

    /// The same with times as a language writes them.
    pub fn in_language(self, language: Language) -> Self {
        Self { language, ..self }
    }

    /// `Fri 4 Dec 2026, 19:00 GMT`, `Fr., 4. Dez. 2026, 19:00 GMT`; with seconds where there are any.
    pub fn show(&self, at: Timestamp) -> String {
        // A no-break space keeps the time and its zone on one line.
        format!("{}\u{a0}{}", self.show_date(at), self.abbreviation(at))
    }

    /// The same without the zone, for a time whose zone is known, such as the reader's own.
    pub fn show_date(&self, at: Timestamp) -> String {
        let there = at.to_zoned(self.zone.clone());
        let time = if there.second() == 0 { "%H:%M" } else { "%H:%M:%S" };
        let number = |number: i8| usize::from(number.unsigned_abs()).saturating_sub(1);
        let [weekdays, months] = short_names(self.language);
        let part = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
        let values = [
            ("{weekday}", part(&weekdays, number(there.weekday().to_monday_one_offset()))),
            ("{day}", there.day().to_string()),
            ("{month}", part(&months, number(there.month()))),
            ("{year}", there.year().to_string()),
            ("{time}", there.strftime(time).to_string()),
        ];
        values.iter().fold(time_format(self.language).to_owned(), |text, (name, value)| text.replace(name, value))
    }

    /// `19:04`, for a time of today.
    pub fn time_of_day(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone()).strftime("%H:%M").to_string()
    }

    /// The zone shows this moment with another time of day or date than the other zone.
    pub fn differs_from(&self, other: &Self, at: Timestamp) -> bool {
        at.to_zoned(self.zone.clone()).datetime() != at.to_zoned(other.zone.clone()).datetime()
    }

    /// A time of the past or the future with its distance from now.
    pub fn relative(&self, at: Timestamp, now: Timestamp) -> RelativeTime {
        RelativeTime::in_zone(at, now, self.zone.clone())
    }

    /// `4 Dec, 19:00:30`, for tables whose heading names the zone.
    pub fn short(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone()).strftime("%-d %b, %H:%M:%S").to_string()
    }

    /// The abbreviation of the zone at a time, such as `GMT`.
    pub fn abbreviation(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone()).strftime("%Z").to_string()
    }

    /// The abbreviations of the zone in this half of the year and in the next, each after the offset from UTC for which it
    /// stands: `GMT+01:00=BST|GMT=GMT`. A script names the offset in the same way and shows the abbreviation.
    pub fn abbreviations(&self, at: Timestamp) -> String {
        let later = at.saturating_add(jiff::SignedDuration::from_hours(182 * 24)).unwrap_or(at);
        let one = |at: Timestamp| {
            let there = at.to_zoned(self.zone.clone());
            let offset = there.strftime("%:z").to_string();
            let offset = if offset == "+00:00" { "" } else { offset.as_str() };
            format!("GMT{offset}={}", there.strftime("%Z"))
        };
        format!("{}|{}", one(at), one(later))
    }

    /// IANA name of the zone; `UTC` when the machine does not know it.
    pub fn name(&self) -> &str {
        self.zone.iana_name().unwrap_or("UTC")
    }

    /// The value of a field of the type `datetime-local`.
    pub fn field(&self, at: Timestamp) -> String {
        let there = at.to_zoned(self.zone.clone());
        let format = if there.second() == 0 { "%Y-%m-%dT%H:%M" } else { "%Y-%m-%dT%H:%M:%S" };
        there.strftime(format).to_string()
    }

    /// The value of an optional field.
    pub fn optional_field(&self, at: Option<Timestamp>) -> String {
        at.map(|at| self.field(at)).unwrap_or_default()
    }

    /// Reads a field of the type `datetime-local`; none for an empty one. A text that shows `before` keeps it exactly.
    pub fn parse(&self, text: &str, before: Option<Timestamp>) -> Result<Option<Timestamp>, &'static str> {
        if text.is_empty() {
            return Ok(None);
        }
        if self.optional_field(before) == text {
            return Ok(before);
        }
        let wrong = "is not a date and time such as 2026-12-04T19:00";
        let there = text.parse::<DateTime>().map_err(|_| wrong)?;
        Ok(Some(there.to_zoned(self.zone.clone()).map_err(|_| wrong)?.timestamp()))
    }
}

/// The form of a date with its time, filled by this type and by the script of live pages.
pub fn time_format(language: Language) -> &'static str {
    match language {
        Language::English => "{weekday} {day} {month} {year}, {time}",
        Language::German => "{weekday}, {day}. {month} {year}, {time}",
        Language::French => "{weekday} {day} {month} {year} à {time}",
        Language::Spanish => "{weekday}, {day} {month} {year}, {time}",
        Language::Italian => "{weekday} {day} {month} {year}, {time}",
    }
}

/// Short names of the weekdays, from Monday, and of the months. French shortens months to parts of different lengths, so its pages
/// have the whole names.
pub fn short_names(language: Language) -> [Vec<String>; 2] {
    let (weekday_chars, month_chars, end) = match language {
        Language::English | Language::Spanish | Language::Italian => (3, 3, ""),
        Language::German => (2, 3, "."),
        Language::French => (3, usize::MAX, "."),
    };
    let short = |name: &str, chars: usize| -> String {
        let cut: String = name.chars().take(chars).collect();
        if cut.len() == name.len() { cut } else { cut + end }
    };
    [
        language.weekdays().map(|name| short(name, weekday_chars)).into(),
        language.months().map(|name| short(name, month_chars)).into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_and_read_in_the_zone_of_the_sale() {
        let london = SaleZone::named("Europe/London");
        let summer: Timestamp = "2026-07-04T18:00:00Z".parse().unwrap();
        assert_eq!(london.show(summer), "Sat 4 Jul 2026, 19:00\u{a0}BST");
        assert_eq!(london.field(summer), "2026-07-04T19:00");
        assert_eq!((london.abbreviations(summer).as_str(), london.name()), ("GMT+01:00=BST|GMT=GMT", "Europe/London"));
        assert_eq!(london.parse("2026-07-04T19:00", None), Ok(Some(summer)));
        assert_eq!(london.parse("2026-12-04T19:00:30", None), Ok(Some("2026-12-04T19:00:30Z".parse().unwrap())));
        assert_eq!(london.parse("", Some(summer)), Ok(None));
        assert!(london.parse("tomorrow", None).is_err());
        let exact: Timestamp = "2026-07-04T18:00:00.123Z".parse().unwrap();
        assert_eq!(london.parse("2026-07-04T19:00", Some(exact)), Ok(Some(exact)), "fractions of a second stay");
    }

    #[test]
    fn times_are_shown_as_a_language_writes_them() {
        let at: Timestamp = "2026-12-04T19:00:00Z".parse().unwrap();
        let shown = |language, zone: &str| SaleZone::named(zone).in_language(language).show(at);
        assert_eq!(shown(Language::German, "Europe/Berlin"), "Fr., 4. Dez. 2026, 20:00\u{a0}CET");
        assert_eq!(shown(Language::French, "Europe/Paris"), "ven. 4 décembre 2026 à 20:00\u{a0}CET");
        assert_eq!(shown(Language::Spanish, "Europe/Madrid"), "vie, 4 dic 2026, 20:00\u{a0}CET");
        assert_eq!(shown(Language::Italian, "Europe/Rome"), "ven 4 dic 2026, 20:00\u{a0}CET");
        let [_, months] = short_names(Language::German);
        assert_eq!([months[4].as_str(), &months[2], &months[8]], ["Mai", "Mär.", "Sep."]);
        let [london, lisbon, paris] = ["Europe/London", "Europe/Lisbon", "Europe/Paris"].map(SaleZone::named);
        assert_eq!([london.differs_from(&lisbon, at), london.differs_from(&paris, at)], [false, true]);
    }
}
