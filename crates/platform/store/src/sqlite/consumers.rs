//! Customers' connections to their consumer applications at a provider.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::vault::Sealed;
use platform_core::port::{Consumer, ConsumerStore, IdempotentAnswer, Page, Parked, StartFrom, StoreResult};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult, after};
use super::{SqliteStore, idempotency, outbox};
use crate::codec::ms;

#[async_trait]
impl ConsumerStore for SqliteStore {
    async fn consumer(&self, customer: Uuid) -> StoreResult<Option<Consumer>> {
        self.read(move |db| find(db, customer)).await
    }

    async fn consumers(&self, page: Page<Uuid>) -> StoreResult<Vec<Consumer>> {
        self.read(move |db| list(db, after(page), page.limit)).await
    }

    async fn park_queue(&self, customer: Uuid, parked: Option<Parked>) -> StoreResult<()> {
        self.write(move |db| park_queue(db, customer, parked.as_ref())).await
    }

    async fn resume_queue(&self, customer: Uuid, at: Timestamp, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(move |db| {
            idempotency::keep_or_replay(db, answer.as_ref())?;
            resume_queue(db, customer, at)
        })
        .await
    }
}

pub(super) fn put(db: &Connection, consumer: &Consumer, start: StartFrom) -> SqlResult<()> {
    let put = "INSERT OR REPLACE INTO consumers \
         (customer, provider_url, application_id, api_key, parked_reason, parked_at_ms, updated_at_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let values = params![
        consumer.customer.as_bytes(),
        consumer.provider_url,
        consumer.application_id,
        consumer.api_key.as_ref().map(Sealed::as_str),
        consumer.parked.as_ref().map(|parked| parked.reason.as_str()),
        consumer.parked.as_ref().map(|parked| ms(parked.at)),
        ms(consumer.updated_at)
    ];
    rows::execute(db, put, values)?;
    outbox::reset_failures(db, consumer.customer)?;
    match start {
        StartFrom::Cursor(after) if consumer.is_complete() => outbox::reenqueue(db, consumer.customer, after),
        StartFrom::Cursor(_) | StartFrom::Now => Ok(()),
    }
}

pub(super) fn find(db: &Connection, customer: Uuid) -> SqlResult<Option<Consumer>> {
    let select = "SELECT customer, provider_url, application_id, api_key, parked_reason, parked_at_ms, updated_at_ms \
         FROM consumers WHERE customer = ?1";
    rows::one(db, select, [customer.as_bytes()], consumer)
}

pub(super) fn list(db: &Connection, after: Uuid, limit: usize) -> SqlResult<Vec<Consumer>> {
    let select = "SELECT customer, provider_url, application_id, api_key, parked_reason, parked_at_ms, updated_at_ms \
         FROM consumers WHERE customer > ?1 ORDER BY customer LIMIT ?2";
    rows::list(db, select, (after.as_bytes(), rows::limit(limit)), consumer)
}

pub(super) fn park_queue(db: &Connection, customer: Uuid, parked: Option<&Parked>) -> SqlResult<()> {
    let park = "UPDATE consumers SET parked_reason = ?2, parked_at_ms = ?3 WHERE customer = ?1";
    let (reason, at) = parked.map(|parked| (parked.reason.as_str(), ms(parked.at))).unzip();
    rows::execute(db, park, (customer.as_bytes(), reason, at)).map(drop)
}

pub(super) fn resume_queue(db: &Connection, customer: Uuid, at: Timestamp) -> SqlResult<()> {
    let resume =
        "UPDATE consumers SET parked_reason = NULL, parked_at_ms = NULL, updated_at_ms = ?2 WHERE customer = ?1";
    rows::execute(db, resume, (customer.as_bytes(), ms(at)))?;
    outbox::reset_failures(db, customer)
}

/// The columns of a customer's connection that a commit needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionState {
    /// Not complete: nothing enters the outbox.
    Incomplete,
    /// Complete, and its queue waits for a person.
    Parked,
    /// Complete.
    Open,
}

pub(super) fn connected(db: &Connection, customer: Uuid) -> SqlResult<ConnectionState> {
    let select = "SELECT parked_at_ms FROM consumers \
         WHERE customer = ?1 AND application_id IS NOT NULL AND api_key IS NOT NULL";
    let parked_at = rows::one(db, select, [customer.as_bytes()], |row| rows::optional_time(row, 0))?;
    Ok(match parked_at {
        None => ConnectionState::Incomplete,
        Some(Some(_)) => ConnectionState::Parked,
        Some(None) => ConnectionState::Open,
    })
}

fn consumer(row: &Row<'_>) -> SqlResult<Consumer> {
    let reason: Option<String> = row.get(4)?;
    let parked = match (reason, rows::optional_time(row, 5)?) {
        (Some(reason), Some(at)) => Some(Parked { reason, at }),
        _ => None,
    };
    Ok(Consumer {
        customer: rows::uuid(row, 0)?,
        provider_url: row.get(1)?,
        application_id: row.get(2)?,
        api_key: row.get::<_, Option<String>>(3)?.map(Sealed::from_text),
        parked,
        updated_at: rows::time(row, 6)?,
    })
}

pub(super) fn disconnect(db: &Connection, customer: Uuid) -> SqlResult<Option<u64>> {
    if rows::execute(db, "DELETE FROM consumers WHERE customer = ?1", [customer.as_bytes()])? == 0 {
        return Ok(None);
    }
    Ok(Some(rows::execute(db, "DELETE FROM outbox WHERE customer = ?1", [customer.as_bytes()])? as u64))
}
