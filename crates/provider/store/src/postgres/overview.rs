//! Queries over all applications of an account, for the dashboard.

use async_trait::async_trait;
use provider_core::model::{Application, Endpoint, Id};
use provider_core::port::{AccountFigures, ApplicationFigures, OverviewStore, Page, StoreResult};
use tokio_postgres::Row;

use super::PostgresStore;
use super::rows::{self, APPLICATION, ENDPOINT, SqlResult, sql_limit};
use crate::codec::{PageQuery, to_json};

#[async_trait]
impl OverviewStore for PostgresStore {
    async fn application_figures(&self, applications: &[Id]) -> StoreResult<Vec<ApplicationFigures>> {
        let client = self.client().await?;
        let applications: Vec<&str> = applications.iter().map(|id| &**id).collect();
        let select = "SELECT wanted.id, counted.endpoints, counted.failing, counted.disabled, latest.created_at \
             FROM unnest($1::text[]) WITH ORDINALITY AS wanted (id, no) \
             CROSS JOIN LATERAL ( \
                 SELECT count(*) AS endpoints, count(*) FILTER (WHERE disabled) AS disabled, \
                     count(*) FILTER (WHERE failing_since IS NOT NULL AND NOT disabled) AS failing \
                 FROM endpoints WHERE application = wanted.id \
             ) counted \
             LEFT JOIN LATERAL ( \
                 SELECT created_at FROM messages WHERE application = wanted.id ORDER BY id DESC LIMIT 1 \
             ) latest ON true ORDER BY wanted.no";
        let read = |row: &Row| {
            Ok(ApplicationFigures {
                application: rows::id(row, 0)?,
                endpoints: number(row, 1)?,
                failing: number(row, 2)?,
                disabled: number(row, 3)?,
                last_message_at: rows::get(row, 4)?,
            })
        };
        Ok(rows::all(&client, select, &[&applications], read).await?)
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

    async fn account_figures(&self, account: &str) -> StoreResult<AccountFigures> {
        let client = self.client().await?;
        let select = "SELECT (SELECT count(*) FROM applications WHERE account = $1), count(*), \
             count(*) FILTER (WHERE e.failing_since IS NOT NULL AND NOT e.disabled), \
             EXISTS (SELECT FROM endpoint_counts WHERE account = $1 AND succeeded > 0) \
             FROM applications a JOIN endpoints e ON e.application = a.id WHERE a.account = $1";
        let read = |row: &Row| {
            Ok(AccountFigures {
                applications: number(row, 0)?,
                endpoints: number(row, 1)?,
                failing: number(row, 2)?,
                has_delivery: rows::get(row, 3)?,
            })
        };
        Ok(rows::one(&client, select, &[&account], read).await?.unwrap_or_default())
    }
}

fn number(row: &Row, column: usize) -> StoreResult<u64> {
    Ok(rows::get::<i64>(row, column)?.unsigned_abs())
}
