//! Commits: many changes in one transaction; each change is applied completely or not at all.
//!
//! The number of round trips does not depend on the number of changes. The transaction locks the current rows, compares
//! each change in memory with them and with the earlier changes of the batch, and writes the accepted changes with one
//! statement for each table. Changes that announce events draw their cursors last, under the journal's lock. A bid
//! locks its item only, and bids on different items share a transaction: see [`group`].

mod announce;
mod conflicts;
pub(super) mod group;
pub(super) mod write;

use platform_core::port::{Change, CommitReceipt, NodeId, StoreError, StoreResult};

use self::conflicts::{ConflictChecker, LockMode};
use super::nodes;
use super::rows::{SqlError, SqlResult};
use crate::batch::RejectedChanges;
use kit_engine::postgres::{Postgres, Transaction};

/// One result for each change of a batch, in order.
pub(super) type Answers = Vec<StoreResult<CommitReceipt>>;

struct Batch {
    answers: Answers,
    /// The commit may have created work for other nodes.
    notify_nodes: bool,
}

/// One result for each change, in order.
pub(super) async fn commit(postgres: &Postgres, changes: &[Change], assign_to: Option<NodeId>) -> SqlResult<Answers> {
    let batch = match commit_batch(postgres, changes, assign_to).await {
        Err(error) if error.taken().is_some() => commit_individually(postgres, changes, assign_to).await,
        done => done?,
    };
    if batch.notify_nodes {
        postgres.notify().await;
    }
    Ok(batch.answers)
}

async fn commit_batch(postgres: &Postgres, changes: &[Change], assign_to: Option<NodeId>) -> SqlResult<Batch> {
    postgres
        .transaction(&(changes, assign_to), |db, &(changes, assign_to)| {
            Box::pin(in_transaction(db, changes, assign_to))
        })
        .await
}

/// Commits each change in a separate transaction. The batch was rolled back, because another transaction inserted a
/// unique value between the comparison and the write.
async fn commit_individually(postgres: &Postgres, changes: &[Change], assign_to: Option<NodeId>) -> Batch {
    let mut all = Batch { answers: Vec::with_capacity(changes.len()), notify_nodes: false };
    let mut rejected = RejectedChanges::default();
    for change in changes {
        let answer = match rejected.check(change) {
            Err(conflict) => Err(conflict),
            Ok(()) => match commit_batch(postgres, std::slice::from_ref(change), assign_to).await {
                Ok(mut batch) => {
                    all.notify_nodes |= batch.notify_nodes;
                    batch.answers.pop().unwrap_or(Err(StoreError::Conflict))
                }
                // The earlier changes are durable. Only this change failed.
                Err(error) => Err(constraint_error(error)),
            },
        };
        rejected.note(change, &answer);
        all.answers.push(answer);
    }
    all
}

/// The error of the port for a violated unique constraint.
fn constraint_error(error: SqlError) -> StoreError {
    match error.taken() {
        Some("items_by_lot_number") => StoreError::Taken("lotNumber"),
        Some("idempotent_answers_by_key") => StoreError::Replayed,
        // Another transaction has inserted an item at the position, or the same record.
        Some(_) => StoreError::Conflict,
        None => error.into(),
    }
}

async fn in_transaction(db: &Transaction<'_>, changes: &[Change], assign_to: Option<NodeId>) -> SqlResult<Batch> {
    let all: Vec<&Change> = changes.iter().collect();
    let mut checker = ConflictChecker::load(db, &all, LockMode::Wait).await?;
    let results = checker.check_all(changes);
    let accepted: Vec<&Change> =
        changes.iter().zip(&results).filter(|(_, result)| result.is_ok()).map(|(change, _)| change).collect();
    let mut notify_nodes = checker.ends_earlier();
    let mut receipts = if accepted.iter().any(|change| !change.journal.is_empty()) {
        let assign_to = assign_to.filter(|_| accepted.iter().any(|change| announces(change)));
        if let Some(node) = assign_to {
            nodes::register_node(db, node).await?;
        }
        let ((), journal_plan) =
            tokio::try_join!(biased; write::all(db, &accepted, checker.moved()), announce::draw_cursors(db, &accepted))?;
        let announced = announce::append(db, &accepted, journal_plan, assign_to).await?;
        notify_nodes |= announced.notify_nodes;
        announced.receipts
    } else {
        write::all(db, &accepted, checker.moved()).await?;
        vec![CommitReceipt::default(); accepted.len()]
    }
    .into_iter();
    let answers = results.into_iter().map(|result| result.map(|()| receipts.next().unwrap_or_default()));
    Ok(Batch { answers: answers.collect(), notify_nodes })
}

fn announces(change: &Change) -> bool {
    change.journal.iter().any(|entry| entry.event.is_some())
}
