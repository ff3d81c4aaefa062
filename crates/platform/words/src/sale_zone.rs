//! Times in the time zone of a sale, with the zone named.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use kit_design::relative_time::RelativeTime;
use platform_rules::Auction;

/// The time zone that a sale's times are shown in.
#[derive(Debug, Clone)]
pub struct SaleZone(TimeZone);

impl SaleZone {
    /// The zone of an auction; UTC when the machine does not know it.
    pub fn of(auction: &Auction) -> Self {
        Self::named(&auction.time_zone)
    }

    /// The zone with this IANA name; UTC when the machine does not know it.
    pub fn named(name: &str) -> Self {
        Self(TimeZone::get(name).unwrap_or(TimeZone::UTC))
    }

    /// `Fri 4 Dec 2026, 19:00 GMT`; with seconds where there are any.
    pub fn show(&self, at: Timestamp) -> String {
        let there = at.to_zoned(self.0.clone());
        // A no-break space keeps the time and its zone on one line.
        let format = if there.second() == 0 { "%a %-d %b %Y, %H:%M\u{a0}%Z" } else { "%a %-d %b %Y, %H:%M:%S\u{a0}%Z" };
        there.strftime(format).to_string()
    }

    /// A time of the past or the future with its distance from now.
    pub fn relative(&self, at: Timestamp, now: Timestamp) -> RelativeTime {
        RelativeTime::in_zone(at, now, self.0.clone())
    }

    /// `4 Dec, 19:00:30`, for tables whose heading names the zone.
    pub fn short(&self, at: Timestamp) -> String {
        at.to_zoned(self.0.clone()).strftime("%-d %b, %H:%M:%S").to_string()
    }

    /// The abbreviation of the zone at a time, such as `GMT`.
    pub fn abbreviation(&self, at: Timestamp) -> String {
        at.to_zoned(self.0.clone()).strftime("%Z").to_string()
    }

    /// The abbreviations of the zone in this half of the year and in the next, each after the offset from UTC for which it
    /// stands: `GMT+01:00=BST|GMT=GMT`. A script names the offset in the same way and shows the abbreviation.
    pub fn abbreviations(&self, at: Timestamp) -> String {
        let later = at.saturating_add(jiff::SignedDuration::from_hours(182 * 24)).unwrap_or(at);
        let one = |at: Timestamp| {
            let there = at.to_zoned(self.0.clone());
            let offset = there.strftime("%:z").to_string();
            let offset = if offset == "+00:00" { "" } else { offset.as_str() };
            format!("GMT{offset}={}", there.strftime("%Z"))
        };
        format!("{}|{}", one(at), one(later))
    }

    /// IANA name of the zone; `UTC` when the machine does not know it.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The value of a field of the type `datetime-local`.
    pub fn field(&self, at: Timestamp) -> String {
        let there = at.to_zoned(self.0.clone());
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
        Ok(Some(there.to_zoned(self.0.clone()).map_err(|_| wrong)?.timestamp()))
    }
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
}
