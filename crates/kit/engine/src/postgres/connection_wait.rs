//! Waiting for a pooled connection when the server has reached `max_connections`.
//!
//! The caller waits until a connection of this process is free, or the server accepts a new one, instead of failing.

use std::time::Duration;

use deadpool_postgres::{Object, Pool, PoolError};
use tokio::sync::Mutex;
use tokio::time::MissedTickBehavior;
use tokio_postgres::error::SqlState;

use super::config::WAIT_TIMEOUT;
use crate::EngineError;

/// How often the first waiting caller checks the pool for a free connection.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Number of checks between two attempts to connect. For each attempt the server starts a process.
const POLLS_PER_CONNECT: u32 = 20;

/// The queue of waiting callers. Only the first of them checks the pool and tries to connect.
#[derive(Default)]
pub(super) struct ConnectionWaiters(Mutex<()>);

impl ConnectionWaiters {
    /// A connection, once one is free or the server accepts a new one. Error: the server's refusal, when none is free
    /// within 30 s.
    pub(super) async fn wait(&self, pool: &Pool, refusal: PoolError) -> Result<Object, EngineError> {
        let waiting = tokio::time::timeout(WAIT_TIMEOUT, async {
            let _first = self.0.lock().await;
            let mut polls: u32 = 0;
            let mut interval = tokio::time::interval(POLL_INTERVAL);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                interval.tick().await;
                polls = polls.wrapping_add(1);
                if pool.status().available == 0 && !polls.is_multiple_of(POLLS_PER_CONNECT) {
                    continue;
                }
                match pool.get().await {
                    Err(error) if is_too_many_connections(&error) => {}
                    other => return other.map_err(engine_error),
                }
            }
        });
        waiting.await.unwrap_or_else(|_| Err(engine_error(refusal)))
    }
}

/// Whether the server has as many connections as it may have.
pub(super) fn is_too_many_connections(error: &PoolError) -> bool {
    matches!(error, PoolError::Backend(error) if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS))
}

/// The error for a caller that gets no connection.
pub(super) fn engine_error(error: PoolError) -> EngineError {
    match error {
        PoolError::Backend(error) => error.into(),
        PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => pool_timeout(),
        PoolError::Timeout(_) => EngineError::Postgres(
            "the server did not answer in time; is it up, and does a firewall block it?".to_owned(),
        ),
        other => EngineError::Postgres(other.to_string()),
    }
}

fn pool_timeout() -> EngineError {
    EngineError::Postgres(format!(
        "no connection was free within {} s; raise database.pool_size and the server's max_connections, or look for \
         slow statements in pg_stat_activity",
        WAIT_TIMEOUT.as_secs()
    ))
}
