//! What was read of customers' endpoints.

use async_trait::async_trait;
use jiff::Timestamp;
use platform_core::port::{
    Consumer, DELIVERIES_KEPT_MAX, EndpointReading, EndpointReadingStore, EndpointRecord, EventDelivery, ReadingClaim,
    ReadingEnd, ReadingFigures, StoreResult, UNDELIVERED_COUNTED_MAX, UndeliveredOfSale,
};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::SqliteStore;
use super::rows::{self, SqlResult};
use crate::codec::{self, delivery_code, ms, outcome, outcome_name, provider_url, to_json};

/// Customers with a complete connection whose reading is due and not claimed.
const DUE: &str = "SELECT c.customer, r.published_at_ms FROM consumers c \
     LEFT JOIN endpoint_readings r ON r.customer = c.customer \
     WHERE c.application_id IS NOT NULL AND c.api_key IS NOT NULL \
     AND (r.customer IS NULL OR (r.due_at_ms <= ?1 AND r.claimed_until_ms <= ?1)) \
     ORDER BY coalesce(r.due_at_ms, 0), c.customer LIMIT ?2";
const DELIVERY: &str = "SELECT subject, sequence, endpoint, event_id, state, accepted_at_ms, read_at_ms \
     FROM event_deliveries";

#[async_trait]
impl EndpointReadingStore for SqliteStore {
    async fn claim_endpoint_readings(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<ReadingClaim>> {
        // Most calls find nothing; a write would cost a transaction.
        if self.read(move |db| due(db, now, until, 1)).await?.is_empty() {
            return Ok(Vec::new());
        }
        self.write(move |db| {
            let claims = due(db, now, until, limit)?;
            let claim = "INSERT INTO endpoint_readings (customer, due_at_ms, claimed_until_ms) VALUES (?1, ?2, ?2) \
                 ON CONFLICT (customer) DO UPDATE SET due_at_ms = ?2, claimed_until_ms = ?2";
            for ReadingClaim { customer, .. } in &claims {
                rows::execute(db, claim, (customer.as_bytes(), ms(until)))?;
            }
            Ok(claims)
        })
        .await
    }

    async fn bring_endpoint_readings_forward(
        &self,
        customers: Vec<Uuid>,
        at: Timestamp,
        pause_ms: i64,
        published_at: Option<Timestamp>,
    ) -> StoreResult<()> {
        let update = "UPDATE endpoint_readings SET \
             due_at_ms = min(due_at_ms, max(?2, coalesce(tried_at_ms + ?3, ?2))), \
             published_at_ms = coalesce(?4, published_at_ms) WHERE customer = ?1";
        self.write(move |db| {
            for customer in customers {
                rows::execute(db, update, params![customer.as_bytes(), ms(at), pause_ms, published_at.map(ms)])?;
            }
            Ok(())
        })
        .await
    }

    async fn record_endpoints(
        &self,
        claim: ReadingClaim,
        endpoints: Vec<EndpointRecord>,
        has_more: bool,
        read_at: Timestamp,
    ) -> StoreResult<bool> {
        let update = "UPDATE endpoint_readings SET \
             outcome_since_ms = CASE WHEN outcome = 'read' THEN coalesce(outcome_since_ms, ?3) ELSE ?3 END, \
             outcome = 'read', detail = NULL, tried_at_ms = ?3, read_at_ms = ?3, has_more = ?4 \
             WHERE customer = ?1 AND claimed_until_ms = ?2";
        let delete_gone = "DELETE FROM event_deliveries WHERE customer = ?1 AND state > 0 AND NOT EXISTS \
             (SELECT 1 FROM endpoints e WHERE e.customer = ?1 AND e.endpoint = event_deliveries.endpoint)";
        self.write(move |db| {
            let customer = claim.customer.as_bytes();
            if rows::execute(db, update, params![customer, ms(claim.until), ms(read_at), has_more])? == 0 {
                return Ok(false);
            }
            rows::execute(db, "DELETE FROM endpoints WHERE customer = ?1", [customer])?;
            let insert = "INSERT OR REPLACE INTO endpoints (customer, endpoint, state) VALUES (?1, ?2, ?3)";
            for endpoint in &endpoints {
                rows::execute(db, insert, (customer, &endpoint.id, to_json(endpoint)?))?;
            }
            if !has_more {
                rows::execute(db, delete_gone, [customer])?;
            }
            Ok(true)
        })
        .await
    }

    async fn record_event_deliveries(
        &self,
        claim: ReadingClaim,
        endpoint: Option<EndpointRecord>,
        deliveries: Vec<EventDelivery>,
    ) -> StoreResult<bool> {
        // A delivered event is not written again: most of those that are read were read before.
        let upsert = "INSERT INTO event_deliveries \
             (subject, sequence, endpoint, customer, event_id, state, accepted_at_ms, read_at_ms) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (subject, sequence, endpoint) DO UPDATE SET \
             customer = excluded.customer, event_id = excluded.event_id, state = excluded.state, \
             accepted_at_ms = excluded.accepted_at_ms, read_at_ms = excluded.read_at_ms \
             WHERE excluded.state > 0 OR event_deliveries.state > 0";
        self.write(move |db| {
            let customer = claim.customer.as_bytes();
            let held = "SELECT 1 FROM endpoint_readings WHERE customer = ?1 AND claimed_until_ms = ?2";
            if rows::one(db, held, (customer, ms(claim.until)), |_| Ok(()))?.is_none() {
                return Ok(false);
            }
            if let Some(endpoint) = endpoint {
                let update = "UPDATE endpoints SET state = ?3 WHERE customer = ?1 AND endpoint = ?2";
                rows::execute(db, update, (customer, &endpoint.id, to_json(&endpoint)?))?;
            }
            for delivery in &deliveries {
                let values = params![
                    delivery.subject.as_bytes(),
                    delivery.sequence,
                    delivery.endpoint,
                    customer,
                    delivery.event_id,
                    delivery_code(delivery.state),
                    ms(delivery.accepted_at),
                    ms(delivery.read_at),
                ];
                rows::execute(db, upsert, values)?;
            }
            Ok(true)
        })
        .await
    }

    async fn end_endpoint_reading(&self, end: ReadingEnd) -> StoreResult<()> {
        // A reading that was brought forward during this one is due before the end of the claim.
        let update = "UPDATE endpoint_readings SET \
             due_at_ms = CASE WHEN due_at_ms < claimed_until_ms THEN ?7 ELSE ?6 END, claimed_until_ms = 0, \
             outcome_since_ms = CASE WHEN outcome = ?3 THEN coalesce(outcome_since_ms, ?5) ELSE ?5 END, \
             outcome = ?3, detail = ?4, tried_at_ms = ?5 WHERE customer = ?1 AND claimed_until_ms = ?2";
        let trim = "DELETE FROM event_deliveries WHERE customer = ?1 AND accepted_at_ms < \
             (SELECT accepted_at_ms FROM event_deliveries WHERE customer = ?1 \
             ORDER BY accepted_at_ms DESC LIMIT 1 OFFSET ?2)";
        self.write(move |db| {
            let ReadingEnd { claim: ReadingClaim { customer, until, .. }, detail, at, next_at, soon_at, .. } = end;
            let name = outcome_name(end.outcome);
            let values = params![customer.as_bytes(), ms(until), name, detail, ms(at), ms(next_at), ms(soon_at)];
            if rows::execute(db, update, values)? > 0 {
                rows::execute(db, trim, (customer.as_bytes(), rows::limit(DELIVERIES_KEPT_MAX)))?;
            }
            Ok(())
        })
        .await
    }

    async fn endpoint_readings(&self, customers: Vec<Uuid>) -> StoreResult<Vec<EndpointReading>> {
        let select = "SELECT r.customer, outcome, outcome_since_ms, detail, tried_at_ms, read_at_ms, has_more \
             FROM endpoint_readings r JOIN consumers c ON c.customer = r.customer \
             WHERE r.customer = ?1 AND c.application_id IS NOT NULL AND c.api_key IS NOT NULL";
        let endpoints = "SELECT state FROM endpoints WHERE customer = ?1 ORDER BY endpoint";
        self.read(move |db| {
            let mut found = Vec::new();
            for customer in customers {
                let Some(mut reading) = rows::one(db, select, [customer.as_bytes()], reading)? else { continue };
                reading.endpoints = rows::list(db, endpoints, [customer.as_bytes()], |row| rows::json(row, 0))?;
                found.push(reading);
            }
            Ok(found)
        })
        .await
    }

    async fn undelivered_events(
        &self,
        customer: Uuid,
        after: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<EventDelivery>> {
        let select = format!(
            "{DELIVERY} WHERE customer = ?1 AND state > 0 AND accepted_at_ms > ?2 \
             ORDER BY read_at_ms, subject, sequence, endpoint LIMIT ?3"
        );
        let limit = rows::limit(limit);
        self.read(move |db| rows::list(db, &select, (customer.as_bytes(), ms(after), limit), delivery)).await
    }

    async fn event_deliveries(&self, subject: Uuid) -> StoreResult<Vec<EventDelivery>> {
        let select = format!("{DELIVERY} WHERE subject = ?1 ORDER BY sequence, endpoint");
        self.read(move |db| rows::list(db, &select, [subject.as_bytes()], delivery)).await
    }

    async fn undelivered_of_sale(&self, customer: Uuid, auction: Uuid) -> StoreResult<UndeliveredOfSale> {
        let select = "SELECT count(*), min(accepted_at_ms) FROM \
             (SELECT d.accepted_at_ms FROM event_deliveries d WHERE d.customer = ?1 AND d.state > 0 AND \
             (d.subject = ?2 OR EXISTS (SELECT 1 FROM items i WHERE i.uuid = d.subject AND i.auction = ?2)) \
             GROUP BY d.subject, d.sequence LIMIT ?3)";
        let limit = rows::limit(UNDELIVERED_COUNTED_MAX);
        let row = |row: &Row<'_>| {
            let count: i64 = row.get(0)?;
            Ok(UndeliveredOfSale {
                count: usize::try_from(count).unwrap_or(usize::MAX),
                oldest_at: rows::optional_time(row, 1)?,
            })
        };
        let found =
            self.read(move |db| rows::one(db, select, (customer.as_bytes(), auction.as_bytes(), limit), row)).await?;
        Ok(found.unwrap_or_default())
    }

    async fn reading_figures(&self) -> StoreResult<ReadingFigures> {
        let select = "SELECT min(coalesce(r.tried_at_ms, c.updated_at_ms)), \
             count(*) FILTER (WHERE r.outcome = 'no_right') FROM consumers c \
             LEFT JOIN endpoint_readings r ON r.customer = c.customer \
             WHERE c.application_id IS NOT NULL AND c.api_key IS NOT NULL";
        let row = |row: &Row<'_>| {
            let without_right: i64 = row.get(1)?;
            Ok(ReadingFigures { oldest_at: rows::optional_time(row, 0)?, without_right: without_right.unsigned_abs() })
        };
        Ok(self.read(move |db| rows::one(db, select, [], row)).await?.unwrap_or_default())
    }
}

/// A connection is about to be stored: forgets what was read of another application, and makes a reading due at once.
pub(super) fn connection_changes(db: &Connection, consumer: &Consumer) -> SqlResult<()> {
    let same = "SELECT 1 FROM consumers WHERE customer = ?1 AND provider_url IS ?2 AND application_id IS ?3";
    let values = params![consumer.customer.as_bytes(), provider_url(&consumer.provider), consumer.application_id];
    if rows::one(db, same, values, |_| Ok(()))?.is_none() {
        return forget(db, consumer.customer);
    }
    let update = "UPDATE endpoint_readings SET due_at_ms = 0, claimed_until_ms = 0 WHERE customer = ?1";
    rows::execute(db, update, [consumer.customer.as_bytes()]).map(drop)
}

/// Deletes what was read for a customer.
pub(super) fn forget(db: &Connection, customer: Uuid) -> SqlResult<()> {
    for delete in [
        "DELETE FROM endpoint_readings WHERE customer = ?1",
        "DELETE FROM endpoints WHERE customer = ?1",
        "DELETE FROM event_deliveries WHERE customer = ?1",
    ] {
        rows::execute(db, delete, [customer.as_bytes()])?;
    }
    Ok(())
}

fn due(db: &Connection, now: Timestamp, until: Timestamp, limit: usize) -> SqlResult<Vec<ReadingClaim>> {
    let claim = |row: &Row<'_>| {
        Ok(ReadingClaim { customer: rows::uuid(row, 0)?, until, published_at: rows::optional_time(row, 1)? })
    };
    rows::list(db, DUE, (ms(now), rows::limit(limit)), claim)
}

fn reading(row: &Row<'_>) -> SqlResult<EndpointReading> {
    Ok(EndpointReading {
        customer: rows::uuid(row, 0)?,
        outcome: outcome(rows::text(row, 1)?)?,
        outcome_since: rows::optional_time(row, 2)?,
        detail: row.get(3)?,
        tried_at: rows::optional_time(row, 4)?,
        read_at: rows::optional_time(row, 5)?,
        has_more: row.get(6)?,
        endpoints: Vec::new(),
    })
}

fn delivery(row: &Row<'_>) -> SqlResult<EventDelivery> {
    Ok(EventDelivery {
        subject: rows::uuid(row, 0)?,
        sequence: row.get(1)?,
        endpoint: row.get(2)?,
        event_id: row.get(3)?,
        state: codec::delivery_state(row.get(4)?)?,
        accepted_at: rows::time(row, 5)?,
        read_at: rows::time(row, 6)?,
    })
}
