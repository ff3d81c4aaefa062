//! Queries over all applications of an account, for the dashboard.

use async_trait::async_trait;
use provider_core::model::{Application, Endpoint, Id};
use provider_core::port::{AccountProgress, ApplicationFigures, OverviewStore, Page, PayloadBytes, StoreResult};
use rusqlite::{Connection, params};

use super::SqliteStore;
use super::rows::{self, APPLICATION, ENDPOINT, SqlResult, sql_limit};
use crate::codec::{PageQuery, to_json};

#[async_trait]
impl OverviewStore for SqliteStore {
    async fn application_figures(
        &self,
        applications: &[Id],
        after: &str,
        attempts_max: usize,
    ) -> StoreResult<Vec<ApplicationFigures>> {
        let applications = applications.to_vec();
        let after = after.to_owned();
        self.read(move |db| applications.iter().map(|id| figures(db, id, &after, attempts_max)).collect()).await
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

    async fn account_progress(&self, account: &str, attempts_max: usize) -> StoreResult<AccountProgress> {
        let account = account.to_owned();
        self.read(move |db| {
            let select = "SELECT EXISTS (SELECT 1 FROM applications a JOIN endpoints e ON e.application = a.id \
                     WHERE a.account = ?1), \
                 EXISTS (SELECT 1 FROM applications a CROSS JOIN endpoints e ON e.application = a.id WHERE a.account = ?1 \
                     AND EXISTS (SELECT 1 FROM (SELECT status FROM attempts WHERE endpoint = e.id ORDER BY id DESC \
                     LIMIT ?2) WHERE status = 0))";
            let found = rows::one(db, select, params![account, sql_limit(attempts_max)], |row| {
                Ok(AccountProgress { has_endpoint: row.get(0)?, has_delivery: row.get(1)? })
            })?;
            Ok(found.unwrap_or_default())
        })
        .await
    }

    async fn payload_bytes(&self, application: &str, rows_max: usize) -> StoreResult<PayloadBytes> {
        let application = application.to_owned();
        self.read(move |db| {
            let sum = "SELECT count(*), coalesce(sum(bytes), 0) FROM (SELECT length(payload) AS bytes FROM messages \
                 WHERE application = ?1 ORDER BY id DESC LIMIT ?2)";
            let found = rows::one(db, sum, params![application, sql_limit(rows_max)], |row| {
                let number = |column| -> SqlResult<u64> { Ok(row.get::<_, i64>(column)?.unsigned_abs()) };
                Ok(PayloadBytes { messages: number(0)?, bytes: number(1)? })
            })?;
            Ok(found.unwrap_or_default())
        })
        .await
    }

    async fn message_tallies(&self, application: &str, bounds: &[Id], rows_max: usize) -> StoreResult<Vec<u64>> {
        let application = application.to_owned();
        let bounds = bounds.to_vec();
        self.read(move |db| {
            let count = "SELECT count(*) FROM (SELECT 1 FROM messages WHERE application = ?1 AND id >= ?2 AND id < ?3 \
                 LIMIT ?4)";
            let tally = |range: &[Id]| -> SqlResult<u64> {
                let params = params![application, &*range[0], &*range[1], sql_limit(rows_max)];
                Ok(rows::one(db, count, params, |row| rows::count(row, 0))?.unwrap_or(0) as u64)
            };
            bounds.windows(2).map(tally).collect()
        })
        .await
    }
}

fn all(db: &Connection, sql: &str, params: impl rusqlite::Params) -> SqlResult<Vec<Endpoint>> {
    db.prepare_cached(sql)?.query_and_then(params, rows::endpoint)?.collect()
}

fn figures(db: &Connection, application: &Id, after: &str, attempts_max: usize) -> SqlResult<ApplicationFigures> {
    let endpoints = "SELECT count(*), count(*) FILTER (WHERE failing_since IS NOT NULL AND disabled = 0), \
         count(*) FILTER (WHERE disabled = 1) FROM endpoints WHERE application = ?1";
    let attempts = "SELECT count(*) FILTER (WHERE t.status = 0), count(*) FILTER (WHERE t.status = 2) FROM endpoints e \
         CROSS JOIN attempts t ON t.endpoint = e.id AND t.id > max(?2, coalesce((SELECT id FROM attempts \
             WHERE endpoint = e.id AND id > ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3), '')) \
         WHERE e.application = ?1";
    let latest = "SELECT created_at FROM messages WHERE application = ?1 ORDER BY id DESC LIMIT 1";
    let number = |row: &rusqlite::Row<'_>, column| -> SqlResult<u64> { Ok(row.get::<_, i64>(column)?.unsigned_abs()) };
    let (endpoints, failing, disabled) =
        rows::one(db, endpoints, [&**application], |row| Ok((number(row, 0)?, number(row, 1)?, number(row, 2)?)))?
            .unwrap_or_default();
    let params = params![&**application, after, sql_limit(attempts_max)];
    let (success, fail) =
        rows::one(db, attempts, params, |row| Ok((number(row, 0)?, number(row, 1)?)))?.unwrap_or_default();
    let last_message_at = rows::one(db, latest, [&**application], |row| rows::time(row, 0))?;
    let application = application.clone();
    Ok(ApplicationFigures { application, endpoints, failing, disabled, last_message_at, success, fail })
}
