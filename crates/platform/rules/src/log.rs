//! A change as the log keeps it: what happened, who did it, when and why (decisions, sections 7 and 8).

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize, de};

use crate::{AuctionChange, Cause, ItemChange};

/// A change with its circumstances. The maxima of bids are in it: it is for the platform, not for others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Logged<C> {
    /// Who did it: `timer`, `test clock`, `key:<uuid>`, `user:<uuid>` or `command-line`.
    pub actor: String,
    /// The server's time of the decision.
    pub at: Timestamp,
    /// Why, in the log's word.
    pub cause: Cause,
    /// Why, in a person's words, where somebody gave them.
    pub reason: Option<String>,
    /// What happened.
    pub change: C,
}

impl ItemChange {
    /// The change as the log keeps it.
    pub fn logged(self, actor: &str, at: Timestamp) -> Logged<Self> {
        let (cause, reason) = (self.cause(), self.reason().map(str::to_owned));
        Logged { actor: actor.to_owned(), at, cause, reason, change: self }
    }
}

impl AuctionChange {
    /// The change as the log keeps it.
    pub fn logged(self, actor: &str, at: Timestamp) -> Logged<Self> {
        Logged { actor: actor.to_owned(), at, cause: self.cause(), reason: None, change: self }
    }
}

/// Where the log of a subject has come to. The platform writes it; the rules carry it along with the state, so that who
/// writes the next entry has no need to read the last one.
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

/// A SHA-256 of the log; 64 hexadecimal digits where it is written.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct LogHash(pub [u8; 32]);

impl LogHash {
    /// The hash that 64 hexadecimal digits stand for.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 32];
        for (place, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
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
