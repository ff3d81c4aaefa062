//! The log: every change of an item, an auction or a bidder's registration, chained by hash (decisions, section 8; docs/audit.md).
//!
//! [`crate::change_builder`] notes what happened and seals it here, the platform's one commit sees that nothing is left, and the store
//! keeps the entries in the transaction of the change. The head of each log is part of its subject's state, so that sealing reads nothing.
//!
//! Guarantees:
//! - each entry's hash covers its whole content and the hash before; the first one's covers the subject's UUID;
//! - amounts that are nobody's business are in the content as salted commitments, and beside it as what they are: the
//!   content can be handed out, and what it says about them can be shown to be true later;
//! - replaying the entries gives the stored state ([`verify`] looks, and says which entry is broken).

mod access_chain;
mod anchor;
mod append;
mod commitments;
mod entry;
mod mismatch;
mod record;
mod record_check;
mod replay;
mod times;
mod verify;
mod verify_log;
mod verify_registrations;

pub use access_chain::{access_begin, access_chain};
pub use anchor::Anchor;
pub use append::UnloggedChanges;
pub(crate) use append::{SubjectChanges, append_entries, registration_entries};
pub use entry::{Content, LogEntry, LogKind, chain, chain_begin};
pub use record::{RECORD_ENTRIES_MAX, RECORD_FORMAT, Record, RecordEntry, RecordSummary};
pub use record_check::{CheckedRecord, check_records};
pub use verify::{Finding, VerifyReport};
