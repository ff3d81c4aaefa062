//! Group commit: concurrent commits of different items, mostly bids, share one transaction.
//!
//! Each call of the port, which is a batch of an item queue, is independent: a rejected change affects no other call. No
//! call waits for the item of another: if another transaction has locked an item of a call, its caller commits it
//! alone. Every caller does so when a statement fails, for example because another transaction took a unique value:
//! then only the caller with that value gets the error.

use kit_runtime::batcher::Batcher;
use platform_core::port::{Change, CommitReceipt, StoreError, StoreResult};

use super::conflicts::{ConflictChecker, LockMode};
use super::{Answers, write};
use crate::postgres::batching::COMMIT_BATCHES;
use crate::postgres::rows::{SqlError, SqlResult};
use kit_engine::postgres::{Postgres, Transaction};

/// Changes of one call that may share a transaction. More of them would delay the other calls.
const CHANGES_MAX: usize = 32;

/// The result of a call.
pub(in crate::postgres) enum GroupResult {
    Done(StoreResult<Answers>),
    /// Its caller has to commit it alone.
    Alone(Vec<Change>),
}

/// Collects concurrent calls.
pub(in crate::postgres) type GroupCommitter = Batcher<Vec<Change>, GroupResult>;

/// Starts the task that collects and commits.
pub(in crate::postgres) fn start(postgres: &Postgres) -> GroupCommitter {
    let postgres = postgres.clone();
    Batcher::start("commits", COMMIT_BATCHES, move |calls| {
        let postgres = postgres.clone();
        async move { commit(&postgres, calls).await }
    })
}

/// True when the changes may share a transaction: they change existing items only, and lock nothing else.
pub(in crate::postgres) fn can_group(changes: &[Change]) -> bool {
    let may = |change: &Change| {
        let of_items = change.auction.is_none()
            && change.address.is_none()
            && change.bulk_change.is_none()
            && change.journal.is_empty();
        of_items && !change.items.is_empty() && change.items.iter().all(|item| item.expected_version > 0)
    };
    (1..=CHANGES_MAX).contains(&changes.len()) && changes.iter().all(may)
}

async fn commit(postgres: &Postgres, calls: Vec<Vec<Change>>) -> Vec<GroupResult> {
    let job = postgres.transaction(&calls, |db, calls| Box::pin(in_transaction(db, calls)));
    let done = job.await;
    match done {
        Ok(batch) => {
            if batch.notify_nodes {
                postgres.notify().await;
            }
            calls.into_iter().zip(batch.answers).map(|(changes, answers)| outcome(changes, answers)).collect()
        }
        Err(SqlError::Statement(error)) if error.as_db_error().is_some() => {
            tracing::debug!(%error, "joined commits are done one by one");
            calls.into_iter().map(GroupResult::Alone).collect()
        }
        Err(error) => {
            let error = StoreError::from(error);
            calls.iter().map(|_| GroupResult::Done(Err(error.clone()))).collect()
        }
    }
}

fn outcome(changes: Vec<Change>, answers: Option<Answers>) -> GroupResult {
    answers.map_or(GroupResult::Alone(changes), |answers| GroupResult::Done(Ok(answers)))
}

struct Batch {
    /// None for calls that have to be committed alone.
    answers: Vec<Option<Answers>>,
    notify_nodes: bool,
}

async fn in_transaction(db: &Transaction<'_>, calls: &[Vec<Change>]) -> SqlResult<Batch> {
    let changes: Vec<&Change> = calls.iter().flatten().collect();
    let mut ledger = ConflictChecker::load(db, &changes, LockMode::SkipLocked).await?;
    let mut judged = Vec::with_capacity(calls.len());
    for call in calls {
        judged.push(ledger.locked_items_of(call).then(|| ledger.check_all(call)));
    }
    let accepted = calls.iter().zip(&judged).filter_map(|(call, verdicts)| Some((call, verdicts.as_ref()?)));
    let accepted = accepted.flat_map(|(call, verdicts)| call.iter().zip(verdicts));
    let accepted: Vec<&Change> = accepted.filter(|(_, verdict)| verdict.is_ok()).map(|(change, _)| change).collect();
    write::all(db, &accepted, ledger.moved()).await?;
    let answers = judged.into_iter().map(|verdicts| {
        let given = |verdict: StoreResult<()>| verdict.map(|()| CommitReceipt::default());
        verdicts.map(|verdicts| verdicts.into_iter().map(given).collect())
    });
    Ok(Batch { answers: answers.collect(), notify_nodes: ledger.ends_earlier() })
}
