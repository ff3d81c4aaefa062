//! Stored mappings of the columns of catalogue and register files.

use async_trait::async_trait;
use platform_core::catalogue::ColumnMapping;
use platform_core::port::{CatalogueMappingStore, StoreResult};
use uuid::Uuid;

use super::SqliteStore;
use super::rows;
use crate::codec::to_json;

#[async_trait]
impl CatalogueMappingStore for SqliteStore {
    async fn catalogue_mapping(&self, customer: Uuid) -> StoreResult<Option<ColumnMapping>> {
        let select = "SELECT mapping FROM catalogue_mappings WHERE customer = ?1";
        self.read(move |db| rows::one(db, select, [customer.as_bytes()], |row| rows::json(row, 0))).await
    }

    async fn put_catalogue_mapping(&self, customer: Uuid, mapping: ColumnMapping) -> StoreResult<()> {
        let upsert = "INSERT INTO catalogue_mappings (customer, mapping) VALUES (?1, ?2) \
             ON CONFLICT (customer) DO UPDATE SET mapping = excluded.mapping";
        let mapping = to_json(&mapping)?;
        self.write(move |db| rows::execute(db, upsert, (customer.as_bytes(), &mapping)).map(drop)).await
    }

    async fn register_mapping(&self, customer: Uuid) -> StoreResult<Option<ColumnMapping>> {
        let select = "SELECT mapping FROM register_mappings WHERE customer = ?1";
        self.read(move |db| rows::one(db, select, [customer.as_bytes()], |row| rows::json(row, 0))).await
    }

    async fn put_register_mapping(&self, customer: Uuid, mapping: ColumnMapping) -> StoreResult<()> {
        let upsert = "INSERT INTO register_mappings (customer, mapping) VALUES (?1, ?2) \
             ON CONFLICT (customer) DO UPDATE SET mapping = excluded.mapping";
        let mapping = to_json(&mapping)?;
        self.write(move |db| rows::execute(db, upsert, (customer.as_bytes(), &mapping)).map(drop)).await
    }
}
