//! The columns of a customer's catalogue files, as they were mapped last.

use async_trait::async_trait;
use uuid::Uuid;

use super::StoreResult;
use crate::catalogue::ColumnMapping;

/// Remembered mappings, one for each customer.
#[async_trait]
pub trait CatalogueMappingStore: Send + Sync {
    /// The mapping of a customer.
    async fn catalogue_mapping(&self, customer: Uuid) -> StoreResult<Option<ColumnMapping>>;
    /// Replaces the mapping of a customer.
    async fn put_catalogue_mapping(&self, customer: Uuid, mapping: ColumnMapping) -> StoreResult<()>;
}
