//! The journal: the append-only record of every status change. Announced events are taken from it.

pub mod corrections;
pub mod events;
pub mod sale_journal;

pub use crate::port::{JournalEntry, JournalRow, SubjectKind};
