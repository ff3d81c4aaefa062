//! PostgreSQL: a pool of connections to one schema, transactions with retries, migrations, and notifications.
//!
//! The platform and the provider may share a database; each uses a separate schema, selected by `search_path`. Several
//! processes may use one schema at the same time. They notify each other of changes with NOTIFY, on one channel for
//! each schema: see [`Postgres::notify`].
//!
//! Guarantees: a commit returns when it is on disk (`synchronous_commit=on`); a transaction that fails with a deadlock
//! or a serialization failure is retried; each response of the server has a deadline ([`Connection`]).

mod config;
mod connection;
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

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use kit_runtime::database_figures::DatabaseFigures;
use kit_runtime::signal::Signal;
use tokio_postgres::Config;
use tokio_postgres::error::SqlState;

use self::config::WAIT_TIMEOUT;
use self::connection::AnswerDeadlines;
use self::connection_wait::ConnectionWaiters;
use self::listener::Listener;
use self::migrate::migrate;
use super::EngineError;
use crate::table_versions::{self, COMPATIBILITY_TABLE, HISTORY_TABLE};

pub use self::config::PostgresConfig;
pub use self::connection::{Client, Connection, StatementError, Transaction};
pub use self::error_text::describe_error;
pub use self::probe::ServerInfo;

/// Sessions younger than this stay in the pool when the server rejects a write because it is read-only.
const READ_ONLY_KEPT: Duration = Duration::from_secs(1);
/// Maximum number of attempts of a transaction that fails with a deadlock or a serialization failure.
const TRIES_MAX: usize = 10;

/// An open schema. Clones share its connections.
#[derive(Clone)]
pub struct Postgres {
    pool: Pool,
    connection_wait: Arc<ConnectionWaiters>,
    listener: Arc<Listener>,
    /// Sent with each notification, so that this process recognises its own.
    sender: Arc<str>,
    deadlines: AnswerDeadlines,
    schema: &'static str,
    /// The version of the tables that this program knows.
    known_version: i32,
}

/// The work of a transaction: a function of the transaction and of an input, which a retry calls again. A function
/// pointer with a boxed future, because the compiler can't yet prove that the future of an asynchronous closure is
/// `Send`.
pub type Job<I, T, E> = for<'job> fn(&'job Transaction<'job>, &'job I) -> JobFuture<'job, T, E>;

/// The future of a [`Job`].
pub type JobFuture<'job, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'job>>;

/// The error of a [`Job`]. [`Postgres::transaction`] inspects it to decide on a retry.
pub trait HasStatementError {
    /// The error of the statement that failed, if one did.
    fn statement_error(&self) -> Option<&tokio_postgres::Error>;
}

impl Postgres {
    /// Connects to a database, creates `schema` if it does not exist, and applies `migrations`. Processes may start at
    /// the same time: a lock lets one process at a time migrate.
    ///
    /// Errors: `Address` when the URL can't be used, `Unsupported` when the database can't, `TablesAreOlder`, `Migration`
    /// when a migration fails, and `Postgres` when the server can't be reached.
    pub async fn open(
        config: &PostgresConfig,
        schema: &'static str,
        migrations: refinery::Runner,
    ) -> Result<Self, EngineError> {
        let connector = config.connector(schema)?;
        let sender = migrate(&connector, schema, &migrations, config.older_tables).await?;
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
        Ok(Self {
            pool,
            connection_wait: Arc::default(),
            listener: Arc::new(listener),
            sender: sender.into(),
            deadlines: AnswerDeadlines::new(config.statement_timeout),
            schema,
            known_version: table_versions::latest_version(&migrations),
        })
    }

    /// A connection of the pool.
    ///
    /// Errors: `Postgres` when no connection is free within 30 s, or the server can't be reached.
    pub async fn client(&self) -> Result<Client, EngineError> {
        let object = match self.pool.get().await {
            Ok(object) => object,
            Err(error) if connection_wait::is_too_many_connections(&error) => {
                self.connection_wait.wait(&self.pool, error).await?
            }
            Err(error) => return Err(connection_wait::engine_error(error)),
        };
        Ok(Client::new(object, self.deadlines))
    }

    /// The version of the tables of this schema, and the size of the whole database.
    pub async fn figures(&self) -> Result<DatabaseFigures, EngineError> {
        let select = "SELECT (SELECT max(version) FROM refinery_schema_history), pg_database_size(current_database())";
        let client = self.client().await?;
        let statement = client.prepare_cached(select).await?;
        let row = client.query_opt(&statement, &[]).await?.ok_or(EngineError::Closed)?;
        let (version, bytes): (i32, i64) = (row.try_get(0)?, row.try_get(1)?);
        Ok(DatabaseFigures {
            schema_version: version.unsigned_abs(),
            size_bytes: bytes.unsigned_abs(),
            wal_bytes: None,
        })
    }

    /// Refuses tables that another process has meanwhile upgraded to a version that this program can't use. Nodes call it before
    /// each heartbeat, so that such a node counts as dead.
    ///
    /// Errors: `Unsupported`.
    pub async fn require_compatible(&self) -> Result<(), EngineError> {
        let select = format!(
            "SELECT compatible_from, (SELECT max(version) FROM {HISTORY_TABLE}) FROM {COMPATIBILITY_TABLE} \
             WHERE compatible_from > $1"
        );
        let client = self.client().await?;
        let statement = client.prepare_cached(&select).await?;
        let Some(row) = client.query_opt(&statement, &[&self.known_version]).await? else { return Ok(()) };
        let (compatible_from, version) = (row.try_get(0)?, row.try_get(1)?);
        let tables = format!("the tables of schema `{}`", self.schema);
        Err(EngineError::Unsupported(table_versions::too_new(&tables, version, compatible_from, self.known_version)))
    }

    /// Closes the connections to a former primary after a failover. Callers that write outside of
    /// [`Postgres::transaction`] pass each error of such a statement to this function.
    pub fn on_write_error(&self, error: &tokio_postgres::Error) {
        if error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION) {
            // The server may be a former primary. A new connection may reach the current primary.
            self.pool.retain(|_, connection| connection.age() < READ_ONLY_KEPT);
        }
    }

    /// Runs `job` in a transaction and returns when the commit is on disk. If the job fails, its changes are rolled
    /// back. After a deadlock or a serialization failure the job runs again, at most [`TRIES_MAX`] times. After
    /// `Unanswered`, and after an error of the connection, it is not known whether the transaction was committed.
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
                    Err(StatementError::Statement(error)) if tries < TRIES_MAX && is_retryable(&error) => {}
                    Err(error) => return Err(EngineError::from(error).into()),
                },
                Err(error) => {
                    // The connection returns to the pool after the rollback. If the rollback fails, it is closed.
                    transaction.rollback().await;
                    drop(client);
                    error.statement_error().into_iter().for_each(|error| self.on_write_error(error));
                    if tries == TRIES_MAX || !error.statement_error().is_some_and(is_retryable) {
                        return Err(error);
                    }
                }
            }
            tries += 1;
            tracing::debug!(tries, "a transaction conflicted with another and is retried");
        }
    }

    /// A signal that is set when another process announces a change, and after each reconnect, because the server does
    /// not repeat notifications. One worker waits for it.
    pub fn remote_changes(&self) -> Signal {
        self.listener.signal()
    }

    /// Notifies the other processes of this schema that work may be due. Callers notify after the commit and not in its
    /// transaction, because PostgreSQL serialises the commits of transactions that notify. If a notification is lost,
    /// the other processes find the work when they poll.
    pub async fn notify(&self) {
        // Waiting for the disk has no use: a crash loses the notification in any case.
        let notify = format!(
            "BEGIN; SET LOCAL synchronous_commit = off; NOTIFY {}, '{}'; COMMIT",
            self.listener.channel(),
            self.sender
        );
        let sent = match self.client().await {
            Ok(client) => execute_batch(&client, &notify).await,
            Err(error) => Err(error),
        };
        if let Err(error) = sent {
            tracing::warn!(%error, "other nodes could not be notified of a change; they find it when they poll");
        }
    }

    /// Sends a notice of at most 8,000 bytes to the other processes of this schema.
    pub async fn broadcast(&self, notice: &str) -> Result<(), EngineError> {
        let channel = self.listener.notice_channel();
        let text = format!("{} {notice}", self.sender);
        let client = self.client().await?;
        let notify =
            client.prepare_cached("SELECT pg_notify($1, $2), set_config('synchronous_commit', 'off', true)").await?;
        client.execute(&notify, &[&channel, &text]).await?;
        Ok(())
    }

    /// Subscribes to the notices of the other processes. `None` means that notices may have been lost.
    pub fn notifications(&self) -> tokio::sync::broadcast::Receiver<Option<Arc<str>>> {
        self.listener.notifications()
    }
}

/// Runs statements without parameters.
async fn execute_batch(client: &Client, sql: &str) -> Result<(), EngineError> {
    client.answered(client.statements()?.batch_execute(sql)).await.map_err(EngineError::from)
}

/// True when PostgreSQL aborted the transaction because of a concurrent transaction. A retry may succeed.
fn is_retryable(error: &tokio_postgres::Error) -> bool {
    error
        .code()
        .is_some_and(|code| [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(code))
}

impl From<tokio_postgres::Error> for EngineError {
    fn from(error: tokio_postgres::Error) -> Self {
        let text = describe_error(&error);
        if error.code() == Some(&SqlState::DISK_FULL) {
            EngineError::DiskFull(text)
        } else {
            EngineError::Postgres(text)
        }
    }
}

#[cfg(test)]
mod tests;
