//! The columns of a customer's catalogue and register files, as they were mapped last.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::StoreResult;

/// Headers of a house's file by field: `lot #` is `lot_number`, for example. A header without a field is ignored.
/// Headers are compared without case, spaces and punctuation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ColumnMapping(pub(crate) BTreeMap<String, Option<String>>);

/// Remembered mappings, one for each customer and kind of file.
#[async_trait]
pub trait CatalogueMappingStore: Send + Sync {
    /// The mapping of a customer's catalogue files.
    async fn catalogue_mapping(&self, customer: Uuid) -> StoreResult<Option<ColumnMapping>>;
    /// Replaces the mapping of a customer's catalogue files.
    async fn put_catalogue_mapping(&self, customer: Uuid, mapping: ColumnMapping) -> StoreResult<()>;
    /// The mapping of a customer's register files.
    async fn register_mapping(&self, customer: Uuid) -> StoreResult<Option<ColumnMapping>>;
    /// Replaces the mapping of a customer's register files.
    async fn put_register_mapping(&self, customer: Uuid, mapping: ColumnMapping) -> StoreResult<()>;
}
