//! Runs statements and decodes their rows into the provider's types.

use kit_engine::EngineError;
use kit_engine::postgres::{Connection, HasStatementError, StatementError};
use provider_core::model::{Account, AccountSettings, ApiKey, Application, Attempt, Endpoint, EventType, Id, Message};
use provider_core::ordering::OrderingKey;
use provider_core::port::{Answer, StoreError, StoreResult};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql};

use crate::codec::{self, PageQuery};
use crate::endpoint_codec::EndpointColumns;

pub(super) fn check_unchanged<T: PartialEq>(found: Option<T>, old: &T) -> SqlResult<()> {
    match found {
        None => Err(StoreError::NotFound.into()),
        Some(found) if found == *old => Ok(()),
        Some(_) => Err(StoreError::Conflict.into()),
    }
}

/// `LimitReached` when the owner has more than `max` rows, including the inserted row. `count` is the counting
/// statement.
pub(super) async fn check_limit(db: &impl Client, count: &str, owner: &str, max: usize) -> SqlResult<()> {
    let limit = i64::try_from(max).unwrap_or(i64::MAX).saturating_add(1);
    let row_count = one(db, count, &[&owner, &limit], |row| get::<i64>(row, 0)).await?.unwrap_or(0);
    if row_count >= limit { Err(StoreError::LimitReached.into()) } else { Ok(()) }
}

/// A connection, inside a transaction or not.
pub(super) trait Client: Connection {}

impl<C: Connection> Client for C {}

/// Why a statement, or the job that contains it, failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SqlError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Statement(tokio_postgres::Error),
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Some attempts of a batch were recorded before, and it is not known which: the transaction is repeated.
    #[error("attempts were recorded before")]
    RecordedBefore,
}

pub(super) type SqlResult<T> = Result<T, SqlError>;

impl From<SqlError> for StoreError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Store(error) => error,
            // Another transaction inserted the uid after this call had checked that it was free.
            SqlError::Statement(error) if constraint(&error).is_some_and(|name| name.ends_with("_by_uid")) => {
                Self::Taken("uid")
            }
            SqlError::Statement(error) => store_error(error.into()),
            SqlError::Engine(error) => store_error(error),
            SqlError::RecordedBefore => Self::Unavailable(error.to_string()),
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

fn constraint(error: &tokio_postgres::Error) -> Option<&str> {
    error.as_db_error()?.constraint()
}

impl HasStatementError for SqlError {
    fn statement_error(&self) -> Option<&tokio_postgres::Error> {
        match self {
            Self::Statement(error) => Some(error),
            Self::Store(_) | Self::Engine(_) | Self::RecordedBefore => None,
        }
    }
}

pub(super) async fn one<T>(
    db: &impl Client,
    sql: &str,
    params: &[&(dyn ToSql + Sync)],
    row: impl FnOnce(&Row) -> StoreResult<T>,
) -> SqlResult<Option<T>> {
    let statement = db.prepare_cached(sql).await?;
    let found = db.query_opt(&statement, params).await?;
    Ok(found.as_ref().map(row).transpose()?)
}

pub(super) async fn all<T>(
    db: &impl Client,
    sql: &str,
    params: &[&(dyn ToSql + Sync)],
    row: impl Fn(&Row) -> StoreResult<T>,
) -> SqlResult<Vec<T>> {
    let statement = db.prepare_cached(sql).await?;
    let found = db.query(&statement, params).await?;
    Ok(found.iter().map(row).collect::<StoreResult<_>>()?)
}

pub(super) async fn write(db: &impl Client, sql: &str, params: &[&(dyn ToSql + Sync)]) -> SqlResult<u64> {
    let statement = db.prepare_cached(sql).await?;
    Ok(db.execute(&statement, params).await?)
}

/// One page of the rows of `owner`. `select` ends with a condition on its first parameter.
pub(super) async fn list<T>(
    db: &impl Client,
    select: &str,
    key: &str,
    owner: &str,
    page_query: &PageQuery,
    row: impl Fn(&Row) -> StoreResult<T>,
) -> SqlResult<Vec<T>> {
    let sql = format!("{select}{}", page_query.sql(key));
    let found = all(db, &sql, &[&owner, &page_query.from, &page_query.limit], row).await?;
    Ok(page_query.in_order(found))
}

pub(super) fn sql_limit(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn get<'row, T: FromSql<'row>>(row: &'row Row, column: usize) -> StoreResult<T> {
    row.try_get(column).map_err(codec::corrupt)
}

pub(super) fn id(row: &Row, column: usize) -> StoreResult<Id> {
    Ok(get::<&str>(row, column)?.into())
}

/// A column that is unsigned in the model.
pub(super) fn unsigned<T: TryFrom<i32>>(row: &Row, column: usize) -> StoreResult<T> {
    let number: i32 = get(row, column)?;
    T::try_from(number).map_err(|_| codec::corrupt(format_args!("{number} in column {column}")))
}

fn optional_unsigned<T: TryFrom<i32>>(row: &Row, column: usize) -> StoreResult<Option<T>> {
    match get::<Option<i32>>(row, column)? {
        None => Ok(None),
        Some(_) => unsigned(row, column).map(Some),
    }
}

fn optional_u32(row: &Row, column: usize) -> StoreResult<Option<u32>> {
    let number: Option<i64> = get(row, column)?;
    number.map(|number| u32::try_from(number).map_err(codec::corrupt)).transpose()
}

pub(super) fn bytes<const LENGTH: usize>(row: &Row, column: usize) -> StoreResult<[u8; LENGTH]> {
    let bytes: &[u8] = get(row, column)?;
    bytes.try_into().map_err(|_| codec::corrupt(format_args!("{} bytes in column {column}", bytes.len())))
}

pub(super) fn account(row: &Row) -> StoreResult<Account> {
    let settings = AccountSettings {
        payload_check: codec::payload_check(get(row, 3)?)?,
        requests_per_second_max: optional_u32(row, 4)?,
        endpoints_max: optional_u32(row, 5)?,
        unknown_event_types: codec::unknown_event_types(get(row, 6)?)?,
    };
    Ok(Account { id: id(row, 0)?, name: get(row, 1)?, settings, created_at: get(row, 2)? })
}

pub(super) fn api_key(row: &Row) -> StoreResult<ApiKey> {
    Ok(ApiKey {
        id: id(row, 0)?,
        account: id(row, 1)?,
        name: get(row, 2)?,
        hash: bytes(row, 3)?,
        created_at: get(row, 4)?,
        expires_at: get(row, 5)?,
        last_used_at: get(row, 6)?,
        last_used_from: get(row, 7)?,
        scopes: get::<Option<&str>>(row, 8)?.map(codec::key_scopes).transpose()?,
    })
}

/// Columns `request_hash, at, application, message, status, body`.
pub(super) fn answer(row: &Row) -> StoreResult<([u8; 32], jiff::Timestamp, Answer)> {
    let answer = match get::<Option<&str>>(row, 2)? {
        Some(application) => Answer::Message { application: application.into(), message: id(row, 3)? },
        None => Answer::Body { status: unsigned(row, 4)?, body: get(row, 5)? },
    };
    Ok((bytes(row, 0)?, get(row, 1)?, answer))
}

pub(super) const APPLICATION: &str = "a.id, a.account, a.uid, a.name, a.throttle_rate, a.metadata, a.version, \
     a.created_at, a.updated_at, a.purges";

/// Columns of [`APPLICATION`].
pub(super) const APPLICATION_COLUMNS: usize = 10;

pub(super) fn application(row: &Row) -> StoreResult<Application> {
    Ok(Application {
        id: id(row, 0)?,
        account: id(row, 1)?,
        uid: get(row, 2)?,
        name: get(row, 3)?,
        throttle_rate: optional_unsigned(row, 4)?,
        metadata: codec::from_json(get(row, 5)?)?,
        version: get(row, 6)?,
        created_at: get(row, 7)?,
        updated_at: get(row, 8)?,
        purges: get(row, 9)?,
    })
}

pub(super) const EVENT_TYPE: &str = "SELECT account, name, description, archived, deprecated, schemas, feature_flags, \
     group_name, created_at, updated_at FROM event_types";

pub(super) fn event_type(row: &Row) -> StoreResult<EventType> {
    Ok(EventType {
        account: id(row, 0)?,
        name: get(row, 1)?,
        description: get(row, 2)?,
        archived: get(row, 3)?,
        deprecated: get(row, 4)?,
        schemas: codec::optional_from_json(get(row, 5)?)?,
        feature_flags: codec::from_json(get(row, 6)?)?,
        group_name: get(row, 7)?,
        created_at: get(row, 8)?,
        updated_at: get(row, 9)?,
    })
}

pub(super) const ENDPOINT: &str = "e.id, e.application, e.uid, e.url, e.filter_types, e.disabled, e.disabled_at, \
     e.failing_since, e.ordering, e.created_at, e.updated_at, e.sealed, e.state, e.description";

/// Columns of [`ENDPOINT`].
pub(super) const ENDPOINT_COLUMNS: usize = 14;

/// The columns of [`ENDPOINT`], which begin at `from`.
pub(super) fn endpoint(row: &Row, from: usize) -> StoreResult<Endpoint> {
    let columns = EndpointColumns {
        id: id(row, from)?,
        application: id(row, from + 1)?,
        uid: get(row, from + 2)?,
        url: get(row, from + 3)?,
        filter_types: get(row, from + 4)?,
        disabled: get(row, from + 5)?,
        disabled_at: get(row, from + 6)?,
        failing_since: get(row, from + 7)?,
        ordering: get::<i16>(row, from + 8)?.into(),
        created_at: get(row, from + 9)?,
        updated_at: get(row, from + 10)?,
        sealed: get(row, from + 11)?,
        state: get(row, from + 12)?,
        description: get(row, from + 13)?,
    };
    columns.into_endpoint()
}

pub(super) const MESSAGE: &str = "m.id, m.application, m.event_type, m.event_id, m.payload, m.traceparent, m.channels, \
     m.tags, m.created_at, m.payload_expires_at, m.deliver_at, m.sent_by";

/// [`MESSAGE`] without the payload and the position in a trace, which is read with the payload only.
pub(super) fn without_payload() -> String {
    MESSAGE.replace("m.payload, m.traceparent,", "NULL::bytea, NULL::text,")
}

/// Columns of [`MESSAGE`].
pub(super) const MESSAGE_COLUMNS: usize = 12;

pub(super) fn message(row: &Row) -> StoreResult<Message> {
    Ok(Message {
        id: id(row, 0)?,
        application: id(row, 1)?,
        event_type: id(row, 2)?,
        event_id: get(row, 3)?,
        payload: get::<Option<Vec<u8>>>(row, 4)?.map(Into::into),
        trace_parent: codec::trace_parent(get(row, 5)?),
        channels: codec::optional_from_json(get(row, 6)?)?,
        tags: codec::optional_from_json(get(row, 7)?)?,
        created_at: get(row, 8)?,
        payload_expires_at: get(row, 9)?,
        deliver_at: get(row, 10)?,
        sent_by: get::<Option<&str>>(row, 11)?.map(Into::into),
    })
}

/// The ordering key of a delivery row.
pub(super) fn ordering_key(row: &Row, column: usize) -> StoreResult<Option<OrderingKey>> {
    Ok(get::<Option<&str>>(row, column)?.map(OrderingKey::kept))
}

/// The attempts column of a claimed delivery.
pub(super) fn attempts(row: &Row, column: usize) -> StoreResult<u32> {
    unsigned(row, column)
}

pub(super) const ATTEMPT: &str = "a.id, a.message, a.endpoint, a.url, a.status, a.response_status_code, a.response, \
     a.response_duration_ms, a.trigger, a.began_at, a.failure_detail, a.response_headers, a.times";

pub(super) fn attempt(row: &Row, application: &str) -> StoreResult<Attempt> {
    Ok(Attempt {
        id: id(row, 0)?,
        message: id(row, 1)?,
        endpoint: id(row, 2)?,
        application: application.into(),
        url: get(row, 3)?,
        status: codec::status(get::<i16>(row, 4)?.into())?,
        response_status_code: unsigned(row, 5)?,
        response: String::from_utf8(get(row, 6)?).map_err(codec::corrupt)?,
        failure_detail: codec::optional_from_json(get(row, 10)?)?,
        response_headers: get::<Option<String>>(row, 11)?.unwrap_or_default(),
        response_duration_ms: get(row, 7)?,
        times: codec::optional_from_json(get(row, 12)?)?,
        trigger: codec::trigger(get::<i16>(row, 8)?.into())?,
        at: get(row, 9)?,
    })
}
