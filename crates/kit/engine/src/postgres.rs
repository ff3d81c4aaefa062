//! PostgreSQL: a pool of connections to one schema, transactions that are tried again, migrations, and who else wrote.
//!
//! Platform and provider may share a database: each has a schema of its own, in which its connections find their tables
//! without naming it, and knows nothing of the other's. Any number of processes may use a schema at the same time.
//!
//! A commit is answered when it is on disk (`synchronous_commit=on`). What one process did is told to the others with
//! NOTIFY, on a channel for each schema: see [`Postgres::notify`].

mod config;
mod connection_wait;
mod connector;
mod error_text;
mod listener;
mod migrate;
mod probe;
mod tls;
mod url;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime, Transaction};
use kit_runtime::signal::Signal;
use tokio_postgres::Config;
use tokio_postgres::error::SqlState;

use self::config::WAIT_TIMEOUT;
use self::connection_wait::ConnectionWaiters;
use self::listener::Listener;
use self::migrate::migrate;
use super::EngineError;

pub use self::config::PostgresConfig;
pub use self::error_text::describe_error;
pub use self::probe::ServerInfo;

/// How old a session is that is kept although its server refused to write.
const READ_ONLY_KEPT: Duration = Duration::from_secs(1);
/// How often a transaction is tried when it loses against others.
const TRIES_MAX: usize = 10;

/// An open schema. Clones share its connections.
#[derive(Clone)]
pub struct Postgres {
    pool: Pool,
    connection_wait: Arc<ConnectionWaiters>,
    listener: Arc<Listener>,
    /// Sent with each notification, so that this process knows its own.
    sender: Arc<str>,
}

/// What is done in a transaction: a plain function of it and of an input, with which it may be called again. Of an asynchronous
/// closure the compiler can't tell yet that its future may move between threads.
pub type Job<I, T, E> = for<'job> fn(&'job Transaction<'job>, &'job I) -> JobFuture<'job, T, E>;

/// A job under way.
pub type JobFuture<'job, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'job>>;

/// An error of a job in a transaction; [`Postgres::transaction`] asks whether trying again may help.
pub trait HasStatementError {
    /// The statement's own error, when it is one.
    fn statement_error(&self) -> Option<&tokio_postgres::Error>;
}

impl Postgres {
    /// Connects to a database, makes `schema` when it is not there, and brings its tables up to date with `migrations`:
    /// one process at a time, so that many may start together.
    ///
    /// Errors: `Address` when the URL can't be used, `Unfit` when the database can't, `Migration`, and `Postgres` when the server
    /// can't be reached.
    pub async fn open(
        config: &PostgresConfig,
        schema: &'static str,
        migrations: refinery::Runner,
    ) -> Result<Self, EngineError> {
        let connector = config.connector(schema)?;
        let sender = migrate(&connector, schema, migrations).await?;
        let listener = Listener::start(connector.clone(), schema, sender.clone()).await?;
        let connect_timeout = connector.connect_timeout();
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let pool = Pool::builder(Manager::from_connect(Config::new(), connector, manager))
            .max_size(config.pool_size.max(1))
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(WAIT_TIMEOUT))
            .create_timeout(Some(connect_timeout))
            .build()
            .map_err(|error| EngineError::Postgres(error.to_string()))?;
        Ok(Self { pool, connection_wait: Arc::default(), listener: Arc::new(listener), sender: sender.into() })
    }

    /// A connection; statements on it are prepared once (`prepare_cached`).
    ///
    /// Errors: `Postgres` when none is free within 30 s, or the server can't be reached.
    pub async fn client(&self) -> Result<Object, EngineError> {
        match self.pool.get().await {
            Ok(client) => Ok(client),
            Err(error) if self.connection_wait.can_wait(&self.pool, &error) => {
                self.connection_wait.wait(&self.pool).await
            }
            Err(error) => Err(connection_wait::engine_error(error)),
        }
    }

    /// Looks at what a statement outside of [`Postgres::transaction`] that writes has failed with.
    pub fn on_write_error(&self, error: &tokio_postgres::Error) {
        if error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION) {
            // It may be what was the primary once: new sessions may lead to the one that is now.
            self.pool.retain(|_, connection| connection.age() < READ_ONLY_KEPT);
        }
    }

    /// Does `job` in a transaction and answers when it is on disk. What an error of the job's has written is undone. A job
    /// that loses against others (deadlock, serialization) is done again from its beginning, a few times at most.
    pub async fn transaction<I, T, E>(&self, input: &I, job: Job<I, T, E>) -> Result<T, E>
    where
        E: From<EngineError> + HasStatementError,
    {
        let mut tries = 1;
        loop {
            let mut client = self.client().await?;
            let transaction = client.transaction().await.map_err(EngineError::from)?;
            match job(&transaction, input).await {
                Ok(value) => match transaction.commit().await {
                    Ok(()) => return Ok(value),
                    Err(error) if tries < TRIES_MAX && is_retryable(&error) => {}
                    Err(error) => return Err(EngineError::from(error).into()),
                },
                Err(error) => {
                    // The connection goes back only after the rollback; if that fails, it is closed.
                    let _ = transaction.rollback().await;
                    drop(client);
                    error.statement_error().into_iter().for_each(|error| self.on_write_error(error));
                    if tries == TRIES_MAX || !error.statement_error().is_some_and(is_retryable) {
                        return Err(error);
                    }
                }
            }
            tries += 1;
            tracing::debug!(tries, "a transaction lost against another and is tried again");
        }
    }

    /// Signals that another process has told of a change, or that it may have while this one was not connected. One worker
    /// waits on it.
    pub fn remote_changes(&self) -> Signal {
        self.listener.signal()
    }

    /// Tells the other processes of this schema that something changed that may be work for them. It is told after the
    /// commit, not with it, so that commits don't queue for PostgreSQL's lock on notifications; what is lost on the way is
    /// mended by their polling.
    pub async fn notify(&self) {
        // Not durable: a notification that a crash takes along is told to nobody anyway.
        let tell = format!(
            "BEGIN; SET LOCAL synchronous_commit = off; NOTIFY {}, '{}'; COMMIT",
            self.listener.channel(),
            self.sender
        );
        let told = match self.client().await {
            Ok(client) => client.batch_execute(&tell).await.map_err(EngineError::from),
            Err(error) => Err(error),
        };
        if let Err(error) = told {
            tracing::warn!(%error, "other nodes could not be told of a change");
        }
    }

    /// Tells the other processes of this schema something that they know how to read; below 8,000 bytes.
    pub async fn broadcast(&self, notice: &str) -> Result<(), EngineError> {
        let (channel, text) = (self.listener.notice_channel(), format!("{} {notice}", self.sender));
        let client = self.client().await?;
        let tell =
            client.prepare_cached("SELECT pg_notify($1, $2), set_config('synchronous_commit', 'off', true)").await?;
        client.execute(&tell, &[&channel, &text]).await?;
        Ok(())
    }

    /// What others tell from now on; `None` where something may have been missed.
    pub fn notifications(&self) -> tokio::sync::broadcast::Receiver<Option<Arc<str>>> {
        self.listener.notifications()
    }
}

/// True when a transaction was ended in favour of another, and may succeed the next time.
fn is_retryable(error: &tokio_postgres::Error) -> bool {
    error
        .code()
        .is_some_and(|code| [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(code))
}

impl From<tokio_postgres::Error> for EngineError {
    fn from(error: tokio_postgres::Error) -> Self {
        EngineError::Postgres(describe_error(&error))
    }
}

#[cfg(test)]
mod tests;
