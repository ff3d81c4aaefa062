//! Delivery in order per key: an endpoint may ask for it, and the sender says in a header which key a message has
//! (docs/decisions/0009-ordering-per-key.md).
//!
//! Guarantees, for an endpoint with [`DeliveryOrder::PerKey`]: of two messages with one key of which the first was
//! acknowledged before the second was sent, the second is not tried before the first was delivered, given up, or skipped by
//! hand; over restarts, retries, and any number of nodes. Other keys, and messages without one, don't wait. What a task sends
//! again joins its key's line at the end; a single message that is sent again by hand, after its turn, is outside of it. A message may
//! still arrive twice, as everywhere: a copy of one that was delivered just before a crash may come after it, never after
//! the next of its key, unless a node was stopped for longer than it takes to count as dead and went on.

mod blocked_keys;

use std::sync::Arc;

use crate::accounts::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::port::ordering::SkipResult;
use crate::provider::Provider;

pub use blocked_keys::{BlockedKey, BlockedReason};

/// Characters of an ordering key at most.
pub const KEY_CHARS_MAX: usize = 256;
/// Keys that wait, shown at a time at most.
pub const BLOCKED_MAX: usize = 250;

/// In which order an endpoint receives messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeliveryOrder {
    /// As fast as it goes (`none`).
    #[default]
    Any = 0,
    /// One after the other for each key (`key`).
    PerKey = 1,
}

impl DeliveryOrder {
    /// The API's word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "none",
            Self::PerKey => "key",
        }
    }

    /// The order of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Any, Self::PerKey].into_iter().find(|order| order.name() == name)
    }
}

/// What messages that are to stay in order have in common: 1 to 256 visible ASCII characters. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrderingKey(Arc<str>);

/// The text is no ordering key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an ordering key has 1 to {KEY_CHARS_MAX} visible ASCII characters")]
pub struct InvalidOrderingKey;

impl OrderingKey {
    /// Reads a key.
    pub fn parse(text: &str) -> Result<Self, InvalidOrderingKey> {
        let is_valid = (1..=KEY_CHARS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_valid { Ok(Self(text.into())) } else { Err(InvalidOrderingKey) }
    }

    /// A key as a store kept it.
    pub fn kept(text: &str) -> Self {
        Self(text.into())
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Provider {
    /// Gives up the message that a key waits for, so that the next one goes out. 404 when `message` is not what the key
    /// waits for (any more), 409 when it is on its way at this moment.
    pub async fn skip_blocked_key(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
        key: &OrderingKey,
        message: &str,
    ) -> ProviderResult<()> {
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        match self.store().skip_head(&endpoint.id, key.as_str(), message).await? {
            SkipResult::Skipped => {
                tracing::info!(endpoint = %endpoint.id, message, key = key.as_str(), "a blocked message was skipped");
                self.dispatcher().wake_lane(&endpoint.application, &endpoint.id);
                Ok(())
            }
            SkipResult::UnderWay => Err(ProviderError::Conflict {
                code: "under_way",
                detail: "a node has the message in hand and tries it; ask again when that has ended".into(),
            }),
            SkipResult::NotHead => Err(ProviderError::NotFound),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_short_and_visible() {
        let (longest, too_long) = ("k".repeat(256), "k".repeat(257));
        for (text, is_key) in
            [("a", true), (&longest, true), ("", false), (&too_long, false), ("a b", false), ("ä", false)]
        {
            assert_eq!(OrderingKey::parse(text).is_ok(), is_key, "{text:?}");
        }
    }
}
