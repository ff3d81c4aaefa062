//! Searches the endpoints of an application or an account.

use std::sync::LazyLock;

use async_trait::async_trait;
use provider_core::port::{
    EndpointFilter, EndpointPage, EndpointPageKey, EndpointSearchStore, FoundEndpoint, StoreResult,
};
use rusqlite::{Connection, Row, params};

use super::SqliteStore;
use super::rows::{self, ENDPOINT, SqlResult, sql_limit};
use crate::endpoint_search_sql::{self, Dialect};

#[async_trait]
impl EndpointSearchStore for SqliteStore {
    async fn search_endpoints(
        &self,
        account: &str,
        filter: &EndpointFilter,
        page: &EndpointPageKey,
    ) -> StoreResult<EndpointPage> {
        let (account, filter, page) = (account.to_owned(), filter.clone(), page.clone());
        self.read(move |db| search(db, &account, &filter, &page)).await
    }
}

static SEARCH: LazyLock<String> = LazyLock::new(|| {
    let dialect = Dialect { place_of: "instr", smaller: "min", larger: "max", text: "", number: "", columns: "e.id" };
    endpoint_search_sql::statement(&dialect)
});

fn search(db: &Connection, account: &str, filter: &EndpointFilter, key: &EndpointPageKey) -> SqlResult<EndpointPage> {
    let number = |row: &Row<'_>, column| -> SqlResult<u64> { Ok(row.get::<_, i64>(column)?.unsigned_abs()) };
    let (application, with) = (filter.application.as_deref(), key.with.as_deref());
    let (state, skipped) = (filter.state.map(|state| state as u8), i64::try_from(key.skipped).unwrap_or(i64::MAX));
    let params = params![account, application, filter.text, state, sql_limit(key.limit.max(1)), with, skipped];
    let by_id = format!("{ENDPOINT} WHERE id = ?1");
    let mut page = EndpointPage::default();
    let mut statement = db.prepare_cached(&SEARCH)?;
    let mut found = statement.query(params)?;
    while let Some(row) = found.next()? {
        page.totals = [number(row, 0)?, number(row, 1)?, number(row, 2)?];
        page.skipped = number(row, 3)?;
        let (Some(name), Some(id)) = (rows::optional_text(row, 4)?, rows::optional_text(row, 5)?) else { continue };
        let endpoint = rows::one(db, &by_id, [id], rows::endpoint)?;
        let application_name = name.to_owned();
        page.rows.extend(endpoint.map(|endpoint| FoundEndpoint { endpoint, application_name }));
    }
    Ok(page)
}
