//! What was read of customers' endpoints.

use async_trait::async_trait;
use jiff::Timestamp;
use kit_engine::postgres::{Connection, Transaction};
use platform_core::port::{
    Consumer, DELIVERIES_KEPT_MAX, EndpointReading, EndpointReadingStore, EndpointRecord, EventDelivery, ReadingClaim,
    ReadingEnd, ReadingFigures, StoreResult, UNDELIVERED_COUNTED_MAX, UndeliveredOfSale,
};
use tokio_postgres::Row;
use uuid::Uuid;

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec::{self, delivery_code, ms, outcome, outcome_name, provider_url, to_json};

/// Whether a customer with a complete connection has a reading that is due and not claimed.
const IS_DUE: &str = "SELECT 1 FROM consumers c LEFT JOIN endpoint_readings r ON r.customer = c.customer \
     WHERE c.application_id IS NOT NULL AND c.api_key IS NOT NULL \
     AND (r.customer IS NULL OR (r.due_at_ms <= $1 AND r.claimed_until_ms <= $1)) LIMIT 1";
/// Nodes claim at the same time: each skips the rows that another one is claiming.
const CLAIM: &str = "UPDATE endpoint_readings SET due_at_ms = $2, claimed_until_ms = $2 WHERE customer IN \
     (SELECT r.customer FROM endpoint_readings r JOIN consumers c ON c.customer = r.customer \
     WHERE c.application_id IS NOT NULL AND c.api_key IS NOT NULL \
     AND r.due_at_ms <= $1 AND r.claimed_until_ms <= $1 \
     ORDER BY r.due_at_ms, r.customer LIMIT $3 FOR UPDATE OF r SKIP LOCKED) RETURNING customer, published_at_ms";
const DELIVERY: &str = "SELECT subject, sequence, endpoint, event_id, state, accepted_at_ms, read_at_ms \
     FROM event_deliveries";

#[async_trait]
impl EndpointReadingStore for PostgresStore {
    async fn claim_endpoint_readings(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<ReadingClaim>> {
        // Most calls find nothing; a write would cost a transaction.
        if rows::one(&self.client().await?, IS_DUE, &[&ms(now)], |_| Ok(())).await?.is_none() {
            return Ok(Vec::new());
        }
        self.write(&(now, until, limit), |db, (now, until, limit)| {
            Box::pin(async move {
                let insert = "INSERT INTO endpoint_readings (customer, due_at_ms) SELECT customer, 0 FROM consumers c \
                     WHERE application_id IS NOT NULL AND api_key IS NOT NULL AND NOT EXISTS \
                     (SELECT 1 FROM endpoint_readings r WHERE r.customer = c.customer) ON CONFLICT DO NOTHING";
                rows::execute(db, insert, &[]).await?;
                let claim = |row: &Row| {
                    let published_at = rows::optional_time(row, 1)?;
                    Ok(ReadingClaim { customer: rows::get(row, 0)?, until: *until, published_at })
                };
                rows::list(db, CLAIM, &[&ms(*now), &ms(*until), &rows::limit(*limit)], claim).await
            })
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
             due_at_ms = least(due_at_ms, greatest($2::bigint, tried_at_ms + $3::bigint)), \
             published_at_ms = coalesce($4::bigint, published_at_ms) WHERE customer IN \
             (SELECT customer FROM endpoint_readings WHERE customer = ANY($1) ORDER BY customer FOR UPDATE)";
        let values: rows::Values<'_> = &[&customers, &ms(at), &pause_ms, &published_at.map(ms)];
        rows::execute(&self.client().await?, update, values).await?;
        Ok(())
    }

    async fn record_endpoints(
        &self,
        claim: ReadingClaim,
        endpoints: Vec<EndpointRecord>,
        has_more: bool,
        read_at: Timestamp,
    ) -> StoreResult<bool> {
        self.write(&(claim, endpoints, has_more, read_at), |db, (claim, endpoints, has_more, read_at)| {
            Box::pin(record_endpoints(db, claim, endpoints, *has_more, *read_at))
        })
        .await
    }

    async fn record_event_deliveries(
        &self,
        claim: ReadingClaim,
        endpoint: Option<EndpointRecord>,
        deliveries: Vec<EventDelivery>,
    ) -> StoreResult<bool> {
        self.write(&(claim, endpoint, deliveries), |db, (claim, endpoint, deliveries)| {
            Box::pin(record_event_deliveries(db, claim, endpoint.as_ref(), deliveries))
        })
        .await
    }

    async fn end_endpoint_reading(&self, end: ReadingEnd) -> StoreResult<()> {
        self.write(&end, |db, end| Box::pin(end_reading(db, end))).await
    }

    async fn endpoint_readings(&self, customers: Vec<Uuid>) -> StoreResult<Vec<EndpointReading>> {
        let select = "SELECT r.customer, outcome, outcome_since_ms, detail, tried_at_ms, read_at_ms, has_more \
             FROM endpoint_readings r JOIN consumers c ON c.customer = r.customer \
             WHERE r.customer = ANY($1) AND c.application_id IS NOT NULL AND c.api_key IS NOT NULL";
        let client = self.client().await?;
        let mut found = rows::list(&client, select, &[&customers], reading).await?;
        let endpoints = "SELECT customer, state FROM endpoints WHERE customer = ANY($1) ORDER BY customer, endpoint";
        let row = |row: &Row| Ok((rows::get::<Uuid>(row, 0)?, rows::json::<EndpointRecord>(row, 1)?));
        for (customer, endpoint) in rows::list(&client, endpoints, &[&customers], row).await? {
            if let Some(reading) = found.iter_mut().find(|reading| reading.customer == customer) {
                reading.endpoints.push(endpoint);
            }
        }
        Ok(found)
    }

    async fn undelivered_events(
        &self,
        customer: Uuid,
        after: Timestamp,
        limit: usize,
    ) -> StoreResult<Vec<EventDelivery>> {
        let select = format!(
            "{DELIVERY} WHERE customer = $1 AND state > 0 AND accepted_at_ms > $2 \
             ORDER BY read_at_ms, subject, sequence, endpoint LIMIT $3"
        );
        let values: rows::Values<'_> = &[&customer, &ms(after), &rows::limit(limit)];
        Ok(rows::list(&self.client().await?, &select, values, delivery).await?)
    }

    async fn event_deliveries(&self, subject: Uuid) -> StoreResult<Vec<EventDelivery>> {
        let select = format!("{DELIVERY} WHERE subject = $1 ORDER BY sequence, endpoint");
        Ok(rows::list(&self.client().await?, &select, &[&subject], delivery).await?)
    }

    async fn undelivered_of_sale(&self, customer: Uuid, auction: Uuid) -> StoreResult<UndeliveredOfSale> {
        let select = "SELECT count(*), min(accepted_at_ms) FROM \
             (SELECT min(d.accepted_at_ms) AS accepted_at_ms FROM event_deliveries d \
             WHERE d.customer = $1 AND d.state > 0 AND \
             (d.subject = $2 OR EXISTS (SELECT 1 FROM items i WHERE i.uuid = d.subject AND i.auction = $2)) \
             GROUP BY d.subject, d.sequence LIMIT $3) AS events";
        let row = |row: &Row| {
            Ok(UndeliveredOfSale {
                count: usize::try_from(rows::count(row, 0)?).unwrap_or(usize::MAX),
                oldest_at: rows::optional_time(row, 1)?,
            })
        };
        let values: rows::Values<'_> = &[&customer, &auction, &rows::limit(UNDELIVERED_COUNTED_MAX)];
        Ok(rows::one(&self.client().await?, select, values, row).await?.unwrap_or_default())
    }

    async fn reading_figures(&self) -> StoreResult<ReadingFigures> {
        let select = "SELECT min(coalesce(r.tried_at_ms, c.updated_at_ms)), \
             count(*) FILTER (WHERE r.outcome = 'no_right') FROM consumers c \
             LEFT JOIN endpoint_readings r ON r.customer = c.customer \
             WHERE c.application_id IS NOT NULL AND c.api_key IS NOT NULL";
        let row = |row: &Row| {
            Ok(ReadingFigures { oldest_at: rows::optional_time(row, 0)?, without_right: rows::count(row, 1)? })
        };
        Ok(rows::one(&self.client().await?, select, &[], row).await?.unwrap_or_default())
    }
}

async fn record_endpoints(
    db: &Transaction<'_>,
    claim: &ReadingClaim,
    endpoints: &[EndpointRecord],
    has_more: bool,
    read_at: Timestamp,
) -> SqlResult<bool> {
    let update = "UPDATE endpoint_readings SET \
         outcome_since_ms = CASE WHEN outcome = 'read' THEN coalesce(outcome_since_ms, $3::bigint) ELSE $3::bigint END, \
         outcome = 'read', detail = NULL, tried_at_ms = $3, read_at_ms = $3, has_more = $4 \
         WHERE customer = $1 AND claimed_until_ms = $2";
    let customer = claim.customer;
    if rows::execute(db, update, &[&customer, &ms(claim.until), &ms(read_at), &has_more]).await? == 0 {
        return Ok(false);
    }
    rows::execute(db, "DELETE FROM endpoints WHERE customer = $1", &[&customer]).await?;
    let ids: Vec<&str> = endpoints.iter().map(|endpoint| endpoint.id.as_str()).collect();
    let states = endpoints.iter().map(state).collect::<StoreResult<Vec<String>>>()?;
    let insert = "INSERT INTO endpoints (customer, endpoint, state) \
         SELECT $1, endpoint, state FROM unnest($2::text[], $3::text[]) AS new (endpoint, state)";
    rows::execute(db, insert, &[&customer, &ids, &states]).await?;
    if !has_more {
        let delete_gone = "DELETE FROM event_deliveries d WHERE d.customer = $1 AND d.state > 0 AND NOT EXISTS \
             (SELECT 1 FROM endpoints e WHERE e.customer = $1 AND e.endpoint = d.endpoint)";
        rows::execute(db, delete_gone, &[&customer]).await?;
    }
    Ok(true)
}

async fn record_event_deliveries(
    db: &Transaction<'_>,
    claim: &ReadingClaim,
    endpoint: Option<&EndpointRecord>,
    deliveries: &[EventDelivery],
) -> SqlResult<bool> {
    let customer = claim.customer;
    let held = "SELECT 1 FROM endpoint_readings WHERE customer = $1 AND claimed_until_ms = $2 FOR UPDATE";
    if rows::one(db, held, &[&customer, &ms(claim.until)], |_| Ok(())).await?.is_none() {
        return Ok(false);
    }
    if let Some(endpoint) = endpoint {
        let update = "UPDATE endpoints SET state = $3 WHERE customer = $1 AND endpoint = $2";
        rows::execute(db, update, &[&customer, &endpoint.id, &state(endpoint)?]).await?;
    }
    // A delivered event is not written again: most of those that are read were read before.
    let upsert = "INSERT INTO event_deliveries \
         (subject, sequence, endpoint, customer, event_id, state, accepted_at_ms, read_at_ms) \
         SELECT subject, sequence, endpoint, $1, event_id, state, accepted_at_ms, read_at_ms \
         FROM unnest($2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::smallint[], $7::bigint[], $8::bigint[]) \
         AS new (subject, sequence, endpoint, event_id, state, accepted_at_ms, read_at_ms) \
         ON CONFLICT (subject, sequence, endpoint) DO UPDATE SET customer = excluded.customer, \
         event_id = excluded.event_id, state = excluded.state, accepted_at_ms = excluded.accepted_at_ms, \
         read_at_ms = excluded.read_at_ms WHERE excluded.state > 0 OR event_deliveries.state > 0";
    let column = |value: fn(&EventDelivery) -> i64| deliveries.iter().map(value).collect::<Vec<i64>>();
    let subjects: Vec<Uuid> = deliveries.iter().map(|delivery| delivery.subject).collect();
    let endpoints: Vec<&str> = deliveries.iter().map(|delivery| delivery.endpoint.as_str()).collect();
    let event_ids: Vec<&str> = deliveries.iter().map(|delivery| delivery.event_id.as_str()).collect();
    let states: Vec<i16> = deliveries.iter().map(|delivery| delivery_code(delivery.state)).collect();
    let values: rows::Values<'_> = &[
        &customer,
        &subjects,
        &column(|delivery| delivery.sequence),
        &endpoints,
        &event_ids,
        &states,
        &column(|delivery| ms(delivery.accepted_at)),
        &column(|delivery| ms(delivery.read_at)),
    ];
    rows::execute(db, upsert, values).await?;
    Ok(true)
}

async fn end_reading(db: &Transaction<'_>, end: &ReadingEnd) -> SqlResult<()> {
    // A reading that was brought forward during this one is due before the end of the claim.
    let update = "UPDATE endpoint_readings SET \
         due_at_ms = CASE WHEN due_at_ms < claimed_until_ms THEN $7::bigint ELSE $6::bigint END, claimed_until_ms = 0, \
         outcome_since_ms = CASE WHEN outcome = $3 THEN coalesce(outcome_since_ms, $5::bigint) ELSE $5::bigint END, \
         outcome = $3, detail = $4, tried_at_ms = $5 WHERE customer = $1 AND claimed_until_ms = $2";
    let ReadingEnd { claim: ReadingClaim { customer, until, .. }, detail, at, next_at, soon_at, .. } = end;
    let values: rows::Values<'_> = &[
        customer,
        &ms(*until),
        &outcome_name(end.outcome),
        &detail.as_deref().map(rows::foreign_text),
        &ms(*at),
        &ms(*next_at),
        &ms(*soon_at),
    ];
    if rows::execute(db, update, values).await? > 0 {
        let trim = "DELETE FROM event_deliveries WHERE customer = $1 AND accepted_at_ms < \
             (SELECT accepted_at_ms FROM event_deliveries WHERE customer = $1 \
             ORDER BY accepted_at_ms DESC LIMIT 1 OFFSET $2)";
        rows::execute(db, trim, &[customer, &rows::limit(DELIVERIES_KEPT_MAX)]).await?;
    }
    Ok(())
}

/// A connection is about to be stored: forgets what was read of another application, and makes a reading due at once.
pub(super) async fn connection_changes(db: &impl Connection, consumer: &Consumer) -> SqlResult<()> {
    let same = "SELECT 1 FROM consumers WHERE customer = $1 AND provider_url IS NOT DISTINCT FROM $2 \
         AND application_id IS NOT DISTINCT FROM $3";
    let values: rows::Values<'_> = &[&consumer.customer, &provider_url(&consumer.provider), &consumer.application_id];
    if rows::one(db, same, values, |_| Ok(())).await?.is_none() {
        return forget(db, consumer.customer).await;
    }
    let update = "UPDATE endpoint_readings SET due_at_ms = 0, claimed_until_ms = 0 WHERE customer = $1";
    rows::execute(db, update, &[&consumer.customer]).await.map(drop)
}

/// Deletes what was read for a customer. The reading goes first: its row is what a node that records has locked.
pub(super) async fn forget(db: &impl Connection, customer: Uuid) -> SqlResult<()> {
    for delete in [
        "DELETE FROM endpoint_readings WHERE customer = $1",
        "DELETE FROM endpoints WHERE customer = $1",
        "DELETE FROM event_deliveries WHERE customer = $1",
    ] {
        rows::execute(db, delete, &[&customer]).await?;
    }
    Ok(())
}

/// The JSON of an endpoint, whose texts are the provider's.
fn state(endpoint: &EndpointRecord) -> StoreResult<String> {
    Ok(rows::foreign_text(&to_json(endpoint)?).into_owned())
}

fn reading(row: &Row) -> SqlResult<EndpointReading> {
    Ok(EndpointReading {
        customer: rows::get(row, 0)?,
        outcome: outcome(rows::get(row, 1)?)?,
        outcome_since: rows::optional_time(row, 2)?,
        detail: rows::get(row, 3)?,
        tried_at: rows::optional_time(row, 4)?,
        read_at: rows::optional_time(row, 5)?,
        has_more: rows::get(row, 6)?,
        endpoints: Vec::new(),
    })
}

fn delivery(row: &Row) -> SqlResult<EventDelivery> {
    Ok(EventDelivery {
        subject: rows::get(row, 0)?,
        sequence: rows::get(row, 1)?,
        endpoint: rows::get(row, 2)?,
        event_id: rows::get(row, 3)?,
        state: codec::delivery_state(rows::get(row, 4)?)?,
        accepted_at: rows::time(row, 5)?,
        read_at: rows::time(row, 6)?,
    })
}
