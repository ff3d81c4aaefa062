//! What waits, for people.

use async_trait::async_trait;
use provider_core::model::{Endpoint, Id};
use provider_core::port::{EndpointBacklog, EndpointBacklogStore, StoreResult};
use rusqlite::Connection;

use super::rows::{self, ENDPOINT, SqlResult};
use super::{SqliteStore, deliveries};

/// Skips from endpoint to endpoint, as many as are asked for.
const ENDPOINTS: &str = "WITH RECURSIVE present (endpoint) AS ( \
         SELECT min(endpoint) FROM deliveries WHERE endpoint > ?1 \
         UNION ALL \
         SELECT (SELECT min(d.endpoint) FROM deliveries d WHERE d.endpoint > present.endpoint) \
         FROM present WHERE present.endpoint IS NOT NULL \
     ) \
     SELECT e.id FROM present JOIN endpoints e ON e.id = present.endpoint LIMIT ?2";

#[async_trait]
impl EndpointBacklogStore for SqliteStore {
    async fn endpoint_backlogs(
        &self,
        after: Option<&str>,
        limit: usize,
        count_max: usize,
    ) -> StoreResult<Vec<EndpointBacklog>> {
        let after = after.unwrap_or_default().to_owned();
        self.read(move |db| {
            let mut found = Vec::new();
            for endpoint in endpoints(db, &after, limit)? {
                found.extend(waiting(db, &endpoint, count_max)?);
            }
            Ok(found)
        })
        .await
    }

    async fn endpoint_by_id(&self, id: &str) -> StoreResult<Option<(Id, Endpoint)>> {
        let id = id.to_owned();
        self.read(move |db| anywhere(db, &id)).await
    }
}

fn endpoints(db: &Connection, after: &str, limit: usize) -> SqlResult<Vec<Id>> {
    let mut statement = db.prepare_cached(ENDPOINTS)?;
    let mut rows = statement.query((after, i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(rows::id(row, 0)?);
    }
    Ok(found)
}

fn waiting(db: &Connection, endpoint: &str, count_max: usize) -> SqlResult<Option<EndpointBacklog>> {
    let Some((account, endpoint)) = anywhere(db, endpoint)? else { return Ok(None) };
    let count = "SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE endpoint = ?1 LIMIT ?2)";
    let count_max = i64::try_from(count_max).unwrap_or(i64::MAX);
    Ok(Some(EndpointBacklog {
        account,
        deliveries: rows::one(db, count, (&*endpoint.id, count_max), |row| rows::count(row, 0))?.unwrap_or(0),
        oldest_at: deliveries::oldest_at(db, &endpoint.id)?,
        next_at: deliveries::earliest_of(db, &endpoint.id)?,
        endpoint,
    }))
}

pub(super) fn anywhere(db: &Connection, id: &str) -> SqlResult<Option<(Id, Endpoint)>> {
    let Some(endpoint) = rows::one(db, &format!("{ENDPOINT} WHERE id = ?1"), [id], rows::endpoint)? else {
        return Ok(None);
    };
    let account = "SELECT account FROM applications WHERE id = ?1";
    let account = rows::one(db, account, [&*endpoint.application], |row| rows::id(row, 0))?;
    Ok(account.map(|account| (account, endpoint)))
}
