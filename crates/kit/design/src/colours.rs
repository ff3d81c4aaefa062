//! The colours that a visitor chose: those of the system, light or dark. A cookie of the site keeps the choice.
//!
//! [`super::site::wrap_site`] reads the cookie around each request and serves the form's address, so that every page has the
//! right colours from its first paint, without script.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{AppendHeaders, IntoResponse as _, Redirect, Response};
use http::header::{REFERER, SET_COOKIE};
use http::{Extensions, HeaderMap, HeaderName};
use std::sync::Arc;

use super::cookie::{Cookie, Transport};
use super::fields::UnauthenticatedForm;
use super::site::{Site, own_path};
use super::texts::Texts;

/// Path of the form's address, below the site's base.
pub(crate) const PATH: &str = "/colours";
/// Seconds for which a browser keeps the choice: 400 days, which is the most that browsers allow.
const KEPT_S: i64 = 400 * 24 * 3_600;
const NAME: &str = "lotwire_colours";
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

tokio::task_local! {
    static CHOSEN: Colours;
}

/// The colours of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Colours {
    /// Those that the browser prefers.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Colours {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// The visitor's choice, inside the handler of a request; the system's elsewhere.
    pub fn of_request() -> Self {
        CHOSEN.try_with(|chosen| *chosen).unwrap_or_default()
    }

    /// Name in the cookie and in the form.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Name for people.
    pub fn title(self, texts: &Texts) -> &str {
        let [system, light, dark] = &texts.colour_names;
        match self {
            Self::System => system,
            Self::Light => light,
            Self::Dark => dark,
        }
    }

    /// The value of `color-scheme`.
    pub fn scheme(self) -> &'static str {
        match self {
            Self::System => "light dark",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|colours| colours.name() == name)
    }
}

fn cookie(site: &Site, headers: &HeaderMap) -> Cookie {
    let is_framed = headers.get(SEC_FETCH_DEST).is_some_and(|dest| dest == "iframe" || dest == "frame");
    let transport = match site.origin.starts_with("https:") {
        true if is_framed => Transport::Embedded,
        true => Transport::Secure,
        false => Transport::Any,
    };
    Cookie { name: NAME.into(), path: site.base.to_string(), transport }
}

/// Middleware: lets [`Colours::of_request`] return the visitor's choice.
pub(crate) async fn middleware(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let chosen = cookie(&site, request.headers()).read(request.headers()).and_then(Colours::parse);
    CHOSEN.scope(chosen.unwrap_or_default(), next.run(request)).await
}

/// Keeps the choice, and leads back to the page that the form was on.
pub(crate) async fn choose(
    State(site): State<Arc<Site>>,
    extensions: Extensions,
    headers: HeaderMap,
    UnauthenticatedForm(form): UnauthenticatedForm,
) -> Response {
    let site = Site::of_request(&site, &extensions);
    let cookie = cookie(&site, &headers);
    let set = match Colours::parse(form.text("colours")).unwrap_or_default() {
        Colours::System => cookie.remove(),
        colours => cookie.set(colours.name(), KEPT_S),
    };
    let back = Redirect::to(&back(&site, &headers));
    (AppendHeaders(set.map(|set| (SET_COOKIE, set))), back).into_response()
}

/// The path of the page that the form was on, if it is one of the site's; else its first page.
pub fn back(site: &Site, headers: &HeaderMap) -> String {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let first = format!("{}/", site.base);
    let Some((origin, path)) = text(REFERER).and_then(split_origin) else { return first };
    let below = path.strip_prefix(&*site.base).filter(|rest| rest.starts_with('/'));
    match below.filter(|_| site.is_own_origin(origin, headers)) {
        Some(below) => format!("{}{}", site.base, own_path(below)),
        None => first,
    }
}

/// `https://host:port` and the path with its query.
fn split_origin(url: &str) -> Option<(&str, &str)> {
    let (_, rest) = url.split_once("://")?;
    let at = url.len() - rest.len() + rest.find('/')?;
    Some(url.split_at(at))
}

#[cfg(test)]
mod tests {
    use http::header::{HOST, HeaderValue};

    use super::*;
    use crate::error_page::NextLink;

    fn site() -> Site {
        let home = Some(NextLink { words: "Home", path: "/" });
        let origin = "https://hooks.example".to_owned();
        Site { base: "/portal".into(), origin, has_public_url: false, name: "Portal", style: None, home }
    }

    #[test]
    fn a_choice_leads_back_to_a_page_of_the_site_only() {
        for (referer, expected) in [
            ("https://hooks.example/portal/messages?state=failed", "/portal/messages?state=failed"),
            ("http://10.0.0.1:8071/portal/messages", "/portal/messages"),
            ("https://hooks.example/portal", "/portal/"),
            ("https://hooks.example/portalx", "/portal/"),
            ("https://evil.example/portal/messages", "/portal/"),
            ("https://hooks.example", "/portal/"),
            ("nothing", "/portal/"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(REFERER, HeaderValue::from_static(referer));
            headers.insert(HOST, HeaderValue::from_static("10.0.0.1:8071"));
            assert_eq!(back(&site(), &headers), expected, "{referer}");
        }
        assert_eq!(back(&site(), &HeaderMap::new()), "/portal/");
        let mut headers = HeaderMap::new();
        headers.insert(REFERER, HeaderValue::from_static("http://10.0.0.1:8071/portal/messages"));
        headers.insert(HOST, HeaderValue::from_static("10.0.0.1:8071"));
        assert_eq!(back(&Site { has_public_url: true, ..site() }, &headers), "/portal/");
    }

    #[tokio::test]
    async fn the_choice_is_known_inside_a_request_only() {
        assert_eq!(Colours::of_request(), Colours::System);
        assert_eq!(CHOSEN.scope(Colours::Dark, async { Colours::of_request() }).await, Colours::Dark);
        for colours in Colours::ALL {
            assert_eq!(Colours::parse(colours.name()), Some(colours));
        }
    }

    #[test]
    fn in_a_frame_the_cookie_is_partitioned() {
        let mut headers = HeaderMap::new();
        assert_eq!(cookie(&site(), &headers).transport, Transport::Secure);
        headers.insert(SEC_FETCH_DEST, HeaderValue::from_static("iframe"));
        assert_eq!(cookie(&site(), &headers).transport, Transport::Embedded);
        let http = Site { origin: "http://hooks.example".into(), ..site() };
        assert_eq!(cookie(&http, &headers).transport, Transport::Any);
    }
}
