//! Blocked ordering keys, with the reason and the time until which they wait.

use jiff::Timestamp;

use super::{BLOCKED_MAX, OrderingKey};
use crate::caller::Caller;
use crate::endpoints::RateLimits;
use crate::error::{ProviderError, ProviderResult};
use crate::model::{Endpoint, Id};
use crate::port::{BlockedKeyRow, BlockedKeysTotal, PauseReason, RESEND_DUE};
use crate::provider::Provider;

/// A key whose first message is not delivered yet, so that the messages behind it wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedKey {
    /// The key.
    pub key: OrderingKey,
    /// The first message of the key.
    pub message: Id,
    /// Attempts of the first message so far.
    pub attempts: u32,
    /// When the first attempt began. Before the first attempt: when the message became due, or was accepted if it is
    /// not due.
    pub since: Timestamp,
    /// Why the first message waits.
    pub waits_for: BlockedReason,
    /// Messages behind the first one.
    pub waiting: u64,
}

/// The blocked keys of an endpoint together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedKeysSummary {
    /// Number of keys.
    pub keys: u64,
    /// Messages behind their first messages.
    pub waiting: u64,
    /// The key that has been blocked for the longest time.
    pub longest: BlockedKey,
}

/// Why the first message of a key waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockedReason {
    /// Its attempts failed, and the next attempt is at this time.
    Retry(Timestamp),
    /// Its sender set this delivery time.
    Later(Timestamp),
    /// The endpoint's receiver asked for a pause until this time.
    Pause(Timestamp),
    /// Attempts timed out or the receiver is overloaded, so the dispatcher waits until this time.
    Slowed(Timestamp),
    /// The message is due, and these rate limits apply to its endpoint.
    Rate(RateLimits),
    /// The message is due, and no node has claimed it yet.
    Node,
    /// A node has claimed it, and an attempt is under way or will begin.
    Attempt,
    /// The endpoint is disabled; the delivery will be deleted.
    Nothing,
}

impl BlockedReason {
    /// Stable name. It is the same as in [`crate::StuckReason`] for the same reason.
    pub fn name(self) -> &'static str {
        match self {
            Self::Retry(_) => "retry",
            Self::Later(_) => "later",
            Self::Pause(_) => "paused",
            Self::Slowed(_) => "slowed",
            Self::Rate(_) => "throttled",
            Self::Node => "due",
            Self::Attempt => "in_hand",
            Self::Nothing => "disabled",
        }
    }

    /// Whether an attempt can be made before the end of the wait.
    pub fn can_be_retried(self) -> bool {
        matches!(self, Self::Retry(_) | Self::Pause(_) | Self::Slowed(_))
    }

    /// The earliest end of the wait; none when it does not depend on a time.
    pub fn until(self) -> Option<Timestamp> {
        match self {
            Self::Retry(until) | Self::Later(until) | Self::Pause(until) | Self::Slowed(until) => Some(until),
            Self::Rate(_) | Self::Node | Self::Attempt | Self::Nothing => None,
        }
    }
}

impl Provider {
    /// Blocked keys of an endpoint, ordered by key, after `after`, at most `limit` (250), and whether these are the
    /// last. 404.
    pub async fn blocked_keys(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
        after: Option<&str>,
        limit: usize,
    ) -> ProviderResult<(Vec<BlockedKey>, bool)> {
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        let limit = limit.min(BLOCKED_MAX);
        let mut blocked = self.store().blocked_keys(&endpoint.id, after, limit + 1).await?;
        let done = blocked.len() <= limit;
        blocked.truncate(limit);
        Ok((self.with_reasons(&endpoint, blocked).await?, done))
    }

    /// One ordering key of an endpoint, with its first message. 404 (endpoint, or no message of the key waits).
    pub async fn blocked_key(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
        key: &OrderingKey,
    ) -> ProviderResult<BlockedKey> {
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        let found = self.store().blocked_key(&endpoint.id, key.as_str()).await?;
        let blocked = self.with_reasons(&endpoint, found.into_iter().collect()).await?;
        blocked.into_iter().next().ok_or(ProviderError::NotFound)
    }

    /// The blocked keys of an endpoint together: those whose first message failed, or waits for its time with others behind
    /// it. None when no key is blocked. 404.
    pub async fn blocked_keys_summary(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
    ) -> ProviderResult<Option<BlockedKeysSummary>> {
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        let Some(total) = self.store().blocked_keys_total(&endpoint.id, self.now()).await? else { return Ok(None) };
        let BlockedKeysTotal { keys, waiting, longest } = total;
        let longest = self.with_reasons(&endpoint, vec![longest]).await?.into_iter().next();
        Ok(longest.map(|longest| BlockedKeysSummary { keys, waiting, longest }))
    }

    async fn with_reasons(&self, endpoint: &Endpoint, blocked: Vec<BlockedKeyRow>) -> ProviderResult<Vec<BlockedKey>> {
        if blocked.is_empty() {
            return Ok(Vec::new());
        }
        let now = self.now();
        let endpoint_state = EndpointState {
            disabled: endpoint.disabled,
            pause: self.store().pause(&endpoint.id, now).await?.map(|pause| (pause.until, pause.reason)),
            rate: self.rate_limits(endpoint).await?,
        };
        Ok(blocked.into_iter().map(|head| with_reason(head, now, endpoint_state)).collect())
    }
}

/// State of the endpoint that delays messages of all keys.
#[derive(Debug, Clone, Copy)]
struct EndpointState {
    disabled: bool,
    /// End and reason.
    pause: Option<(Timestamp, PauseReason)>,
    rate: Option<RateLimits>,
}

fn with_reason(head: BlockedKeyRow, now: Timestamp, endpoint_state: EndpointState) -> BlockedKey {
    let BlockedKeyRow { key, message, attempts, since, next_at, claimed, waiting } = head;
    let is_resend = next_at == RESEND_DUE;
    let waits_for = match (endpoint_state.pause, endpoint_state.rate) {
        _ if claimed => BlockedReason::Attempt,
        _ if endpoint_state.disabled => BlockedReason::Nothing,
        // A resend ignores a pause.
        (Some((until, PauseReason::Requested)), _) if until > next_at && !is_resend => BlockedReason::Pause(until),
        (Some((until, PauseReason::Overload)), _) if until > next_at && !is_resend => BlockedReason::Slowed(until),
        _ if next_at > now && attempts > 0 => BlockedReason::Retry(next_at),
        _ if next_at > now => BlockedReason::Later(next_at),
        (_, Some(rate)) => BlockedReason::Rate(rate),
        _ => BlockedReason::Node,
    };
    // A message that was replayed or delayed waits since it became due.
    let since = if attempts == 0 && next_at <= now { since.max(next_at) } else { since };
    BlockedKey { key, message, attempts, since, waits_for, waiting }
}

#[cfg(test)]
mod tests {
    use kit_runtime::clock::from_ms;

    use super::*;
    use BlockedReason::{Attempt, Later, Node, Nothing, Pause, Rate, Retry, Slowed};

    #[test]
    fn a_key_waits_for_the_reason_that_delays_its_first_message_longest() {
        let at = |seconds: i64| from_ms(1_700_000_000_000 + 1_000 * seconds);
        let (now, on, off) = (at(0), false, true);
        let five = RateLimits::new(Some(5), None).unwrap();
        let asked = |seconds| Some((at(seconds), PauseReason::Requested));
        // Attempts, due time, whether claimed; whether the endpoint is disabled, end of its pause, its rate.
        for ((attempts, next, claimed), (disabled, pause, rate), waits_for, since) in [
            ((0, at(60), false), (on, None, Some(five)), Later(at(60)), at(-9)),
            ((0, at(60), false), (on, asked(90), None), Pause(at(90)), at(-9)),
            ((0, at(60), false), (on, Some((at(90), PauseReason::Overload)), None), Slowed(at(90)), at(-9)),
            ((0, at(60), false), (on, asked(30), None), Later(at(60)), at(-9)),
            ((2, at(60), false), (on, None, None), Retry(at(60)), at(-9)),
            ((0, at(-3), false), (on, None, None), Node, at(-3)),
            ((2, at(-3), false), (on, None, None), Node, at(-9)),
            ((0, at(-3), false), (on, None, Some(five)), Rate(five), at(-3)),
            ((0, at(-3), false), (on, asked(30), Some(five)), Pause(at(30)), at(-3)),
            ((1, RESEND_DUE, false), (on, asked(30), None), Node, at(-9)),
            ((0, at(-3), true), (on, asked(30), Some(five)), Attempt, at(-3)),
            ((2, at(60), false), (off, None, None), Nothing, at(-9)),
        ] {
            let head = BlockedKeyRow {
                key: OrderingKey::kept("lot"),
                message: "msg_1".into(),
                attempts,
                since: at(-9),
                next_at: next,
                claimed,
                waiting: 1,
            };
            let blocked = with_reason(head, now, EndpointState { disabled, pause, rate });
            assert_eq!((blocked.waits_for, blocked.since), (waits_for, since), "{next} {pause:?}");
        }
    }
}
