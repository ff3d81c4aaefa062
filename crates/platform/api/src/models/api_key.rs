//! API keys.

use platform_core::access::CreatedApiKey;
use platform_core::port::ApiKey;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// A new API key, with its secret.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApiKeyCreated {
    /// UUID of the key. Histories and records name it as the actor `key:<uuid>`.
    pub(crate) uuid: Uuid,
    /// Name for people.
    pub(crate) name: String,
    /// Scopes of the key, such as `events:read`.
    pub(crate) scopes: Vec<String>,
    /// The customer that the key is limited to; null for the platform's own staff.
    pub(crate) customer: Option<Uuid>,
    /// The secret (`lw_…`). It is shown this once.
    pub(crate) key: String,
    /// When the key was created.
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    /// When the key expires; null for never.
    #[schema(format = DateTime)]
    pub(crate) expires_at: Option<String>,
}

impl From<&CreatedApiKey> for ApiKeyCreated {
    fn from(created: &CreatedApiKey) -> Self {
        let record = &created.record;
        Self {
            uuid: record.uuid,
            name: record.name.clone(),
            scopes: record.scopes.clone(),
            customer: record.customer,
            key: created.key.expose_str().unwrap_or_default().to_owned(),
            created_at: time(record.created_at),
            expires_at: record.expires_at.map(time),
        }
    }
}

/// An API key, without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiKey)]
pub(crate) struct ApiKeyView {
    /// UUID of the key. Histories and records name it as the actor `key:<uuid>`.
    pub(crate) uuid: Uuid,
    /// Name for people.
    pub(crate) name: String,
    /// Scopes of the key, such as `events:read`.
    pub(crate) scopes: Vec<String>,
    /// The customer that the key is limited to; null for the platform's own staff.
    pub(crate) customer: Option<Uuid>,
    /// When the key was created.
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    /// When the key expires; null for never.
    #[schema(format = DateTime)]
    pub(crate) expires_at: Option<String>,
    /// When the key was last used, to within a minute; null for never.
    #[schema(format = DateTime)]
    pub(crate) last_used_at: Option<String>,
    /// When the key was revoked; null if it was not.
    #[schema(format = DateTime)]
    pub(crate) revoked_at: Option<String>,
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
            revoked_at: key.revoked_at.map(time),
        }
    }
}
