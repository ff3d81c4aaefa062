//! Changes of one commit that depend on each other.

use std::borrow::Borrow;
use std::collections::HashMap;

use platform_core::port::{Change, CommitReceipt, StoreError, StoreResult};
use uuid::Uuid;

/// The rejected changes of a batch: subjects with the version that the change expected. A later change with a higher
/// version of the same subject was decided on a state that was not committed, even if another transaction has since
/// written that version.
#[derive(Default)]
pub(crate) struct RefusedChanges(HashMap<Uuid, i64>);

impl RefusedChanges {
    /// `Conflict` when the change depends on a rejected one.
    pub(crate) fn check(&self, change: &Change) -> StoreResult<()> {
        let stands = |(subject, version): (Uuid, i64)| self.0.get(&subject).is_some_and(|refused| version > *refused);
        if !self.0.is_empty() && subjects(change).any(stands) {
            return Err(StoreError::Conflict);
        }
        Ok(())
    }

    /// Records the result of a change. No change depends on a rejected new subject, because its UUID is used once.
    pub(crate) fn note<T>(&mut self, change: &Change, result: &StoreResult<T>) {
        if result.is_err() {
            for (subject, version) in subjects(change).filter(|(_, version)| *version > 0) {
                self.0.entry(subject).or_insert(version);
            }
        }
    }

    /// Commits each change unless it depends on a rejected one. Returns one result for each, in order.
    pub(crate) fn each<C: Borrow<Change>, E>(
        changes: &[C],
        mut commit: impl FnMut(&C) -> Result<StoreResult<CommitReceipt>, E>,
    ) -> Result<Vec<StoreResult<CommitReceipt>>, E> {
        let mut refused = Self::default();
        let mut results = Vec::with_capacity(changes.len());
        for change in changes {
            let result = match refused.check(change.borrow()) {
                Ok(()) => commit(change)?,
                Err(conflict) => Err(conflict),
            };
            refused.note(change.borrow(), &result);
            results.push(result);
        }
        Ok(results)
    }
}

/// The subjects of a change, with the versions that it expects.
fn subjects(change: &Change) -> impl Iterator<Item = (Uuid, i64)> {
    let auction = change.auction.iter().map(|auction| (auction.state.uuid, auction.expected_version));
    auction.chain(change.items.iter().map(|item| (item.state.uuid, item.expected_version)))
}
