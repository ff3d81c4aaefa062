//! Exact counts by hour: accepted messages, attempts, and ended deliveries.
//!
//! The store adds them in the transaction that records what they count, so a figure never differs from the records, also
//! after a crash. An attempt counts in the hour in which it ended, which its id contains. A delivery ends once: an attempt
//! that a caller asks for later counts as an attempt, and not as a second ended delivery.

use std::iter::Sum;
use std::ops::{AddAssign, Range};

use jiff::Timestamp;
use kit_runtime::clock::{from_ms, to_ms};

use super::cause::{Cause, CauseClass};
use super::{Attempt, AttemptStatus};

const HOUR_MS: i64 = 60 * 60 * 1_000;

/// An hour in UTC: the number of hours since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hour(pub i64);

impl Hour {
    /// Hours of a day.
    pub const OF_DAY: i64 = 24;

    /// The hour that contains this time.
    pub fn of(at: Timestamp) -> Self {
        Self(to_ms(at).div_euclid(HOUR_MS))
    }

    /// When the hour begins.
    pub fn start(self) -> Timestamp {
        from_ms(self.0.saturating_mul(HOUR_MS))
    }

    /// The first hour that begins at or after this time.
    pub fn from(at: Timestamp) -> Self {
        Self(to_ms(at).div_euclid(HOUR_MS) + i64::from(to_ms(at).rem_euclid(HOUR_MS) > 0))
    }

    /// The first hour of the day in UTC that contains this hour.
    pub fn day(self) -> Self {
        Self(self.0.div_euclid(Self::OF_DAY) * Self::OF_DAY)
    }
}

/// Attempts by their result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AttemptCounts {
    /// Attempts that succeeded.
    pub success: u64,
    /// Attempts that failed.
    pub fail: u64,
    /// Attempts that were cancelled before anything was sent.
    pub cancelled: u64,
}

impl AddAssign for AttemptCounts {
    fn add_assign(&mut self, more: Self) {
        self.success += more.success;
        self.fail += more.fail;
        self.cancelled += more.cancelled;
    }
}

/// How a delivery ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeliveryEnd {
    /// The receiver responded with success.
    Delivered,
    /// The last attempt failed.
    Exhausted,
    /// A caller skipped the message, because others waited behind it.
    Skipped,
    /// A caller cancelled it, or its endpoint was disabled or its payload was removed before the next attempt.
    Cancelled,
}

/// Ended deliveries by their end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndedDeliveries {
    /// Ended as [`DeliveryEnd::Delivered`].
    pub delivered: u64,
    /// Ended as [`DeliveryEnd::Exhausted`].
    pub exhausted: u64,
    /// Ended as [`DeliveryEnd::Skipped`].
    pub skipped: u64,
    /// Ended as [`DeliveryEnd::Cancelled`].
    pub cancelled: u64,
}

impl EndedDeliveries {
    /// Adds deliveries that ended so.
    pub fn add(&mut self, end: DeliveryEnd, count: u64) {
        let field = match end {
            DeliveryEnd::Delivered => &mut self.delivered,
            DeliveryEnd::Exhausted => &mut self.exhausted,
            DeliveryEnd::Skipped => &mut self.skipped,
            DeliveryEnd::Cancelled => &mut self.cancelled,
        };
        *field += count;
    }

    /// All ended deliveries.
    pub fn total(self) -> u64 {
        self.delivered + self.exhausted + self.skipped + self.cancelled
    }
}

impl AddAssign for EndedDeliveries {
    fn add_assign(&mut self, more: Self) {
        self.delivered += more.delivered;
        self.exhausted += more.exhausted;
        self.skipped += more.skipped;
        self.cancelled += more.cancelled;
    }
}

/// Durations of successful and failed attempts, in buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DurationCounts {
    /// Attempts in each bucket: those that took at most its limit in [`DurationCounts::LIMITS_MS`], and longer than the
    /// limit before. The last bucket has no limit.
    pub buckets: [u64; Self::BUCKETS],
}

impl DurationCounts {
    /// Number of buckets.
    pub const BUCKETS: usize = Self::LIMITS_MS.len() + 1;
    /// The longest duration in each bucket but the last, in milliseconds.
    pub const LIMITS_MS: [i64; 12] = [5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000];

    /// Counts an attempt.
    pub fn add(&mut self, duration_ms: i64) {
        self.buckets[Self::LIMITS_MS.partition_point(|limit_ms| *limit_ms < duration_ms)] += 1;
    }

    /// The range of milliseconds that contains this percentile: longer than its start, at most its end, which is none for
    /// the last bucket. None without attempts.
    pub fn percentile(&self, percent: u64) -> Option<(i64, Option<i64>)> {
        let total: u64 = self.buckets.iter().sum();
        let place = (total * percent).div_ceil(100).max(1);
        let mut counted = 0;
        let bucket = self.buckets.iter().position(|count| {
            counted += count;
            counted >= place
        })?;
        let start = bucket.checked_sub(1).map_or(0, |before| Self::LIMITS_MS[before]);
        Some((start, Self::LIMITS_MS.get(bucket).copied()))
    }
}

impl AddAssign for DurationCounts {
    fn add_assign(&mut self, more: Self) {
        for (count, more) in self.buckets.iter_mut().zip(more.buckets) {
            *count += more;
        }
    }
}

/// What happened at endpoints in a time range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryCounts {
    /// Attempts by their result.
    pub attempts: AttemptCounts,
    /// Failed attempts by class of cause, in the order of [`CauseClass::ALL`].
    pub failures: [u64; CauseClass::ALL.len()],
    /// How long successful and failed attempts took.
    pub durations: DurationCounts,
    /// Ended deliveries.
    pub ended: EndedDeliveries,
}

impl DeliveryCounts {
    /// Counts an attempt.
    pub fn add_attempt(&mut self, attempt: &Attempt) {
        match attempt.status {
            AttemptStatus::Success => self.attempts.success += 1,
            AttemptStatus::Fail => {
                self.attempts.fail += 1;
                self.failures[CauseClass::of(&Cause::of(attempt)) as usize] += 1;
            }
            AttemptStatus::Cancelled => self.attempts.cancelled += 1,
            // No recorded attempt has these.
            AttemptStatus::Pending | AttemptStatus::Sending => {}
        }
        if matches!(attempt.status, AttemptStatus::Success | AttemptStatus::Fail) {
            self.durations.add(attempt.response_duration_ms);
        }
    }

    /// Failed attempts of this class.
    pub fn failures_of(&self, class: CauseClass) -> u64 {
        self.failures[class as usize]
    }
}

impl AddAssign for DeliveryCounts {
    fn add_assign(&mut self, more: Self) {
        self.attempts += more.attempts;
        for (count, more) in self.failures.iter_mut().zip(more.failures) {
            *count += more;
        }
        self.durations += more.durations;
        self.ended += more.ended;
    }
}

impl Sum for DeliveryCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |mut sum, more| {
            sum += more;
            sum
        })
    }
}

/// Accepted messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageCounts {
    /// Messages.
    pub messages: u64,
    /// Bytes of their payloads.
    pub payload_bytes: u64,
}

impl AddAssign for MessageCounts {
    fn add_assign(&mut self, more: Self) {
        self.messages += more.messages;
        self.payload_bytes += more.payload_bytes;
    }
}

/// Equal steps of whole hours up to now. The last step contains the current time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountSpan {
    /// Hours of a step; at least one.
    pub step_hours: i64,
    /// Number of steps.
    pub steps: usize,
}

impl CountSpan {
    /// The last 24 hours, by hour.
    pub const DAY: Self = Self { step_hours: 1, steps: 24 };
    /// The last 7 days, by 6 hours.
    pub const WEEK: Self = Self { step_hours: 6, steps: 28 };
    /// The last 30 days in UTC, by day.
    pub const MONTH: Self = Self { step_hours: Hour::OF_DAY, steps: 30 };

    /// The hours. Steps begin at multiples of their length since 1970.
    pub fn hours(self, now: Timestamp) -> Range<Hour> {
        let end = (Hour::of(now).0.div_euclid(self.step_hours) + 1) * self.step_hours;
        let steps = i64::try_from(self.steps).unwrap_or(i64::MAX);
        Hour(end.saturating_sub(steps.saturating_mul(self.step_hours)))..Hour(end)
    }

    /// The beginnings of the steps, and the end of the last step.
    pub fn bounds(self, now: Timestamp) -> Vec<Timestamp> {
        let first = self.hours(now).start.0;
        (0..=self.steps as i64).map(|no| Hour(first + no * self.step_hours).start()).collect()
    }

    /// The sum of the counts in each step, oldest first.
    pub fn sum<T: AddAssign + Default>(self, now: Timestamp, counts: impl IntoIterator<Item = (Hour, T)>) -> Vec<T> {
        let first = self.hours(now).start.0;
        let mut sums: Vec<T> = std::iter::repeat_with(T::default).take(self.steps).collect();
        for (hour, count) in counts {
            let step = usize::try_from((hour.0 - first).div_euclid(self.step_hours)).ok();
            if let Some(sum) = step.and_then(|step| sums.get_mut(step)) {
                *sum += count;
            }
        }
        sums
    }
}

/// The part of a time range that consists of whole hours, and the parts before and after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitRange {
    /// The whole hours; empty when the range contains none.
    pub hours: Range<Hour>,
    /// The parts of hours at both ends; empty ones are omitted.
    pub ends: Vec<Range<Timestamp>>,
}

impl SplitRange {
    /// Splits a time range.
    pub fn of(range: &Range<Timestamp>) -> Self {
        let hours = Hour::from(range.start)..Hour::of(range.end);
        if hours.start > hours.end {
            return Self { hours: hours.end..hours.end, ends: non_empty([range.clone()]) };
        }
        let ends = non_empty([range.start..hours.start.start(), hours.end.start()..range.end]);
        Self { hours, ends }
    }
}

fn non_empty(ranges: impl IntoIterator<Item = Range<Timestamp>>) -> Vec<Range<Timestamp>> {
    ranges.into_iter().filter(|range| range.start < range.end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        format!("2026-11-21T{text}Z").parse().unwrap()
    }

    #[test]
    fn a_percentile_is_given_by_its_bucket() {
        let mut durations = DurationCounts::default();
        assert_eq!(durations.percentile(50), None);
        for _ in 0..95 {
            durations.add(20);
        }
        for _ in 0..5 {
            durations.add(60_000);
        }
        assert_eq!(durations.percentile(50), Some((10, Some(20))));
        assert_eq!(durations.percentile(95), Some((10, Some(20))));
        assert_eq!(durations.percentile(96), Some((20_000, None)));
        durations = DurationCounts::default();
        durations.add(0);
        assert_eq!(durations.percentile(50), Some((0, Some(5))));
    }

    #[test]
    fn a_range_splits_into_whole_hours_and_its_ends() {
        let hour = |text| Hour::of(at(text));
        let split = |from, to| SplitRange::of(&(at(from)..at(to)));
        let both = split("06:30:00", "09:10:00");
        assert_eq!(both.hours, hour("07:00:00")..hour("09:00:00"));
        assert_eq!(both.ends, [at("06:30:00")..at("07:00:00"), at("09:00:00")..at("09:10:00")]);
        assert_eq!(split("06:00:00", "09:00:00").ends, []);
        for (from, to) in [("06:10:00", "06:50:00"), ("06:00:00", "06:50:00"), ("06:10:00", "07:00:00")] {
            let within = split(from, to);
            assert!(within.hours.is_empty(), "{from} {to}");
            assert_eq!(within.ends, [at(from)..at(to)]);
        }
        assert_eq!(split("06:10:00", "06:10:00").ends, []);
        let across = split("06:50:00", "07:10:00");
        assert!(across.hours.is_empty());
        assert_eq!(across.ends, [at("06:50:00")..at("07:00:00"), at("07:00:00")..at("07:10:00")]);
    }

    #[test]
    fn steps_are_aligned_and_the_last_contains_now() {
        let (now, span) = (at("06:28:03"), CountSpan { step_hours: 6, steps: 2 });
        assert_eq!(span.bounds(now), ["00:00:00", "06:00:00", "12:00:00"].map(at));
        let counted = ["00:00:00", "05:00:00", "11:00:00"].map(|hour| MessageHour(hour).counted());
        let sums = span.sum(now, counted);
        assert_eq!(sums.iter().map(|sum| sum.messages).collect::<Vec<_>>(), [2, 1]);
    }

    struct MessageHour(&'static str);

    impl MessageHour {
        fn counted(self) -> (Hour, MessageCounts) {
            (Hour::of(at(self.0)), MessageCounts { messages: 1, payload_bytes: 0 })
        }
    }

    #[test]
    fn an_hour_has_its_start_and_its_day() {
        assert_eq!(Hour::of(at("06:59:59")).start(), at("06:00:00"));
        assert_eq!(Hour::of(at("06:59:59")).day().start(), at("00:00:00"));
        assert_eq!(
            [Hour::from(at("06:00:00")), Hour::from(at("06:00:00.001"))].map(Hour::start),
            [at("06:00:00"), at("07:00:00")]
        );
    }
}
