//! Log entries: a change with its actor, time, cause and reason.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize, de};

use crate::{AuctionChange, Cause, ItemChange};

/// A log entry: a change with its actor, time and cause. It contains the maxima of bids, so it must not leave the
/// platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Logged<C> {
    /// The actor: `timer`, `test clock`, `key:<uuid>`, `user:<uuid>` or `command-line`.
    pub actor: String,
    /// The server's time of the decision.
    pub at: Timestamp,
    /// The cause.
    pub cause: Cause,
    /// The reason that a person gave, if any.
    pub reason: Option<String>,
    /// The change.
    pub change: C,
}

impl ItemChange {
    /// The change as a log entry.
    pub fn logged(self, actor: &str, at: Timestamp) -> Logged<Self> {
        let (cause, reason) = (self.cause(), self.reason().map(str::to_owned));
        Logged { actor: actor.to_owned(), at, cause, reason, change: self }
    }
}

impl AuctionChange {
    /// The change as a log entry.
    pub fn logged(self, actor: &str, at: Timestamp) -> Logged<Self> {
        Logged { actor: actor.to_owned(), at, cause: self.cause(), reason: None, change: self }
    }
}

/// The head of a subject's log: its last entry. The platform sets it when it commits. It is part of the state, so that
/// the platform can append the next entry without reading the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogHead {
    /// Number of the last entry, from 1 without gaps; 0 before the first.
    pub number: i64,
    /// Hash of the last entry.
    pub hash: LogHash,
}

impl LogHead {
    /// True before the first entry.
    pub fn is_empty(&self) -> bool {
        self.number == 0
    }
}

/// A SHA-256 hash of a log entry; written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct LogHash(pub [u8; 32]);

impl LogHash {
    /// Parses 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for LogHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for LogHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for LogHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LogHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("is not a hash of 64 hexadecimal digits"))
    }
}
