//! Statistics of deliveries for the App Portal.

use std::ops::Range;

use async_trait::async_trait;
use provider_core::model::Id;
use provider_core::port::{EndpointWaiting, FAILURE_BYTES_MAX, HealthStore, MessageProgress, StoreResult};
use tokio_postgres::Row;

use super::PostgresStore;
use super::rows::{self, SqlResult};
use crate::codec;

#[async_trait]
impl HealthStore for PostgresStore {
    async fn endpoint_waiting(&self, endpoint: &str, messages: Option<Range<Id>>) -> StoreResult<EndpointWaiting> {
        let client = self.client().await?;
        let select = "SELECT count(*) FILTER (WHERE attempts = 0), count(*) FILTER (WHERE attempts > 0), \
                 (SELECT next_at FROM deliveries WHERE endpoint = $1 AND owner IS NULL ORDER BY next_at, message LIMIT 1) \
             FROM deliveries \
             WHERE endpoint = $1 AND ($2::text IS NULL OR message >= $2) AND ($3::text IS NULL OR message < $3)";
        let (from, to) = (messages.as_ref().map(|range| &*range.start), messages.as_ref().map(|range| &*range.end));
        let read = |row: &Row| {
            let number = |column| -> SqlResult<u64> { Ok(rows::get::<i64>(row, column)?.unsigned_abs()) };
            Ok(EndpointWaiting { first: number(0)?, retries: number(1)?, next_at: rows::get(row, 2)? })
        };
        Ok(rows::one(&client, select, &[&endpoint, &from, &to], read).await?.unwrap_or_default())
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
