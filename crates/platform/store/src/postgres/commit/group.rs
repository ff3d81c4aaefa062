//! Group commit: concurrent commits of different items, mostly bids, share one transaction.
//!
//! Each call of the port is one batch of an item queue. Calls are independent: a rejected change does not affect other
//! calls. A call does not wait for the items of other calls: if another transaction has locked an item of a call, its
//! caller commits the call alone. If a statement fails, for example because another transaction inserted a unique
//! value, all callers commit their calls alone, so that only the caller with that value receives the error.

use kit_runtime::batcher::Batcher;
use platform_core::port::{Change, CommitReceipt, StoreError, StoreResult};

use super::conflicts::{ConflictChecker, LockMode};
use super::{Answers, write};
use crate::postgres::batching::COMMIT_BATCHES;
use crate::postgres::rows::{SqlError, SqlResult};
use kit_engine::postgres::{Postgres, Transaction};

/// Maximum number of changes of a call that may share a transaction. A larger call would delay the others.
const CHANGES_MAX: usize = 32;

pub(in crate::postgres) enum GroupResult {
    Done(StoreResult<Answers>),
    /// The caller has to commit the changes alone.
    Alone(Vec<Change>),
}

pub(in crate::postgres) type GroupCommitter = Batcher<Vec<Change>, GroupResult>;

pub(in crate::postgres) fn start(postgres: &Postgres) -> GroupCommitter {
    let postgres = postgres.clone();
    Batcher::start("commits", COMMIT_BATCHES, move |calls| {
        let postgres = postgres.clone();
        async move { commit(&postgres, calls).await }
    })
}

/// True when the changes may share a transaction: they change only existing items and lock no other rows.
pub(in crate::postgres) fn can_group(changes: &[Change]) -> bool {
    let may = |change: &Change| {
        let of_items = change.auction.is_none()
            && change.address.is_none()
            && change.bulk_change.is_none()
            && change.accepted_offer.is_none()
            && change.journal.is_empty();
        of_items && !change.items.is_empty() && change.items.iter().all(|item| item.expected_version > 0)
    };
    (1..=CHANGES_MAX).contains(&changes.len()) && changes.iter().all(may)
}

async fn commit(postgres: &Postgres, calls: Vec<Vec<Change>>) -> Vec<GroupResult> {
    let committed = postgres.transaction(&calls, |db, calls| Box::pin(in_transaction(db, calls))).await;
    match committed {
        Ok(batch) => {
            if batch.notify_nodes {
                postgres.notify().await;
            }
            calls.into_iter().zip(batch.answers).map(|(changes, answers)| outcome(changes, answers)).collect()
        }
        Err(SqlError::Statement(error)) if error.as_db_error().is_some() => {
            tracing::debug!(%error, "a shared transaction failed; its calls are committed one by one");
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
    /// `None` for a call that has to be committed alone.
    answers: Vec<Option<Answers>>,
    notify_nodes: bool,
}

async fn in_transaction(db: &Transaction<'_>, calls: &[Vec<Change>]) -> SqlResult<Batch> {
    let changes: Vec<&Change> = calls.iter().flatten().collect();
    let mut checker = ConflictChecker::load(db, &changes, LockMode::SkipLocked).await?;
    let mut results = Vec::with_capacity(calls.len());
    for call in calls {
        results.push(checker.locked_items_of(call).then(|| checker.check_all(call)));
    }
    let accepted = calls.iter().zip(&results).filter_map(|(call, results)| Some((call, results.as_ref()?)));
    let accepted = accepted.flat_map(|(call, results)| call.iter().zip(results));
    let accepted: Vec<&Change> = accepted.filter(|(_, result)| result.is_ok()).map(|(change, _)| change).collect();
    write::all(db, &accepted, checker.moved()).await?;
    let answers = results.into_iter().map(|results| {
        let receipt = |result: StoreResult<()>| result.map(|()| CommitReceipt::default());
        results.map(|results| results.into_iter().map(receipt).collect())
    });
    Ok(Batch { answers: answers.collect(), notify_nodes: checker.ends_earlier() })
}
