//! The hash chain of the access log.

use platform_rules::{LogHash, LogHead};

use super::entry::hash;

/// What the hash before the first entry covers.
const BEGIN: &[u8] = b"lotwire.access.begin.1\0";
/// Begins what the hash of an entry covers.
const ENTRY: &[u8] = b"lotwire.access.entry.1\0";

/// The head of the log of access before its first entry.
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
