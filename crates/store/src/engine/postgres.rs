//! PostgreSQL: a pool of connections to one schema, transactions that are tried again, migrations, and who else wrote.
//!
//! Platform and provider may share a database: each has a schema of its own, in which its connections find their tables
//! without naming it, and knows nothing of the other's. Any number of processes may use a schema at the same time.
//!
//! A commit is answered when it is on disk (`synchronous_commit=on`). What one process did is told to the others with
//! NOTIFY, on a channel for each schema: see [`Postgres::notify`].

mod config;
pub(crate) mod gathered;
mod listener;

use std::pin::Pin;
use std::sync::Arc;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime, Transaction};
use runtime::signal::Signal;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, NoTls};

use self::config::{CONNECT_TIMEOUT, WAIT_TIMEOUT};
use self::listener::Listener;
use super::EngineError;

pub use self::config::PostgresConfig;

/// How often a transaction is tried when it loses against others.
const TRIES_MAX: usize = 10;
/// How long migrations of another process are waited for.
const MIGRATION_WAIT: &str = "120s";

/// An open schema. Clones share its connections.
#[derive(Clone)]
pub(crate) struct Postgres {
    pool: Pool,
    listener: Arc<Listener>,
    /// Sent with each notification, so that this process knows its own.
    sender: Arc<str>,
}

/// What is done in a transaction: a plain function of it and of an input, with which it may be called again. Of an asynchronous
/// closure the compiler can't tell yet that its future may move between threads.
pub(crate) type Job<I, T, E> = for<'job> fn(&'job Transaction<'job>, &'job I) -> Doing<'job, T, E>;

/// A job under way.
pub(crate) type Doing<'job, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'job>>;

/// An error of a job in a transaction; [`Postgres::transaction`] asks whether trying again may help.
pub(crate) trait Transient {
    /// The statement's own error, when it is one.
    fn statement_error(&self) -> Option<&tokio_postgres::Error>;
}

impl Postgres {
    /// Connects to a database, makes `schema` when it is not there, and brings its tables up to date with `migrations`:
    /// one process at a time, so that many may start together.
    ///
    /// Errors: `Address` when the URL can't be used, `Migration`, and `Postgres` when the server can't be reached.
    pub(crate) async fn open(
        config: &PostgresConfig,
        schema: &'static str,
        migrations: refinery::Runner,
    ) -> Result<Self, EngineError> {
        let address = config.address(schema)?;
        let sender = migrate(&address, schema, migrations).await?;
        let listener = Listener::start(address.clone(), schema, sender.clone()).await?;
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let pool = Pool::builder(Manager::from_config(address, NoTls, manager))
            .max_size(config.pool_size.max(1))
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(WAIT_TIMEOUT))
            .create_timeout(Some(CONNECT_TIMEOUT))
            .build()
            .map_err(|error| EngineError::Postgres(error.to_string()))?;
        Ok(Self { pool, listener: Arc::new(listener), sender: sender.into() })
    }

    /// A connection; statements on it are prepared once (`prepare_cached`).
    ///
    /// Errors: `Postgres` when none is free within 30 s, or the server can't be reached.
    pub(crate) async fn client(&self) -> Result<Object, EngineError> {
        self.pool.get().await.map_err(|error| match error {
            deadpool_postgres::PoolError::Backend(error) => error.into(),
            other => EngineError::Postgres(other.to_string()),
        })
    }

    /// Does `job` in a transaction and answers when it is on disk. What an error of the job's has written is undone. A job
    /// that loses against others (deadlock, serialization) is done again from its beginning, a few times at most.
    pub(crate) async fn transaction<I, T, E>(&self, input: &I, job: Job<I, T, E>) -> Result<T, E>
    where
        E: From<EngineError> + Transient,
    {
        let mut tries = 1;
        loop {
            let mut client = self.client().await?;
            let transaction = client.transaction().await.map_err(EngineError::from)?;
            match job(&transaction, input).await {
                Ok(value) => match transaction.commit().await {
                    Ok(()) => return Ok(value),
                    Err(error) if tries < TRIES_MAX && is_lost(&error) => {}
                    Err(error) => return Err(EngineError::from(error).into()),
                },
                Err(error) => {
                    // The connection goes back only after the rollback; if that fails, it is closed.
                    let _ = transaction.rollback().await;
                    if tries == TRIES_MAX || !error.statement_error().is_some_and(is_lost) {
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
    pub(crate) fn changed_elsewhere(&self) -> Signal {
        self.listener.signal()
    }

    /// Tells the other processes of this schema that something changed that may be work for them. It is told after the
    /// commit, not with it, so that commits don't queue for PostgreSQL's lock on notifications; what is lost on the way is
    /// mended by their polling.
    pub(crate) async fn notify(&self) {
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
    pub(crate) async fn tell(&self, notice: &str) -> Result<(), EngineError> {
        let (channel, text) = (self.listener.notice_channel(), format!("{} {notice}", self.sender));
        let client = self.client().await?;
        let tell =
            client.prepare_cached("SELECT pg_notify($1, $2), set_config('synchronous_commit', 'off', true)").await?;
        client.execute(&tell, &[&channel, &text]).await?;
        Ok(())
    }

    /// What others tell from now on; `None` where something may have been missed.
    pub(crate) fn notices(&self) -> tokio::sync::broadcast::Receiver<Option<Arc<str>>> {
        self.listener.notices()
    }
}

/// True when a transaction was ended in favour of another, and may succeed the next time.
fn is_lost(error: &tokio_postgres::Error) -> bool {
    error
        .code()
        .is_some_and(|code| [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(code))
}

/// Brings the schema up to date, on a connection of its own that ends with it. Answers a word that no other process has.
async fn migrate(address: &Config, schema: &str, migrations: refinery::Runner) -> Result<String, EngineError> {
    let (mut client, connection) = address.connect(NoTls).await?;
    let driver = tokio::spawn(connection);
    // The lock belongs to the session: it goes with the connection, also when this fails or is dropped.
    let prepare = format!(
        "SET statement_timeout = 0; SET lock_timeout = '{MIGRATION_WAIT}'; \
         SELECT pg_advisory_lock(hashtextextended('lotwire migrations of ' || current_database() || '.{schema}', 0)); \
         CREATE SCHEMA IF NOT EXISTS {schema}"
    );
    client.batch_execute(&prepare).await?;
    migrations.run_async(&mut client).await?;
    let sender = client.query_one("SELECT gen_random_uuid()::text", &[]).await?.try_get(0)?;
    drop(client);
    // The next process may start as soon as the server has seen the end of this connection.
    let _ = driver.await;
    Ok(sender)
}

impl From<tokio_postgres::Error> for EngineError {
    fn from(error: tokio_postgres::Error) -> Self {
        EngineError::Postgres(text_of(&error))
    }
}

/// The whole of an error for a log, without the values that the server quotes in its details.
pub(crate) fn text_of(error: &tokio_postgres::Error) -> String {
    if let Some(db) = error.as_db_error() {
        return format!("{} ({})", db.message(), db.code().code());
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests;
