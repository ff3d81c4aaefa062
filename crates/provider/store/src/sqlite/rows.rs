//! Runs statements and decodes their rows into the provider's types.

use jiff::Timestamp;
use kit_engine::EngineError;
use kit_engine::sqlite::is_decoding_error;
use provider_core::model::{Account, AccountSettings, ApiKey, Application, Attempt, Endpoint, EventType, Id, Message};
use provider_core::ordering::OrderingKey;
use provider_core::port::{Answer, StoreError, StoreResult};
use rusqlite::types::{FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, Params, Row};

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
pub(super) fn check_limit(db: &Connection, count: &str, owner: &str, max: usize) -> SqlResult<()> {
    let limit = i64::try_from(max).unwrap_or(i64::MAX).saturating_add(1);
    let row_count: i64 = db.prepare_cached(count)?.query_row((owner, limit), |row| row.get(0))?;
    if row_count >= limit { Err(StoreError::LimitReached.into()) } else { Ok(()) }
}

/// Why a statement, or the job that contains it, failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SqlError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Statement(#[from] rusqlite::Error),
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Some attempts of a batch were recorded before, and it is not known which: the job is repeated.
    #[error("attempts were recorded before")]
    RecordedBefore,
}

pub(super) type SqlResult<T> = Result<T, SqlError>;

impl From<SqlError> for StoreError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Store(error) => error,
            SqlError::Statement(error) if is_decoding_error(&error) => Self::Corrupt(error.to_string()),
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

pub(super) fn one<T>(
    db: &Connection,
    sql: &str,
    params: impl Params,
    row: impl FnMut(&Row<'_>) -> SqlResult<T>,
) -> SqlResult<Option<T>> {
    db.prepare_cached(sql)?.query_and_then(params, row)?.next().transpose()
}

/// One page of the rows of `owner`. `select` ends with a condition on its first parameter.
pub(super) fn list<T>(
    db: &Connection,
    select: &str,
    key: &str,
    owner: &str,
    page_query: &PageQuery,
    row: impl Fn(&Row<'_>) -> SqlResult<T>,
) -> SqlResult<Vec<T>> {
    let mut statement = db.prepare_cached(&format!("{select}{}", page_query.sql(key)))?;
    let found =
        statement.query_and_then((owner, &page_query.from, page_query.limit), row)?.collect::<SqlResult<_>>()?;
    Ok(page_query.in_order(found))
}

/// Milliseconds since 1970.
pub(super) fn ms(at: Timestamp) -> i64 {
    at.as_millisecond()
}

pub(super) fn time(row: &Row<'_>, column: usize) -> SqlResult<Timestamp> {
    Ok(Timestamp::from_millisecond(row.get(column)?).map_err(codec::corrupt)?)
}

/// A number of rows.
pub(super) fn count(row: &Row<'_>, column: usize) -> SqlResult<usize> {
    Ok(usize::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

pub(super) fn id(row: &Row<'_>, column: usize) -> SqlResult<Id> {
    Ok(Id::from(text(row, column)?))
}

pub(super) fn text<'row>(row: &'row Row<'_>, column: usize) -> SqlResult<&'row str> {
    Ok(typed(row.get_ref(column)?.as_str(), column)?)
}

/// The ordering key of a delivery row.
pub(super) fn ordering_key(row: &Row<'_>, column: usize) -> SqlResult<Option<OrderingKey>> {
    Ok(optional_text(row, column)?.map(OrderingKey::kept))
}

pub(super) fn optional_text<'row>(row: &'row Row<'_>, column: usize) -> SqlResult<Option<&'row str>> {
    Ok(typed(row.get_ref(column)?.as_str_or_null(), column)?)
}

fn typed<T>(value: FromSqlResult<T>, column: usize) -> StoreResult<T> {
    value.map_err(|error: FromSqlError| codec::corrupt(format_args!("column {column}: {error}")))
}

pub(super) fn optional_time(row: &Row<'_>, column: usize) -> SqlResult<Option<Timestamp>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => time(row, column).map(Some),
    }
}

pub(super) fn account(row: &Row<'_>) -> SqlResult<Account> {
    let settings = AccountSettings {
        payload_check: codec::payload_check(text(row, 3)?)?,
        requests_per_second_max: row.get(4)?,
        endpoints_max: row.get(5)?,
        unknown_event_types: codec::unknown_event_types(text(row, 6)?)?,
    };
    Ok(Account { id: id(row, 0)?, name: row.get(1)?, settings, created_at: time(row, 2)? })
}

pub(super) fn api_key(row: &Row<'_>) -> SqlResult<ApiKey> {
    Ok(ApiKey {
        id: id(row, 0)?,
        account: id(row, 1)?,
        name: row.get(2)?,
        hash: row.get(3)?,
        created_at: time(row, 4)?,
        expires_at: optional_time(row, 5)?,
        last_used_at: optional_time(row, 6)?,
        last_used_from: row.get(7)?,
        scopes: optional_text(row, 8)?.map(codec::key_scopes).transpose()?,
    })
}

/// Reads the columns `application, message, status, body`, which begin at `column`.
pub(super) fn answer(row: &Row<'_>, column: usize) -> SqlResult<Answer> {
    match optional_text(row, column)? {
        Some(application) => Ok(Answer::Message { application: Id::from(application), message: id(row, column + 1)? }),
        None => Ok(Answer::Body { status: row.get(column + 2)?, body: row.get(column + 3)? }),
    }
}

pub(super) const APPLICATION: &str =
    "SELECT id, account, uid, name, throttle_rate, metadata, version, created_at, updated_at, purges FROM applications";

pub(super) fn application(row: &Row<'_>) -> SqlResult<Application> {
    Ok(Application {
        id: id(row, 0)?,
        account: id(row, 1)?,
        uid: row.get(2)?,
        name: row.get(3)?,
        throttle_rate: row.get(4)?,
        metadata: codec::from_json(text(row, 5)?)?,
        version: row.get(6)?,
        created_at: time(row, 7)?,
        updated_at: time(row, 8)?,
        purges: row.get(9)?,
    })
}

pub(super) const EVENT_TYPE: &str = "SELECT account, name, description, archived, deprecated, schemas, feature_flags, \
     group_name, created_at, updated_at FROM event_types";

pub(super) fn event_type(row: &Row<'_>) -> SqlResult<EventType> {
    Ok(EventType {
        account: id(row, 0)?,
        name: row.get(1)?,
        description: row.get(2)?,
        archived: row.get(3)?,
        deprecated: row.get(4)?,
        schemas: codec::optional_from_json(optional_text(row, 5)?)?,
        feature_flags: codec::from_json(text(row, 6)?)?,
        group_name: row.get(7)?,
        created_at: time(row, 8)?,
        updated_at: time(row, 9)?,
    })
}

pub(super) const ENDPOINT: &str = "SELECT id, application, uid, url, filter_types, disabled, disabled_at, failing_since, \
     ordering, created_at, updated_at, sealed, state, description FROM endpoints";

pub(super) fn endpoint(row: &Row<'_>) -> SqlResult<Endpoint> {
    let columns = EndpointColumns {
        id: id(row, 0)?,
        application: id(row, 1)?,
        uid: row.get(2)?,
        url: row.get(3)?,
        filter_types: optional_text(row, 4)?,
        disabled: row.get(5)?,
        disabled_at: optional_time(row, 6)?,
        failing_since: optional_time(row, 7)?,
        ordering: row.get(8)?,
        created_at: time(row, 9)?,
        updated_at: time(row, 10)?,
        sealed: text(row, 11)?,
        state: text(row, 12)?,
        description: row.get(13)?,
    };
    Ok(columns.into_endpoint()?)
}

/// The columns that [`message`] reads from the table `m`. See also [`without_payload`].
pub(super) const MESSAGE: &str = "m.id, m.application, m.event_type, m.event_id, m.payload, m.traceparent, m.channels, \
     m.tags, m.created_at, m.payload_expires_at, m.deliver_at, m.sent_by";

/// [`MESSAGE`] without the columns at the end of the row: the payload, and what stands behind it.
pub(super) fn without_payload() -> String {
    MESSAGE.replace("m.payload, m.traceparent,", "NULL, NULL,")
}

/// Columns of [`MESSAGE`].
pub(super) const MESSAGE_COLUMNS: usize = 12;

pub(super) fn message(row: &Row<'_>) -> SqlResult<Message> {
    Ok(Message {
        id: id(row, 0)?,
        application: id(row, 1)?,
        event_type: text(row, 2)?.into(),
        event_id: row.get(3)?,
        payload: row.get::<_, Option<Vec<u8>>>(4)?.map(Into::into),
        trace_parent: codec::trace_parent(optional_text(row, 5)?),
        channels: codec::optional_from_json(optional_text(row, 6)?)?,
        tags: codec::optional_from_json(optional_text(row, 7)?)?,
        created_at: time(row, 8)?,
        payload_expires_at: time(row, 9)?,
        deliver_at: optional_time(row, 10)?,
        sent_by: optional_text(row, 11)?.map(Into::into),
    })
}

/// The columns that [`attempt`] reads from the table `a`.
pub(super) const ATTEMPT: &str = "a.id, a.message, a.endpoint, a.url, a.status, a.response_status_code, a.response, \
     a.response_duration_ms, a.trigger, a.began_at, a.failure_detail, a.response_headers, a.times";

pub(super) fn attempt(row: &Row<'_>, application: &str) -> SqlResult<Attempt> {
    Ok(Attempt {
        id: id(row, 0)?,
        message: id(row, 1)?,
        endpoint: id(row, 2)?,
        application: application.into(),
        url: row.get(3)?,
        status: codec::status(row.get(4)?)?,
        response_status_code: row.get(5)?,
        response: row.get(6)?,
        failure_detail: codec::optional_from_json(optional_text(row, 10)?)?,
        response_headers: optional_text(row, 11)?.unwrap_or_default().to_owned(),
        response_duration_ms: row.get(7)?,
        times: codec::optional_from_json(optional_text(row, 12)?)?,
        trigger: codec::trigger(row.get(8)?)?,
        at: time(row, 9)?,
    })
}

pub(super) fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
