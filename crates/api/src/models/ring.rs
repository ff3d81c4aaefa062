//! The ring of a webcast.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::ItemView;

/// What is in the ring of a webcast, and what just left it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Ring)]
pub(crate) struct RingView {
    pub(crate) auction: Uuid,
    /// The item in the ring; null when it is empty.
    pub(crate) item: Option<ItemView>,
    /// The item that the command was about, when it is not in the ring now: sold, passed, removed or offered again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last: Option<ItemView>,
}
