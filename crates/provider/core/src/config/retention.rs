//! How long the provider keeps what it records.

use jiff::SignedDuration;

/// Longest retention of messages. A payload that is kept as long as its message expires this long after it was accepted,
/// so that the stores find the payloads that expire earlier.
pub const RETENTION_DAYS_MAX: u32 = 3_650;

/// How long the provider keeps what it records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetentionConfig {
    /// Messages with their attempts.
    pub messages: SignedDuration,
    /// Payloads, unless their message says less, at most as long as their message.
    pub payloads: SignedDuration,
    /// Entries of the activity log.
    pub activity: SignedDuration,
}

impl Default for RetentionConfig {
    fn default() -> Self {
        Self { messages: days(90), payloads: days(90), activity: days(400) }
    }
}

impl RetentionConfig {
    /// Time from the acceptance of a message until its payload is removed. `asked` is the retention that the message asks
    /// for.
    pub(crate) fn of_payload(&self, asked: Option<SignedDuration>) -> SignedDuration {
        let kept = asked.map_or(self.payloads, |asked| asked.min(self.payloads));
        if kept < self.messages { kept } else { days(RETENTION_DAYS_MAX) }
    }
}

/// A number of days, each of 24 hours.
pub fn days(count: u32) -> SignedDuration {
    SignedDuration::from_hours(24 * i64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_kept_for_the_shortest_of_three_times() {
        let with_message = days(RETENTION_DAYS_MAX);
        for (messages, payloads, asked, kept) in [
            (90, 90, None, with_message),
            (90, 90, Some(90), with_message),
            (90, 90, Some(5), days(5)),
            (90, 30, None, days(30)),
            (90, 30, Some(60), days(30)),
            (90, 30, Some(5), days(5)),
            (30, 90, None, with_message),
            (30, 90, Some(60), with_message),
            (365, 365, Some(90), days(90)),
        ] {
            let config =
                RetentionConfig { messages: days(messages), payloads: days(payloads), ..RetentionConfig::default() };
            assert_eq!(config.of_payload(asked.map(days)), kept, "{messages} {payloads} {asked:?}");
        }
    }
}
