//! Consumer applications.

use async_trait::async_trait;

use super::{IdempotentAnswer, Page, StoreResult};
use crate::model::Application;

/// The applications that a list excludes. An application without endpoints is excluded by
/// [`ApplicationExclusion::WithoutEndpoints`] only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplicationExclusion {
    /// Applications that have no endpoint.
    WithoutEndpoints,
    /// Applications whose endpoints are all disabled.
    OnlyDisabledEndpoints,
    /// Applications whose endpoints are all at Svix Play ([`ApplicationExclusion::PLAY_URLS`]).
    OnlyPlayEndpoints,
}

impl ApplicationExclusion {
    /// Prefixes of the URLs of endpoints at Svix Play.
    pub const PLAY_URLS: [&str; 2] = ["https://play.svix.com/", "https://api.play.svix.com/"];
}

/// Consumer applications. A deleted application is never returned.
#[async_trait]
pub trait ApplicationStore: Send + Sync {
    /// Adds an application. Errors: `Taken("uid")`, `Replayed`.
    async fn create_application(&self, application: Application, answer: Option<IdempotentAnswer>) -> StoreResult<()>;
    /// The account's application with this id or uid.
    async fn application(&self, account: &str, id_or_uid: &str) -> StoreResult<Option<Application>>;
    /// An account's applications by id.
    async fn applications(&self, account: &str, page: Page) -> StoreResult<Vec<Application>>;
    /// An account's applications by id, without the excluded ones.
    async fn applications_except(
        &self,
        account: &str,
        exclude: &[ApplicationExclusion],
        page: Page,
    ) -> StoreResult<Vec<Application>>;
    /// Applications of any account with this uid, by id, at most `limit`. May scan the whole table: operators only.
    async fn applications_by_uid(&self, uid: &str, limit: usize) -> StoreResult<Vec<Application>>;
    /// Compares the stored application with `old` and replaces it with `new`, in one transaction. Id, account and
    /// creation time stay, and `version` rises by one.
    ///
    /// Errors: `Conflict` when the stored application differs from `old` (the caller reads again and repeats its
    /// change), `NotFound`, `Taken("uid")`.
    async fn replace_application(&self, old: Application, new: Application) -> StoreResult<()>;
    /// Deletes the application with its endpoints and their delivery rows. False when the account has no such
    /// application.
    async fn delete_application(&self, account: &str, id: &str) -> StoreResult<bool>;
}
