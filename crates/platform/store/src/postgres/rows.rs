//! Rows of the tables as the platform's own types, and what can go wrong on the way.

use std::borrow::Cow;

use deadpool_postgres::GenericClient;
use jiff::Timestamp;
use platform_core::port::{Page, StoreError};
use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, ToSql};
use uuid::Uuid;

use crate::codec;
use kit_engine::EngineError;
use kit_engine::postgres::{HasStatementError, describe_error};

/// Why a statement, or the job that it is part of, failed.
#[derive(Debug)]
pub(super) enum SqlError {
    /// The answer of the port.
    Store(StoreError),
    /// A statement's own error.
    Statement(tokio_postgres::Error),
    /// The engine's error.
    Engine(EngineError),
}

pub(super) type SqlResult<T> = Result<T, SqlError>;

/// Values of a statement.
pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

impl From<StoreError> for SqlError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<tokio_postgres::Error> for SqlError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Statement(error)
    }
}

impl From<EngineError> for SqlError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<SqlError> for StoreError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Store(error) => error,
            SqlError::Statement(error) => Self::Unavailable(describe_error(&error)),
            SqlError::Engine(error) => Self::Unavailable(error.to_string()),
        }
    }
}

impl HasStatementError for SqlError {
    fn statement_error(&self) -> Option<&tokio_postgres::Error> {
        match self {
            Self::Statement(error) => Some(error),
            Self::Store(_) | Self::Engine(_) => None,
        }
    }
}

impl SqlError {
    /// `Taken` of this field when it is a unique value that is taken.
    pub(super) fn or_taken(self, field: &'static str) -> Self {
        match self.taken() {
            Some(_) => StoreError::Taken(field).into(),
            None => self,
        }
    }

    /// The unique constraint that a row was refused by. The transaction is over.
    pub(super) fn taken(&self) -> Option<&str> {
        let error = self.statement_error()?.as_db_error()?;
        (*error.code() == SqlState::UNIQUE_VIOLATION).then(|| error.constraint().unwrap_or_default())
    }
}

/// The first row found.
pub(super) async fn one<T>(
    db: &impl GenericClient,
    sql: &str,
    values: Values<'_>,
    row: impl Fn(&Row) -> SqlResult<T>,
) -> SqlResult<Option<T>> {
    let statement = db.prepare_cached(sql).await?;
    db.query(&statement, values).await?.first().map(row).transpose()
}

/// All rows found.
pub(super) async fn list<T>(
    db: &impl GenericClient,
    sql: &str,
    values: Values<'_>,
    row: impl Fn(&Row) -> SqlResult<T>,
) -> SqlResult<Vec<T>> {
    let statement = db.prepare_cached(sql).await?;
    db.query(&statement, values).await?.iter().map(row).collect()
}

/// Does one statement; the number of rows that it changed.
pub(super) async fn execute(db: &impl GenericClient, sql: &str, values: Values<'_>) -> SqlResult<u64> {
    let statement = db.prepare_cached(sql).await?;
    Ok(db.execute(&statement, values).await?)
}

/// What others wrote, such as a provider's answer, as a text of PostgreSQL's, which has no place for a NUL.
pub(super) fn foreign_text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

/// A limit as SQL takes it.
pub(super) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// A column; `Corrupt` when it holds something else.
pub(super) fn get<'row, T: FromSql<'row>>(row: &'row Row, column: usize) -> SqlResult<T> {
    Ok(row.try_get(column).map_err(|error| codec::corrupt(describe_error(&error)))?)
}

pub(super) fn time(row: &Row, column: usize) -> SqlResult<Timestamp> {
    Ok(codec::time(get(row, column)?)?)
}

pub(super) fn optional_time(row: &Row, column: usize) -> SqlResult<Option<Timestamp>> {
    Ok(get::<Option<i64>>(row, column)?.map(codec::time).transpose()?)
}

/// A column that can't be negative.
pub(super) fn count(row: &Row, column: usize) -> SqlResult<u64> {
    Ok(get::<i64>(row, column)?.unsigned_abs())
}

/// What a column keeps as JSON.
pub(super) fn json<T: DeserializeOwned>(row: &Row, column: usize) -> SqlResult<T> {
    Ok(codec::from_json(get(row, column)?)?)
}

/// The key that a page begins after; nothing has the nil UUID.
pub(super) fn after(page: Page<Uuid>) -> Uuid {
    page.after.unwrap_or(Uuid::nil())
}
