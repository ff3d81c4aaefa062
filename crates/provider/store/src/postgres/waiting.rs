//! What waits, for people.

use async_trait::async_trait;
use provider_core::model::{Endpoint, Id};
use provider_core::port::{EndpointBacklog, EndpointBacklogStore, StoreResult};
use tokio_postgres::Row;

use super::PostgresStore;
use super::rows::{self, Client, ENDPOINT, SqlResult, sql_limit};

/// Skips from endpoint to endpoint, as many as are asked for.
const ENDPOINTS_WITH_ROWS: &str = "WITH RECURSIVE present (endpoint) AS ( \
         (SELECT endpoint FROM deliveries WHERE endpoint > $1 ORDER BY endpoint LIMIT 1) \
         UNION ALL \
         SELECT next.endpoint FROM present CROSS JOIN LATERAL ( \
             SELECT d.endpoint FROM deliveries d WHERE d.endpoint > present.endpoint ORDER BY d.endpoint LIMIT 1) next \
     )";

#[async_trait]
impl EndpointBacklogStore for PostgresStore {
    async fn endpoint_backlogs(
        &self,
        after: Option<&str>,
        limit: usize,
        count_max: usize,
    ) -> StoreResult<Vec<EndpointBacklog>> {
        let client = self.client().await?;
        Ok(waiting(&client, after.unwrap_or_default(), limit, count_max).await?)
    }

    async fn endpoint_by_id(&self, id: &str) -> StoreResult<Option<(Id, Endpoint)>> {
        let client = self.client().await?;
        let select = format!(
            "SELECT a.account, {ENDPOINT} FROM endpoints e JOIN applications a ON a.id = e.application WHERE e.id = $1"
        );
        let found = |row: &Row| Ok((rows::id(row, 0)?, rows::endpoint(row, 1)?));
        Ok(rows::one(&client, &select, &[&id], found).await?)
    }
}

async fn waiting(db: &impl Client, after: &str, limit: usize, count_max: usize) -> SqlResult<Vec<EndpointBacklog>> {
    let select = format!(
        "{ENDPOINTS_WITH_ROWS} SELECT a.account, counted.deliveries, oldest.created_at, due.next_at, {ENDPOINT} \
         FROM (SELECT e.id FROM present JOIN endpoints e ON e.id = present.endpoint LIMIT $2) found \
         JOIN endpoints e ON e.id = found.id JOIN applications a ON a.id = e.application \
         CROSS JOIN LATERAL (SELECT count(*) AS deliveries FROM \
             (SELECT FROM deliveries d WHERE d.endpoint = e.id LIMIT $3) listed) counted \
         LEFT JOIN LATERAL (SELECT m.created_at FROM \
             (SELECT d.message FROM deliveries d WHERE d.endpoint = e.id ORDER BY d.message LIMIT 1) first \
             JOIN messages m ON m.application = e.application AND m.id = first.message) oldest ON TRUE \
         LEFT JOIN LATERAL (SELECT min(d.next_at) AS next_at FROM deliveries d \
             WHERE d.owner IS NULL AND d.endpoint = e.id) due ON TRUE \
         ORDER BY e.id"
    );
    rows::all(db, &select, &[&after, &sql_limit(limit), &sql_limit(count_max)], |row| {
        Ok(EndpointBacklog {
            account: rows::id(row, 0)?,
            deliveries: usize::try_from(rows::get::<i64>(row, 1)?).unwrap_or(0),
            oldest_at: rows::get(row, 2)?,
            next_at: rows::get(row, 3)?,
            endpoint: rows::endpoint(row, 4)?,
        })
    })
    .await
}
