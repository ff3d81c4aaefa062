//! The connections of customers to their consumer applications at a provider.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::{Connection, Transaction};
use kit_runtime::vault::Sealed;
use platform_core::port::{
    Consumer, ConsumerStore, ContactRecord, IdempotentAnswer, Page, Parked, StartFrom, StoreResult,
};
use tokio_postgres::Row;
use uuid::Uuid;

use super::rows::{self, SqlResult, after};
use super::{PostgresStore, endpoint_readings, idempotency, locks, outbox};
use crate::codec::{contact, contact_name, ms, provider_address, provider_url};

const CONSUMER: &str = "SELECT customer, provider_url, application_id, api_key, parked_reason, parked_at_ms, \
     updated_at_ms, contact, contact_since_ms, contact_detail, key_made FROM consumers";

#[async_trait]
impl ConsumerStore for PostgresStore {
    async fn consumer(&self, customer: Uuid) -> StoreResult<Option<Consumer>> {
        Ok(find(&self.client().await?, customer).await?)
    }

    async fn consumers(&self, page: Page<Uuid>) -> StoreResult<Vec<Consumer>> {
        Ok(list(&self.client().await?, after(page), page.limit).await?)
    }

    async fn park_queue(&self, customer: Uuid, parked: Option<Parked>) -> StoreResult<()> {
        park_queue(&self.client().await?, customer, parked.as_ref()).await?;
        self.postgres.notify().await;
        Ok(())
    }

    async fn resume_queue(&self, customer: Uuid, at: Timestamp, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.write(&(customer, at, answer), |db, (customer, at, answer)| {
            Box::pin(async move {
                idempotency::keep_or_replay(db, answer.as_ref()).await?;
                resume_queue(db, *customer, *at).await
            })
        })
        .await?;
        self.postgres.notify().await;
        Ok(())
    }

    async fn record_contact(&self, customer: Uuid, updated_at: Timestamp, record: ContactRecord) -> StoreResult<()> {
        let update = "UPDATE consumers SET contact = $3, contact_detail = $5, \
             contact_since_ms = CASE WHEN contact = $3 THEN coalesce(contact_since_ms, $4) ELSE $4 END \
             WHERE customer = $1 AND updated_at_ms = $2";
        let detail = record.detail.as_deref().map(rows::foreign_text);
        let (name, since) = (contact_name(record.contact), ms(record.since));
        let values: rows::Values<'_> = &[&customer, &ms(updated_at), &name, &since, &detail];
        Ok(rows::execute(&self.client().await?, update, values).await.map(drop)?)
    }
}

pub(super) async fn put(db: &Transaction<'_>, consumer: &Consumer, start: StartFrom) -> SqlResult<()> {
    locks::journal(db).await?;
    endpoint_readings::connection_changes(db, consumer).await?;
    let put = "INSERT INTO consumers \
         (customer, provider_url, application_id, api_key, parked_reason, parked_at_ms, updated_at_ms, contact, \
         contact_since_ms, contact_detail, key_made) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (customer) DO UPDATE SET \
         provider_url = excluded.provider_url, application_id = excluded.application_id, api_key = excluded.api_key, \
         parked_reason = excluded.parked_reason, parked_at_ms = excluded.parked_at_ms, \
         updated_at_ms = excluded.updated_at_ms, contact = excluded.contact, \
         contact_since_ms = excluded.contact_since_ms, contact_detail = excluded.contact_detail, \
         key_made = excluded.key_made";
    let values: rows::Values<'_> = &[
        &consumer.customer,
        &provider_url(&consumer.provider),
        &consumer.application_id,
        &consumer.api_key.as_ref().map(Sealed::as_str),
        &consumer.parked.as_ref().map(|parked| rows::foreign_text(&parked.reason)),
        &consumer.parked.as_ref().map(|parked| ms(parked.at)),
        &ms(consumer.updated_at),
        &contact_name(consumer.contact.contact),
        &ms(consumer.contact.since),
        &consumer.contact.detail.as_deref().map(rows::foreign_text),
        &consumer.has_made_key,
    ];
    rows::execute(db, put, values).await?;
    outbox::reset_failures(db, consumer.customer).await?;
    match start {
        StartFrom::Cursor(after) if consumer.is_complete() => outbox::reenqueue(db, consumer.customer, after).await,
        StartFrom::Cursor(_) | StartFrom::Now => Ok(()),
    }
}

/// False when the connection was changed after `expected`, or exists although none is expected.
pub(super) async fn replace(db: &Transaction<'_>, consumer: &Consumer, expected: Option<Timestamp>) -> SqlResult<bool> {
    // Every change of credentials takes this lock.
    locks::journal(db).await?;
    if find(db, consumer.customer).await?.map(|before| before.updated_at) != expected {
        return Ok(false);
    }
    put(db, consumer, StartFrom::Now).await.map(|()| true)
}

pub(super) async fn find(db: &impl Connection, customer: Uuid) -> SqlResult<Option<Consumer>> {
    rows::one(db, &format!("{CONSUMER} WHERE customer = $1"), &[&customer], consumer).await
}

pub(super) async fn list(db: &impl Connection, after: Uuid, limit: usize) -> SqlResult<Vec<Consumer>> {
    let select = format!("{CONSUMER} WHERE customer > $1 ORDER BY customer LIMIT $2");
    rows::list(db, &select, &[&after, &rows::limit(limit)], consumer).await
}

pub(super) async fn park_queue(db: &impl Connection, customer: Uuid, parked: Option<&Parked>) -> SqlResult<()> {
    let park = "UPDATE consumers SET parked_reason = $2, parked_at_ms = $3 WHERE customer = $1";
    let (reason, at) = parked.map(|parked| (rows::foreign_text(&parked.reason), ms(parked.at))).unzip();
    rows::execute(db, park, &[&customer, &reason, &at]).await.map(drop)
}

pub(super) async fn resume_queue(db: &impl Connection, customer: Uuid, at: Timestamp) -> SqlResult<()> {
    let resume =
        "UPDATE consumers SET parked_reason = NULL, parked_at_ms = NULL, updated_at_ms = $2 WHERE customer = $1";
    rows::execute(db, resume, &[&customer, &ms(at)]).await?;
    outbox::reset_failures(db, customer).await
}

fn consumer(row: &Row) -> SqlResult<Consumer> {
    let reason: Option<String> = rows::get(row, 4)?;
    let parked = match (reason, rows::optional_time(row, 5)?) {
        (Some(reason), Some(at)) => Some(Parked { reason, at }),
        _ => None,
    };
    let updated_at = rows::time(row, 6)?;
    let contact = ContactRecord {
        contact: contact(rows::get(row, 7)?)?,
        since: rows::optional_time(row, 8)?.unwrap_or(updated_at),
        detail: rows::get(row, 9)?,
    };
    Ok(Consumer {
        customer: rows::get(row, 0)?,
        provider: provider_address(rows::get(row, 1)?),
        application_id: rows::get(row, 2)?,
        api_key: rows::get::<Option<String>>(row, 3)?.map(Sealed::from_text),
        has_made_key: rows::get::<Option<bool>>(row, 10)?.unwrap_or_default(),
        parked,
        contact,
        updated_at,
    })
}

pub(super) async fn disconnect(db: &Transaction<'_>, customer: Uuid) -> SqlResult<Option<u64>> {
    // With this lock, a concurrent commit either has inserted its rows before this query or finds the connection
    // deleted.
    locks::journal(db).await?;
    if rows::execute(db, "DELETE FROM consumers WHERE customer = $1", &[&customer]).await? == 0 {
        return Ok(None);
    }
    endpoint_readings::forget(db, customer).await?;
    let delete = "DELETE FROM outbox WHERE customer = $1 AND cursor IN \
         (SELECT cursor FROM outbox WHERE customer = $1 ORDER BY cursor FOR UPDATE)";
    rows::execute(db, delete, &[&customer]).await.map(Some)
}
