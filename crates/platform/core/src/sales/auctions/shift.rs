//! How much later an auction is held again: by seconds, or by days on the clock on the wall, which is what people mean
//! by "a week later".

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use platform_rules::{Auction, Rejection, new_item_end};

use super::move_ends::{SHIFT_SECONDS_MAX, later};
use crate::error::{PlatformError, PlatformResult};

/// An auction can't be held again by more than ten years later.
pub const SHIFT_DAYS_MAX: i64 = 10 * 366;

/// How much later; negative for earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// By a number of seconds.
    Seconds(i64),
    /// By a number of days, at the same time of day in the auction's time zone. A time that there is not on that day,
    /// because the clocks are put forward over it, is as much after the gap as it would have been in it; of one that
    /// there is twice it is the first.
    Days(i64),
}

/// A shift of one auction's times.
pub(super) struct TimeShift<'a> {
    by: ShiftAmount,
    pub(super) source: &'a Auction,
    /// Its closing time, and that of the copy.
    ends_at: Option<(Timestamp, Timestamp)>,
}

enum ShiftAmount {
    Seconds(i64),
    Days(i64, TimeZone),
}

impl Shift {
    /// Ready to shift the times of this auction.
    ///
    /// Errors: `invalid` when it is too far, or the machine knows nothing of the time zone.
    pub(super) fn of(self, source: &Auction) -> PlatformResult<TimeShift<'_>> {
        let by = match self {
            Self::Seconds(seconds) => {
                check("/shiftSeconds", seconds, SHIFT_SECONDS_MAX)?;
                ShiftAmount::Seconds(seconds)
            }
            Self::Days(days) => {
                check("/shiftDays", days, SHIFT_DAYS_MAX)?;
                let zone = TimeZone::get(&source.time_zone).map_err(|_| {
                    let message = format!("the server has no data of {}: take shiftSeconds", source.time_zone);
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
    /// A time of the auction, or of an item of its own.
    pub(super) fn time(&self, at: Timestamp) -> PlatformResult<Timestamp> {
        match &self.by {
            ShiftAmount::Seconds(seconds) => later(at, *seconds),
            ShiftAmount::Days(days, zone) => {
                let beyond = |_| PlatformError::invalid("/shiftDays", "leads beyond what time can count");
                let span = Span::new().try_days(*days).map_err(beyond)?;
                let there = at.to_zoned(zone.clone()).checked_add(span).map_err(beyond)?;
                Ok(there.timestamp())
            }
        }
    }

    /// Why the copy is refused, said of what was asked for: where an hour is missing or comes twice, a start may come
    /// to lie behind an end.
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
        PlatformError::invalid("/shiftDays", format!("leads to a day on which it can't be held as it was ({what})"))
    }

    /// The end of the item at this place. One that the auction plans stays as long after the closing time as it is;
    /// another is a time of its own.
    pub(super) fn end(&self, end: Timestamp, position: i64) -> PlatformResult<Timestamp> {
        match self.ends_at {
            Some((before, after)) if new_item_end(self.source, position) == Some(end) => after
                .checked_add(end.duration_since(before))
                .map_err(|_| PlatformError::invalid("", "leads beyond what time can count")),
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
    fn days_keep_the_time_on_the_wall() {
        for (from, days, to, why) in [
            ("2027-03-27T20:00:00.500Z", 7, "2027-04-03T19:00:00.500Z", "20:00 in winter and in summer"),
            ("2027-10-30T19:00:00Z", 1, "2027-10-31T20:00:00Z", "a day of 25 hours"),
            ("2027-04-03T19:00:00Z", -7, "2027-03-27T20:00:00Z", "and back"),
            (
                "2027-03-21T01:30:00Z",
                7,
                "2027-03-28T01:30:00Z",
                "there is no 01:30 on that day: 02:30, as long after the gap",
            ),
            ("2027-10-24T00:30:00Z", 7, "2027-10-31T00:30:00Z", "01:30 comes twice: the first"),
            ("2028-02-29T12:00:00Z", 366, "2029-03-01T12:00:00Z", "days are counted, not dates"),
            ("2027-06-01T12:00:00Z", 0, "2027-06-01T12:00:00Z", "nothing"),
        ] {
            let auction = london(from);
            let shifting = Shift::Days(days).of(&auction).unwrap();
            assert_eq!(shifting.time(at(from)).unwrap(), at(to), "{why}");
        }
    }

    #[test]
    fn planned_ends_stay_as_far_from_the_closing_time_and_others_on_their_own_hour() {
        let stagger = Some(platform_rules::Stagger { seconds: 3_600, items: 1 });
        let auction = Auction { stagger, ..london("2027-03-20T23:30:00Z") };
        let shifting = Shift::Days(7).of(&auction).unwrap();
        for (place, end, to) in [
            (0, "2027-03-20T23:30:00Z", "2027-03-27T23:30:00Z"),
            (2, "2027-03-21T01:30:00Z", "2027-03-28T01:30:00Z"),
            (3, "2027-03-21T02:30:00Z", "2027-03-28T02:30:00Z"),
            // Of its own, at half past two in the morning.
            (1, "2027-03-21T02:30:00Z", "2027-03-28T01:30:00Z"),
        ] {
            assert_eq!(shifting.end(at(end), place).unwrap(), at(to), "{place}");
        }
    }

    #[test]
    fn neither_goes_further_than_ten_years_nor_into_an_unknown_zone() {
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
