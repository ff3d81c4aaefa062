//! Middleware of a site: it refuses forms that other sites sent, renders error pages, and sets the security headers.
//!
//! Why the origin of a form protects against cross-site request forgery: a browser sends `Sec-Fetch-Site`, which no page
//! can set. For addresses that a browser does not trust (plain HTTP) it sends `Origin` with every POST, which no page can
//! set either. The server refuses a form with neither header. In addition, the session cookie is `SameSite=Lax`.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use askama::Template;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::post;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{Extensions, HeaderMap, HeaderName, Method, StatusCode};
use kit_http::{FallbackResponses, Origins};

use super::assets::Asset;
use super::colours;
use super::error_page::{ErrorPage, ErrorPageContent, NextLink};
use super::frame::{Frame, render_page_as};
use super::side::Side;
use super::texts;

/// A page may load the files of its own site and send forms to it, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; \
    base-uri 'none'; img-src 'self'";
/// A method of no page.
const NO_METHOD: &[u8] = b"NONE";
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const CROSS_ORIGIN_OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// A group of pages below one path, with their own layout and session.
#[derive(Debug)]
pub struct Site {
    /// Path that all addresses of the site begin with, as a browser sees them.
    pub base: Arc<str>,
    /// Scheme, host and port of the site's public address.
    pub origin: String,
    /// The operator set the public address, so that pages have that origin and no other. Otherwise the site is reached
    /// under whatever name `Host` has.
    pub has_public_url: bool,
    /// Name of the site, shown at the top of its pages.
    pub name: &'static str,
    /// The style sheet of the site's own pages, which [`super::assets::routes_with`] serves.
    pub style: Option<&'static LazyLock<Asset>>,
    /// Link to the site's first page, for error pages; none for a site without one.
    pub home: Option<NextLink>,
}

/// An extension of requests: the site with the origin at which this request reached it, for pages that stand at several origins.
#[derive(Debug, Clone)]
pub struct SiteOfRequest(pub Arc<Site>);

/// Sites whose pages may show this response in a frame: an extension of responses. Without it, no site may.
#[derive(Debug, Clone)]
pub struct FrameAncestors(pub Vec<String>);

/// An extension of responses: the page may show images of other sites. Other pages load images of their own site only. A
/// browser sends these sites no address of a page and no cookie of this site, and an image runs no script.
#[derive(Debug, Clone, Copy)]
pub struct ImagesOfOtherSites;

/// An extension of responses: forms of the page may lead to this origin, too, such as `https://www.example.com`. A browser refuses a
/// redirect to it after a form otherwise.
#[derive(Debug, Clone)]
pub struct FormsLeadTo(pub String);

impl FormsLeadTo {
    /// The policy with the origin. One that no header can have leads nowhere.
    fn allow(this: Option<Self>, policy: HeaderValue) -> HeaderValue {
        let (Some(Self(origin)), Ok(text)) = (this, policy.to_str()) else { return policy };
        let is_origin = !origin.contains([' ', ';', ',']);
        let allowed = text.replacen("form-action 'self'", &format!("form-action 'self' {origin}"), 1);
        HeaderValue::try_from(allowed).ok().filter(|_| is_origin).unwrap_or(policy)
    }
}

/// An extension of responses: the page may show a film of this origin, such as `https://live.example.com`, and nothing else of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilmOf {
    /// In an element `video`.
    Media(String),
    /// In a frame.
    Frame(String),
}

impl FilmOf {
    /// The policy with the origin. One that no header can have shows no film.
    fn allow(this: Option<Self>, policy: HeaderValue) -> HeaderValue {
        let (Some(film), Ok(text)) = (this, policy.to_str()) else { return policy };
        let (directive, origin) = match film {
            Self::Media(origin) => ("media-src", origin),
            Self::Frame(origin) => ("frame-src", origin),
        };
        let is_origin = origin.starts_with("https://") && !origin.contains([' ', ';', ',', '*']);
        let allowed = HeaderValue::try_from(format!("{text}; {directive} {origin}"));
        allowed.ok().filter(|_| is_origin).unwrap_or(policy)
    }
}

impl ImagesOfOtherSites {
    /// The sources of images in the content security policy. On a site with TLS, browsers load an `http` address by `https`.
    fn sources(this: Option<Self>, origin: &str) -> &'static str {
        match this {
            None => "",
            Some(Self) if origin.starts_with("https://") => " https:",
            Some(Self) => " https: http:",
        }
    }
}

impl Site {
    /// The same site at another origin.
    #[must_use]
    pub fn at(&self, origin: String) -> Self {
        let Self { base, origin: _, has_public_url, name, style, home } = self;
        Self { base: Arc::clone(base), origin, has_public_url: *has_public_url, name, style: *style, home: *home }
    }

    /// The site as a request with these extensions sees it.
    #[must_use]
    pub fn of_request(this: &Arc<Self>, extensions: &Extensions) -> Arc<Self> {
        extensions.get::<SiteOfRequest>().map_or_else(|| Arc::clone(this), |SiteOfRequest(site)| Arc::clone(site))
    }

    /// Whether an origin, such as `https://host:port`, is the site's own in a request with these headers. The header `Host`
    /// counts only without a public address: who makes a name of their own lead to this server decides what it contains.
    pub(crate) fn is_own_origin(&self, origin: &str, headers: &HeaderMap) -> bool {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).filter(|_| !self.has_public_url);
        origin == self.origin || host.is_some_and(|host| authority(origin) == Some(host))
    }

    /// 303 to a path of the site. A path that no header can have leads to the site's first page.
    pub fn redirect(&self, path: &str) -> Redirect {
        Redirect::to(&format!("{}{}", self.base, own_path(path)))
    }
}

/// The path, if it is one of the site's own that a `Location` header can have; else that of the first page. What is not
/// printable ASCII is percent-encoded in every address that a browser sends.
pub fn own_path(path: &str) -> &str {
    let is_own = path.starts_with('/') && !path.starts_with("//") && !path.contains('\\');
    if is_own && path.bytes().all(|byte| byte.is_ascii_graphic()) { path } else { "/" }
}

impl FrameAncestors {
    /// The content security policy and the cross-origin resource policy of a response.
    fn policies(this: Option<Self>, images: &str) -> (HeaderValue, HeaderValue) {
        let sources = this.map(|Self(sources)| sources).filter(|sources| !sources.is_empty());
        let policy = |sources: &str| HeaderValue::try_from(format!("{POLICY}{images}; frame-ancestors {sources}")).ok();
        match sources.and_then(|sources| policy(&sources.join(" "))) {
            Some(policy) => (policy, HeaderValue::from_static("cross-origin")),
            None => (
                policy("'none'").unwrap_or(HeaderValue::from_static("default-src 'none'")),
                HeaderValue::from_static("same-origin"),
            ),
        }
    }
}

/// The side navigation of the visitor whom the cookies of a request name; none for a visitor who is not signed in. The site
/// asks for it when it shows an error page.
pub type SideOfVisitor = Arc<dyn Fn(HeaderMap) -> Pin<Box<dyn Future<Output = Option<Side>> + Send>> + Send + Sync>;

/// The router of a site with its middleware. Its error pages have no navigation.
pub fn wrap_site(pages: Router, site: Arc<Site>) -> Router {
    wrap(pages, site, None)
}

/// The router of a site with its middleware. Its error pages keep the navigation of a visitor who is signed in.
pub fn wrap_site_with_side(pages: Router, site: Arc<Site>, side: SideOfVisitor) -> Router {
    wrap(pages, site, Some(side))
}

fn wrap(pages: Router, site: Arc<Site>, side: Option<SideOfVisitor>) -> Router {
    let fallbacks = FallbackResponses {
        route_not_found: || ErrorPage::not_found().into_response(),
        method_not_allowed: || ErrorPage::method_not_allowed().into_response(),
        panicked: || ErrorPage::internal().into_response(),
    };
    let colours = Router::new().route(colours::PATH, post(colours::choose)).with_state(Arc::clone(&site));
    Router::from(kit_http::finish_as(pages.merge(colours), fallbacks, Origins::SameOrigin))
        .layer(from_fn_with_state((Arc::clone(&site), side), site_middleware))
        .layer(from_fn_with_state(site, colours::middleware))
}

type SiteState = (Arc<Site>, Option<SideOfVisitor>);

async fn site_middleware(State((site, side)): State<SiteState>, request: Request, next: Next) -> Response {
    let site = Site::of_request(&site, request.extensions());
    let cookies = side.is_some().then(|| cookies(request.headers()));
    let mut response = match check_origin(&site, request.method(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => unless_unknown(error, request, next).await,
    };
    if let Some(content) = response.extensions_mut().remove::<ErrorPageContent>() {
        let side = match (side, cookies) {
            (Some(side), Some(cookies)) => side(cookies).await,
            _ => None,
        };
        response = render_error_page(&site, side, content, response);
    }
    let images = ImagesOfOtherSites::sources(response.extensions_mut().remove(), &site.origin);
    let (policy, resources) = FrameAncestors::policies(response.extensions_mut().remove(), images);
    let policy = FormsLeadTo::allow(response.extensions_mut().remove(), policy);
    let policy = FilmOf::allow(response.extensions_mut().remove(), policy);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Not `no-referrer`: with that, a browser sends `Origin: null` even with the site's own forms.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(CROSS_ORIGIN_OPENER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(CROSS_ORIGIN_RESOURCE_POLICY, resources);
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// The cookies of a request.
fn cookies(headers: &HeaderMap) -> HeaderMap {
    headers.get_all(COOKIE).iter().map(|line| (COOKIE, line.clone())).collect()
}

/// 403 for a request that changes something and was not sent by a page of this site.
fn check_origin(site: &Site, method: &Method, headers: &HeaderMap) -> Result<(), ErrorPage> {
    if *method == Method::GET || *method == Method::HEAD {
        return Ok(());
    }
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let is_own = match (text(SEC_FETCH_SITE), text(ORIGIN)) {
        // A page on another name that leads to this server is of one origin with it, so its name counts, too.
        (Some(from), Some(origin)) if site.has_public_url => {
            from == "same-origin" && site.is_own_origin(origin, headers)
        }
        (Some(from), _) => from == "same-origin",
        (None, Some(origin)) => site.is_own_origin(origin, headers),
        (None, None) => false,
    };
    if is_own {
        return Ok(());
    }
    let address = if site.has_public_url { format!("{}{}/", site.origin, site.base) } else { "this site".to_owned() };
    Err(ErrorPage::foreign_form(&address))
}

/// The error page, or 404 or 405 for a request to what the site does not have. The router is asked with a method that no page has,
/// so no handler runs.
async fn unless_unknown(error: ErrorPage, request: Request, next: Next) -> Response {
    let (mut parts, _) = request.into_parts();
    let Ok(none) = Method::from_bytes(NO_METHOD) else { return error.into_response() };
    let wanted = std::mem::replace(&mut parts.method, none);
    let answer = next.run(Request::from_parts(parts, Body::empty())).await;
    let allowed = answer.headers().get(ALLOW).and_then(|allowed| allowed.to_str().ok()).unwrap_or_default();
    let is_allowed = allowed.split(',').any(|method| method.trim() == wanted.as_str());
    match answer.status() {
        StatusCode::NOT_FOUND => answer,
        StatusCode::METHOD_NOT_ALLOWED if !is_allowed => answer,
        _ => error.into_response(),
    }
}

/// `https://host:port` without its scheme.
fn authority(origin: &str) -> Option<&str> {
    origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"))
}

/// The error page in the site's layout, with the status and headers of the response.
fn render_error_page(site: &Site, side: Option<Side>, content: ErrorPageContent, response: Response) -> Response {
    let (mut parts, _) = response.into_parts();
    let has_side = side.is_some();
    let frame = Frame {
        side,
        ..Frame::signed_out(content.title, site, texts::of_request().site_name.as_deref().unwrap_or(site.name))
    };
    let page = ErrorPageTemplate {
        frame,
        detail: content.detail,
        next_link: content.next_link.or(site.home.map(|home| (Cow::Borrowed(home.words), home.path.to_owned()))),
        request: parts
            .headers
            .get(kit_http::request_id::X_REQUEST_ID)
            .and_then(|id| id.to_str().ok())
            .map(str::to_owned),
    };
    let rendered: Result<Response, ErrorPage> = match has_side {
        true => {
            let ErrorPageTemplate { frame, detail, next_link, request } = page;
            render_page_as(parts.status, &ErrorPageWithSide { frame, detail, next_link, request })
        }
        false => render_page_as(parts.status, &page),
    };
    let Ok(rendered) = rendered else { return Response::from_parts(parts, Body::empty()) };
    let (rendered, body) = rendered.into_parts();
    parts.headers.remove(http::header::CONTENT_LENGTH);
    parts.headers.extend(rendered.headers);
    Response::from_parts(parts, body)
}

#[derive(Template)]
#[template(path = "error_page.html")]
struct ErrorPageTemplate {
    frame: Frame,
    detail: String,
    next_link: Option<(Cow<'static, str>, String)>,
    request: Option<String>,
}

/// The error page beside the navigation.
#[derive(Template)]
#[template(path = "error_page_with_side.html")]
struct ErrorPageWithSide {
    frame: Frame,
    detail: String,
    next_link: Option<(Cow<'static, str>, String)>,
    request: Option<String>,
}

#[cfg(test)]
mod tests {
    use axum::routing::get;

    use super::*;

    fn is_accepted(has_public_url: bool, method: Method, headers: &[(&'static str, &'static str)]) -> bool {
        let home = Some(NextLink { words: "Home", path: "/" });
        let origin = "https://hooks.example".to_owned();
        let site = Site { base: "/portal".into(), origin, has_public_url, name: "Portal", style: None, home };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, HeaderValue::from_static(value));
        }
        check_origin(&site, &method, &map).is_ok()
    }

    #[test]
    fn only_the_named_sites_may_show_a_response_in_a_frame() {
        let policies = |sources: &[&str]| {
            let sources = sources.iter().map(|source| (*source).to_owned()).collect();
            let (policy, resources) = FrameAncestors::policies(Some(FrameAncestors(sources)), "");
            (policy.to_str().unwrap().to_owned(), resources)
        };
        let (policy, resources) = policies(&["https://a.example", "https://b.example"]);
        assert!(policy.ends_with("; frame-ancestors https://a.example https://b.example"), "{policy}");
        assert_eq!(resources, "cross-origin");
        for sources in [&[][..], &["https://a.example\n"]] {
            let (policy, resources) = policies(sources);
            assert!(policy.ends_with("; frame-ancestors 'none'"), "{policy}");
            assert_eq!(resources, "same-origin");
        }
    }

    #[test]
    fn only_a_page_that_says_so_loads_images_of_other_sites() {
        let policy = |images, origin| {
            let (policy, _) = FrameAncestors::policies(None, ImagesOfOtherSites::sources(images, origin));
            policy.to_str().unwrap().to_owned()
        };
        let (own, other) = (None, Some(ImagesOfOtherSites));
        assert!(policy(own, "http://10.0.0.1").contains("; img-src 'self'; frame-ancestors 'none'"));
        assert!(policy(other, "https://a.example").contains("; img-src 'self' https:; frame-ancestors 'none'"));
        assert!(policy(other, "http://10.0.0.1").contains("; img-src 'self' https: http:; "));
    }

    #[test]
    fn only_a_page_that_says_so_has_forms_that_lead_to_another_site() {
        let policy = |origin: Option<&str>| {
            let (policy, _) = FrameAncestors::policies(None, "");
            let allowed = FormsLeadTo::allow(origin.map(|origin| FormsLeadTo(origin.to_owned())), policy);
            allowed.to_str().unwrap().to_owned()
        };
        assert!(policy(None).contains("; form-action 'self'; "));
        assert!(policy(Some("https://a.example")).contains("; form-action 'self' https://a.example; "));
        for origin in ["https://a.example; script-src *", "*, x", "a\n"] {
            assert!(policy(Some(origin)).contains("; form-action 'self'; "), "{origin:?}");
        }
    }

    #[test]
    fn only_a_page_that_says_so_shows_a_film_of_one_origin() {
        let policy = |film: Option<FilmOf>| {
            let (policy, _) = FrameAncestors::policies(None, "");
            FilmOf::allow(film, policy).to_str().unwrap().to_owned()
        };
        let strict = policy(None);
        assert!(!strict.contains("media-src") && !strict.contains("frame-src"), "{strict}");
        let origin = || "https://live.example.com".to_owned();
        assert_eq!(policy(Some(FilmOf::Media(origin()))), format!("{strict}; media-src {}", origin()));
        assert_eq!(policy(Some(FilmOf::Frame(origin()))), format!("{strict}; frame-src {}", origin()));
        for wrong in ["https://a.example; script-src *", "https://*", "http://a.example", "*", "a\n"] {
            assert_eq!(policy(Some(FilmOf::Frame(wrong.to_owned()))), strict, "{wrong:?}");
        }
    }

    #[test]
    fn a_form_is_accepted_from_the_sites_own_pages_only() {
        for (headers, accepted) in [
            (&[("sec-fetch-site", "same-origin")][..], true),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "none")], false),
            (&[("sec-fetch-site", "cross-site"), ("origin", "https://hooks.example")], false),
            (&[("origin", "https://hooks.example")], true),
            (&[("origin", "http://10.0.0.1:8071"), ("host", "10.0.0.1:8071")], true),
            (&[("origin", "https://evil.example"), ("host", "hooks.example")], false),
            (&[("origin", "null"), ("host", "hooks.example")], false),
            (&[("host", "hooks.example")], false),
        ] {
            assert_eq!(is_accepted(false, Method::POST, headers), accepted, "{headers:?}");
            assert!(is_accepted(false, Method::GET, headers));
        }
    }

    #[test]
    fn with_a_public_url_a_form_comes_from_there_alone() {
        for (headers, accepted) in [
            (&[("sec-fetch-site", "same-origin")][..], true),
            (&[("sec-fetch-site", "same-origin"), ("origin", "https://hooks.example")], true),
            (&[("sec-fetch-site", "cross-site"), ("origin", "https://hooks.example")], false),
            (&[("origin", "https://hooks.example"), ("host", "10.0.0.1:8071")], true),
            // The attacker's name leads to this server.
            (&[("sec-fetch-site", "same-origin"), ("origin", "http://evil.example"), ("host", "evil.example")], false),
            (&[("origin", "http://evil.example"), ("host", "evil.example")], false),
            (&[("origin", "http://hooks.example"), ("host", "hooks.example")], false),
            (&[("sec-fetch-site", "same-origin"), ("origin", "null")], false),
        ] {
            assert_eq!(is_accepted(true, Method::POST, headers), accepted, "{headers:?}");
            assert!(is_accepted(true, Method::GET, headers));
        }
    }

    #[tokio::test]
    async fn a_form_of_another_site_is_refused_where_the_site_takes_forms() {
        let site =
            Site { base: "".into(), origin: String::new(), has_public_url: true, name: "S", style: None, home: None };
        let pages = Router::new()
            .route("/list", get(async || "list"))
            .route("/new", get(async || "form").post(async || "saved"));
        let surface = kit_http::finish_pages(wrap_site(pages, Arc::new(site)));
        let status = async |method: Method, path: &str, from: &'static str| {
            let request = Request::builder().method(method).uri(path).header(SEC_FETCH_SITE, from);
            surface.answer(request.body(Body::empty()).unwrap()).await.status().as_u16()
        };
        for (method, path, from, expected) in [
            (Method::POST, "/new", "same-origin", 200),
            (Method::POST, "/new", "cross-site", 403),
            (Method::PUT, "/new", "cross-site", 405),
            (Method::POST, "/list", "same-origin", 405),
            (Method::POST, "/list", "cross-site", 405),
            (Method::POST, "/nothing", "cross-site", 404),
            (Method::POST, "/colours", "cross-site", 403),
            (Method::GET, "/list", "cross-site", 200),
        ] {
            assert_eq!(status(method.clone(), path, from).await, expected, "{method} {path} {from}");
        }
    }

    #[test]
    fn a_redirect_leads_to_a_path_of_the_site() {
        for path in ["/", "/customers?after=1", "/lots/1?done=saved#images", "/a%0Ab"] {
            assert_eq!(own_path(path), path);
        }
        let controls = (0..=0x20_u8).chain([0x7f]).map(|byte| format!("/a{}", char::from(byte)));
        let others = ["", "a", "//evil.example", "https://evil.example", "/\\evil.example", "/ä", "/a\u{85}b"];
        for path in others.into_iter().map(str::to_owned).chain(controls) {
            assert_eq!(own_path(&path), "/", "{path:?}");
        }
    }
}
