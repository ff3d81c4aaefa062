//! Database engines without any table: connections, transactions, group commit, migrations, and notifications of changes
//! that other processes made. The stores of both wings build on it; it knows neither wing.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod postgres;
pub mod sqlite;

use std::sync::Arc;

/// Why an engine did not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EngineError {
    /// SQLite's own error.
    #[error("SQLite: {0}")]
    Sqlite(Arc<rusqlite::Error>),
    /// PostgreSQL's own error, or why there is no connection to it.
    #[error("PostgreSQL: {0}")]
    Postgres(String),
    /// The address of the database can't be used.
    #[error("the database's address: {0}")]
    Address(String),
    /// The database can't be used as it is, and what to do about it.
    #[error("{0}")]
    Unsupported(String),
    /// The tables can't be brought up to date.
    #[error("bringing the tables up to date: {0}")]
    Migration(String),
    /// A temporary folder can't be created.
    #[error("creating a temporary folder: {0}")]
    TemporaryFolder(#[source] Arc<std::io::Error>),
    /// A thread can't be started.
    #[error("starting a thread: {0}")]
    Thread(#[source] Arc<std::io::Error>),
    /// What was asked panicked; it is undone.
    #[error("a job panicked: {0}")]
    Panicked(String),
    /// The engine has been closed.
    #[error("the database is closed")]
    Closed,
}

impl From<rusqlite::Error> for EngineError {
    fn from(error: rusqlite::Error) -> Self {
        EngineError::Sqlite(Arc::new(error))
    }
}

impl From<refinery::Error> for EngineError {
    fn from(error: refinery::Error) -> Self {
        EngineError::Migration(error.to_string())
    }
}
