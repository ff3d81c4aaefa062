//! The hosts of salerooms: the shared one, and proven domains of houses.
//!
//! - A request that names another host, several hosts or another port gets 404.
//! - On a domain of a house, only paths of this house exist. `/` leads to its sales.
//! - On the shared host, the pages of a house that has a domain lead to the same path there. Forms that are sent to the shared host are
//!   still taken, because a bidder may have the page open; so are the bidders' API and the calls of mail programs that end mails, whose
//!   senders know the shared address.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::header::{HeaderValue, LOCATION};
use http::{Extensions, Method, StatusCode, Uri};
use kit_design::site::SiteOfRequest;
use platform_core::customers::domains::base_at;

use crate::site::SaleroomSite;

/// First parts of paths that belong to no house.
const OF_NO_HOUSE: [&str; 6] = ["static", "theme", "colours", "embed.js", "robots.txt", "sitemap.xml"];
/// The path of the document about tokens of a house.
const WELL_KNOWN: &str = "/.well-known/oauth-authorization-server/";
/// An address that no saleroom has.
const NO_ADDRESS: &str = "-";

/// The domain of a house at which a request arrived: an extension of requests.
#[derive(Debug, Clone)]
pub(crate) struct OnDomain {
    /// Base URL of the pages there.
    pub(crate) base: String,
    /// The first part of the paths of the house.
    pub(crate) address: String,
}

/// Whether a request may ask for the saleroom at an address: at the domain of a house, only for that one.
pub(crate) fn may_have(extensions: &Extensions, address: &str) -> bool {
    extensions.get::<OnDomain>().is_none_or(|domain| domain.address == address)
}

/// Middleware: it finds the host of a request, and passes the request on if it may have a page there.
pub(crate) async fn route(State(site): State<SaleroomSite>, mut request: Request, next: Next) -> Response {
    let Some(name) = site.host().named(&request) else { return no_host() };
    let is_shared = site.host().is_name(&name);
    let domains = match site.platform().served_domains().await {
        Ok(domains) => domains,
        // The handler reports it, or answers what needs no store.
        Err(_) if is_shared => Arc::default(),
        Err(_) => return (StatusCode::SERVICE_UNAVAILABLE, "Try again in a few seconds.\n").into_response(),
    };
    if is_shared {
        // No address has an escaped character: such a path would be that of a house without leading to its domain.
        if first_part(request.uri().path()).contains('%') {
            return no_host();
        }
        let address = first_part(request.uri().path());
        let domain = domains.of_address(address).filter(|_| leads_to_domain(&request, address));
        return match domain {
            Some(domain) => lead(&base_at(site.public_url(), domain), request.uri()),
            None => next.run(request).await,
        };
    }
    let Some(house) = domains.house_at(&name) else { return no_host() };
    let base = base_at(site.public_url(), &house.domain);
    if request.uri().path() == "/" && (request.method() == Method::GET || request.method() == Method::HEAD) {
        return Redirect::temporary(&format!("{base}/{}", house.address)).into_response();
    }
    if let Some(path) = without_other_house(request.uri().path(), &house.address)
        && let Ok(uri) = path.parse::<Uri>()
    {
        *request.uri_mut() = uri;
    }
    let here = Arc::new(site.site().at(origin(&base)));
    request.extensions_mut().insert(SiteOfRequest(here));
    request.extensions_mut().insert(OnDomain { base, address: house.address.clone() });
    next.run(request).await
}

fn no_host() -> Response {
    (StatusCode::NOT_FOUND, "This server has no page under this name.\n").into_response()
}

/// The first part of a path.
fn first_part(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

/// Whether a request for the pages of a house on the shared host leads to its domain.
fn leads_to_domain(request: &Request, address: &str) -> bool {
    let path = request.uri().path();
    let below = path.strip_prefix('/').and_then(|path| path.strip_prefix(address)).unwrap_or_default();
    let is_api = below == "/api" || below.starts_with("/api/");
    (request.method() == Method::GET || request.method() == Method::HEAD) && !is_api
}

/// 308 to the same path and query below another base URL. It is not cached: a domain can stop being that of the house.
fn lead(base: &str, uri: &Uri) -> Response {
    let path = uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    match HeaderValue::try_from(format!("{base}{path}")) {
        Ok(address) => (StatusCode::PERMANENT_REDIRECT, [(LOCATION, address)]).into_response(),
        Err(_) => no_host(),
    }
}

/// The path with an address that no saleroom has in place of another house's, so that its own kind of page reports that nothing is
/// found. None for a path that does not change.
fn without_other_house(path: &str, address: &str) -> Option<String> {
    if let Some(other) = path.strip_prefix(WELL_KNOWN) {
        return (other != address).then(|| format!("{WELL_KNOWN}{NO_ADDRESS}"));
    }
    let first = first_part(path);
    if first == address || OF_NO_HOUSE.contains(&first) {
        return None;
    }
    let below = path.get(1 + first.len()..).unwrap_or_default();
    Some(format!("/{NO_ADDRESS}{below}"))
}

/// Scheme, host and port of a base URL.
fn origin(base: &str) -> String {
    url::Url::parse(base).map_or(String::new(), |url| url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn only_paths_of_the_house_stay_on_its_domain() {
        for (path, expected) in [
            ("/hartley", None),
            ("/hartley/sales/1", None),
            ("/static/saleroom.css", None),
            ("/robots.txt", None),
            ("/.well-known/oauth-authorization-server/hartley", None),
            ("/.well-known/oauth-authorization-server/other", Some("/.well-known/oauth-authorization-server/-")),
            ("/other", Some("/-")),
            ("/other/api/v1/sales", Some("/-/api/v1/sales")),
            ("/%6fther/my-bids", Some("/-/my-bids")),
            ("/hartley-2/my-bids", Some("/-/my-bids")),
            ("//other", Some("/-/other")),
            ("/./other", Some("/-/other")),
        ] {
            assert_eq!(without_other_house(path, "hartley").as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn pages_of_the_shared_host_lead_to_the_domain_and_nothing_else_does() {
        for (method, path, leads) in [
            (Method::GET, "/hartley", true),
            (Method::HEAD, "/hartley/sales/1?text=a", true),
            (Method::GET, "/hartley/apis", true),
            (Method::POST, "/hartley/sales/1/lots/2/bid", false),
            (Method::POST, "/hartley/mails/code/one-click", false),
            (Method::GET, "/hartley/api/v1/sales", false),
            (Method::POST, "/hartley/token", false),
        ] {
            let request = http::Request::builder().method(method.clone()).uri(path).body(Body::empty()).unwrap();
            assert_eq!(leads_to_domain(&request, "hartley"), leads, "{method} {path}");
        }
        let led = lead("https://bid.example.com", &"/hartley/sales/1?text=a%20b".parse().unwrap());
        assert_eq!(led.status(), StatusCode::PERMANENT_REDIRECT);
        assert_eq!(led.headers()[LOCATION], "https://bid.example.com/hartley/sales/1?text=a%20b");
        assert_eq!(origin("http://own.example:8073/base"), "http://own.example:8073");
    }
}
