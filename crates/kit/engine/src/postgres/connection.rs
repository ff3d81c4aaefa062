//! Connections of the pool and their transactions, with a deadline for each answer of the server.
//!
//! The server ends a statement after its `statement_timeout`. It does not end a commit that waits for the disk or for a
//! standby, and a server that hangs ends no statement, although its machine still responds to keepalives. Guarantee: a
//! caller waits for a response at most for the time of [`AnswerDeadlines`]; then the connection is closed. The caller
//! can't know whether a write or a commit took effect. No cancel request is sent, because it could cancel a commit.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::{GenericClient, Object};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row, Statement};

use crate::EngineError;

/// Time that the server has, after `statement_timeout`, to report that it ended a statement.
const ANSWER_GRACE: Duration = Duration::from_secs(5);
/// Maximum time for the response to a commit, unless the time for a statement is shorter.
const COMMIT_ANSWER_MAX: Duration = Duration::from_secs(30);

/// How long a caller waits for an answer of the server.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerDeadlines {
    statement: Duration,
    commit: Duration,
}

impl AnswerDeadlines {
    pub(super) fn new(statement_timeout: Duration) -> Self {
        let statement = statement_timeout + ANSWER_GRACE;
        Self { statement, commit: statement.min(COMMIT_ANSWER_MAX) }
    }
}

/// Why a statement failed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum StatementError {
    /// The error of the server or of the connection.
    Statement(#[from] Error),
    /// The server did not respond, or the connection is closed.
    Engine(#[from] EngineError),
}

impl From<StatementError> for EngineError {
    fn from(error: StatementError) -> Self {
        match error {
            StatementError::Statement(error) => error.into(),
            StatementError::Engine(error) => error,
        }
    }
}

/// Parameters of a statement.
type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection, or a transaction on it.
pub trait Connection: Sync {
    /// The client or transaction that runs the statements.
    type Statements: GenericClient;

    /// Access to the statements, which have no deadline. Callers run them in [`Connection::answered`].
    ///
    /// Errors: `Closed` when the connection was closed after a deadline.
    fn statements(&self) -> Result<&Self::Statements, EngineError>;

    /// Waits for the response to statements.
    ///
    /// Errors: the error of the statement; `Unanswered`, after which the connection is closed when it is dropped.
    fn answered<T: Send>(
        &self,
        statements: impl Future<Output = Result<T, Error>> + Send,
    ) -> impl Future<Output = Result<T, StatementError>> + Send;

    /// Prepares a statement, once for each connection.
    fn prepare_cached(&self, sql: &str) -> impl Future<Output = Result<Statement, StatementError>> + Send {
        async move { self.answered(self.statements()?.prepare_cached(sql)).await }
    }

    /// All rows of a statement.
    fn query(
        &self,
        statement: &Statement,
        values: Values<'_>,
    ) -> impl Future<Output = Result<Vec<Row>, StatementError>> + Send {
        async move { self.answered(self.statements()?.query(statement, values)).await }
    }

    /// The row of a statement, if it has one.
    fn query_opt(
        &self,
        statement: &Statement,
        values: Values<'_>,
    ) -> impl Future<Output = Result<Option<Row>, StatementError>> + Send {
        async move { self.answered(self.statements()?.query_opt(statement, values)).await }
    }

    /// Runs a statement; returns the number of rows that it changed.
    fn execute(
        &self,
        statement: &Statement,
        values: Values<'_>,
    ) -> impl Future<Output = Result<u64, StatementError>> + Send {
        async move { self.answered(self.statements()?.execute(statement, values)).await }
    }
}

/// Whether and how long the server answers on one connection.
struct AnswerWatch {
    deadlines: AnswerDeadlines,
    /// The server has not answered in time.
    is_silent: AtomicBool,
}

impl AnswerWatch {
    async fn within<T>(
        &self,
        deadline: Duration,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, StatementError> {
        match tokio::time::timeout(deadline, answer).await {
            Ok(answer) => Ok(answer?),
            Err(_) => {
                self.is_silent.store(true, Ordering::Release);
                Err(EngineError::Unanswered { seconds: deadline.as_secs() }.into())
            }
        }
    }
}

/// A connection of the pool. When it is dropped, it returns to the pool, or is closed if the server did not respond in
/// time.
pub struct Client {
    /// None only while it is dropped.
    object: Option<Object>,
    watch: AnswerWatch,
}

impl Client {
    pub(super) fn new(object: Object, deadlines: AnswerDeadlines) -> Self {
        Self { object: Some(object), watch: AnswerWatch { deadlines, is_silent: AtomicBool::new(false) } }
    }

    /// Begins a transaction.
    pub async fn transaction(&mut self) -> Result<Transaction<'_>, StatementError> {
        let Self { object, watch } = self;
        let object = object.as_mut().ok_or(EngineError::Closed)?;
        let transaction = watch.within(watch.deadlines.statement, object.transaction()).await?;
        Ok(Transaction { transaction, watch })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if self.watch.is_silent.load(Ordering::Acquire)
            && let Some(object) = self.object.take()
        {
            // Removed from the pool, the connection closes its socket when it is dropped.
            drop(Object::take(object));
        }
    }
}

impl Connection for Client {
    type Statements = Object;

    fn statements(&self) -> Result<&Object, EngineError> {
        self.object.as_ref().ok_or(EngineError::Closed)
    }

    async fn answered<T: Send>(
        &self,
        statements: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, StatementError> {
        self.watch.within(self.watch.deadlines.statement, statements).await
    }
}

/// A transaction. It is rolled back when it is dropped.
pub struct Transaction<'a> {
    transaction: deadpool_postgres::Transaction<'a>,
    watch: &'a AnswerWatch,
}

impl Transaction<'_> {
    /// Returns when the commit is on disk.
    ///
    /// Errors: `Unanswered` and the errors of the connection. After them the caller can't know whether the commit took
    /// effect.
    pub async fn commit(self) -> Result<(), StatementError> {
        let Self { transaction, watch } = self;
        watch.within(watch.deadlines.commit, transaction.commit()).await
    }

    /// Returns when the changes are rolled back, or immediately if the server has stopped responding.
    pub(super) async fn rollback(self) {
        let Self { transaction, watch } = self;
        if !watch.is_silent.load(Ordering::Acquire) {
            // If the rollback fails, the connection is closed, and the server rolls back.
            let _ = watch.within(watch.deadlines.commit, transaction.rollback()).await;
        }
    }
}

impl<'a> Connection for Transaction<'a> {
    type Statements = deadpool_postgres::Transaction<'a>;

    fn statements(&self) -> Result<&Self::Statements, EngineError> {
        Ok(&self.transaction)
    }

    async fn answered<T: Send>(
        &self,
        statements: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, StatementError> {
        self.watch.within(self.watch.deadlines.statement, statements).await
    }
}
