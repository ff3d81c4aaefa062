//! Statistics of deliveries for the App Portal.

use async_trait::async_trait;
use provider_core::model::Id;
use provider_core::port::{
    AttemptTally, EndpointWaiting, FAILURE_BYTES_MAX, HealthStore, MessageProgress, StoreResult,
};
use tokio_postgres::Row;

use super::PostgresStore;
use super::rows::{self, SqlResult, sql_limit};
use crate::codec;

#[async_trait]
impl HealthStore for PostgresStore {
    async fn attempt_tallies(&self, endpoint: &str, bounds: &[Id], rows_max: usize) -> StoreResult<Vec<AttemptTally>> {
        let client = self.client().await?;
        let lows: Vec<&str> = bounds.windows(2).map(|range| &*range[0]).collect();
        let highs: Vec<&str> = bounds.windows(2).map(|range| &*range[1]).collect();
        let count = "SELECT counted.success, counted.fail, counted.listed \
             FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS span (low, high, no) \
             CROSS JOIN LATERAL ( \
                 SELECT count(*) FILTER (WHERE status = 0) AS success, count(*) FILTER (WHERE status = 2) AS fail, \
                     count(*) AS listed FROM (SELECT status FROM attempts \
                     WHERE endpoint = $1 AND id >= span.low AND id < span.high LIMIT $4) first \
             ) counted ORDER BY span.no";
        let read = |row: &Row| {
            let number = |column| -> SqlResult<u64> { Ok(rows::get::<i64>(row, column)?.unsigned_abs()) };
            Ok(AttemptTally { success: number(0)?, fail: number(1)?, is_capped: number(2)? >= rows_max as u64 })
        };
        Ok(rows::all(&client, count, &[&endpoint, &lows, &highs, &sql_limit(rows_max)], read).await?)
    }

    async fn latest_durations(&self, endpoint: &str, after: &str, limit: usize) -> StoreResult<Vec<i64>> {
        let client = self.client().await?;
        let select = "SELECT response_duration_ms FROM attempts WHERE endpoint = $1 AND id > $2 \
             ORDER BY id DESC LIMIT $3";
        let params: &[&(dyn tokio_postgres::types::ToSql + Sync)] = &[&endpoint, &after, &sql_limit(limit)];
        Ok(rows::all(&client, select, params, |row| rows::get(row, 0)).await?)
    }

    async fn endpoint_waiting(&self, endpoint: &str, count_max: usize) -> StoreResult<EndpointWaiting> {
        let client = self.client().await?;
        let select = "SELECT (SELECT count(*) FROM (SELECT FROM deliveries WHERE endpoint = $1 LIMIT $2) listed), \
             (SELECT min(next_at) FROM deliveries WHERE owner IS NULL AND endpoint = $1)";
        let read = |row: &Row| {
            Ok(EndpointWaiting {
                deliveries: usize::try_from(rows::get::<i64>(row, 0)?).unwrap_or(0),
                next_at: rows::get(row, 1)?,
            })
        };
        Ok(rows::one(&client, select, &[&endpoint, &sql_limit(count_max)], read).await?.unwrap_or_default())
    }

    async fn message_progress(
        &self,
        application: &str,
        messages: &[Id],
        endpoint: Option<&str>,
    ) -> StoreResult<Vec<MessageProgress>> {
        let client = self.client().await?;
        let messages: Vec<&str> = messages.iter().map(|id| &**id).collect();
        let select = "SELECT wanted.id, made.endpoints + waiting.untried, made.succeeded, waiting.count, waiting.next_at, \
                 made.attempts, made.status, made.code, made.failure, made.url, made.detail \
             FROM unnest($2::text[]) WITH ORDINALITY AS wanted (id, no) \
             CROSS JOIN LATERAL ( \
                 SELECT count(DISTINCT endpoint) AS endpoints, count(*) AS attempts, \
                     count(DISTINCT endpoint) FILTER (WHERE status = 0) AS succeeded, \
                     (array_agg(status ORDER BY id DESC))[1] AS status, \
                     (array_agg(response_status_code ORDER BY id DESC))[1] AS code, \
                     (array_agg(CASE WHEN status = 2 THEN substring(response FROM 1 FOR $3) END ORDER BY id DESC))[1] \
                         AS failure, \
                     (array_agg(CASE WHEN status = 2 THEN url END ORDER BY id DESC))[1] AS url, \
                     (array_agg(failure_detail ORDER BY id DESC))[1] AS detail \
                 FROM attempts WHERE message = wanted.id AND ($4::text IS NULL OR endpoint = $4) \
             ) made \
             CROSS JOIN LATERAL ( \
                 SELECT count(*) AS count, min(d.next_at) AS next_at, count(*) FILTER (WHERE NOT EXISTS ( \
                     SELECT FROM attempts a WHERE a.message = wanted.id AND a.endpoint = d.endpoint)) AS untried \
                 FROM endpoints e JOIN deliveries d ON d.endpoint = e.id AND d.message = wanted.id \
                 WHERE e.application = $1 AND ($4::text IS NULL OR e.id = $4) \
             ) waiting ORDER BY wanted.no";
        let read = |row: &Row| {
            let number = |column| -> SqlResult<u64> { Ok(rows::get::<i64>(row, column)?.unsigned_abs()) };
            let latest = match (rows::get::<Option<i16>>(row, 6)?, rows::get::<Option<i32>>(row, 7)?) {
                (Some(status), Some(code)) => {
                    Some((codec::status(status.into())?, u16::try_from(code).unwrap_or_default()))
                }
                _ => None,
            };
            let failure: Option<Vec<u8>> = rows::get(row, 8)?;
            Ok(MessageProgress {
                message: rows::id(row, 0)?,
                endpoints: number(1)?,
                succeeded: number(2)?,
                waiting: number(3)?,
                next_at: rows::get(row, 4)?,
                attempts: number(5)?,
                latest,
                url: rows::get::<Option<String>>(row, 9)?.unwrap_or_default(),
                detail: codec::optional_from_json(rows::get(row, 10)?)?,
                failure: String::from_utf8_lossy(&failure.unwrap_or_default()).into_owned(),
            })
        };
        let bytes_max = FAILURE_BYTES_MAX as i32;
        Ok(rows::all(&client, select, &[&application, &messages, &bytes_max, &endpoint], read).await?)
    }
}
