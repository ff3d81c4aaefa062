//! What is configured, changed as it was seen, and found by more than its key.

use async_trait::async_trait;

use super::{IdempotentAnswer, Page, StoreResult};
use crate::model::{Application, Endpoint, EventType};

/// Which applications a list leaves out. Those without endpoints are left out by [`ApplicationExclusion::WithoutEndpoints`] only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplicationExclusion {
    /// Those that have no endpoint.
    WithoutEndpoints,
    /// Those whose endpoints are all disabled.
    OnlyDisabledEndpoints,
    /// Those whose endpoints are all at Svix Play ([`ApplicationExclusion::PLAY_URLS`]).
    OnlyPlayEndpoints,
}

impl ApplicationExclusion {
    /// What the address of an endpoint at Svix Play begins with.
    pub const PLAY_URLS: [&str; 2] = ["https://play.svix.com/", "https://api.play.svix.com/"];
}

/// Part of [`super::Store`].
///
/// The `replace_…` calls compare and change in one transaction, so that of two changes made at the same time neither
/// undoes the other: who gets `Stale` reads again and repeats the change.
#[async_trait]
pub trait ConfigurationStore: Send + Sync {
    /// Puts `new` in the place of `old` as [`super::Store::update_application`] does. `Stale` when it is not as `old`
    /// any more, `NotFound`, `Taken("uid")`.
    async fn replace_application(&self, old: Application, new: Application) -> StoreResult<()>;
    /// Puts `new` in the place of `old` as [`super::Store::update_endpoint`] does, and keeps the answer. `Replayed`,
    /// `Stale` when it is not as `old` any more, `NotFound`, `Taken("uid")`.
    async fn replace_endpoint(&self, old: Endpoint, new: Endpoint, answer: Option<IdempotentAnswer>)
    -> StoreResult<()>;
    /// Puts `new` in the place of `old`, of the same name. `Stale` when it is not as `old` any more, `NotFound`.
    async fn replace_event_type(&self, old: EventType, new: EventType) -> StoreResult<()>;
    /// Replaces the event types of these names, or creates them: all of them or none. `Replayed`.
    async fn upsert_event_types(
        &self,
        event_types: Vec<EventType>,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()>;
    /// An account's applications by id, without those that are left out.
    async fn applications_except(
        &self,
        account: &str,
        exclude: &[ApplicationExclusion],
        page: Page,
    ) -> StoreResult<Vec<Application>>;
}
