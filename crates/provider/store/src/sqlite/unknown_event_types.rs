//! Event types that accepted messages had, but that are not registered.

use jiff::Timestamp;
use provider_core::model::UnknownEventType;
use provider_core::port::UNKNOWN_EVENT_TYPES_MAX;
use rusqlite::{Connection, Row, params};

use super::rows::{self, SqlResult, ms, sql_limit};

pub(super) fn record(db: &Connection, counted: &[UnknownEventType], forget_before: Timestamp) -> SqlResult<()> {
    for new in counted {
        let forget = "DELETE FROM unknown_event_types WHERE account = ?1 AND last_at < ?2";
        db.prepare_cached(forget)?.execute((&*new.account, ms(forget_before)))?;
        let add = "INSERT INTO unknown_event_types (account, name, key, key_name, messages, first_at, last_at) \
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 \
             WHERE EXISTS (SELECT 1 FROM unknown_event_types WHERE account = ?1 AND name = ?2 AND key = ?3) \
             OR (SELECT count(*) FROM unknown_event_types WHERE account = ?1) < ?8 \
             ON CONFLICT (account, name, key) DO UPDATE SET messages = messages + excluded.messages, \
             key_name = excluded.key_name, last_at = max(last_at, excluded.last_at)";
        let values = params![
            &*new.account,
            new.name,
            &*new.key,
            new.key_name,
            i64::try_from(new.messages).unwrap_or(i64::MAX),
            ms(new.first_at),
            ms(new.last_at),
            sql_limit(UNKNOWN_EVENT_TYPES_MAX)
        ];
        db.prepare_cached(add)?.execute(values)?;
    }
    Ok(())
}

pub(super) fn list(db: &Connection, account: &str, limit: usize) -> SqlResult<Vec<UnknownEventType>> {
    let select = "SELECT u.account, u.name, u.key, u.key_name, u.messages, u.first_at, u.last_at \
         FROM unknown_event_types u WHERE u.account = ?1 \
         AND NOT EXISTS (SELECT 1 FROM event_types t WHERE t.account = u.account AND t.name = u.name) \
         ORDER BY u.last_at DESC, u.name, u.key LIMIT ?2";
    let mut statement = db.prepare_cached(select)?;
    let mut found = statement.query((account, sql_limit(limit)))?;
    let mut listed = Vec::new();
    while let Some(row) = found.next()? {
        listed.push(read(row)?);
    }
    Ok(listed)
}

/// Deletes the rows of an event type that is registered now.
pub(super) fn forget(db: &Connection, account: &str, name: &str) -> SqlResult<()> {
    let delete = "DELETE FROM unknown_event_types WHERE account = ?1 AND name = ?2";
    db.prepare_cached(delete)?.execute((account, name))?;
    Ok(())
}

fn read(row: &Row<'_>) -> SqlResult<UnknownEventType> {
    Ok(UnknownEventType {
        account: rows::id(row, 0)?,
        name: row.get(1)?,
        key: rows::id(row, 2)?,
        key_name: row.get(3)?,
        messages: rows::count(row, 4)? as u64,
        first_at: rows::time(row, 5)?,
        last_at: rows::time(row, 6)?,
    })
}
