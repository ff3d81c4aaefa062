//! Erasure of a person's values from the log: which values earlier entries lose. The content of an entry never changes, so
//! every hash stays; the entry of the erasure names what was removed, and a verification accepts no other gap.

use super::commitments::{Commitments, put_values, take_erasable};
use super::entry::Content;
use crate::port::{ErasedValues, LogEntry, LogKind, RemainingValues, StoreError, StoreResult};

/// The values of an entry that an erasure removes, and what remains; none when the entry has no such value.
pub(crate) fn erase_values(kind: LogKind, entry: &LogEntry) -> StoreResult<Option<(ErasedValues, RemainingValues)>> {
    let Some(stored) = &entry.concealed else { return Ok(None) };
    let corrupt = |error: serde_json::Error| StoreError::Corrupt(error.to_string());
    let mut concealed: Commitments = serde_json::from_str(stored).map_err(corrupt)?;
    let values = take_erasable(kind, &mut concealed);
    if values.is_empty() {
        return Ok(None);
    }
    let rest = if concealed.is_empty() { None } else { Some(serde_json::to_string(&concealed).map_err(corrupt)?) };
    let remaining = RemainingValues { subject: entry.subject, number: entry.number, concealed: rest };
    Ok(Some((ErasedValues { entry: entry.number, values }, remaining)))
}

/// The content of an entry with its concealed values in place. A value that was erased stays a commitment.
pub(crate) fn reveal(entry: &LogEntry) -> StoreResult<Content> {
    let corrupt = |error: serde_json::Error| StoreError::Corrupt(error.to_string());
    let mut content: Content = serde_json::from_str(&entry.content).map_err(corrupt)?;
    if let Some(stored) = &entry.concealed {
        put_values(&mut content.change, &serde_json::from_str(stored).map_err(corrupt)?);
    }
    Ok(content)
}
