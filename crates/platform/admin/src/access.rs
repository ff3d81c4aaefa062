//! What each page requires of a user. The server refuses every page that is not listed.
//!
//! The scopes are those that the API requires for the same actions. A page that a role may not open is refused with the
//! roles that may.

use http::Method;
use platform_core::{Role, Scope};

use crate::{
    account, api_keys, auctioneers, auctions, audit, book, customers, desk, end_times, images, lots, mails, people,
    print, registrations, results, screens, sign_in, system, test_clock, today, users,
};

/// A page: method, path below the base, requirement.
pub(crate) type Page = (&'static str, &'static str, Need);

/// What a page requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Any user who is signed in.
    SignedIn,
    /// A role with this scope.
    Has(Scope),
    /// A role with one of these scopes.
    HasOneOf(&'static [Scope]),
    /// This role.
    Is(Role),
}

const MODULES: &[&[Page]] = &[
    sign_in::PAGES,
    today::PAGES,
    account::PAGES,
    customers::PAGES,
    auctioneers::PAGES,
    people::PAGES,
    users::PAGES,
    api_keys::PAGES,
    audit::PAGES,
    system::PAGES,
    test_clock::PAGES,
    auctions::PAGES,
    lots::PAGES,
    images::PAGES,
    end_times::PAGES,
    registrations::PAGES,
    mails::PAGES,
    results::PAGES,
    desk::PAGES,
    screens::PAGES,
    book::PAGES,
    print::PAGES,
];

impl Need {
    /// True if a user with this role may open the page.
    pub(crate) fn allows(self, role: Role) -> bool {
        match self {
            Self::SignedIn => true,
            Self::Has(scope) => role.scopes().contains(scope),
            Self::Is(required) => role == required,
            Self::HasOneOf(scopes) => scopes.iter().any(|scope| role.scopes().contains(*scope)),
        }
    }

    /// Why a user with this role may not open the page, and who may.
    pub(crate) fn refusal(self, role: Role) -> String {
        let roles: Vec<&str> = Role::ALL.into_iter().filter(|role| self.allows(*role)).map(Role::name).collect();
        let roles = match roles.split_last() {
            Some((last, [])) => format!("the role {last}"),
            Some((last, others)) => format!("the role {} or {last}", others.join(", ")),
            None => "a role that does not exist".to_owned(),
        };
        format!("Your role is {}. This needs {roles}. Ask an administrator.", role.name())
    }
}

/// All pages that require a session.
pub(crate) fn all() -> impl Iterator<Item = &'static Page> {
    MODULES.iter().flat_map(|pages| pages.iter())
}

/// What a page requires; none when the page is not listed.
pub(crate) fn need(method: &Method, path: &str) -> Option<Need> {
    // A HEAD request requires what the GET request requires.
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let path = path.strip_prefix(super::PATH).unwrap_or(path);
    // The first page has a slash of the mount point and one of its own.
    let path = if path.trim_end_matches('/').is_empty() { "/" } else { path };
    all()
        .find(|(listed_method, listed_path, _)| *listed_method == method.as_str() && *listed_path == path)
        .map(|page| page.2)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_page_that_is_not_listed_is_refused() {
        assert_eq!(need(&Method::HEAD, "/admin/"), Some(Need::SignedIn));
        assert_eq!(need(&Method::GET, "/admin"), Some(Need::SignedIn));
        assert_eq!(need(&Method::DELETE, "/admin/"), None);
        assert_eq!(need(&Method::GET, "/admin/unlisted"), None);
    }

    #[test]
    fn each_page_is_listed_once() {
        let all: Vec<_> = all().map(|page| (page.0, page.1)).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
    }

    #[test]
    fn a_refusal_names_the_roles_that_may() {
        let refused = Need::Has(Scope::CustomersWrite).refusal(Role::Viewer);
        assert_eq!(refused, "Your role is viewer. This needs the role administrator or support. Ask an administrator.");
        let refused = Need::Has(Scope::UsersWrite).refusal(Role::Clerk);
        assert_eq!(refused, "Your role is clerk. This needs the role administrator. Ask an administrator.");
    }
}
