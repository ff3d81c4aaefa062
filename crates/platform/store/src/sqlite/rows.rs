//! Rows of the tables as the platform's own types, and what can go wrong on the way.

use jiff::Timestamp;
use platform_core::port::{Page, StoreError, StoreResult};
use rusqlite::{Connection, ErrorCode, Params, Row};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::codec;
use kit_engine::EngineError;

/// Why a statement, or the job that it is part of, failed.
#[derive(Debug)]
pub(super) enum SqlError {
    /// The answer of the port.
    Store(StoreError),
    /// A statement's own error.
    Statement(rusqlite::Error),
    /// The engine's error.
    Engine(EngineError),
}

pub(super) type SqlResult<T> = Result<T, SqlError>;

impl From<StoreError> for SqlError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> Self {
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
            SqlError::Statement(
                error @ (rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)),
            ) => Self::Corrupt(error.to_string()),
            SqlError::Statement(error) => Self::Unavailable(error.to_string()),
            SqlError::Engine(error) => Self::Unavailable(error.to_string()),
        }
    }
}

impl SqlError {
    /// `Taken` of this field when it is a unique value that is taken.
    pub(super) fn or_taken(self, field: &'static str) -> Self {
        match self {
            Self::Statement(error) if is_constraint(&error) => StoreError::Taken(field).into(),
            other => other,
        }
    }
}

/// True when an existing row violates a constraint with the new one. The statement had no effect.
pub(super) fn is_constraint(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

/// The first row found.
pub(super) fn one<T>(
    db: &Connection,
    sql: &str,
    params: impl Params,
    row: impl FnOnce(&Row<'_>) -> SqlResult<T>,
) -> SqlResult<Option<T>> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    rows.next()?.map(row).transpose()
}

/// All rows found.
pub(super) fn list<T>(
    db: &Connection,
    sql: &str,
    params: impl Params,
    row: impl Fn(&Row<'_>) -> SqlResult<T>,
) -> SqlResult<Vec<T>> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(next) = rows.next()? {
        found.push(row(next)?);
    }
    Ok(found)
}

/// Does one statement; the number of rows that it changed.
pub(super) fn execute(db: &Connection, sql: &str, params: impl Params) -> SqlResult<usize> {
    Ok(db.prepare_cached(sql)?.execute(params)?)
}

/// A limit as SQL takes it.
pub(super) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(super) fn uuid(row: &Row<'_>, column: usize) -> SqlResult<Uuid> {
    Ok(Uuid::from_bytes(row.get(column)?))
}

pub(super) fn time(row: &Row<'_>, column: usize) -> SqlResult<Timestamp> {
    Ok(codec::time(row.get(column)?)?)
}

pub(super) fn optional_time(row: &Row<'_>, column: usize) -> SqlResult<Option<Timestamp>> {
    let ms: Option<i64> = row.get(column)?;
    Ok(ms.map(codec::time).transpose()?)
}

pub(super) fn text<'row>(row: &'row Row<'_>, column: usize) -> SqlResult<&'row str> {
    let text: StoreResult<&str> = row.get_ref(column)?.as_str().map_err(codec::corrupt);
    Ok(text?)
}

/// What a column keeps as JSON.
pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> SqlResult<T> {
    Ok(codec::from_json(text(row, column)?)?)
}

/// The keys of the page, of all that were found.
pub(super) fn first_page<K: Ord>(mut found: Vec<K>, page: Page<K>) -> Vec<K> {
    found.sort_unstable();
    found.truncate(page.limit);
    found
}

/// The key that a page begins after; nothing has the nil UUID.
pub(super) fn after(page: Page<Uuid>) -> Uuid {
    page.after.unwrap_or(Uuid::nil())
}
