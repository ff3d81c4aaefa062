//! Event types that accepted messages had, but that are not registered.

use jiff::Timestamp;
use provider_core::model::UnknownEventType;
use provider_core::port::{StoreResult, UNKNOWN_EVENT_TYPES_MAX};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::rows::{self, Client, SqlResult, sql_limit};

/// The rows have an order, so that two nodes do not deadlock.
pub(super) async fn record(db: &impl Client, counted: &[UnknownEventType], forget_before: Timestamp) -> SqlResult<()> {
    for new in counted {
        let forget = "DELETE FROM unknown_event_types WHERE account = $1 AND last_at < $2";
        rows::write(db, forget, &[&&*new.account, &forget_before]).await?;
        let add = "INSERT INTO unknown_event_types AS u (account, name, key, key_name, messages, first_at, last_at) \
             SELECT $1, $2, $3, $4, $5, $6, $7 \
             WHERE EXISTS (SELECT 1 FROM unknown_event_types WHERE account = $1 AND name = $2 AND key = $3) \
             OR (SELECT count(*) FROM unknown_event_types WHERE account = $1) < $8 \
             ON CONFLICT (account, name, key) DO UPDATE SET messages = u.messages + excluded.messages, \
             key_name = excluded.key_name, last_at = greatest(u.last_at, excluded.last_at)";
        let values: [&(dyn ToSql + Sync); 8] = [
            &&*new.account,
            &new.name,
            &&*new.key,
            &new.key_name,
            &i64::try_from(new.messages).unwrap_or(i64::MAX),
            &new.first_at,
            &new.last_at,
            &sql_limit(UNKNOWN_EVENT_TYPES_MAX),
        ];
        rows::write(db, add, &values).await?;
    }
    Ok(())
}

pub(super) async fn list(db: &impl Client, account: &str, limit: usize) -> SqlResult<Vec<UnknownEventType>> {
    let select = "SELECT u.account, u.name, u.key, u.key_name, u.messages, u.first_at, u.last_at \
         FROM unknown_event_types u WHERE u.account = $1 \
         AND NOT EXISTS (SELECT 1 FROM event_types t WHERE t.account = u.account AND t.name = u.name) \
         ORDER BY u.last_at DESC, u.name, u.key LIMIT $2";
    rows::all(db, select, &[&account, &sql_limit(limit)], read).await
}

/// Deletes the rows of an event type that is registered now.
pub(super) async fn forget(db: &impl Client, account: &str, name: &str) -> SqlResult<()> {
    let delete = "DELETE FROM unknown_event_types WHERE account = $1 AND name = $2";
    rows::write(db, delete, &[&account, &name]).await.map(drop)
}

fn read(row: &Row) -> StoreResult<UnknownEventType> {
    Ok(UnknownEventType {
        account: rows::id(row, 0)?,
        name: rows::get(row, 1)?,
        key: rows::id(row, 2)?,
        key_name: rows::get(row, 3)?,
        messages: u64::try_from(rows::get::<i64>(row, 4)?).unwrap_or_default(),
        first_at: rows::get(row, 5)?,
        last_at: rows::get(row, 6)?,
    })
}
