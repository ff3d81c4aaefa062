//! Time as a parameter.
//!
//! Every part of the platform and the provider that needs the time gets a [`SharedClock`]. [`SystemClock`] is the only
//! code that reads the wall clock, and it logs when that goes back. [`TestClock`] stands still until a test advances it.
//! All times are truncated to milliseconds, the precision of the tables, the APIs and the pages.

mod system;
mod test;
mod went_back;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;

pub use system::SystemClock;
pub use test::TestClock;

/// A clock, shared.
pub type SharedClock = Arc<dyn Clock>;

/// A source of time.
pub trait Clock: Send + Sync + 'static {
    /// The current time, truncated to milliseconds. It may jump forwards or backwards when the machine's clock is set.
    fn now(&self) -> Timestamp;
    /// Waits until [`Clock::now`] is `at` or later; returns immediately when it already is. Boxed, because the trait is
    /// used as `dyn Clock`.
    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
    /// A time that never goes back, for measuring durations.
    fn monotonic(&self) -> Instant;
}

/// Milliseconds since 1970 (UTC), rounded down.
pub fn to_ms(at: Timestamp) -> i64 {
    // Before 1970 both parts are negative.
    at.as_second() * 1_000 + i64::from(at.subsec_nanosecond()).div_euclid(1_000_000)
}

/// The time `ms` milliseconds after 1970 (UTC). Out of range, it is the earliest or the latest timestamp.
pub fn from_ms(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(if ms < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

/// RFC 3339 in UTC with exactly three digits of the second's fraction: `2026-11-21T06:28:03.123Z`.
pub fn rfc3339_ms(at: Timestamp) -> String {
    const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));
    PRINTER.timestamp_to_string(&from_ms(to_ms(at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_always_written_with_three_fractional_digits() {
        for (at, text) in [
            ("2026-11-21T06:28:03.123Z", "2026-11-21T06:28:03.123Z"),
            ("2026-11-21T06:28:03Z", "2026-11-21T06:28:03.000Z"),
            ("2026-11-21T06:28:03.1Z", "2026-11-21T06:28:03.100Z"),
            ("2026-11-21T07:28:03.123999+01:00", "2026-11-21T06:28:03.123Z"),
            ("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339_ms(at.parse().unwrap()), text);
        }
    }

    #[test]
    fn milliseconds_convert_both_ways_and_saturate() {
        for ms in [0, 1, -1, 1_795_242_483_123, -62_000_000_000_000] {
            assert_eq!(to_ms(from_ms(ms)), ms);
        }
        assert_eq!(from_ms(i64::MAX), Timestamp::MAX);
        assert_eq!(from_ms(i64::MIN), Timestamp::MIN);
    }
}
