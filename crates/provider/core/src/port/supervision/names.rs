//! What people have at hand: a uid, without what it belongs to.

use async_trait::async_trait;

use super::super::StoreResult;
use crate::model::{Application, Endpoint, Id};

/// Part of [`super::OperatorStore`]. Questions of people: they may look at everything.
#[async_trait]
pub trait UidLookupStore: Send + Sync {
    /// Applications of any account that have this uid, by id, at most `limit`.
    async fn applications_by_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<Application>>;
    /// Endpoints of any application that have this uid, by id, at most `limit`; each with its account.
    async fn endpoints_by_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<(Id, Endpoint)>>;
}
