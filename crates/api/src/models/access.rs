//! API keys.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// A new key of the platform's API.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApiKeyCreated {
    pub(crate) uuid: Uuid,
    pub(crate) name: String,
    pub(crate) scopes: Vec<String>,
    /// The customer that it is confined to; null for the platform's own staff.
    pub(crate) customer: Option<Uuid>,
    /// The key (`lw_…`). It is shown this once.
    pub(crate) key: String,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    /// When it stops working; null for never.
    #[schema(format = DateTime)]
    pub(crate) expires_at: Option<String>,
}
