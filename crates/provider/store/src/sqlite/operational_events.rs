//! Operational events, written in the transaction of the change that they report.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::operational::events::{DisabledBy, OperationalEventKind, Subject};
use provider_core::operational::hidden_account;
use provider_core::port::{AttemptEvent, AttemptRecord, OperationalEvent, OperationalEventStore, StoreResult};
use rusqlite::Connection;

use super::SqliteStore;
use super::rows::{self, SqlResult};

#[async_trait]
impl OperationalEventStore for SqliteStore {
    async fn operational_events(&self, limit: usize) -> StoreResult<Vec<OperationalEvent>> {
        self.read(move |db| {
            let select = "SELECT no, account, event_type, payload FROM operational_events ORDER BY no LIMIT ?1";
            let mut statement = db.prepare_cached(select)?;
            let mut found = statement.query([i64::try_from(limit).unwrap_or(i64::MAX)])?;
            let mut events = Vec::new();
            while let Some(row) = found.next()? {
                events.push(OperationalEvent {
                    no: row.get(0)?,
                    account: rows::id(row, 1)?,
                    event_type: row.get(2)?,
                    payload: row.get::<_, String>(3)?.into(),
                });
            }
            Ok(events)
        })
        .await
    }

    async fn delete_operational_events(&self, numbers: Vec<i64>) -> StoreResult<()> {
        self.write(move |db| {
            let mut delete = db.prepare_cached("DELETE FROM operational_events WHERE no = ?1")?;
            numbers.iter().try_for_each(|no| Ok(delete.execute([no]).map(drop)?))
        })
        .await
    }
}

/// Inserts an event about an endpoint if its account has an operational application.
pub(super) fn insert_event(
    db: &Connection,
    application: &str,
    endpoint: &str,
    endpoint_uid: Option<&str>,
    happening: OperationalEventKind<'_>,
) -> SqlResult<()> {
    let Some((account, application_uid)) = subscribed_account(db, application)? else { return Ok(()) };
    let subject = Subject { application, application_uid: application_uid.as_deref(), endpoint, endpoint_uid };
    let Some((event_type, payload)) = happening.message(subject) else { return Ok(()) };
    let insert = "INSERT INTO operational_events (account, event_type, payload) VALUES (?1, ?2, ?3)";
    db.prepare_cached(insert)?.execute((account, event_type, payload))?;
    Ok(())
}

/// The account and the uid of the application; `None` when the account has no operational application.
fn subscribed_account(db: &Connection, application: &str) -> SqlResult<Option<(String, Option<String>)>> {
    let select = "SELECT account, uid FROM applications WHERE id = ?1";
    let found = rows::one(db, select, [application], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
    let Some((account, uid)) = found else { return Ok(None) };
    let listens = "SELECT 1 FROM applications WHERE account = ?1";
    let listens = db.prepare_cached(listens)?.exists([&*hidden_account(&account)])?;
    Ok(listens.then_some((account, uid)))
}

/// Inserts the event that an endpoint was disabled after failures.
pub(super) fn insert_disabled_event(
    db: &Connection,
    application: &str,
    endpoint: &str,
    fail_since: Option<Timestamp>,
) -> SqlResult<()> {
    let uid = rows::one(db, "SELECT uid FROM endpoints WHERE id = ?1", [endpoint], |row| Ok(row.get(0)?))?;
    let uid: Option<String> = uid.flatten();
    let disabled = OperationalEventKind::Disabled { fail_since, by: DisabledBy::Failures };
    insert_event(db, application, endpoint, uid.as_deref(), disabled)
}

/// Inserts the events that follow from an attempt.
pub(super) fn insert_notice_event(db: &Connection, record: &AttemptRecord) -> SqlResult<()> {
    if record.notice == AttemptEvent::None {
        return Ok(());
    }
    let attempt = &record.attempt;
    let select = "SELECT event_id FROM messages WHERE application = ?1 AND id = ?2";
    let event_id = rows::one(db, select, (&*attempt.application, &*attempt.message), |row| Ok(row.get(0)?))?;
    let event_id: Option<String> = event_id.flatten();
    let happening = OperationalEventKind::Attempt { notice: record.notice, attempt, event_id: event_id.as_deref() };
    insert_event(db, &attempt.application, &attempt.endpoint, None, happening)
}
