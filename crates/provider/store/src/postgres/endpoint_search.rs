//! Searches the endpoints of an application or an account.

use std::sync::LazyLock;

use async_trait::async_trait;
use provider_core::port::{
    EndpointFilter, EndpointPage, EndpointPageKey, EndpointSearchStore, FoundEndpoint, StoreResult,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use super::rows::{self, ENDPOINT, sql_limit};
use crate::endpoint_search_sql::{self, Dialect};

static SEARCH: LazyLock<String> = LazyLock::new(|| {
    endpoint_search_sql::statement(&Dialect {
        place_of: "strpos",
        smaller: "least",
        larger: "greatest",
        text: "::text",
        number: "::bigint",
        columns: ENDPOINT,
    })
});

#[async_trait]
impl EndpointSearchStore for PostgresStore {
    async fn search_endpoints(
        &self,
        account: &str,
        filter: &EndpointFilter,
        key: &EndpointPageKey,
    ) -> StoreResult<EndpointPage> {
        let client = self.client().await?;
        let (application, with) = (filter.application.as_deref(), key.with.as_deref());
        let (state, skipped) = (filter.state.map(|state| state as i64), i64::try_from(key.skipped).unwrap_or(i64::MAX));
        let limit = sql_limit(key.limit.max(1));
        let number = |row: &Row, column| StoreResult::Ok(rows::get::<i64>(row, column)?.unsigned_abs());
        let read = |row: &Row| {
            let totals = [number(row, 0)?, number(row, 1)?, number(row, 2)?];
            let found = match rows::get::<Option<String>>(row, 4)? {
                Some(application_name) => Some(FoundEndpoint { endpoint: rows::endpoint(row, 5)?, application_name }),
                None => None,
            };
            Ok((totals, number(row, 3)?, found))
        };
        let params: &[&(dyn ToSql + Sync)] = &[&account, &application, &filter.text, &state, &limit, &with, &skipped];
        let mut page = EndpointPage::default();
        for (totals, skipped, found) in rows::all(&client, &SEARCH, params, read).await? {
            page.totals = totals;
            page.skipped = skipped;
            page.rows.extend(found);
        }
        Ok(page)
    }
}
