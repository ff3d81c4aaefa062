//! The capability that each page requires. The server refuses every page that is not listed.
//!
//! The capabilities are those that the API requires for the same actions (`provider-api`'s `access.rs`).

use http::Method;
use provider_core::model::Capability;
use provider_core::model::Capability::{
    CreateAttempts, ManageEndpoint, ManageEndpointSecret, ViewBase, ViewEndpointSecret,
};

const PAGES: &[(&str, &str, Capability)] = &[
    ("POST", "/logout", ViewBase),
    ("GET", "/overview", ViewBase),
    ("GET", "/endpoints", ViewBase),
    ("GET", "/endpoints/new", ManageEndpoint),
    ("POST", "/endpoints/new", ManageEndpoint),
    ("POST", "/endpoints/check-url", ManageEndpoint),
    ("GET", "/endpoints/{endpoint}", ViewBase),
    ("GET", "/endpoints/{endpoint}/live", ViewBase),
    ("GET", "/endpoints/{endpoint}/settings", ManageEndpoint),
    ("POST", "/endpoints/{endpoint}/settings", ManageEndpoint),
    ("POST", "/endpoints/{endpoint}/settings/check-url", ManageEndpoint),
    ("POST", "/endpoints/{endpoint}/enable", ManageEndpoint),
    ("GET", "/endpoints/{endpoint}/disable", ManageEndpoint),
    ("POST", "/endpoints/{endpoint}/disable", ManageEndpoint),
    ("GET", "/endpoints/{endpoint}/delete", ManageEndpoint),
    ("POST", "/endpoints/{endpoint}/delete", ManageEndpoint),
    ("GET", "/endpoints/{endpoint}/secret", ViewEndpointSecret),
    ("POST", "/endpoints/{endpoint}/secret/reveal", ViewEndpointSecret),
    ("POST", "/endpoints/{endpoint}/secret/rotate", ManageEndpointSecret),
    ("GET", "/endpoints/{endpoint}/verify", ViewBase),
    ("POST", "/endpoints/{endpoint}/verify", ViewBase),
    ("POST", "/endpoints/{endpoint}/verify/reveal", ViewEndpointSecret),
    ("GET", "/endpoints/{endpoint}/headers", ManageEndpoint),
    ("POST", "/endpoints/{endpoint}/headers", ManageEndpoint),
    ("POST", "/endpoints/{endpoint}/headers/remove", ManageEndpoint),
    ("GET", "/endpoints/{endpoint}/example", CreateAttempts),
    ("POST", "/endpoints/{endpoint}/example", CreateAttempts),
    ("GET", "/endpoints/{endpoint}/replay", ViewBase),
    ("POST", "/endpoints/{endpoint}/replay", CreateAttempts),
    ("GET", "/endpoints/{endpoint}/replay/confirm", CreateAttempts),
    ("POST", "/endpoints/{endpoint}/replay/stop", CreateAttempts),
    ("GET", "/endpoints/{endpoint}/ordering", ViewBase),
    ("POST", "/endpoints/{endpoint}/ordering", ManageEndpoint),
    ("GET", "/endpoints/{endpoint}/ordering/skip", ManageEndpoint),
    ("POST", "/endpoints/{endpoint}/ordering/retry", CreateAttempts),
    ("GET", "/messages", ViewBase),
    ("GET", "/messages/live", ViewBase),
    ("GET", "/messages/{message}", ViewBase),
    ("GET", "/messages/{message}/payload", ViewBase),
    ("GET", "/messages/{message}/attempts/{attempt}/response", ViewBase),
    ("POST", "/messages/{message}/resend", CreateAttempts),
    ("POST", "/messages/{message}/sign", ManageEndpoint),
    ("GET", "/logo/{version}", ViewBase),
    ("GET", "/alerts", ManageEndpoint),
    ("POST", "/alerts", ManageEndpoint),
    ("GET", "/event-types", ViewBase),
    ("GET", "/event-types/{name}", ViewBase),
];

/// The capability that a page requires; none when the page is not listed.
pub(super) fn required_capability(method: &Method, path: &str) -> Option<Capability> {
    // A HEAD request requires what the GET request requires.
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let path = path.strip_prefix(super::PATH).unwrap_or(path);
    PAGES
        .iter()
        .find(|(listed_method, listed_path, _)| *listed_method == method.as_str() && *listed_path == path)
        .map(|(.., capability)| *capability)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_page_that_is_not_listed_is_refused() {
        assert_eq!(required_capability(&Method::HEAD, "/app-portal/messages"), Some(ViewBase));
        assert_eq!(required_capability(&Method::GET, "/messages"), Some(ViewBase));
        assert_eq!(required_capability(&Method::POST, "/app-portal/messages"), None);
        assert_eq!(required_capability(&Method::GET, "/app-portal/new"), None);
    }

    /// Forms for every visitor: one ends the visitor's own session, the other is too long for an address.
    const CHANGES_NOTHING: &[&str] = &["/logout", "/endpoints/{endpoint}/verify"];

    #[test]
    fn each_page_is_listed_once_and_a_form_requires_more_than_reading() {
        let pages: BTreeSet<_> = PAGES.iter().map(|(method, path, _)| (method, path)).collect();
        assert_eq!(pages.len(), PAGES.len());
        for (method, path, capability) in PAGES {
            assert!(
                *method == "GET" || *capability != ViewBase || CHANGES_NOTHING.contains(path),
                "{method} {path} changes something"
            );
        }
    }
}
