//! Queries over all applications of an account, for the dashboard.

use async_trait::async_trait;
use provider_core::model::{Application, Endpoint, Id};
use provider_core::port::{AccountFigures, ApplicationFigures, OverviewStore, Page, StoreResult};
use rusqlite::{Connection, Row, params};

use super::SqliteStore;
use super::rows::{self, APPLICATION, ENDPOINT, SqlResult, sql_limit};
use crate::codec::{PageQuery, to_json};

#[async_trait]
impl OverviewStore for SqliteStore {
    async fn application_figures(&self, applications: &[Id]) -> StoreResult<Vec<ApplicationFigures>> {
        let applications = applications.to_vec();
        self.read(move |db| applications.iter().map(|id| figures(db, id)).collect()).await
    }

    async fn search_applications(&self, account: &str, text: &str, page: Page) -> StoreResult<Vec<Application>> {
        let account = account.to_owned();
        let text = text.to_owned();
        self.read(move |db| {
            // `$1` to `$4` are names in SQLite, which numbers them in the order of their first occurrence.
            let page_query = PageQuery::new(&page);
            let sql = format!(
                "{APPLICATION} WHERE account = $1 AND (instr(lower(name), lower($4)) > 0 \
                 OR instr(lower(uid), lower($4)) > 0 OR instr(lower(id), lower($4)) > 0){}",
                page_query.sql("id")
            );
            let mut statement = db.prepare_cached(&sql)?;
            let found = statement
                .query_and_then(params![account, text, page_query.from, page_query.limit], rows::application)?;
            Ok(page_query.in_order(found.collect::<SqlResult<_>>()?))
        })
        .await
    }

    async fn failing_endpoints(&self, account: &str, limit: usize) -> StoreResult<Vec<Endpoint>> {
        let account = account.to_owned();
        self.read(move |db| {
            let sql = format!(
                "{ENDPOINT} WHERE failing_since IS NOT NULL AND disabled = 0 AND EXISTS (SELECT 1 FROM applications a \
                 WHERE a.id = endpoints.application AND a.account = ?1) ORDER BY failing_since, id LIMIT ?2"
            );
            all(db, &sql, params![account, sql_limit(limit)])
        })
        .await
    }

    async fn subscribed_endpoints(&self, account: &str, event_type: &str, limit: usize) -> StoreResult<Vec<Endpoint>> {
        let account = account.to_owned();
        let name = to_json(event_type)?;
        self.read(move |db| {
            let sql = format!(
                "{ENDPOINT} WHERE application IN (SELECT id FROM applications WHERE account = ?1) \
                 AND instr(filter_types, ?2) > 0 ORDER BY id LIMIT ?3"
            );
            all(db, &sql, params![account, name, sql_limit(limit)])
        })
        .await
    }

    async fn account_figures(&self, account: &str) -> StoreResult<AccountFigures> {
        let account = account.to_owned();
        self.read(move |db| {
            let select = "SELECT (SELECT count(*) FROM applications WHERE account = ?1), count(*), \
                 count(*) FILTER (WHERE e.failing_since IS NOT NULL AND e.disabled = 0), \
                 EXISTS (SELECT 1 FROM endpoint_counts WHERE account = ?1 AND succeeded > 0) \
                 FROM applications a CROSS JOIN endpoints e ON e.application = a.id WHERE a.account = ?1";
            let found = rows::one(db, select, [&account], |row| {
                Ok(AccountFigures {
                    applications: number(row, 0)?,
                    endpoints: number(row, 1)?,
                    failing: number(row, 2)?,
                    has_delivery: row.get(3)?,
                })
            })?;
            Ok(found.unwrap_or_default())
        })
        .await
    }
}

fn number(row: &Row<'_>, column: usize) -> SqlResult<u64> {
    Ok(row.get::<_, i64>(column)?.unsigned_abs())
}

fn all(db: &Connection, sql: &str, params: impl rusqlite::Params) -> SqlResult<Vec<Endpoint>> {
    db.prepare_cached(sql)?.query_and_then(params, rows::endpoint)?.collect()
}

fn figures(db: &Connection, application: &Id) -> SqlResult<ApplicationFigures> {
    let endpoints = "SELECT count(*), count(*) FILTER (WHERE failing_since IS NOT NULL AND disabled = 0), \
         count(*) FILTER (WHERE disabled = 1) FROM endpoints WHERE application = ?1";
    let latest = "SELECT created_at FROM messages WHERE application = ?1 ORDER BY id DESC LIMIT 1";
    let (endpoints, failing, disabled) =
        rows::one(db, endpoints, [&**application], |row| Ok((number(row, 0)?, number(row, 1)?, number(row, 2)?)))?
            .unwrap_or_default();
    let last_message_at = rows::one(db, latest, [&**application], |row| rows::time(row, 0))?;
    Ok(ApplicationFigures { application: application.clone(), endpoints, failing, disabled, last_message_at })
}
