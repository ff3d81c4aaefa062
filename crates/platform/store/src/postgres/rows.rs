//! Runs statements and decodes their rows into the platform's types.

use std::borrow::Cow;

use jiff::Timestamp;
use kit_engine::EngineError;
use kit_engine::postgres::{Connection, HasStatementError, StatementError, describe_error};
use platform_core::port::{Page, StoreError};
use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, ToSql};
use uuid::Uuid;

use crate::codec;

/// Why a statement, or the job that contains it, failed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(super) enum SqlError {
    Store(#[from] StoreError),
    Statement(tokio_postgres::Error),
    Engine(#[from] EngineError),
}

pub(super) type SqlResult<T> = Result<T, SqlError>;

pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

impl From<SqlError> for StoreError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Store(error) => error,
            SqlError::Statement(error) => store_error(error.into()),
            SqlError::Engine(error) => store_error(error),
        }
    }
}

/// The store's error for an error of the engine.
fn store_error(error: EngineError) -> StoreError {
    match error {
        EngineError::DiskFull(text) => StoreError::DiskFull(text),
        refusal @ (EngineError::Unsupported(_) | EngineError::TablesAreOlder { .. }) => {
            StoreError::Unusable(refusal.to_string())
        }
        error => StoreError::Unavailable(error.to_string()),
    }
}

impl From<StatementError> for SqlError {
    fn from(error: StatementError) -> Self {
        match error {
            StatementError::Statement(error) => Self::Statement(error),
            StatementError::Engine(error) => Self::Engine(error),
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
    /// Turns a violated unique constraint into `Taken` with the name of the field.
    pub(super) fn or_taken(self, field: &'static str) -> Self {
        match self.taken() {
            Some(_) => StoreError::Taken(field).into(),
            None => self,
        }
    }

    /// The unique constraint that the statement violated. PostgreSQL has aborted the transaction.
    pub(super) fn taken(&self) -> Option<&str> {
        let error = self.statement_error()?.as_db_error()?;
        (*error.code() == SqlState::UNIQUE_VIOLATION).then(|| error.constraint().unwrap_or_default())
    }
}

pub(super) async fn one<T>(
    db: &impl Connection,
    sql: &str,
    values: Values<'_>,
    row: impl Fn(&Row) -> SqlResult<T>,
) -> SqlResult<Option<T>> {
    let statement = db.prepare_cached(sql).await?;
    db.query(&statement, values).await?.first().map(row).transpose()
}

pub(super) async fn list<T>(
    db: &impl Connection,
    sql: &str,
    values: Values<'_>,
    row: impl Fn(&Row) -> SqlResult<T>,
) -> SqlResult<Vec<T>> {
    let statement = db.prepare_cached(sql).await?;
    db.query(&statement, values).await?.iter().map(row).collect()
}

pub(super) async fn execute(db: &impl Connection, sql: &str, values: Values<'_>) -> SqlResult<u64> {
    let statement = db.prepare_cached(sql).await?;
    Ok(db.execute(&statement, values).await?)
}

/// Removes NUL, which PostgreSQL can't store, from a text of another party, such as a provider's response.
pub(super) fn foreign_text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

pub(super) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// A column. `Corrupt` when it holds a value of another type.
pub(super) fn get<'row, T: FromSql<'row>>(row: &'row Row, column: usize) -> SqlResult<T> {
    Ok(row.try_get(column).map_err(|error| codec::corrupt(describe_error(&error)))?)
}

pub(super) fn time(row: &Row, column: usize) -> SqlResult<Timestamp> {
    Ok(codec::time(get(row, column)?)?)
}

pub(super) fn optional_time(row: &Row, column: usize) -> SqlResult<Option<Timestamp>> {
    Ok(get::<Option<i64>>(row, column)?.map(codec::time).transpose()?)
}

/// An optional column whose value is not negative and fits.
pub(super) fn optional_u32(row: &Row, column: usize) -> SqlResult<Option<u32>> {
    Ok(get::<Option<i64>>(row, column)?.map(u32::try_from).transpose().map_err(codec::corrupt)?)
}

/// A column that can't be negative.
pub(super) fn count(row: &Row, column: usize) -> SqlResult<u64> {
    Ok(get::<i64>(row, column)?.unsigned_abs())
}

pub(super) fn json<T: DeserializeOwned>(row: &Row, column: usize) -> SqlResult<T> {
    Ok(codec::from_json(get(row, column)?)?)
}

/// The key that a page begins after. The nil UUID comes before every key.
pub(super) fn after(page: Page<Uuid>) -> Uuid {
    page.after.unwrap_or(Uuid::nil())
}
