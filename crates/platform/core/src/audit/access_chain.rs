//! The hash chain of the access log.

use platform_rules::{LogHash, LogHead};

use super::entry::hash;
use crate::port::AccessEntry;

/// Domain of the hash before the first entry.
const BEGIN: &[u8] = b"lotwire.access.begin.1\0";
/// Domain of the hash of an entry.
const ENTRY: &[u8] = b"lotwire.access.entry.1\0";

/// The head of the access log before its first entry.
pub fn access_begin() -> LogHead {
    LogHead { number: 0, hash: hash(&[BEGIN]) }
}

/// The head after one more entry with this content.
pub fn access_chain(head: LogHead, content: &str) -> LogHead {
    LogHead { number: head.number + 1, hash: access_hash(head.hash, content) }
}

fn access_hash(previous: LogHash, content: &str) -> LogHash {
    hash(&[ENTRY, &previous.0, content.as_bytes()])
}

impl AccessEntry {
    /// Seals the entry that follows `head`.
    pub fn after(head: LogHead, content: String) -> Self {
        let LogHead { number, hash } = access_chain(head, &content);
        Self { number, content, hash }
    }
}
