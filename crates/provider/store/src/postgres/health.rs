//! Statistics of deliveries for the App Portal.

use std::ops::Range;

use async_trait::async_trait;
use provider_core::model::Id;
use provider_core::port::{EndpointWaiting, HealthStore, StoreResult};
use tokio_postgres::Row;

use super::PostgresStore;
use super::rows;

#[async_trait]
impl HealthStore for PostgresStore {
    async fn endpoint_waiting(&self, endpoint: &str, messages: Option<Range<Id>>) -> StoreResult<EndpointWaiting> {
        let client = self.client().await?;
        let select = "SELECT count(*) FILTER (WHERE attempts = 0), count(*) FILTER (WHERE attempts > 0), \
                 (SELECT next_at FROM deliveries WHERE endpoint = $1 AND owner IS NULL ORDER BY next_at, message LIMIT 1) \
             FROM deliveries \
             WHERE endpoint = $1 AND ($2::text IS NULL OR message >= $2) AND ($3::text IS NULL OR message < $3)";
        let (from, to) = (messages.as_ref().map(|range| &*range.start), messages.as_ref().map(|range| &*range.end));
        Ok(rows::one(&client, select, &[&endpoint, &from, &to], waiting).await?.unwrap_or_default())
    }

    async fn waiting_of_endpoints(&self, endpoints: &[Id]) -> StoreResult<Vec<EndpointWaiting>> {
        let client = self.client().await?;
        let endpoints: Vec<&str> = endpoints.iter().map(|id| &**id).collect();
        let select = "SELECT counted.first, counted.retries, counted.next_at \
             FROM unnest($1::text[]) WITH ORDINALITY AS wanted (id, no) \
             CROSS JOIN LATERAL ( \
                 SELECT count(*) FILTER (WHERE attempts = 0) AS first, count(*) FILTER (WHERE attempts > 0) AS retries, \
                     (SELECT next_at FROM deliveries WHERE endpoint = wanted.id AND owner IS NULL \
                      ORDER BY next_at, message LIMIT 1) AS next_at \
                 FROM deliveries WHERE endpoint = wanted.id \
             ) counted ORDER BY wanted.no";
        Ok(rows::all(&client, select, &[&endpoints], waiting).await?)
    }
}

/// Reads the columns `first`, `retries` and `next_at`.
fn waiting(row: &Row) -> StoreResult<EndpointWaiting> {
    let number = |column| StoreResult::Ok(rows::get::<i64>(row, column)?.unsigned_abs());
    Ok(EndpointWaiting { first: number(0)?, retries: number(1)?, next_at: rows::get(row, 2)? })
}
