//! The connections of customers to their consumer applications at a provider.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_runtime::vault::Sealed;
use platform_core::port::{
    Consumer, ConsumerStore, ContactRecord, IdempotentAnswer, Page, Parked, StartFrom, StoreResult,
};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::rows::{self, SqlResult, after};
use super::{SqliteStore, endpoint_readings, idempotency, outbox};
use crate::codec::{contact, contact_name, ms, provider_address, provider_url};

const CONSUMER: &str = "SELECT customer, provider_url, application_id, api_key, parked_reason, parked_at_ms, \
     updated_at_ms, contact, contact_since_ms, contact_detail, key_made FROM consumers";

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

    async fn record_contact(&self, customer: Uuid, updated_at: Timestamp, record: ContactRecord) -> StoreResult<()> {
        let update = "UPDATE consumers SET contact = ?3, contact_detail = ?5, \
             contact_since_ms = CASE WHEN contact = ?3 THEN coalesce(contact_since_ms, ?4) ELSE ?4 END \
             WHERE customer = ?1 AND updated_at_ms = ?2";
        self.write(move |db| {
            let (name, since) = (contact_name(record.contact), ms(record.since));
            let values = params![customer.as_bytes(), ms(updated_at), name, since, record.detail];
            rows::execute(db, update, values).map(drop)
        })
        .await
    }
}

pub(super) fn put(db: &Connection, consumer: &Consumer, start: StartFrom) -> SqlResult<()> {
    endpoint_readings::connection_changes(db, consumer)?;
    let put = "INSERT OR REPLACE INTO consumers \
         (customer, provider_url, application_id, api_key, parked_reason, parked_at_ms, updated_at_ms, contact, \
         contact_since_ms, contact_detail, key_made) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let values = params![
        consumer.customer.as_bytes(),
        provider_url(&consumer.provider),
        consumer.application_id,
        consumer.api_key.as_ref().map(Sealed::as_str),
        consumer.parked.as_ref().map(|parked| parked.reason.as_str()),
        consumer.parked.as_ref().map(|parked| ms(parked.at)),
        ms(consumer.updated_at),
        contact_name(consumer.contact.contact),
        ms(consumer.contact.since),
        consumer.contact.detail,
        consumer.has_made_key,
    ];
    rows::execute(db, put, values)?;
    outbox::reset_failures(db, consumer.customer)?;
    match start {
        StartFrom::Cursor(after) if consumer.is_complete() => outbox::reenqueue(db, consumer.customer, after),
        StartFrom::Cursor(_) | StartFrom::Now => Ok(()),
    }
}

/// False when the connection was changed after `expected`, or exists although none is expected.
pub(super) fn replace(db: &Connection, consumer: &Consumer, expected: Option<Timestamp>) -> SqlResult<bool> {
    if find(db, consumer.customer)?.map(|before| before.updated_at) != expected {
        return Ok(false);
    }
    put(db, consumer, StartFrom::Now).map(|()| true)
}

pub(super) fn find(db: &Connection, customer: Uuid) -> SqlResult<Option<Consumer>> {
    rows::one(db, &format!("{CONSUMER} WHERE customer = ?1"), [customer.as_bytes()], consumer)
}

pub(super) fn list(db: &Connection, after: Uuid, limit: usize) -> SqlResult<Vec<Consumer>> {
    let select = format!("{CONSUMER} WHERE customer > ?1 ORDER BY customer LIMIT ?2");
    rows::list(db, &select, (after.as_bytes(), rows::limit(limit)), consumer)
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
    /// The connection is not complete, so no row is inserted into the outbox.
    Incomplete,
    /// The connection is complete, and its queue is parked.
    Parked,
    /// The connection is complete and was last changed at this time.
    Open(Timestamp),
}

pub(super) fn connected(db: &Connection, customer: Uuid) -> SqlResult<ConnectionState> {
    let select = "SELECT parked_at_ms, updated_at_ms FROM consumers \
         WHERE customer = ?1 AND application_id IS NOT NULL AND api_key IS NOT NULL";
    let found =
        rows::one(db, select, [customer.as_bytes()], |row| Ok((rows::optional_time(row, 0)?, rows::time(row, 1)?)))?;
    Ok(match found {
        None => ConnectionState::Incomplete,
        Some((Some(_), _)) => ConnectionState::Parked,
        Some((None, updated_at)) => ConnectionState::Open(updated_at),
    })
}

fn consumer(row: &Row<'_>) -> SqlResult<Consumer> {
    let reason: Option<String> = row.get(4)?;
    let parked = match (reason, rows::optional_time(row, 5)?) {
        (Some(reason), Some(at)) => Some(Parked { reason, at }),
        _ => None,
    };
    let updated_at = rows::time(row, 6)?;
    let contact = ContactRecord {
        contact: contact(&row.get::<_, String>(7)?)?,
        since: rows::optional_time(row, 8)?.unwrap_or(updated_at),
        detail: row.get(9)?,
    };
    Ok(Consumer {
        customer: rows::uuid(row, 0)?,
        provider: provider_address(row.get(1)?),
        application_id: row.get(2)?,
        api_key: row.get::<_, Option<String>>(3)?.map(Sealed::from_text),
        has_made_key: row.get::<_, Option<bool>>(10)?.unwrap_or_default(),
        parked,
        contact,
        updated_at,
    })
}

pub(super) fn disconnect(db: &Connection, customer: Uuid) -> SqlResult<Option<u64>> {
    if rows::execute(db, "DELETE FROM consumers WHERE customer = ?1", [customer.as_bytes()])? == 0 {
        return Ok(None);
    }
    endpoint_readings::forget(db, customer)?;
    Ok(Some(rows::execute(db, "DELETE FROM outbox WHERE customer = ?1", [customer.as_bytes()])? as u64))
}
