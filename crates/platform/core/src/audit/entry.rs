//! One entry of a log, and how entries are chained.

use jiff::Timestamp;
use platform_rules::{Cause, LogHash};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::times;

/// Domain of the hash before the first entry.
const BEGIN: &[u8] = b"lotwire.log.begin.1\0";
/// Domain of the hash of an entry.
const ENTRY: &[u8] = b"lotwire.log.entry.1\0";

/// The content of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Content {
    /// Item, auction, registration or party.
    pub subject: Uuid,
    /// `item`, `auction`, `registration` or `party`.
    pub kind: String,
    /// Number in the subject's log.
    pub number: i64,
    /// Version of the subject that the change led to.
    pub version: i64,
    /// The server's time of the decision.
    #[serde(serialize_with = "times::write")]
    pub at: Timestamp,
    /// Who did it: `timer`, `key:<uuid>`, `user:<uuid>` or `command-line`.
    pub actor: String,
    /// The cause.
    pub cause: Cause,
    /// The reason in the caller's own words, if the caller gave one.
    pub reason: Option<String>,
    /// The change: an `ItemChange`, `AuctionChange`, `RegistrationChange` or `PartyChange`, or in the first entry
    /// `{"change":"opened","state":…}`.
    pub change: Value,
}

/// The hash before a subject's first entry.
pub fn chain_begin(subject: Uuid) -> LogHash {
    hash(&[BEGIN, subject.as_bytes()])
}

/// The hash of an entry with this content, after one with the hash `previous`.
pub fn chain(previous: LogHash, content: &str) -> LogHash {
    hash(&[ENTRY, &previous.0, content.as_bytes()])
}

pub(crate) fn hash(parts: &[&[u8]]) -> LogHash {
    let mut digest = Sha256::new();
    parts.iter().for_each(|part| digest.update(part));
    LogHash(digest.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_match_the_documentation() {
        let first = chain_begin(Uuid::from_u128(1));
        assert_eq!(first.to_string(), "edd67737e0e89b94cb769140d50410bd946a3e4a3ee83125a1b06ea2114957f4");
        assert_eq!(chain(first, "{}").to_string(), "38a194c4acdbe4830c8efe7f9af99f14a40c0759160c7f8cf70b824f7b5a5641");
    }
}
