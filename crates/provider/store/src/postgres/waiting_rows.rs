//! What waits for one endpoint: what for, and what somebody may do about it.

use std::collections::HashMap;

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Attempt, Id};
use provider_core::port::supervision::{WaitingCounts, WaitingDeliveryStore};
use provider_core::port::{StoreError, StoreResult};
use tokio_postgres::Row;

use super::rows::{self, Client, SqlResult, sql_limit};
use super::{PostgresStore, applications, attempts, ordering};

#[async_trait]
impl WaitingDeliveryStore for PostgresStore {
    async fn waiting_counts(&self, endpoint: &str, now: Timestamp, count_max: usize) -> StoreResult<WaitingCounts> {
        let client = self.client().await?;
        let count = "SELECT count(*) FILTER (WHERE owner <> 0), count(*) FILTER (WHERE owner = 0), \
                 count(*) FILTER (WHERE owner IS NULL AND next_at <= $2), \
                 count(*) FILTER (WHERE owner IS NULL AND next_at > $2 AND attempts > 0), \
                 count(*) FILTER (WHERE owner IS NULL AND next_at > $2 AND attempts = 0) \
             FROM (SELECT owner, attempts, next_at FROM deliveries WHERE endpoint = $1 ORDER BY message LIMIT $3) first";
        let waiting = |row: &Row| {
            let number = |column| -> StoreResult<u64> { Ok(rows::get::<i64>(row, column)?.unsigned_abs()) };
            Ok(WaitingCounts {
                claimed: number(0)?,
                key: number(1)?,
                due: number(2)?,
                retry: number(3)?,
                later: number(4)?,
            })
        };
        let counted = rows::one(&client, count, &[&endpoint, &now, &sql_limit(count_max)], waiting).await?;
        Ok(counted.unwrap_or_default())
    }

    async fn make_retries_due(&self, endpoint: &str, now: Timestamp, limit: usize) -> StoreResult<usize> {
        let client = self.client().await?;
        // Rows that somebody is just taking are passed over.
        let hasten = "UPDATE deliveries d SET next_at = $2 FROM (SELECT message FROM deliveries \
                 WHERE endpoint = $1 AND owner IS NULL AND attempts > 0 AND next_at > $2 \
                 ORDER BY next_at, message LIMIT $3 FOR UPDATE SKIP LOCKED) waiting \
             WHERE d.endpoint = $1 AND d.message = waiting.message";
        let hastened = rows::write(&client, hasten, &[&endpoint, &now, &sql_limit(limit)]).await?;
        drop(client);
        if hastened > 0 {
            self.engine.notify().await;
        }
        Ok(usize::try_from(hastened).unwrap_or(usize::MAX))
    }

    async fn reset_endpoint_pause(&self, endpoint: &str, now: Timestamp) -> StoreResult<()> {
        self.transaction(&(endpoint, now), |db, &(endpoint, now)| Box::pin(reset_endpoint_pause(db, endpoint, now)))
            .await?;
        self.engine.notify().await;
        Ok(())
    }

    async fn waiting_messages(&self, endpoint: &str, before: &str, limit: usize) -> StoreResult<Vec<Id>> {
        let client = self.client().await?;
        let select = "SELECT message FROM deliveries WHERE endpoint = $1 AND message < $2 \
             AND NOT (key IS NOT NULL AND owner IS NOT NULL AND owner <> 0) ORDER BY message DESC LIMIT $3";
        Ok(rows::all(&client, select, &[&endpoint, &before, &sql_limit(limit)], |row| rows::id(row, 0)).await?)
    }

    async fn cancel_deliveries(&self, endpoint: &str, attempts: Vec<Attempt>) -> StoreResult<usize> {
        let ended = self
            .transaction(&(endpoint, &attempts), |db, &(endpoint, attempts)| {
                Box::pin(cancel_deliveries(db, endpoint, attempts))
            })
            .await?;
        self.engine.notify().await;
        Ok(ended)
    }
}

/// The application is locked before the endpoint, as by every change of it.
async fn reset_endpoint_pause(db: &impl Client, endpoint: &str, now: Timestamp) -> SqlResult<()> {
    let application = "SELECT application FROM endpoints WHERE id = $1";
    let application = rows::one(db, application, &[&endpoint], |row| rows::id(row, 0)).await?;
    let application = application.ok_or(StoreError::NotFound)?;
    applications::lock(db, &application).await?;
    let touch = "UPDATE endpoints SET updated_at = greatest($2, updated_at + interval '1 millisecond') WHERE id = $1";
    if rows::write(db, touch, &[&endpoint, &now]).await? == 0 {
        return Err(StoreError::NotFound.into());
    }
    applications::raise_version(db, &application).await.map(drop)
}

/// Rows that somebody is just taking are passed over; those behind a head that went are due.
async fn cancel_deliveries(db: &impl Client, endpoint: &str, given_up: &[Attempt]) -> SqlResult<usize> {
    let messages: Vec<&str> = given_up.iter().map(|attempt| &*attempt.message).collect();
    let delete = "DELETE FROM deliveries d USING (SELECT message FROM deliveries \
             WHERE endpoint = $1 AND message = ANY ($2) AND NOT (key IS NOT NULL AND owner IS NOT NULL AND owner <> 0) \
             ORDER BY message FOR UPDATE SKIP LOCKED) waiting \
         WHERE d.endpoint = $1 AND d.message = waiting.message RETURNING d.message, d.key";
    let row = |row: &Row| Ok((rows::id(row, 0)?, rows::get::<Option<String>>(row, 1)?));
    let gone = rows::all(db, delete, &[&endpoint, &messages], row).await?;
    let gone: HashMap<Id, Option<String>> = gone.into_iter().collect();
    attempts::insert(db, given_up.iter().filter(|attempt| gone.contains_key(&attempt.message)).collect()).await?;
    let count = gone.len();
    let keys = gone.into_values().flatten().map(|key| (endpoint.to_owned(), key));
    ordering::make_next_due(db, keys.collect()).await?;
    Ok(count)
}
