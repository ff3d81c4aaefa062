//! By how much the times of a copied auction are shifted: by seconds, or by calendar days in the auction's time zone.

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use platform_rules::{Auction, Rejection, new_item_end};

use super::move_ends::{SHIFT_SECONDS_MAX, later};
use crate::error::{PlatformError, PlatformResult};

/// Days of a shift, at most: ten years.
pub const SHIFT_DAYS_MAX: i64 = 10 * 366;

/// The shift; negative for earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// By a number of seconds.
    Seconds(i64),
    /// By a number of days, to the same local time in the auction's time zone. A local time that daylight saving skips
    /// becomes as much later as the clocks are put forward. Of a local time that occurs twice it is the first.
    Days(i64),
}

/// A shift of one auction's times.
pub(super) struct TimeShift<'a> {
    by: ShiftAmount,
    pub(super) source: &'a Auction,
    /// Closing time of the auction, and of the copy.
    ends_at: Option<(Timestamp, Timestamp)>,
}

enum ShiftAmount {
    Seconds(i64),
    Days(i64, TimeZone),
}

impl Shift {
    /// The shift applied to one auction.
    ///
    /// Errors: `invalid` when the shift is too long, or the machine has no data of the time zone.
    pub(super) fn of(self, source: &Auction) -> PlatformResult<TimeShift<'_>> {
        let by = match self {
            Self::Seconds(seconds) => {
                check("/shiftSeconds", seconds, SHIFT_SECONDS_MAX)?;
                ShiftAmount::Seconds(seconds)
            }
            Self::Days(days) => {
                check("/shiftDays", days, SHIFT_DAYS_MAX)?;
                let zone = TimeZone::get(&source.time_zone).map_err(|_| {
                    let message =
                        format!("the server has no time zone data for {}: use shiftSeconds", source.time_zone);
                    PlatformError::invalid("/shiftDays", message)
                })?;
                ShiftAmount::Days(days, zone)
            }
        };
        let shifting = TimeShift { by, source, ends_at: None };
        let ends_at = source.ends_at.map(|at| Ok::<_, PlatformError>((at, shifting.time(at)?))).transpose()?;
        Ok(TimeShift { ends_at, ..shifting })
    }
}

impl TimeShift<'_> {
    /// Shifts a time of the auction, or the end of an item with an end of its own.
    pub(super) fn time(&self, at: Timestamp) -> PlatformResult<Timestamp> {
        match &self.by {
            ShiftAmount::Seconds(seconds) => later(at, *seconds),
            ShiftAmount::Days(days, zone) => {
                let beyond = |_| {
                    PlatformError::invalid(
                        "/shiftDays",
                        "leads beyond the latest possible time: choose a shorter shift",
                    )
                };
                let span = Span::new().try_days(*days).map_err(beyond)?;
                let there = at.to_zoned(zone.clone()).checked_add(span).map_err(beyond)?;
                Ok(there.timestamp())
            }
        }
    }

    /// The error of a copy as an error of `/shiftDays`: on a day with a change of daylight saving, a start can move
    /// behind an end.
    pub(super) fn refused(&self, error: PlatformError) -> PlatformError {
        if !matches!(self.by, ShiftAmount::Days(..)) {
            return error;
        }
        let what = match error {
            PlatformError::Rejected(Rejection::FieldInvalid { field, problem }) => format!("{field} {problem}"),
            PlatformError::Invalid(mut problems) if problems.len() == 1 && problems[0].pointer.is_empty() => {
                problems.remove(0).message
            }
            other => return other,
        };
        PlatformError::invalid(
            "/shiftDays",
            format!("leads to a day on which the auction can't be held at these times: {what}"),
        )
    }

    /// Shifts the end of the item at this place. A planned end keeps its distance from the closing time; an end of the
    /// item's own shifts by itself.
    pub(super) fn end(&self, end: Timestamp, position: i64) -> PlatformResult<Timestamp> {
        match self.ends_at {
            Some((before, after)) if new_item_end(self.source, position) == Some(end) => {
                after.checked_add(end.duration_since(before)).map_err(|_| {
                    PlatformError::invalid("", "leads beyond the latest possible time: choose a shorter shift")
                })
            }
            _ => self.time(end),
        }
    }
}

fn check(pointer: &str, given: i64, max: i64) -> PlatformResult<()> {
    if (-max..=max).contains(&given) {
        return Ok(());
    }
    Err(PlatformError::invalid(pointer, format!("must be from -{max} to {max}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sales::auctions::{NewAuction, new_auction};
    use platform_rules::AuctionKind;
    use uuid::Uuid;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn london(ends_at: &str) -> Auction {
        let ends_at = Some(at(ends_at));
        let new = NewAuction::new(Uuid::nil(), AuctionKind::Timed, "Watches", "GBP", "Europe/London");
        let new = NewAuction { ends_at, ..new };
        new_auction(Uuid::nil(), Uuid::nil(), &new, at("2027-01-01T00:00:00Z"))
    }

    #[test]
    fn a_shift_by_days_keeps_the_local_time_of_day() {
        for (from, days, to, why) in [
            ("2027-03-27T20:00:00.500Z", 7, "2027-04-03T19:00:00.500Z", "20:00 in winter and in summer"),
            ("2027-10-30T19:00:00Z", 1, "2027-10-31T20:00:00Z", "a day of 25 hours"),
            ("2027-04-03T19:00:00Z", -7, "2027-03-27T20:00:00Z", "the other direction"),
            ("2027-03-21T01:30:00Z", 7, "2027-03-28T01:30:00Z", "01:30 does not exist on that day: 02:30 local time"),
            ("2027-10-24T00:30:00Z", 7, "2027-10-31T00:30:00Z", "01:30 occurs twice: the first"),
            ("2028-02-29T12:00:00Z", 366, "2029-03-01T12:00:00Z", "days are counted, not dates"),
            ("2027-06-01T12:00:00Z", 0, "2027-06-01T12:00:00Z", "no shift"),
        ] {
            let auction = london(from);
            let shifting = Shift::Days(days).of(&auction).unwrap();
            assert_eq!(shifting.time(at(from)).unwrap(), at(to), "{why}");
        }
    }

    #[test]
    fn planned_ends_keep_their_distance_from_the_closing_time_and_own_ends_their_local_time() {
        let stagger = Some(platform_rules::Stagger { seconds: 3_600, items: 1 });
        let auction = Auction { stagger, ..london("2027-03-20T23:30:00Z") };
        let shifting = Shift::Days(7).of(&auction).unwrap();
        for (place, end, to) in [
            (0, "2027-03-20T23:30:00Z", "2027-03-27T23:30:00Z"),
            (2, "2027-03-21T01:30:00Z", "2027-03-28T01:30:00Z"),
            (3, "2027-03-21T02:30:00Z", "2027-03-28T02:30:00Z"),
            // An end of the item's own, at 02:30 local time.
            (1, "2027-03-21T02:30:00Z", "2027-03-28T01:30:00Z"),
        ] {
            assert_eq!(shifting.end(at(end), place).unwrap(), at(to), "{place}");
        }
    }

    #[test]
    fn a_shift_beyond_ten_years_or_in_an_unknown_time_zone_is_rejected() {
        let auction = london("2027-03-20T23:30:00Z");
        for shift in [Shift::Days(SHIFT_DAYS_MAX + 1), Shift::Days(i64::MIN), Shift::Seconds(SHIFT_SECONDS_MAX + 1)] {
            assert!(shift.of(&auction).is_err(), "{shift:?}");
        }
        assert!(Shift::Days(-SHIFT_DAYS_MAX).of(&auction).is_ok());
        let nowhere = Auction { time_zone: "Mars/Olympus".into(), ..auction };
        assert!(Shift::Days(1).of(&nowhere).is_err());
        assert!(Shift::Seconds(1).of(&nowhere).is_ok());
    }
}
