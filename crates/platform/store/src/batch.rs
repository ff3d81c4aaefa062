//! Dependencies between the changes of one batch.

use std::borrow::Borrow;
use std::collections::HashMap;

use platform_core::port::{Change, CommitReceipt, StoreError, StoreResult};
use uuid::Uuid;

/// The rejected changes of a batch: each subject with the version that its rejected change expected. A later change
/// that expects a higher version of the subject was decided on a state that was not committed. It must be rejected,
/// even if another transaction has written that version meanwhile.
#[derive(Default)]
pub(crate) struct RejectedChanges(HashMap<Uuid, i64>);

impl RejectedChanges {
    /// `Conflict` when the change depends on a rejected change.
    pub(crate) fn check(&self, change: &Change) -> StoreResult<()> {
        for (subject, version) in subjects(change) {
            if self.0.get(&subject).is_some_and(|rejected_version| version > *rejected_version) {
                return Err(StoreError::Conflict);
            }
        }
        Ok(())
    }

    /// Records the result of a change. A rejected new subject is not recorded: its UUID is used once, so no later
    /// change depends on it.
    pub(crate) fn note<T>(&mut self, change: &Change, result: &StoreResult<T>) {
        if result.is_err() {
            for (subject, version) in subjects(change).filter(|(_, version)| *version > 0) {
                self.0.entry(subject).or_insert(version);
            }
        }
    }

    /// Commits each change that does not depend on a rejected change. Returns one result for each change, in order.
    pub(crate) fn each<C: Borrow<Change>, E>(
        changes: &[C],
        mut commit: impl FnMut(&C) -> Result<StoreResult<CommitReceipt>, E>,
    ) -> Result<Vec<StoreResult<CommitReceipt>>, E> {
        let mut rejected = Self::default();
        let mut results = Vec::with_capacity(changes.len());
        for change in changes {
            let result = match rejected.check(change.borrow()) {
                Ok(()) => commit(change)?,
                Err(conflict) => Err(conflict),
            };
            rejected.note(change.borrow(), &result);
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
