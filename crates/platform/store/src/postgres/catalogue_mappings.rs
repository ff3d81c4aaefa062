//! Stored mappings of the columns of catalogue and register files.

use async_trait::async_trait;
use platform_core::catalogue::ColumnMapping;
use platform_core::port::{CatalogueMappingStore, StoreResult};
use uuid::Uuid;

use super::PostgresStore;
use super::rows;
use crate::codec::to_json;

#[async_trait]
impl CatalogueMappingStore for PostgresStore {
    async fn catalogue_mapping(&self, customer: Uuid) -> StoreResult<Option<ColumnMapping>> {
        let select = "SELECT mapping FROM catalogue_mappings WHERE customer = $1";
        Ok(rows::one(&self.client().await?, select, &[&customer], |row| rows::json(row, 0)).await?)
    }

    async fn put_catalogue_mapping(&self, customer: Uuid, mapping: ColumnMapping) -> StoreResult<()> {
        let upsert = "INSERT INTO catalogue_mappings (customer, mapping) VALUES ($1, $2) \
             ON CONFLICT (customer) DO UPDATE SET mapping = excluded.mapping";
        let mapping = rows::foreign_text(&to_json(&mapping)?).into_owned();
        rows::execute(&self.client().await?, upsert, &[&customer, &mapping]).await?;
        Ok(())
    }

    async fn register_mapping(&self, customer: Uuid) -> StoreResult<Option<ColumnMapping>> {
        let select = "SELECT mapping FROM register_mappings WHERE customer = $1";
        Ok(rows::one(&self.client().await?, select, &[&customer], |row| rows::json(row, 0)).await?)
    }

    async fn put_register_mapping(&self, customer: Uuid, mapping: ColumnMapping) -> StoreResult<()> {
        let upsert = "INSERT INTO register_mappings (customer, mapping) VALUES ($1, $2) \
             ON CONFLICT (customer) DO UPDATE SET mapping = excluded.mapping";
        let mapping = rows::foreign_text(&to_json(&mapping)?).into_owned();
        rows::execute(&self.client().await?, upsert, &[&customer, &mapping]).await?;
        Ok(())
    }
}
