//! Retention: deletes expired messages, attempts and payloads. Old messages are found for each application separately,
//! and old attempts by their primary key, which begins with the message. Rows that another transaction has locked are
//! skipped until the next run.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::Id;
use provider_core::port::{EXPUNGED, RetentionStore, StoreResult};
use tokio_postgres::types::ToSql;

use super::rows::{self, Client, SqlResult, sql_limit};
use super::{PostgresStore, deliveries, messages};

#[async_trait]
impl RetentionStore for PostgresStore {
    async fn expunge_payload(&self, application: &str, message: &str, now: Timestamp) -> StoreResult<bool> {
        let expunged = self
            .transaction(&(application, message, now), |db, &(application, message, now)| {
                Box::pin(expunge_payload(db, application, message, now))
            })
            .await?;
        if expunged {
            self.engine.notify().await;
        }
        Ok(expunged)
    }

    async fn expunge_payloads(
        &self,
        application: &str,
        after: &str,
        before: &str,
        limit: usize,
        now: Timestamp,
    ) -> StoreResult<(usize, Option<Id>)> {
        let client = self.client().await?;
        let span = "SELECT min(id), max(id) FROM (SELECT id FROM messages \
             WHERE application = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $4) looked_at";
        let span = rows::one(&client, span, &[&application, &after, &before, &sql_limit(limit)], |row| {
            let id = |column| -> StoreResult<_> { Ok(rows::get::<Option<&str>>(row, column)?.map(Id::from)) };
            Ok(id(0)?.zip(id(1)?))
        })
        .await?;
        let Some((first, last)) = span.flatten() else { return Ok((0, None)) };
        drop(client);
        let span = (application, &*first, &*last, now);
        let expunged = self
            .transaction(&span, |db, &(application, first, last, now)| {
                Box::pin(expunge_payloads(db, application, first, last, now))
            })
            .await?;
        self.engine.notify().await;
        Ok((expunged, Some(last)))
    }

    async fn expunge_response(&self, application: &str, message: &str, attempt: &str) -> StoreResult<bool> {
        let client = self.client().await?;
        let expunge = "UPDATE attempts SET response = $3, failure_detail = NULL, response_headers = NULL WHERE message = $1 AND id = $2";
        let exists = messages::exists(&client, application, message).await?;
        Ok(exists && write(&client, expunge, &[&message, &attempt, &EXPUNGED.as_bytes()]).await? == 1)
    }

    async fn expunge_expired_payloads(&self, now: Timestamp, limit: usize) -> StoreResult<usize> {
        let client = self.client().await?;
        // The first condition is equal to the predicate of the partial index. Waiting deliveries of these messages
        // become due, so that the dispatcher deletes them. The statement skips rows that another transaction is
        // claiming.
        let expunge = "WITH over AS ( \
                 SELECT application, id FROM messages \
                 WHERE payload IS NOT NULL AND payload_expires_at - created_at < INTERVAL '3650 days' \
                 AND payload_expires_at <= $1 ORDER BY payload_expires_at LIMIT $2 FOR UPDATE SKIP LOCKED \
             ), forgotten AS ( \
                 UPDATE messages m SET payload = NULL FROM over \
                 WHERE m.application = over.application AND m.id = over.id RETURNING m.application, m.id \
             ), waiting AS ( \
                 SELECT d.endpoint, d.message FROM forgotten f JOIN endpoints e ON e.application = f.application \
                 JOIN deliveries d ON d.endpoint = e.id AND d.message = f.id WHERE d.owner IS NULL AND d.next_at > $1 \
                 FOR UPDATE OF d SKIP LOCKED \
             ), hastened AS ( \
                 UPDATE deliveries d SET next_at = $1 FROM waiting w WHERE d.endpoint = w.endpoint AND d.message = w.message \
             ) \
             SELECT count(*) FROM forgotten";
        let expunged = rows::one(&client, expunge, &[&now, &sql_limit(limit)], |row| rows::get::<i64>(row, 0)).await?;
        Ok(expunged.and_then(|count| usize::try_from(count).ok()).unwrap_or(0))
    }

    async fn delete_old_attempts(&self, before_message: &str, limit: usize) -> StoreResult<usize> {
        let client = self.client().await?;
        let delete = "WITH old AS ( \
                 SELECT message, id FROM attempts WHERE message < $1 ORDER BY message, id LIMIT $2 FOR UPDATE SKIP LOCKED \
             ) \
             DELETE FROM attempts a USING old WHERE a.message = old.message AND a.id = old.id";
        Ok(write(&client, delete, &[&before_message, &sql_limit(limit)]).await?)
    }

    async fn delete_old_messages(&self, before_message: &str, limit: usize) -> StoreResult<usize> {
        self.transaction(&(before_message, limit), |db, &(before_message, limit)| {
            Box::pin(delete_old_messages(db, before_message, limit))
        })
        .await
    }
}

async fn expunge_payload(db: &impl Client, application: &str, message: &str, now: Timestamp) -> SqlResult<bool> {
    note_purge(db, application).await?;
    let expunge = "UPDATE messages SET payload = NULL WHERE application = $1 AND id = $2";
    let exists = messages::exists(db, application, message).await?;
    if !exists || write(db, expunge, &[&application, &message]).await? == 0 {
        return Ok(false);
    }
    make_retries_due(db, application, message, message, now).await?;
    Ok(true)
}

async fn expunge_payloads(
    db: &impl Client,
    application: &str,
    first: &str,
    last: &str,
    now: Timestamp,
) -> SqlResult<usize> {
    note_purge(db, application).await?;
    let expunge = "UPDATE messages SET payload = NULL \
         WHERE application = $1 AND id BETWEEN $2 AND $3 AND payload IS NOT NULL";
    let expunged = write(db, expunge, &[&application, &first, &last]).await?;
    make_retries_due(db, application, first, last, now).await?;
    Ok(expunged)
}

/// Counts a removal of payloads. Callers call it first, because each transaction locks the application first.
async fn note_purge(db: &impl Client, application: &str) -> SqlResult<()> {
    write(db, "UPDATE applications SET purges = purges + 1 WHERE id = $1", &[&application]).await.map(drop)
}

/// Makes the waiting deliveries of the messages from `first` to `last` due, so that the dispatcher deletes those
/// without a payload. Skips rows that another transaction is claiming.
async fn make_retries_due(
    db: &impl Client,
    application: &str,
    first: &str,
    last: &str,
    now: Timestamp,
) -> SqlResult<()> {
    let update = "WITH waiting AS ( \
             SELECT d.endpoint, d.message FROM endpoints e JOIN deliveries d ON d.endpoint = e.id \
             WHERE e.application = $1 AND d.message BETWEEN $2 AND $3 AND d.owner IS NULL AND d.next_at > $4 \
             FOR UPDATE OF d SKIP LOCKED \
         ) \
         UPDATE deliveries d SET next_at = $4 FROM waiting w WHERE d.endpoint = w.endpoint AND d.message = w.message";
    write(db, update, &[&application, &first, &last, &now]).await.map(drop)
}

/// A transaction that inserts a delivery row locks its message. So the deletion of messages waits for that transaction,
/// and the deletion of delivery rows finds the row.
async fn delete_old_messages(db: &impl Client, before_message: &str, limit: usize) -> SqlResult<usize> {
    let delete = "WITH RECURSIVE applications_with_messages (application) AS ( \
             (SELECT application FROM messages ORDER BY application LIMIT 1) \
             UNION ALL \
             SELECT next.application FROM applications_with_messages a CROSS JOIN LATERAL ( \
                 SELECT m.application FROM messages m WHERE m.application > a.application \
                 ORDER BY m.application LIMIT 1) next \
         ), old AS ( \
             SELECT m.application, m.id FROM applications_with_messages a CROSS JOIN LATERAL ( \
                 SELECT m.application, m.id FROM messages m WHERE m.application = a.application AND m.id < $1 \
                 ORDER BY m.id LIMIT $2) m LIMIT $2 \
         ) \
         DELETE FROM messages m USING old WHERE m.application = old.application AND m.id = old.id";
    let deleted = write(db, delete, &[&before_message, &sql_limit(limit)]).await?;
    if deleted > 0 {
        // Deliveries of deleted messages must not stay unfinished.
        deliveries::drop_rows_before(db, before_message).await?;
    }
    Ok(deleted)
}

async fn write(db: &impl Client, sql: &str, params: &[&(dyn ToSql + Sync)]) -> SqlResult<usize> {
    Ok(usize::try_from(rows::write(db, sql, params).await?).unwrap_or(usize::MAX))
}
