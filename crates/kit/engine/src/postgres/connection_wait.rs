//! The server has no connection left for us (`max_connections`), and we have some: whoever needs one waits for one of these.

use std::time::Duration;

use deadpool_postgres::{Object, Pool, PoolError};
use tokio::sync::Mutex;
use tokio_postgres::error::SqlState;

use super::config::WAIT_TIMEOUT;
use crate::EngineError;

/// How often the first in line looks whether one is free.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Looks between two questions to the server, each of which costs it a process.
const POLLS_PER_CONNECT: u32 = 20;

/// Those who wait, in a line: only its first asks the server.
#[derive(Default)]
pub(super) struct ConnectionWaiters(Mutex<()>);

impl ConnectionWaiters {
    /// If waiting helps: one of ours will be free.
    pub(super) fn can_wait(&self, pool: &Pool, error: &PoolError) -> bool {
        is_too_many_connections(error) && pool.status().size > 0
    }

    /// A connection, when one is free or the server takes another.
    pub(super) async fn wait(&self, pool: &Pool) -> Result<Object, EngineError> {
        let patience = tokio::time::timeout(WAIT_TIMEOUT, async {
            let _first = self.0.lock().await;
            let mut looks: u32 = 0;
            loop {
                tokio::time::sleep(POLL_INTERVAL).await;
                looks = looks.wrapping_add(1);
                if pool.status().available == 0 && !looks.is_multiple_of(POLLS_PER_CONNECT) {
                    continue;
                }
                match pool.get().await {
                    Err(error) if self.can_wait(pool, &error) => {}
                    other => return other.map_err(engine_error),
                }
            }
        });
        patience.await.unwrap_or_else(|_| Err(pool_timeout()))
    }
}

fn is_too_many_connections(error: &PoolError) -> bool {
    matches!(error, PoolError::Backend(error) if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS))
}

/// What a caller is told who gets no connection.
pub(super) fn engine_error(error: PoolError) -> EngineError {
    match error {
        PoolError::Backend(error) => error.into(),
        PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => pool_timeout(),
        PoolError::Timeout(_) => EngineError::Postgres(
            "the server did not answer in time; is it up, and is there a firewall on the way?".to_owned(),
        ),
        other => EngineError::Postgres(other.to_string()),
    }
}

fn pool_timeout() -> EngineError {
    EngineError::Postgres(format!(
        "no connection was free within {} s; raise database.pool_size and the server's max_connections, or see what it is so busy \
         with (pg_stat_activity)",
        WAIT_TIMEOUT.as_secs()
    ))
}
