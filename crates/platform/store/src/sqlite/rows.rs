//! Runs statements and decodes their rows into the platform's types.

use jiff::Timestamp;
use kit_engine::EngineError;
use kit_engine::sqlite::is_decoding_error;
use platform_core::port::{Page, StoreError, StoreResult};
use rusqlite::{Connection, ErrorCode, Params, Row};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::codec;

/// Why a statement, or the job that contains it, failed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(super) enum SqlError {
    Store(#[from] StoreError),
    Statement(#[from] rusqlite::Error),
    Engine(#[from] EngineError),
}

pub(super) type SqlResult<T> = Result<T, SqlError>;

impl From<SqlError> for StoreError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Store(error) => error,
            SqlError::Statement(error) if is_decoding_error(&error) => Self::Corrupt(error.to_string()),
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

impl SqlError {
    /// Turns a violated unique constraint into `Taken` with the name of the field.
    pub(super) fn or_taken(self, field: &'static str) -> Self {
        match self {
            Self::Statement(error) if is_constraint(&error) => StoreError::Taken(field).into(),
            other => other,
        }
    }
}

/// True when the statement would violate a constraint. It had no effect.
pub(super) fn is_constraint(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

pub(super) fn one<T>(
    db: &Connection,
    sql: &str,
    params: impl Params,
    row: impl FnMut(&Row<'_>) -> SqlResult<T>,
) -> SqlResult<Option<T>> {
    db.prepare_cached(sql)?.query_and_then(params, row)?.next().transpose()
}

pub(super) fn list<T>(
    db: &Connection,
    sql: &str,
    params: impl Params,
    row: impl Fn(&Row<'_>) -> SqlResult<T>,
) -> SqlResult<Vec<T>> {
    db.prepare_cached(sql)?.query_and_then(params, row)?.collect()
}

pub(super) fn execute(db: &Connection, sql: &str, params: impl Params) -> SqlResult<usize> {
    Ok(db.prepare_cached(sql)?.execute(params)?)
}

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

pub(super) fn optional_text<'row>(row: &'row Row<'_>, column: usize) -> SqlResult<Option<&'row str>> {
    let text: StoreResult<Option<&str>> = row.get_ref(column)?.as_str_or_null().map_err(codec::corrupt);
    Ok(text?)
}

pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> SqlResult<T> {
    Ok(codec::from_json(text(row, column)?)?)
}

/// The first keys in order, at most as many as the page has.
pub(super) fn first_page<K: Ord>(mut found: Vec<K>, page: Page<K>) -> Vec<K> {
    found.sort_unstable();
    found.truncate(page.limit);
    found
}

/// The key that a page begins after. The nil UUID comes before every key.
pub(super) fn after(page: Page<Uuid>) -> Uuid {
    page.after.unwrap_or(Uuid::nil())
}
