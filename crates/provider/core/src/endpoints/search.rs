//! Searching the endpoints of an application, or of all applications of an account, those that fail first.

use crate::caller::Caller;
use crate::error::ProviderResult;
use crate::model::{Id, Role};
use crate::port::{EndpointFilter, EndpointPage, EndpointPageKey, EndpointState};
use crate::provider::Provider;

/// Maximum length of a search text in bytes; the rest is ignored.
const TEXT_BYTES_MAX: usize = 256;

/// A search for endpoints.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointSearch {
    /// The text to find, in any case: see [`EndpointFilter::text`].
    pub text: String,
    /// The state that an endpoint must have.
    pub state: Option<EndpointState>,
    /// Number of the page, from 1.
    pub page: u64,
    /// The page that contains the endpoint with this id is found instead, if the endpoint matches.
    pub with: Option<Id>,
    /// Endpoints of a page.
    pub limit: usize,
}

impl Provider {
    /// A page of endpoints that the search matches: those of one application, or of all applications of the caller's account.
    /// Endpoints that fail are first. 404, 403 (a token and no application).
    pub async fn search_endpoints(
        &self,
        caller: &Caller,
        application: Option<&str>,
        search: &EndpointSearch,
    ) -> ProviderResult<EndpointPage> {
        let application = match application {
            Some(application) => Some(self.application(caller, application).await?.id),
            None => {
                caller.require_role(Role::Viewer)?;
                None
            }
        };
        let text = search.text.trim();
        let text = text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_owned();
        let filter = EndpointFilter { application, text, state: search.state };
        let skipped = search.page.saturating_sub(1).saturating_mul(search.limit as u64);
        let page = EndpointPageKey { with: search.with.clone(), skipped, limit: search.limit };
        Ok(self.store().search_endpoints(&caller.account, &filter, &page).await?)
    }
}
