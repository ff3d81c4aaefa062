//! API keys.

use platform::port::ApiKey;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// A key of the platform's API, without the key itself.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiKey)]
pub(crate) struct ApiKeyView {
    /// What logs and histories name it by: `key:<uuid>`.
    pub(crate) uuid: Uuid,
    pub(crate) name: String,
    pub(crate) scopes: Vec<String>,
    /// The customer that it is confined to; null for the platform's own staff.
    pub(crate) customer: Option<Uuid>,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    /// When it stops working, or stopped; null for never.
    #[schema(format = DateTime)]
    pub(crate) expires_at: Option<String>,
    /// When it was last used, to within a minute; null for never.
    #[schema(format = DateTime)]
    pub(crate) last_used_at: Option<String>,
}

impl From<&ApiKey> for ApiKeyView {
    fn from(key: &ApiKey) -> Self {
        Self {
            uuid: key.uuid,
            name: key.name.clone(),
            scopes: key.scopes.clone(),
            customer: key.customer,
            created_at: time(key.created_at),
            expires_at: key.expires_at.map(time),
            last_used_at: key.last_used_at.map(time),
        }
    }
}

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
