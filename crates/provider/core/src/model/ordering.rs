//! The order of deliveries, and ordering keys. [`crate::ordering`] has the guarantees.

use std::sync::Arc;

/// Maximum length of an ordering key.
pub const KEY_CHARS_MAX: usize = 256;

/// The order in which an endpoint receives messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeliveryOrder {
    /// Any order (`none`).
    #[default]
    Any = 0,
    /// Messages of one key, one after the other (`key`).
    PerKey = 1,
}

impl DeliveryOrder {
    /// The name in the API.
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

/// The key of messages that must be delivered in order: 1 to 256 visible ASCII characters. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrderingKey(Arc<str>);

/// The text is not an ordering key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an ordering key has 1 to {KEY_CHARS_MAX} visible ASCII characters")]
pub struct InvalidOrderingKey;

impl OrderingKey {
    /// Parses an ordering key.
    pub fn parse(text: &str) -> Result<Self, InvalidOrderingKey> {
        let is_valid = (1..=KEY_CHARS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_valid { Ok(Self(text.into())) } else { Err(InvalidOrderingKey) }
    }

    /// A key that was read from the store.
    pub fn kept(text: &str) -> Self {
        Self(text.into())
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
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
