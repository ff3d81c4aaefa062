//! The provider's store in SQLite, in a file of its own. The engine's single writer groups concurrent writes into one
//! durable transaction.
//!
//! The time of a call does not depend on the amount of stored data: the delivery table contains only unfinished
//! deliveries, rows are appended in the order of their ids, and unique texts are indexed by fingerprint. A successful
//! delivery costs three inserts (message, delivery, attempt) and one delete.

mod accept;
mod accounts;
mod activity;
mod alert_reports;
mod alerts;
mod app_tokens;
mod applications;
mod attempts;
mod backlog;
mod counts;
mod deliveries;
mod endpoint_search;
mod endpoints;
mod event_types;
mod health;
mod holds;
mod idempotency;
mod insert;
mod message_search;
mod messages;
mod nodes;
mod operational_events;
mod ordering;
mod overview;
mod pauses;
mod portal_settings;
mod removed_users;
mod retention;
mod rows;
mod sealings;
mod tasks;
mod unknown_event_types;
mod user_sessions;
mod users;

use std::path::Path;
use std::sync::Arc;

use kit_engine::sqlite::Database;
use kit_engine::{OlderTables, TableVersions};
use provider_core::model::Id;
use provider_core::port::{Store, StoreResult};
use rusqlite::Connection;

use self::rows::{SqlError, SqlResult};

/// Maximum number of delivery rows deleted in one transaction, so that deleting an endpoint with many rows does not
/// block other writes.
const DROP_ROWS_MAX: usize = 5_000;

mod migrations {
    refinery::embed_migrations!("src/sqlite/migrations");
}

struct SqliteStore {
    database: Database,
}

/// Opens the provider's store in the file at `path`, which it creates if it does not exist.
///
/// Errors: `Unavailable` when the file can't be opened or its migrations fail.
pub async fn open(path: &Path) -> StoreResult<Arc<dyn Store>> {
    open_with(path, OlderTables::Upgrade).await
}

/// As [`open`], and refuses tables of an older version if asked.
///
/// Errors: as [`open`].
pub async fn open_with(path: &Path, older: OlderTables) -> StoreResult<Arc<dyn Store>> {
    let migrations = migrations::migrations::runner();
    let store = SqliteStore { database: Database::open(path, &migrations, older).map_err(SqlError::from)? };
    for endpoint in store.read(deliveries::deleted_endpoints_with_rows).await? {
        store.drop_rows_of(endpoint).await?;
    }
    Ok(Arc::new(store))
}

/// The version of the tables of the file at `path`; none without tables.
///
/// Errors: `Unavailable` when the file can't be read.
pub fn table_versions(path: &Path) -> StoreResult<Option<TableVersions>> {
    let found = kit_engine::sqlite::table_versions(path, &migrations::migrations::runner());
    Ok(found.map_err(SqlError::from)?)
}

/// Opens an empty store in a temporary folder, which is deleted with the store, for tests and simulations.
///
/// Errors: as [`open`].
pub fn open_temporary() -> StoreResult<Arc<dyn Store>> {
    Ok(Arc::new(SqliteStore {
        database: Database::open_temporary(&migrations::migrations::runner()).map_err(SqlError::from)?,
    }))
}

/// Checks the whole file at `path` for damage. Servers may use the file meanwhile.
///
/// Errors: `Unavailable` when the file is damaged or can't be read; the text says what to do.
pub fn check_file(path: &Path) -> StoreResult<()> {
    Ok(kit_engine::sqlite::check_file(path).map_err(SqlError::from)?)
}

impl SqliteStore {
    async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> SqlResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        Ok(self.database.write(job).await?)
    }

    /// Runs `job` on one snapshot of the database.
    async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> SqlResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        Ok(self.database.read(job).await?)
    }

    /// Deletes the delivery rows of a deleted endpoint.
    async fn drop_rows_of(&self, endpoint: Id) -> StoreResult<()> {
        loop {
            let of = endpoint.clone();
            if !self.write(move |db| deliveries::drop_rows_batch(db, &of, DROP_ROWS_MAX)).await? {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT_BEHIND: &str = "INSERT INTO deliveries (endpoint, message, owner, attempts, next_at) \
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 12000) \
         SELECT 'ep_' || n % 2, 'msg_' || n, NULL, 0, 0 FROM numbers";

    #[tokio::test]
    async fn rows_of_an_endpoint_that_a_crash_left_behind_are_dropped_when_the_store_is_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("provider.db");
        drop(open(&path).await.unwrap());
        let db = Connection::open(&path).unwrap();
        db.execute(LEFT_BEHIND, ()).unwrap();
        let store = open(&path).await.unwrap();
        assert_eq!(db.query_row("SELECT count(*) FROM deliveries", (), |row| row.get::<_, i64>(0)).unwrap(), 0);
        assert_eq!(store.next_due().await.unwrap(), None);
    }

    #[tokio::test]
    async fn finding_endpoints_with_work_only_seeks_in_the_index_of_what_waits() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("provider.db");
        drop(open(&path).await.unwrap());
        let db = Connection::open(&path).unwrap();
        let sql = format!("EXPLAIN QUERY PLAN {} SELECT endpoint FROM earliest", deliveries::EARLIEST_DUE);
        let mut plan = db.prepare(&sql).unwrap();
        let steps = plan.query_map((), |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<String> =
            steps.map(Result::unwrap).filter(|step| step.contains("deliveries") || step.contains(" d ")).collect();
        assert!(!steps.is_empty());
        for step in steps {
            assert!(step.starts_with("SEARCH") && step.contains("deliveries_waiting"), "{step}");
        }
    }
}
