//! Keys that wait: what for, and until when.

use jiff::Timestamp;

use super::{BLOCKED_MAX, OrderingKey};
use crate::accounts::caller::Caller;
use crate::error::ProviderResult;
use crate::model::Id;
use crate::port::BlockedKeyRow;
use crate::port::RESEND_DUE;
use crate::provider::Provider;

/// A key whose first message has not gone out yet, so that those behind it wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedKey {
    /// The key.
    pub key: OrderingKey,
    /// The message that it waits for.
    pub message: Id,
    /// Attempts made on it so far.
    pub attempts: u32,
    /// When the first of them began; when there was none, since when it could have gone out, or when it was accepted if it
    /// still can't.
    pub since: Timestamp,
    /// What that message waits for.
    pub waits_for: BlockedReason,
    /// Messages behind it, counted to [`crate::port::WAITING_COUNT_MAX`].
    pub waiting: u64,
}

/// What the first message of a key waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockedReason {
    /// Its next attempt: those until now have failed.
    Retry(Timestamp),
    /// The time that its sender wants it delivered at.
    Later(Timestamp),
    /// The end of a pause that the endpoint's receiver asked for.
    Pause(Timestamp),
    /// The rate limit: the message is due, and its endpoint or application allows this number of messages per second.
    Rate(u16),
    /// A node that takes it: it is due.
    Node,
    /// The end of its attempt: a node has it.
    Attempt,
    /// Nothing: the endpoint is disabled, and it is dropped when it comes up.
    Nothing,
}

impl BlockedReason {
    /// Stable name; where [`crate::StuckReason`] has the same, the same.
    pub fn name(self) -> &'static str {
        match self {
            Self::Retry(_) => "retry",
            Self::Later(_) => "later",
            Self::Pause(_) => "paused",
            Self::Rate(_) => "throttled",
            Self::Node => "due",
            Self::Attempt => "in_hand",
            Self::Nothing => "disabled",
        }
    }

    /// Until when it waits at least; none when that is not a matter of time.
    pub fn until(self) -> Option<Timestamp> {
        match self {
            Self::Retry(until) | Self::Later(until) | Self::Pause(until) => Some(until),
            Self::Rate(_) | Self::Node | Self::Attempt | Self::Nothing => None,
        }
    }
}

impl Provider {
    /// Keys of an endpoint that wait for their first message, by key, after `after`, at most `limit` (250), and whether that is
    /// all. 404.
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
        if blocked.is_empty() {
            return Ok((Vec::new(), done));
        }
        let now = self.now();
        let endpoint_state = EndpointState {
            disabled: endpoint.disabled,
            paused_until: self.store().paused_until(&endpoint.id, now).await?,
            rate: self.rate(&endpoint).await?,
        };
        Ok((blocked.into_iter().map(|head| with_reason(head, now, endpoint_state)).collect(), done))
    }
}

/// What keeps messages of all keys of an endpoint back.
#[derive(Debug, Clone, Copy)]
struct EndpointState {
    disabled: bool,
    paused_until: Option<Timestamp>,
    /// Messages a second.
    rate: Option<u16>,
}

fn with_reason(head: BlockedKeyRow, now: Timestamp, endpoint_state: EndpointState) -> BlockedKey {
    let BlockedKeyRow { key, message, attempts, since, next_at, claimed, waiting } = head;
    let by_hand = next_at == RESEND_DUE;
    let waits_for = match (endpoint_state.paused_until, endpoint_state.rate) {
        _ if claimed => BlockedReason::Attempt,
        _ if endpoint_state.disabled => BlockedReason::Nothing,
        // What was asked for by hand goes through a pause.
        (Some(until), _) if until > next_at && !by_hand => BlockedReason::Pause(until),
        _ if next_at > now && attempts > 0 => BlockedReason::Retry(next_at),
        _ if next_at > now => BlockedReason::Later(next_at),
        (_, Some(rate)) => BlockedReason::Rate(rate),
        _ => BlockedReason::Node,
    };
    // A message that was sent again, or was to be delivered later, waits since it came up.
    let since = if attempts == 0 && next_at <= now { since.max(next_at) } else { since };
    BlockedKey { key, message, attempts, since, waits_for, waiting }
}

#[cfg(test)]
mod tests {
    use kit_runtime::clock::from_ms;

    use super::*;
    use BlockedReason::{Attempt, Later, Node, Nothing, Pause, Rate, Retry};

    #[test]
    fn a_key_waits_for_what_keeps_its_first_message_back_longest() {
        let at = |seconds: i64| from_ms(1_700_000_000_000 + 1_000 * seconds);
        let (now, on, off) = (at(0), false, true);
        // Attempts, when it is due, whether a node has it; whether the endpoint is disabled, until when paused, its rate.
        for ((attempts, next, claimed), (disabled, paused_until, rate), waits_for, since) in [
            ((0, at(60), false), (on, None, Some(5)), Later(at(60)), at(-9)),
            ((0, at(60), false), (on, Some(at(90)), None), Pause(at(90)), at(-9)),
            ((0, at(60), false), (on, Some(at(30)), None), Later(at(60)), at(-9)),
            ((2, at(60), false), (on, None, None), Retry(at(60)), at(-9)),
            ((0, at(-3), false), (on, None, None), Node, at(-3)),
            ((2, at(-3), false), (on, None, None), Node, at(-9)),
            ((0, at(-3), false), (on, None, Some(5)), Rate(5), at(-3)),
            ((0, at(-3), false), (on, Some(at(30)), Some(5)), Pause(at(30)), at(-3)),
            ((1, RESEND_DUE, false), (on, Some(at(30)), None), Node, at(-9)),
            ((0, at(-3), true), (on, Some(at(30)), Some(5)), Attempt, at(-3)),
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
            let judged = with_reason(head, now, EndpointState { disabled, paused_until, rate });
            assert_eq!((judged.waits_for, judged.since), (waits_for, since), "{next} {paused_until:?}");
        }
    }
}
