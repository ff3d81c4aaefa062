//! Operational events, written in the transaction of the change that they report.

use async_trait::async_trait;
use provider_core::operational::events::{OperationalEventKind, Subject};
use provider_core::operational::hidden_account;
use provider_core::port::{AttemptEvent, AttemptRecord, OperationalEvent, OperationalEventStore, StoreResult};

use super::PostgresStore;
use super::rows::{self, Client, SqlResult, sql_limit};

#[async_trait]
impl OperationalEventStore for PostgresStore {
    async fn operational_events(&self, limit: usize) -> StoreResult<Vec<OperationalEvent>> {
        let client = self.client().await?;
        let select = "SELECT no, account, event_type, payload FROM operational_events ORDER BY no LIMIT $1";
        let events = rows::all(&client, select, &[&sql_limit(limit)], |row| {
            Ok(OperationalEvent {
                no: rows::get(row, 0)?,
                account: rows::id(row, 1)?,
                event_type: rows::get(row, 2)?,
                payload: rows::get::<String>(row, 3)?.into(),
            })
        })
        .await?;
        Ok(events)
    }

    async fn delete_operational_events(&self, numbers: Vec<i64>) -> StoreResult<()> {
        let client = self.client().await?;
        // Sorted, so that two nodes that delete the same events can't deadlock.
        let delete = "DELETE FROM operational_events WHERE no IN \
             (SELECT no FROM operational_events WHERE no = ANY ($1) ORDER BY no FOR UPDATE)";
        rows::write(&client, delete, &[&numbers]).await?;
        Ok(())
    }
}

/// Inserts an event about an endpoint if its account has an operational application.
pub(super) async fn insert_event(
    db: &impl Client,
    application: &str,
    endpoint: &str,
    endpoint_uid: Option<&str>,
    happening: OperationalEventKind<'_>,
) -> SqlResult<()> {
    let Some((account, application_uid)) = subscribed_account(db, application).await? else { return Ok(()) };
    let subject = Subject { application, application_uid: application_uid.as_deref(), endpoint, endpoint_uid };
    let Some((event_type, payload)) = happening.message(subject) else { return Ok(()) };
    let insert = "INSERT INTO operational_events (account, event_type, payload) VALUES ($1, $2, $3)";
    rows::write(db, insert, &[&account, &event_type, &payload]).await.map(drop)
}

/// The account and the uid of the application; `None` when the account has no operational application.
async fn subscribed_account(db: &impl Client, application: &str) -> SqlResult<Option<(String, Option<String>)>> {
    let select = "SELECT account, uid FROM applications WHERE id = $1";
    let found =
        rows::one(db, select, &[&application], |row| Ok((rows::get::<String>(row, 0)?, rows::get(row, 1)?))).await?;
    let Some((account, uid)) = found else { return Ok(None) };
    let listens = "SELECT id FROM applications WHERE account = $1 LIMIT 1";
    let listens = rows::one(db, listens, &[&&*hidden_account(&account)], |row| rows::id(row, 0)).await?;
    Ok(listens.map(|_| (account, uid)))
}

/// Inserts the events that follow from attempts.
pub(super) async fn insert_notice_events(db: &impl Client, records: &[&AttemptRecord]) -> SqlResult<()> {
    for record in records.iter().filter(|record| record.notice != AttemptEvent::None) {
        let attempt = &record.attempt;
        let select = "SELECT event_id FROM messages WHERE application = $1 AND id = $2";
        let event_id = rows::one(db, select, &[&&*attempt.application, &&*attempt.message], |row| {
            rows::get::<Option<String>>(row, 0)
        })
        .await?
        .flatten();
        let happening = OperationalEventKind::Attempt { notice: record.notice, attempt, event_id: event_id.as_deref() };
        insert_event(db, &attempt.application, &attempt.endpoint, None, happening).await?;
    }
    Ok(())
}
