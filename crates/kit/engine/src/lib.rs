//! Database engines, without any table: connections, transactions, group commit, migrations, and notifications about
//! changes by other processes. The stores of the platform and of the provider are built on this crate.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod postgres;
pub mod sqlite;
mod table_versions;

use std::sync::Arc;

pub use self::table_versions::{OlderTables, TableVersions};

/// Why a database operation failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EngineError {
    /// An error of SQLite.
    #[error("SQLite: {0}")]
    Sqlite(Arc<rusqlite::Error>),
    /// The database file is damaged.
    #[error(
        "the database file is damaged: {0}. Stop all processes that use the file, then restore it from a backup, \
         without the files -wal and -shm beside the damaged one"
    )]
    Damaged(String),
    /// The disk of the database is full. Nothing was written.
    #[error("the disk of the database is full: {0}")]
    DiskFull(String),
    /// An error of PostgreSQL, or why no connection could be made.
    #[error("PostgreSQL: {0}")]
    Postgres(String),
    /// PostgreSQL did not respond in time. It is not known whether the change was committed.
    #[error(
        "PostgreSQL did not answer within {seconds} s; the node gave up the connection, and a change that it made on it \
         may or may not have been saved. Is the server overloaded, stopped, or waiting for its disk or a standby?"
    )]
    Unanswered {
        /// The time waited, in seconds.
        seconds: u64,
    },
    /// The URL of the database can't be used.
    #[error("the database's address: {0}")]
    Address(String),
    /// The database can't be used as it is. The text says what to do.
    #[error("{0}")]
    Unsupported(String),
    /// A migration failed.
    #[error("migrating the tables failed: {0}")]
    Migration(String),
    /// Another process has not finished creating or migrating the database in time.
    #[error(
        "another process{holder} has been creating or migrating the database for more than {seconds} s. Wait until it \
         has finished, or end it, then try again"
    )]
    MigrationLocked {
        /// The process that holds the lock, such as ` (process 17)`; empty if unknown.
        holder: String,
        /// The time waited, in seconds.
        seconds: u64,
    },
    /// A command does not upgrade tables of an older version.
    #[error(
        "{tables} have version {found}, and this lotwire needs version {needed}. Its server upgrades them: start \
         `lotwire serve` with this version first"
    )]
    TablesAreOlder {
        /// The tables and their database.
        tables: String,
        /// Version of the tables.
        found: i32,
        /// Version that this program needs.
        needed: i32,
    },
    /// A lock file can't be opened, locked or written.
    #[error("locking {path} failed: {source}")]
    LockFile {
        /// The lock file.
        path: String,
        /// The error of the operating system.
        source: Arc<std::io::Error>,
    },
    /// A temporary folder can't be created.
    #[error("creating a temporary folder failed: {0}")]
    TemporaryFolder(#[source] Arc<std::io::Error>),
    /// A thread can't be started.
    #[error("starting a thread failed: {0}")]
    Thread(#[source] Arc<std::io::Error>),
    /// The job panicked; its changes were rolled back.
    #[error("a database job panicked: {0}")]
    Panicked(String),
    /// The engine has been closed.
    #[error("the database is closed")]
    Closed,
}

impl From<rusqlite::Error> for EngineError {
    fn from(error: rusqlite::Error) -> Self {
        if sqlite::is_damage(&error) {
            return EngineError::Damaged(error.to_string());
        }
        // SQLite reports a full disk as an I/O error while it enlarges the file of shared memory, the first one that it opens.
        let no_shared_memory = error.sqlite_extended_error_code() == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE);
        if no_shared_memory || error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull) {
            return EngineError::DiskFull(error.to_string());
        }
        EngineError::Sqlite(Arc::new(error))
    }
}
