//! The role that each page requires. The server refuses every page that is not listed.

use http::Method;
use provider_core::model::Role;

use super::{
    account, activity, alerts, api_keys, applications, checklist, endpoints, event_types, messages, operational,
    ordering, payload_check, sign_in, tasks, usage, users,
};

/// Method and path of a page, and the role that it requires.
pub(crate) type Page = (&'static str, &'static str, Role);

/// The pages of each module.
const PAGES: &[&[Page]] = &[
    sign_in::PAGES,
    users::PAGES,
    api_keys::PAGES,
    activity::PAGES,
    account::PAGES,
    checklist::PAGES,
    applications::PAGES,
    endpoints::PAGES,
    ordering::PAGES,
    messages::PAGES,
    event_types::PAGES,
    usage::PAGES,
    operational::PAGES,
    tasks::PAGES,
    alerts::PAGES,
    payload_check::PAGES,
];

/// The role that a page requires; none when the page is not listed.
pub(super) fn required_role(method: &Method, path: &str) -> Option<Role> {
    // A HEAD request requires what the GET request requires.
    let method = if method == Method::HEAD { &Method::GET } else { method };
    // The first page is matched as `/dashboard` and as `/dashboard//`.
    let path = path.strip_prefix(super::PATH).unwrap_or(path).trim_end_matches('/');
    let path = if path.is_empty() { "/" } else { path };
    let mut pages = PAGES.iter().flat_map(|pages| pages.iter());
    let found = pages.find(|(listed_method, listed_path, _)| *listed_method == method.as_str() && *listed_path == path);
    found.map(|(.., role)| *role)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_page_that_is_not_listed_is_refused() {
        assert_eq!(required_role(&Method::HEAD, "/dashboard"), Some(Role::Viewer));
        assert_eq!(required_role(&Method::GET, "/dashboard/"), Some(Role::Viewer));
        assert_eq!(required_role(&Method::POST, "/dashboard/"), None);
        assert_eq!(required_role(&Method::GET, "/dashboard/new-page"), None);
    }

    /// A form of the user's own session and profile needs no more than the session.
    const OWN: &[&str] = &["/sign-out", "/profile"];

    #[test]
    fn each_page_is_listed_once_and_a_form_requires_more_than_reading() {
        let listed = PAGES.iter().flat_map(|pages| pages.iter());
        let pages: BTreeSet<_> = listed.clone().map(|(method, path, _)| (method, path)).collect();
        assert_eq!(pages.len(), listed.clone().count());
        for (method, path, role) in listed {
            let is_own = OWN.iter().any(|own| path.starts_with(own));
            assert!(*method == "GET" || *role > Role::Viewer || is_own, "{method} {path} changes something");
        }
    }
}
