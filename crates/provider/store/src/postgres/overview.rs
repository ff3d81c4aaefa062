//! Queries over all applications of an account, for the dashboard.

use async_trait::async_trait;
use provider_core::model::{Application, Endpoint, Id};
use provider_core::port::{AccountProgress, ApplicationFigures, OverviewStore, Page, PayloadBytes, StoreResult};
use tokio_postgres::Row;

use super::PostgresStore;
use super::rows::{self, APPLICATION, ENDPOINT, SqlResult, sql_limit};
use crate::codec::{PageQuery, to_json};

#[async_trait]
impl OverviewStore for PostgresStore {
    async fn application_figures(
        &self,
        applications: &[Id],
        after: &str,
        attempts_max: usize,
    ) -> StoreResult<Vec<ApplicationFigures>> {
        let client = self.client().await?;
        let applications: Vec<&str> = applications.iter().map(|id| &**id).collect();
        let select = "SELECT wanted.id, counted.endpoints, counted.failing, counted.disabled, latest.created_at, \
                 made.success, made.fail \
             FROM unnest($1::text[]) WITH ORDINALITY AS wanted (id, no) \
             CROSS JOIN LATERAL ( \
                 SELECT count(*) AS endpoints, count(*) FILTER (WHERE disabled) AS disabled, \
                     count(*) FILTER (WHERE failing_since IS NOT NULL AND NOT disabled) AS failing \
                 FROM endpoints WHERE application = wanted.id \
             ) counted \
             LEFT JOIN LATERAL ( \
                 SELECT created_at FROM messages WHERE application = wanted.id ORDER BY id DESC LIMIT 1 \
             ) latest ON true \
             CROSS JOIN LATERAL ( \
                 SELECT count(*) FILTER (WHERE t.status = 0) AS success, count(*) FILTER (WHERE t.status = 2) AS fail \
                 FROM endpoints e CROSS JOIN LATERAL ( \
                     SELECT status FROM attempts WHERE endpoint = e.id AND id > $2 ORDER BY id DESC LIMIT $3 \
                 ) t WHERE e.application = wanted.id \
             ) made ORDER BY wanted.no";
        let read = |row: &Row| {
            Ok(ApplicationFigures {
                application: rows::id(row, 0)?,
                endpoints: rows::get::<i64>(row, 1)?.unsigned_abs(),
                failing: rows::get::<i64>(row, 2)?.unsigned_abs(),
                disabled: rows::get::<i64>(row, 3)?.unsigned_abs(),
                last_message_at: rows::get(row, 4)?,
                success: rows::get::<i64>(row, 5)?.unsigned_abs(),
                fail: rows::get::<i64>(row, 6)?.unsigned_abs(),
            })
        };
        Ok(rows::all(&client, select, &[&applications, &after, &sql_limit(attempts_max)], read).await?)
    }

    async fn search_applications(&self, account: &str, text: &str, page: Page) -> StoreResult<Vec<Application>> {
        let client = self.client().await?;
        let page_query = PageQuery::new(&page);
        let sql = format!(
            "SELECT {APPLICATION} FROM applications a WHERE a.account = $1 AND (strpos(lower(a.name), lower($4)) > 0 \
             OR strpos(lower(a.uid), lower($4)) > 0 OR strpos(lower(a.id), lower($4)) > 0){}",
            page_query.sql("a.id")
        );
        let params: &[&(dyn tokio_postgres::types::ToSql + Sync)] =
            &[&account, &page_query.from, &page_query.limit, &text];
        let found: SqlResult<Vec<Application>> = rows::all(&client, &sql, params, rows::application).await;
        Ok(page_query.in_order(found?))
    }

    async fn failing_endpoints(&self, account: &str, limit: usize) -> StoreResult<Vec<Endpoint>> {
        let client = self.client().await?;
        let sql = format!(
            "SELECT {ENDPOINT} FROM endpoints e JOIN applications a ON a.id = e.application AND a.account = $1 \
             WHERE e.failing_since IS NOT NULL AND NOT e.disabled ORDER BY e.failing_since, e.id LIMIT $2"
        );
        Ok(rows::all(&client, &sql, &[&account, &sql_limit(limit)], |row| rows::endpoint(row, 0)).await?)
    }

    async fn subscribed_endpoints(&self, account: &str, event_type: &str, limit: usize) -> StoreResult<Vec<Endpoint>> {
        let client = self.client().await?;
        let name = to_json(event_type)?;
        let sql = format!(
            "SELECT {ENDPOINT} FROM endpoints e JOIN applications a ON a.id = e.application AND a.account = $1 \
             WHERE strpos(e.filter_types, $2) > 0 ORDER BY e.id LIMIT $3"
        );
        Ok(rows::all(&client, &sql, &[&account, &name, &sql_limit(limit)], |row| rows::endpoint(row, 0)).await?)
    }

    async fn account_progress(&self, account: &str, attempts_max: usize) -> StoreResult<AccountProgress> {
        let client = self.client().await?;
        let select = "SELECT EXISTS (SELECT FROM applications a JOIN endpoints e ON e.application = a.id \
                 WHERE a.account = $1), \
             EXISTS (SELECT FROM applications a JOIN endpoints e ON e.application = a.id \
                 CROSS JOIN LATERAL (SELECT status FROM attempts WHERE endpoint = e.id ORDER BY id DESC LIMIT $2) t \
                 WHERE a.account = $1 AND t.status = 0)";
        let read =
            |row: &Row| Ok(AccountProgress { has_endpoint: rows::get(row, 0)?, has_delivery: rows::get(row, 1)? });
        Ok(rows::one(&client, select, &[&account, &sql_limit(attempts_max)], read).await?.unwrap_or_default())
    }

    async fn payload_bytes(&self, application: &str, rows_max: usize) -> StoreResult<PayloadBytes> {
        let client = self.client().await?;
        let sum = "SELECT count(*), coalesce(sum(octet_length(payload)), 0)::bigint FROM (SELECT payload FROM messages \
             WHERE application = $1 ORDER BY id DESC LIMIT $2) latest";
        let read = |row: &Row| {
            let number = |column| -> StoreResult<u64> { Ok(rows::get::<i64>(row, column)?.unsigned_abs()) };
            Ok(PayloadBytes { messages: number(0)?, bytes: number(1)? })
        };
        Ok(rows::one(&client, sum, &[&application, &sql_limit(rows_max)], read).await?.unwrap_or_default())
    }

    async fn message_tallies(&self, application: &str, bounds: &[Id], rows_max: usize) -> StoreResult<Vec<u64>> {
        let client = self.client().await?;
        let lows: Vec<&str> = bounds.windows(2).map(|range| &*range[0]).collect();
        let highs: Vec<&str> = bounds.windows(2).map(|range| &*range[1]).collect();
        let count = "SELECT counted.messages \
             FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS span (low, high, no) \
             CROSS JOIN LATERAL (SELECT count(*) AS messages FROM (SELECT FROM messages \
                 WHERE application = $1 AND id >= span.low AND id < span.high LIMIT $4) first \
             ) counted ORDER BY span.no";
        let read = |row: &Row| Ok(rows::get::<i64>(row, 0)?.unsigned_abs());
        Ok(rows::all(&client, count, &[&application, &lows, &highs, &sql_limit(rows_max)], read).await?)
    }
}
