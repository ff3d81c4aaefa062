//! Commits: many changes in one transaction, each as a whole or not at all.
//!
//! A batch costs the same few round trips however many changes it has: the present rows are locked and compared, each
//! change is judged in memory against that and the changes before it, and what is left is written with one statement
//! for each table. Changes that announce something draw their cursors last, under the journal's lock; a bid takes no
//! lock but its item's, and bids on different items join: see [`group`].

mod announce;
mod conflicts;
pub(super) mod group;
pub(super) mod write;

use deadpool_postgres::Transaction;
use platform_core::port::{Change, CommitReceipt, NodeId, StoreError, StoreResult};

use self::conflicts::{ConflictChecker, LockMode};
use super::nodes;
use super::rows::{SqlError, SqlResult};
use crate::batch::RefusedChanges;
use kit_engine::postgres::Postgres;

/// Answers for a batch, in its order.
pub(super) type Answers = Vec<StoreResult<CommitReceipt>>;

/// What a batch came to.
struct Batch {
    answers: Answers,
    /// There is something for other nodes to look at.
    notify_nodes: bool,
}

/// One answer for each change, in order.
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

/// Another transaction took a value between the comparison and the write, which undid the batch: each change is
/// committed alone.
async fn commit_individually(postgres: &Postgres, changes: &[Change], assign_to: Option<NodeId>) -> Batch {
    let mut all = Batch { answers: Vec::with_capacity(changes.len()), notify_nodes: false };
    let mut refused = RefusedChanges::default();
    for change in changes {
        let answer = match refused.check(change) {
            Err(conflict) => Err(conflict),
            Ok(()) => match commit_batch(postgres, std::slice::from_ref(change), assign_to).await {
                Ok(mut batch) => {
                    all.notify_nodes |= batch.notify_nodes;
                    batch.answers.pop().unwrap_or(Err(StoreError::Conflict))
                }
                // Changes before it are durable: only this one failed.
                Err(error) => Err(refusal(error)),
            },
        };
        refused.note(change, &answer);
        all.answers.push(answer);
    }
    all
}

/// The port's word for a value that is taken.
fn refusal(error: SqlError) -> StoreError {
    match error.taken() {
        Some("items_by_lot_number") => StoreError::Taken("lotNumber"),
        Some("idempotent_answers_by_key") => StoreError::Replayed,
        // A position that was filled, or a thing that was created, meanwhile.
        Some(_) => StoreError::Conflict,
        None => error.into(),
    }
}

async fn in_transaction(db: &Transaction<'_>, changes: &[Change], assign_to: Option<NodeId>) -> SqlResult<Batch> {
    let all: Vec<&Change> = changes.iter().collect();
    let mut ledger = ConflictChecker::load(db, &all, LockMode::Wait).await?;
    let judged = ledger.check_all(changes);
    let accepted: Vec<&Change> =
        changes.iter().zip(&judged).filter(|(_, verdict)| verdict.is_ok()).map(|(change, _)| change).collect();
    let mut notify_nodes = ledger.ends_earlier();
    let mut receipts = if accepted.iter().any(|change| !change.journal.is_empty()) {
        let assign_to = assign_to.filter(|_| accepted.iter().any(|change| announces(change)));
        if let Some(node) = assign_to {
            nodes::register_node(db, node).await?;
        }
        let ((), drawn) = tokio::try_join!(biased; write::all(db, &accepted), announce::draw_cursors(db, &accepted))?;
        let announced = announce::append(db, &accepted, drawn, assign_to).await?;
        notify_nodes |= announced.notify_nodes;
        announced.receipts
    } else {
        write::all(db, &accepted).await?;
        vec![CommitReceipt::default(); accepted.len()]
    }
    .into_iter();
    let answers = judged.into_iter().map(|verdict| verdict.map(|()| receipts.next().unwrap_or_default()));
    Ok(Batch { answers: answers.collect(), notify_nodes })
}

fn announces(change: &Change) -> bool {
    change.journal.iter().any(|entry| entry.event.is_some())
}
