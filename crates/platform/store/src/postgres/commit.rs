//! Commits: many changes in one transaction, each as a whole or not at all.
//!
//! A batch costs the same few round trips however many changes it has: what is there is locked and looked at, each change is
//! judged in memory against that and the changes before it, and what is left is written with one statement for each table.
//! Changes that announce something draw their cursors last, under the journal's lock; a bid takes no lock but its item's, and
//! bids on different items join: see [`joined`].

mod announce;
pub(super) mod joined;
mod ledger;
pub(super) mod write;

use deadpool_postgres::Transaction;
use platform_core::port::{Change, NodeId, Receipt, StoreError, StoreResult};

use self::ledger::{Ledger, Locks};
use super::outbox;
use super::rows::{Fault, Outcome};
use crate::batch::Refused;
use kit_engine::postgres::Postgres;

/// Answers for a batch, in its order.
pub(super) type Answers = Vec<StoreResult<Receipt>>;

/// What a batch came to.
struct Batch {
    answers: Answers,
    /// There is something for other nodes to look at.
    tell: bool,
}

/// One answer for each change, in order.
pub(super) async fn commit(postgres: &Postgres, changes: &[Change], hand_to: Option<NodeId>) -> Outcome<Answers> {
    let batch = match together(postgres, changes, hand_to).await {
        Err(fault) if fault.taken().is_some() => one_by_one(postgres, changes, hand_to).await,
        done => done?,
    };
    if batch.tell {
        postgres.notify().await;
    }
    Ok(batch.answers)
}

async fn together(postgres: &Postgres, changes: &[Change], hand_to: Option<NodeId>) -> Outcome<Batch> {
    postgres
        .transaction(&(changes, hand_to), |db, &(changes, hand_to)| Box::pin(in_transaction(db, changes, hand_to)))
        .await
}

/// Somebody else took a value between the look and the write, which undid the batch: each change has to stand for itself.
async fn one_by_one(postgres: &Postgres, changes: &[Change], hand_to: Option<NodeId>) -> Batch {
    let mut all = Batch { answers: Vec::with_capacity(changes.len()), tell: false };
    let mut refused = Refused::default();
    for change in changes {
        let answer = match refused.check(change) {
            Err(conflict) => Err(conflict),
            Ok(()) => match together(postgres, std::slice::from_ref(change), hand_to).await {
                Ok(mut batch) => {
                    all.tell |= batch.tell;
                    batch.answers.pop().unwrap_or(Err(StoreError::Conflict))
                }
                // Changes before it are durable: only this one failed.
                Err(fault) => Err(refusal(fault)),
            },
        };
        refused.note(change, &answer);
        all.answers.push(answer);
    }
    all
}

/// The port's word for a value that is taken.
fn refusal(fault: Fault) -> StoreError {
    match fault.taken() {
        Some("items_by_lot_number") => StoreError::Taken("lotNumber"),
        Some("answers_by_key") => StoreError::Replayed,
        // A position that was filled, or a thing that was created, meanwhile.
        Some(_) => StoreError::Conflict,
        None => fault.into(),
    }
}

async fn in_transaction(db: &Transaction<'_>, changes: &[Change], hand_to: Option<NodeId>) -> Outcome<Batch> {
    let all: Vec<&Change> = changes.iter().collect();
    let mut ledger = Ledger::load(db, &all, Locks::All).await?;
    let judged = ledger.judge_all(changes);
    let accepted: Vec<&Change> =
        changes.iter().zip(&judged).filter(|(_, verdict)| verdict.is_ok()).map(|(change, _)| change).collect();
    let mut tell = ledger.ends_earlier();
    let mut receipts = if accepted.iter().any(|change| !change.journal.is_empty()) {
        let hand_to = hand_to.filter(|_| accepted.iter().any(|change| announces(change)));
        if let Some(node) = hand_to {
            outbox::give_to(db, node).await?;
        }
        let ((), drawn) = tokio::try_join!(biased; write::all(db, &accepted), announce::draw(db, &accepted))?;
        let announced = announce::append(db, &accepted, drawn, hand_to).await?;
        tell |= announced.tell;
        announced.receipts
    } else {
        write::all(db, &accepted).await?;
        vec![Receipt::default(); accepted.len()]
    }
    .into_iter();
    let answers = judged.into_iter().map(|verdict| verdict.map(|()| receipts.next().unwrap_or_default()));
    Ok(Batch { answers: answers.collect(), tell })
}

fn announces(change: &Change) -> bool {
    change.journal.iter().any(|entry| entry.event.is_some())
}
