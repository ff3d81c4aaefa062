//! What waits for one endpoint: what for, and what somebody may do about it.

use async_trait::async_trait;
use jiff::Timestamp;
use provider_core::model::{Attempt, Id};
use provider_core::port::supervision::{WaitingFor, WaitingRows};
use provider_core::port::{StoreError, StoreResult};
use rusqlite::Connection;

use super::rows::{self, Outcome, ms};
use super::{Sqlite, applications, attempts, ordering};

#[async_trait]
impl WaitingRows for Sqlite {
    async fn waiting_for(&self, endpoint: &str, now: Timestamp, count_max: usize) -> StoreResult<WaitingFor> {
        let endpoint = endpoint.to_owned();
        self.read(move |db| waiting_for(db, &endpoint, now, count_max)).await
    }

    async fn hasten(&self, endpoint: &str, now: Timestamp, limit: usize) -> StoreResult<usize> {
        let endpoint = endpoint.to_owned();
        self.write(move |db| {
            let hasten = "UPDATE deliveries SET next_at = ?2 WHERE endpoint = ?1 AND message IN \
                 (SELECT message FROM deliveries INDEXED BY deliveries_waiting \
                  WHERE endpoint = ?1 AND owner IS NULL AND tried = 1 AND next_at > ?2 LIMIT ?3)";
            Ok(db.prepare_cached(hasten)?.execute((&endpoint, ms(now), signed(limit)))?)
        })
        .await
    }

    async fn forgive(&self, endpoint: &str, now: Timestamp) -> StoreResult<()> {
        let endpoint = endpoint.to_owned();
        self.write(move |db| forgive(db, &endpoint, now)).await
    }

    async fn waiting_messages(&self, endpoint: &str, before: &str, limit: usize) -> StoreResult<Vec<Id>> {
        let (endpoint, before) = (endpoint.to_owned(), before.to_owned());
        self.read(move |db| waiting_messages(db, &endpoint, &before, limit)).await
    }

    async fn give_up(&self, endpoint: &str, attempts: Vec<Attempt>) -> StoreResult<usize> {
        let endpoint = endpoint.to_owned();
        self.write(move |db| give_up(db, &endpoint, &attempts)).await
    }
}

fn waiting_for(db: &Connection, endpoint: &str, now: Timestamp, count_max: usize) -> Outcome<WaitingFor> {
    let count = "SELECT total(owner <> 0), total(owner = 0), total(owner IS NULL AND next_at <= ?2), \
             total(owner IS NULL AND next_at > ?2 AND attempts > 0), \
             total(owner IS NULL AND next_at > ?2 AND attempts = 0) \
         FROM (SELECT owner, attempts, next_at FROM deliveries WHERE endpoint = ?1 ORDER BY message LIMIT ?3)";
    let counted = rows::one(db, count, (endpoint, ms(now), signed(count_max)), |row| {
        let number = |column| -> Outcome<u64> { Ok(row.get::<_, f64>(column)? as u64) };
        Ok(WaitingFor { in_hand: number(0)?, key: number(1)?, due: number(2)?, retry: number(3)?, later: number(4)? })
    })?;
    Ok(counted.unwrap_or_default())
}

fn forgive(db: &Connection, endpoint: &str, now: Timestamp) -> Outcome<()> {
    let touch = "UPDATE endpoints SET updated_at = max(?2, updated_at + 1) WHERE id = ?1 RETURNING application";
    let application = rows::one(db, touch, (endpoint, ms(now)), |row| rows::id(row, 0))?.ok_or(StoreError::NotFound)?;
    applications::raise_version(db, &application)?;
    Ok(())
}

fn waiting_messages(db: &Connection, endpoint: &str, before: &str, limit: usize) -> Outcome<Vec<Id>> {
    let select = "SELECT message FROM deliveries WHERE endpoint = ?1 AND message < ?2 \
         AND NOT (key IS NOT NULL AND owner IS NOT NULL AND owner <> 0) ORDER BY message DESC LIMIT ?3";
    let mut statement = db.prepare_cached(select)?;
    let mut found = statement.query((endpoint, before, signed(limit)))?;
    let mut messages = Vec::new();
    while let Some(row) = found.next()? {
        messages.push(rows::id(row, 0)?);
    }
    Ok(messages)
}

fn give_up(db: &Connection, endpoint: &str, given_up: &[Attempt]) -> Outcome<usize> {
    let delete = "DELETE FROM deliveries WHERE endpoint = ?1 AND message = ?2 \
         AND NOT (key IS NOT NULL AND owner IS NOT NULL AND owner <> 0) RETURNING key";
    let mut ended = 0;
    for attempt in given_up {
        if ordering::delete(db, endpoint, delete, (endpoint, &*attempt.message))? == 1 {
            attempts::insert(db, attempt)?;
            ended += 1;
        }
    }
    Ok(ended)
}

fn signed(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
