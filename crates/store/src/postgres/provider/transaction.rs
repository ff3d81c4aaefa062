//! Transactions whose jobs can be awaited on any thread, as the port asks.
//!
//! A job is a plain function of a transaction and its input, which it may be called with again: of an asynchronous closure the
//! compiler can't tell yet that its future may move between threads.

use std::pin::Pin;

use deadpool_postgres::Transaction;
use tokio_postgres::error::SqlState;

use super::rows::{Fault, Outcome};
use crate::engine::EngineError;
use crate::engine::postgres::Postgres;

/// How often a transaction is tried when it loses against others.
const TRIES_MAX: usize = 10;

/// What a job is doing.
pub(super) type Doing<'job, T> = Pin<Box<dyn Future<Output = Outcome<T>> + Send + 'job>>;

/// Does `job` in a transaction and answers when it is on disk. What an error of the job's has written is undone. A job that
/// loses against others (deadlock, serialization) is done again from its beginning.
pub(super) async fn transaction<I: Sync, T>(
    engine: &Postgres,
    input: &I,
    job: for<'job> fn(&'job Transaction<'job>, &'job I) -> Doing<'job, T>,
) -> Outcome<T> {
    let mut tries = 1;
    loop {
        match once(engine, input, job).await {
            Err(Fault::Engine(error)) if tries < TRIES_MAX && is_lost(&error) => {
                tracing::debug!(
                    code = error.code().map(SqlState::code),
                    tries,
                    "a transaction lost and is tried again"
                );
                tries += 1;
            }
            outcome => return outcome,
        }
    }
}

async fn once<I: Sync, T>(
    engine: &Postgres,
    input: &I,
    job: for<'job> fn(&'job Transaction<'job>, &'job I) -> Doing<'job, T>,
) -> Outcome<T> {
    let mut client = engine.client().await?;
    let transaction = client.transaction().await.map_err(EngineError::from)?;
    match job(&transaction, input).await {
        Ok(value) => {
            transaction.commit().await?;
            Ok(value)
        }
        Err(fault) => {
            // The connection goes back only after the rollback; if that fails, it is closed.
            let _ = transaction.rollback().await;
            Err(fault)
        }
    }
}

/// True when a transaction was ended in favour of another, and may succeed the next time.
fn is_lost(error: &tokio_postgres::Error) -> bool {
    let lost = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
    error.code().is_some_and(|code| lost.contains(code))
}
