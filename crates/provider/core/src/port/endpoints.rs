//! Endpoints, and the snapshot for routing messages.
//!
//! Every change of an endpoint increments its application's `version` in the same transaction, so that a message that
//! was routed with an older state of the endpoints is not accepted (see [`super::MessageStore::accept`]).

use async_trait::async_trait;

use super::{IdempotentAnswer, Page, StoreResult};
use crate::model::{Application, Endpoint, Id};

/// The number of endpoints that need attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndpointStates {
    /// Failing enabled endpoints.
    pub failing: u64,
    /// Endpoints that a caller or the dispatcher disabled.
    pub disabled: u64,
}

/// Endpoints of applications.
#[async_trait]
pub trait EndpointStore: Send + Sync {
    /// Adds an endpoint, unless its application already has `endpoints_max`. Counting and inserting are one
    /// transaction, so the limit holds for concurrent calls on any number of nodes.
    ///
    /// Errors: `Replayed` (before anything is counted), `NotFound` (application), `Taken("uid")`, `LimitReached`.
    async fn create_endpoint(
        &self,
        endpoint: Endpoint,
        endpoints_max: usize,
        answer: Option<IdempotentAnswer>,
    ) -> StoreResult<()>;
    /// The application's endpoint with this id or uid.
    async fn endpoint(&self, application: &str, id_or_uid: &str) -> StoreResult<Option<Endpoint>>;
    /// The endpoint with this id, of any application, after the id of its account.
    async fn endpoint_by_id(&self, id: &str) -> StoreResult<Option<(Id, Endpoint)>>;
    /// An application's endpoints by id.
    async fn endpoints(&self, application: &str, page: Page) -> StoreResult<Vec<Endpoint>>;
    /// Endpoints of any application with this uid, by id, at most `limit`; each after the id of its account. May scan
    /// the whole table: operators only.
    async fn endpoints_by_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<(Id, Endpoint)>>;
    /// Compares the stored endpoint with `old` and replaces it with `new`, in one transaction. Id, application and
    /// creation time stay.
    ///
    /// Errors: `Replayed`, `Conflict` when the stored endpoint differs from `old`, `NotFound`, `Taken("uid")`.
    async fn replace_endpoint(&self, old: Endpoint, new: Endpoint, answer: Option<IdempotentAnswer>)
    -> StoreResult<()>;
    /// Deletes the endpoint with its delivery rows. False when the application has no such endpoint.
    async fn delete_endpoint(&self, application: &str, id: &str) -> StoreResult<bool>;
    /// The application with all its endpoints, read in one transaction, for routing messages.
    async fn snapshot(&self, application: &str) -> StoreResult<Option<(Application, Vec<Endpoint>)>>;
    /// The number of endpoints of all accounts that are failing or disabled, answered from indexes.
    async fn endpoint_states(&self) -> StoreResult<EndpointStates>;
}
