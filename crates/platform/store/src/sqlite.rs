//! The platform's store in SQLite, in its own file. The engine's single writer groups concurrent writes into one
//! durable transaction.
//!
//! The cost of a call does not grow with the number of rows: covering and partial indexes count items and find due
//! items without reading their states. The outbox contains only unpublished events, and their bodies are in the
//! journal. The single writer draws the cursors, so that they become visible in their order.

mod access_log;
mod api_keys;
mod auctions;
mod audit;
mod bidder_accounts;
mod bidder_messages;
mod bulk_changes;
mod catalogue_mappings;
mod catalogue_uploads;
mod clerks;
mod commit;
mod consumers;
mod customers;
mod endpoint_readings;
mod holds;
mod house_domains;
mod houses;
mod idempotency;
mod image_files;
mod images;
mod installation;
mod invitations;
mod item_ends;
mod journal;
mod late_bids;
mod limit_requests;
mod lot_offers;
mod mails;
mod nodes;
mod notices;
mod outbox;
mod parties;
mod party_merges;
mod private_files;
mod registrations;
mod rows;
mod screens;
mod sealings;
mod sessions;
mod site_grants;
mod staff_reads;
mod telephone_bookings;
mod upload_files;
mod users;
mod visitor_messages;

use std::path::Path;
use std::sync::Arc;

use kit_engine::sqlite::Database;
use kit_engine::{OlderTables, TableVersions};
use platform_core::port::{Store, StoreResult};
use rusqlite::Connection;

use self::image_files::ImageFiles;
use self::rows::{SqlError, SqlResult};
use self::upload_files::UploadFiles;

mod migrations {
    refinery::embed_migrations!("src/sqlite/migrations");
}

/// Opens the platform's store in the file at `path`, which it creates if it does not exist. The folders `images` and
/// `uploads` beside the file contain images and uploaded catalogues.
///
/// Errors: `Unavailable` when the file can't be opened or its migrations fail.
pub async fn open(path: &Path) -> StoreResult<Arc<dyn Store>> {
    open_with(path, OlderTables::Upgrade).await
}

/// As [`open`], and refuses tables of an older version if asked.
///
/// Errors: as [`open`].
pub async fn open_with(path: &Path, older: OlderTables) -> StoreResult<Arc<dyn Store>> {
    let database = Database::open(path, &migrations::migrations::runner(), older).map_err(SqlError::from)?;
    let (images, uploads) = (ImageFiles::beside(path), UploadFiles::beside(path));
    images.make_private().await?;
    let store = SqliteStore { database, images, uploads };
    store.tidy_uploads().await?;
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
    let database = Database::open_temporary(&migrations::migrations::runner()).map_err(SqlError::from)?;
    Ok(Arc::new(SqliteStore { database, images: ImageFiles::temporary()?, uploads: UploadFiles::temporary()? }))
}

/// Checks the whole file at `path` for damage. Servers may use the file meanwhile.
///
/// Errors: `Unavailable` when the file is damaged or can't be read; the text says what to do.
pub fn check_file(path: &Path) -> StoreResult<()> {
    Ok(kit_engine::sqlite::check_file(path).map_err(SqlError::from)?)
}

struct SqliteStore {
    database: Database,
    images: ImageFiles,
    uploads: UploadFiles,
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
}
