//! Statistics of deliveries for the App Portal.

use std::ops::Range;

use async_trait::async_trait;
use provider_core::model::Id;
use provider_core::port::{EndpointWaiting, HealthStore, StoreResult};
use rusqlite::{Connection, Row};

use super::rows::{self, SqlResult};
use super::{SqliteStore, backlog};

#[async_trait]
impl HealthStore for SqliteStore {
    async fn endpoint_waiting(&self, endpoint: &str, messages: Option<Range<Id>>) -> StoreResult<EndpointWaiting> {
        let endpoint = endpoint.to_owned();
        self.read(move |db| waiting(db, &endpoint, messages.as_ref())).await
    }

    async fn waiting_of_endpoints(&self, endpoints: &[Id]) -> StoreResult<Vec<EndpointWaiting>> {
        let endpoints = endpoints.to_vec();
        self.read(move |db| endpoints.iter().map(|endpoint| waiting(db, endpoint, None)).collect()).await
    }
}

fn waiting(db: &Connection, endpoint: &str, messages: Option<&Range<Id>>) -> SqlResult<EndpointWaiting> {
    let count = "SELECT count(*) FILTER (WHERE attempts = 0), count(*) FILTER (WHERE attempts > 0) FROM deliveries \
         WHERE endpoint = ?1 AND (?2 IS NULL OR message >= ?2) AND (?3 IS NULL OR message < ?3)";
    let (from, to) = (messages.map(|range| &*range.start), messages.map(|range| &*range.end));
    let number = |row: &Row<'_>, column| -> SqlResult<u64> { Ok(row.get::<_, i64>(column)?.unsigned_abs()) };
    let counted = rows::one(db, count, (endpoint, from, to), |row| Ok((number(row, 0)?, number(row, 1)?)))?;
    let (first, retries) = counted.unwrap_or_default();
    Ok(EndpointWaiting { first, retries, next_at: backlog::earliest_due(db, endpoint)? })
}
