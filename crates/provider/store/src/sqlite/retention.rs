//! Retention: deletes expired messages, attempts and payloads. The oldest rows are the first rows of their tables,
//! because messages are appended and the key of an attempt begins with the message.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::Id;
use provider_core::model::counts::DeliveryEnd;
use provider_core::port::{EXPUNGED, RetentionStore, StoreResult};
use rusqlite::{Connection, Params};

use super::rows::{self, SqlResult, ms, sql_limit};
use super::{SqliteStore, counts, deliveries, messages, ordering};
use crate::task_codec::TaskAdditions;

#[async_trait]
impl RetentionStore for SqliteStore {
    async fn expunge_payload(&self, application: &str, message: &str, now: Timestamp) -> StoreResult<bool> {
        let (application, message) = (application.to_owned(), message.to_owned());
        self.write(move |db| {
            if !messages::exists(db, &application, &message)? {
                return Ok(false);
            }
            write(
                db,
                "UPDATE messages SET payload = NULL WHERE application = ?1 AND id = ?2",
                (&application, &message),
            )?;
            note_purge(db, &application, &message, &message, now)?;
            Ok(true)
        })
        .await
    }

    async fn expunge_payloads(
        &self,
        application: &str,
        after: &str,
        before: &str,
        limit: usize,
        now: Timestamp,
    ) -> StoreResult<(usize, Option<Id>)> {
        let [application, after, before] = [application, after, before].map(str::to_owned);
        self.write(move |db| {
            let span = "SELECT min(id), max(id) FROM (SELECT id FROM messages \
                 WHERE application = ?1 AND id > ?2 AND id < ?3 ORDER BY id LIMIT ?4)";
            let span = rows::one(db, span, (&application, &after, &before, sql_limit(limit)), |row| {
                let id = |column| -> SqlResult<_> { Ok(rows::optional_text(row, column)?.map(Id::from)) };
                Ok(id(0)?.zip(id(1)?))
            })?;
            let Some((first, last)) = span.flatten() else { return Ok((0, None)) };
            let expunge = "UPDATE messages SET payload = NULL \
                 WHERE application = ?1 AND id BETWEEN ?2 AND ?3 AND payload IS NOT NULL";
            let expunged = write(db, expunge, (&application, &*first, &*last))?;
            note_purge(db, &application, &first, &last, now)?;
            Ok((expunged, Some(last)))
        })
        .await
    }

    async fn expunge_response(&self, application: &str, message: &str, attempt: &str) -> StoreResult<bool> {
        let (application, message, attempt) = (application.to_owned(), message.to_owned(), attempt.to_owned());
        self.write(move |db| {
            let expunge = "UPDATE attempts SET response = ?3, failure_detail = NULL, response_headers = NULL WHERE message = ?1 AND id = ?2";
            Ok(messages::exists(db, &application, &message)?
                && write(db, expunge, (&message, &attempt, EXPUNGED))? == 1)
        })
        .await
    }

    async fn expunge_expired_payloads(&self, now: Timestamp, limit: usize) -> StoreResult<usize> {
        // The condition is equal to the predicate of the partial index, so that SQLite can use the index.
        let expunge = "UPDATE messages SET payload = NULL WHERE no IN ( \
             SELECT no FROM messages INDEXED BY messages_by_payload_expiry \
             WHERE payload IS NOT NULL AND payload_expires_at < created_at + 315360000000 \
             AND payload_expires_at <= ?1 ORDER BY payload_expires_at LIMIT ?2) RETURNING application, id";
        self.write(move |db| {
            let mut expunge = db.prepare_cached(expunge)?;
            let expunged = expunge.query_map((ms(now), sql_limit(limit)), |row| Ok((row.get(0)?, row.get(1)?)))?;
            let expunged = expunged.collect::<Result<Vec<(String, String)>, _>>()?;
            for (application, message) in &expunged {
                make_retries_due(db, application, message, message, now)?;
            }
            Ok(expunged.len())
        })
        .await
    }

    async fn delete_old_attempts(&self, before_message: &str, limit: usize) -> StoreResult<usize> {
        let before = before_message.to_owned();
        let delete = "DELETE FROM attempts WHERE (message, id) IN \
             (SELECT message, id FROM attempts WHERE message < ?1 ORDER BY message, id LIMIT ?2)";
        self.write(move |db| write(db, delete, (&before, sql_limit(limit)))).await
    }

    async fn delete_old_messages(&self, before_message: &str, limit: usize) -> StoreResult<usize> {
        let before = before_message.to_owned();
        self.write(move |db| {
            let delete = "DELETE FROM messages WHERE id < ?1 AND no IN (SELECT no FROM messages ORDER BY no LIMIT ?2)";
            let deleted = write(db, delete, (&before, sql_limit(limit)))?;
            if deleted > 0 {
                // Deliveries of deleted messages must not stay unfinished.
                let drop = "DELETE FROM deliveries WHERE endpoint = ?1 AND message < ?2 \
                     RETURNING ordering_key, ended_before, task";
                let mut tasks = TaskAdditions::default();
                for endpoint in deliveries::endpoints_with_rows(db)? {
                    let rows = ordering::delete(db, &endpoint, drop, (&*endpoint, &before))?;
                    tasks.ended(rows.tasks, DeliveryEnd::Cancelled);
                }
                counts::add_to_tasks(db, &tasks)?;
            }
            Ok(deleted)
        })
        .await
    }
}

/// Counts the removal of the payloads of the messages from `first` to `last`, and makes their deliveries due.
fn note_purge(db: &Connection, application: &str, first: &str, last: &str, now: Timestamp) -> SqlResult<()> {
    write(db, "UPDATE applications SET purges = purges + 1 WHERE id = ?1", [application])?;
    make_retries_due(db, application, first, last, now)
}

/// Makes the waiting deliveries of the messages from `first` to `last` due, so that the dispatcher deletes those
/// without a payload.
fn make_retries_due(db: &Connection, application: &str, first: &str, last: &str, now: Timestamp) -> SqlResult<()> {
    let update = "UPDATE deliveries SET next_at = ?4 WHERE endpoint IN (SELECT id FROM endpoints WHERE application = ?1) \
         AND message BETWEEN ?2 AND ?3 AND owner IS NULL AND next_at > ?4";
    write(db, update, (application, first, last, ms(now)))?;
    Ok(())
}

fn write(db: &Connection, sql: &str, params: impl Params) -> SqlResult<usize> {
    Ok(db.prepare_cached(sql)?.execute(params)?)
}
