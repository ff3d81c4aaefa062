//! Figures of a database for operators.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// What a store knows about its database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseFigures {
    /// Version of the tables: the number of the last migration.
    pub schema_version: u32,
    /// Bytes of the database, without its write-ahead log.
    pub size_bytes: u64,
    /// Bytes of the write-ahead log; none for a database whose server does not show it to every user.
    pub wal_bytes: Option<u64>,
}

/// How far the clock of this node is ahead of the database's, which was read at `read_at` by the node's clock and took
/// `took`. Negative when it is behind.
pub fn clock_skew(read_at: Timestamp, took: Duration, database: Timestamp) -> SignedDuration {
    let half = SignedDuration::try_from(took / 2).unwrap_or(SignedDuration::ZERO);
    read_at.duration_since(database) + half
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_time_that_the_reading_took_belongs_to_each_way() {
        let at = |ms: i64| Timestamp::from_millisecond(1_793_232_000_000 + ms).unwrap();
        for (read_ms, took_ms, database_ms, skew_ms) in
            [(0, 0, 0, 0), (0, 20, 10, 0), (900, 20, 10, 900), (0, 20, 910, -900)]
        {
            let skew = clock_skew(at(read_ms), Duration::from_millis(took_ms), at(database_ms));
            assert_eq!(skew, SignedDuration::from_millis(skew_ms), "{read_ms} {took_ms} {database_ms}");
        }
    }
}
