//! The layers around a whole surface: fallbacks, request ids, traces, panics, CORS, request counts, trailing slashes.

use std::any::Any;
use std::convert::Infallible;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use futures_util::future::{Either, ready};
use http::header::{CACHE_CONTROL, HeaderValue};
use http::{StatusCode, Uri};
use kit_runtime::trace::Tracer;
use tower::Service;

use crate::cors::{self, Origins};
use crate::docs::wants_html;
use crate::problem::Problem;
use crate::request_counts::{CountedOperation, RequestCounts};
use crate::request_id::RequestIdentity;
use crate::request_span::RequestSpan;

/// The responses of a surface where no handler responds, in the surface's own format.
#[derive(Debug, Clone, Copy)]
pub struct FallbackResponses {
    /// 404 for an unknown path.
    pub route_not_found: fn() -> Response,
    /// 405; the `Allow` header is added.
    pub method_not_allowed: fn() -> Response,
    /// 500 after a panic of a handler. The panic has been logged.
    pub panicked: fn() -> Response,
}

impl FallbackResponses {
    /// Problem details.
    pub fn problems() -> Self {
        Self { route_not_found, method_not_allowed, panicked }
    }
}

/// Completes a surface with problem details: JSON for unknown paths and methods, a request id on every response, a
/// response even after a panic, and paths with and without a trailing slash (handlers see the path without it).
pub fn finish(router: Router) -> Surface {
    finish_as(router, FallbackResponses::problems(), Origins::SameOrigin)
}

/// Like [`finish`], for a surface with its own error format that pages of `origins` may call.
pub fn finish_as(router: Router, fallbacks: FallbackResponses, origins: Origins) -> Surface {
    surface(router, fallbacks, origins, None)
}

/// A surface of pages only, whose router answers unknown paths and panics itself.
pub fn finish_pages(pages: Router) -> Surface {
    Surface {
        router: pages,
        panicked,
        origins: Origins::SameOrigin,
        requests: None,
        mounted: Vec::new(),
        home: None,
        tracer: Tracer::off(),
    }
}

/// Like [`finish_as`], with request counts.
pub fn finish_counted(
    router: Router,
    fallbacks: FallbackResponses,
    origins: Origins,
    requests: Arc<RequestCounts>,
) -> Surface {
    surface(router, fallbacks, origins, Some(requests))
}

fn surface(
    router: Router,
    fallbacks: FallbackResponses,
    origins: Origins,
    requests: Option<Arc<RequestCounts>>,
) -> Surface {
    let router = router
        .fallback(async move || (fallbacks.route_not_found)())
        .method_not_allowed_fallback(async move || (fallbacks.method_not_allowed)());
    let (mounted, tracer) = (Vec::new(), Tracer::off());
    Surface { router, panicked: fallbacks.panicked, origins, requests, mounted, home: None, tracer }
}

/// A complete surface. One service instead of layers of the router, each of which would cost every request an
/// allocation and a clone of the routes. It wraps the router, because a router runs its layers only after matching the
/// route.
#[derive(Clone)]
pub struct Surface {
    router: Router,
    panicked: fn() -> Response,
    origins: Origins,
    requests: Option<Arc<RequestCounts>>,
    mounted: Vec<(&'static str, Router)>,
    home: Option<Router>,
    tracer: Tracer,
}

impl Surface {
    /// The counts of its requests, if it has any.
    pub fn request_counts(&self) -> Option<Arc<RequestCounts>> {
        self.requests.clone()
    }

    /// Counts its requests.
    pub fn counted(mut self, requests: Arc<RequestCounts>) -> Self {
        self.requests = Some(requests);
        self
    }

    /// Makes a span of this tracer for each request.
    pub fn traced(mut self, tracer: Tracer) -> Self {
        self.tracer = tracer;
        self
    }

    /// Mounts another router at a path and below it.
    pub fn mount(mut self, path: &'static str, other: Router) -> Self {
        self.mounted.push((path, Router::new().nest_service(path, other)));
        self
    }

    /// Mounts pages at a path and below it, as [`Self::mount`] does. Browsers also get their first page at `/`; other
    /// clients get the surface's own response there.
    pub fn mount_home(mut self, path: &'static str, pages: Router) -> Self {
        self.home = Some(pages.clone());
        self.mount(path, pages)
    }

    /// The response to a request. Of the surface's own responses only those with a `Cache-Control` of their own may be
    /// kept by a cache; [`Self::mount`]ed routers decide for themselves.
    pub fn answer(&self, mut request: Request) -> impl Future<Output = Response> + Send + use<> {
        let home = self.home.as_ref().filter(|_| request.uri().path() == "/" && wants_html(request.headers()));
        let begin = Instant::now();
        let mut span = RequestSpan::begin(&self.tracer, &request);
        let page = home.map(|pages| ("/", pages)).or_else(|| self.mounted_at(request.uri().path()));
        if let Some((path, pages)) = page {
            let requests = self.requests.clone();
            // The rest of a path can contain the token of a link.
            span.name("pages", path);
            let identity = RequestIdentity::of(&request, path, span.position());
            let answer = call_router(pages, request);
            return Either::Left(identity.in_scope(answer).inspect(move |response| {
                span.end(response.status());
                if let Some(requests) = requests {
                    requests.count(CountedOperation::Page, response.status(), begin.elapsed());
                }
            }));
        }
        trim_slash(request.uri_mut());
        let counted = self
            .requests
            .clone()
            .map(|requests| (requests.operation(request.method(), request.uri().path()), requests));
        let operation = counted.as_ref().map_or("request", |(operation, requests)| requests.name(*operation));
        span.name(operation, request.uri().path());
        let identity = RequestIdentity::of(&request, request.uri().path(), span.position());
        let is_cross_origin = cors::is_cross_origin(self.origins, &request);
        let preflight = if is_cross_origin { cors::preflight(&request) } else { None };
        let answer = match preflight {
            Some(answer) => Either::Left(ready(answer)),
            None => Either::Right(catch_panic(call_router(&self.router, request), self.panicked)),
        };
        Either::Right(identity.shown(answer).map(move |mut response| {
            if is_cross_origin {
                cors::allow(&mut response);
            }
            span.end(response.status());
            if let Some((operation, requests)) = counted {
                requests.count(operation, response.status(), begin.elapsed());
            }
            // A response may contain a secret, so none is kept unless its handler says for how long.
            response.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
            response
        }))
    }

    /// The mounted router with its mount point, if the path is there or below.
    fn mounted_at(&self, request_path: &str) -> Option<(&'static str, &Router)> {
        let is_at = |path: &str| {
            request_path.strip_prefix(path).is_some_and(|below| below.is_empty() || below.starts_with('/'))
        };
        self.mounted.iter().find(|(path, _)| is_at(path)).map(|(path, other)| (*path, other))
    }
}

impl From<Surface> for Router {
    /// As a router. Serving the surface itself saves one route look-up.
    fn from(surface: Surface) -> Self {
        Self::new().fallback_service(surface)
    }
}

impl Service<Request> for Surface {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        Box::pin(self.answer(request).map(Ok))
    }
}

/// The response of a router, which is always ready. Only the route look-up runs before the future is polled.
fn call_router(router: &Router, request: Request) -> impl Future<Output = Response> + Send + use<> {
    Service::<Request>::call(&mut router.clone(), request).map(|Ok(response)| response)
}

/// The response, or that of `panicked` after a panic.
fn catch_panic(
    answer: impl Future<Output = Response> + Send,
    panicked: fn() -> Response,
) -> impl Future<Output = Response> + Send {
    AssertUnwindSafe(answer).catch_unwind().map(move |answered| {
        answered.unwrap_or_else(|panic| {
            log(&*panic);
            panicked()
        })
    })
}

/// Removes trailing slashes of the path; the query stays.
fn trim_slash(uri: &mut Uri) {
    let path = uri.path();
    if path.len() < 2 || !path.ends_with('/') {
        return;
    }
    let trimmed = path.trim_end_matches('/');
    let trimmed = if trimmed.is_empty() { "/" } else { trimmed };
    let path_and_query = match uri.query() {
        Some(query) => format!("{trimmed}?{query}").parse(),
        None => trimmed.parse(),
    };
    let mut parts = std::mem::take(uri).into_parts();
    // Always valid, because it is a part of a valid URI.
    if let Ok(path_and_query) = path_and_query {
        parts.path_and_query = Some(path_and_query);
    }
    *uri = Uri::from_parts(parts).unwrap_or_default();
}

/// Logs a panic within the span of the request, so that the line has the request id.
fn log(panic: &(dyn Any + Send)) {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = text.unwrap_or("no panic message"), "a handler panicked");
}

/// 404 for an unknown path, as a problem.
pub fn route_not_found() -> Response {
    Problem::new(StatusCode::NOT_FOUND, "route_not_found", "this path does not exist").into_response()
}

fn method_not_allowed() -> Response {
    let detail = "this path does not support the method; the Allow header lists the supported methods";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail).into_response()
}

fn panicked() -> Response {
    let detail = "an internal error occurred; the server has logged it with the request id";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::get;
    use http::header::{ALLOW, CONTENT_TYPE};
    use http::{Method, Request, Uri};
    use http_body_util::BodyExt as _;
    use kit_runtime::clock::TestClock;
    use kit_runtime::random::SeededRandom;
    use kit_runtime::trace::{self, Attribute, SpanQueue};
    use serde_json::{Value, json};
    use tower::ServiceExt as _;

    use super::*;

    fn surface() -> Surface {
        let routes = Router::new()
            .route("/", get(async || "root"))
            .route("/lots", get(async |uri: Uri| uri.to_string()).post(async || "made"))
            .route("/broken", get(async || -> &str { panic!("a bug") }));
        finish(routes)
    }

    async fn call(method: Method, uri: &str) -> (http::response::Parts, String) {
        call_on(surface(), method, uri).await
    }

    async fn call_on(surface: Surface, method: Method, uri: &str) -> (http::response::Parts, String) {
        let request = Request::builder().method(method).uri(uri).header("x-request-id", "r-1").body(Body::empty());
        let (parts, body) = surface.oneshot(request.unwrap()).await.unwrap().into_parts();
        (parts, String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_trailing_slash_makes_no_difference() {
        for (uri, seen) in [
            ("/lots", "/lots"),
            ("/lots/", "/lots"),
            ("/lots/?limit=2", "/lots?limit=2"),
            ("/lots//", "/lots"),
            ("/", "root"),
            ("//", "root"),
        ] {
            let (parts, body) = call(Method::GET, uri).await;
            assert_eq!((parts.status.as_u16(), body.as_str()), (200, seen), "{uri}");
        }
    }

    #[tokio::test]
    async fn a_mounted_router_responds_at_its_path_and_below_it() {
        let mounted =
            Router::new().route("/", get(async || "home")).route("/lots", get(async |uri: Uri| uri.to_string()));
        let both = surface().mount("/pages", mounted.fallback(async || "no page"));
        for (uri, seen) in [
            ("/pages", "home"),
            ("/pages/lots?limit=2", "/lots?limit=2"),
            ("/pages/none", "no page"),
            ("/lots", "/lots"),
            ("/", "root"),
        ] {
            let (parts, body) = call_on(both.clone(), Method::GET, uri).await;
            assert_eq!((parts.status.as_u16(), body.as_str()), (200, seen), "{uri}");
            assert_eq!(parts.headers.contains_key("x-request-id"), !uri.starts_with("/pages"), "{uri}");
        }
        for uri in ["/pagesandmore", "/page", "/lots/pages"] {
            let (parts, body) = call_on(both.clone(), Method::GET, uri).await;
            assert!(parts.status == 404 && body.contains("route_not_found"), "{uri}: {body}");
        }
    }

    #[tokio::test]
    async fn pages_that_are_mounted_count_as_pages() {
        let operations = [(Method::GET, "/lots".to_owned(), "lots.list".to_owned())];
        let counts = Arc::new(RequestCounts::new(operations));
        let routes = Router::new().route("/lots", get(async || "lots"));
        let pages = Router::new().route("/", get(async || "home"));
        let surface = finish_counted(routes, FallbackResponses::problems(), Origins::SameOrigin, counts);
        let counts = surface.request_counts().unwrap();
        let both = surface.mount_home("/pages", pages.fallback(async || StatusCode::NOT_FOUND));
        for uri in ["/lots", "/pages", "/pages/none", "/none"] {
            call_on(both.clone(), Method::GET, uri).await;
        }
        let shown = crate::request_counts::metrics_source(vec![("platform", counts)]);
        let shown = shown.gather(&[]).await.unwrap();
        for (operation, status) in [("lots.list", "2xx"), ("pages", "2xx"), ("pages", "4xx"), ("other", "4xx")] {
            let labels = format!("{{port=\"platform\",operation=\"{operation}\",status=\"{status}\"}}");
            let line = format!("lotwire_http_requests_total{labels} 1\n");
            assert!(shown.contains(&line), "no {line} in {shown}");
        }
    }

    #[tokio::test]
    async fn a_browser_gets_the_home_page_at_the_root_and_a_program_the_surfaces_own_response() {
        let pages = Router::new().route("/", get(async || "home")).route("/style", get(async || "style"));
        let both = surface().mount_home("/home", pages);
        let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
        for (uri, accept, seen) in [
            ("/", browser, "home"),
            ("/", "*/*", "root"),
            ("/home", "*/*", "home"),
            ("/home/style", "*/*", "style"),
            ("/lots", browser, "/lots"),
        ] {
            let request = Request::builder().uri(uri).header("accept", accept).body(Body::empty()).unwrap();
            let body = both.clone().oneshot(request).await.unwrap().into_body();
            assert_eq!(body.collect().await.unwrap().to_bytes(), seen, "{uri} {accept}");
        }
    }

    #[tokio::test]
    async fn unknown_routes_methods_and_panics_give_problems() {
        for (method, uri, status, code) in [
            (Method::GET, "/nowhere", 404, "route_not_found"),
            (Method::DELETE, "/lots/", 405, "method_not_allowed"),
            (Method::GET, "/broken", 500, "internal"),
        ] {
            let (parts, body) = call(method, uri).await;
            let body: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(
                (parts.status.as_u16(), &body["code"], &body["requestId"]),
                (status, &json!(code), &json!("r-1"))
            );
            assert_eq!(parts.headers[CONTENT_TYPE], "application/problem+json");
            assert_eq!(parts.headers["x-request-id"], "r-1");
            assert_eq!(
                parts.headers.get(ALLOW).map(|allow| allow.to_str().unwrap()),
                (status == 405).then_some("GET,HEAD,POST")
            );
        }
    }

    #[tokio::test]
    async fn no_cache_keeps_a_response_whose_handler_does_not_allow_it() {
        let kept = async || ([(CACHE_CONTROL, "private, max-age=60")], "kept");
        let routes = Router::new().route("/kept", get(kept)).route("/lots", get(async || "secret"));
        let mounted = Router::new().route("/", get(async || "page"));
        let surface =
            finish(routes.route("/broken", get(async || -> &str { panic!("a bug") }))).mount("/pages", mounted);
        for (uri, expected) in [
            ("/lots", Some("no-store")),
            ("/nowhere", Some("no-store")),
            ("/broken", Some("no-store")),
            ("/kept", Some("private, max-age=60")),
            ("/pages", None),
        ] {
            let (parts, _) = call_on(surface.clone(), Method::GET, uri).await;
            assert_eq!(parts.headers.get(CACHE_CONTROL).map(|value| value.to_str().unwrap()), expected, "{uri}");
        }
    }

    #[tokio::test]
    async fn pages_of_other_origins_may_call_only_surfaces_that_allow_it() {
        let routes = || Router::new().route("/lots", get(async || "root"));
        let fallbacks = FallbackResponses { route_not_found, method_not_allowed, panicked };
        let call = async |origins, method, origin: Option<&str>| {
            let mut request = Request::builder().method(method).uri("/lots").body(Body::empty()).unwrap();
            if let Some(origin) = origin {
                request.headers_mut().insert("origin", origin.parse().unwrap());
                request.headers_mut().insert("access-control-request-method", "POST".parse().unwrap());
                let wanted = "authorization,content-type".parse().unwrap();
                request.headers_mut().insert("access-control-request-headers", wanted);
            }
            let answer = finish_as(routes(), fallbacks, origins).oneshot(request).await.unwrap();
            let header = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
            let allowed = [header("access-control-allow-origin"), header("access-control-allow-headers")];
            (answer.status().as_u16(), allowed)
        };
        let page = Some("https://portal.example");
        let (star, wanted) = (Some("*".to_owned()), Some("authorization,content-type".to_owned()));
        assert_eq!(call(Origins::Any, Method::OPTIONS, page).await, (204, [star.clone(), wanted]));
        assert_eq!(call(Origins::Any, Method::GET, page).await, (200, [star.clone(), None]));
        assert_eq!(call(Origins::Any, Method::DELETE, page).await, (405, [star, None]), "the page can read the error");
        assert_eq!(call(Origins::Any, Method::GET, None).await, (200, [None, None]));
        assert_eq!(call(Origins::Any, Method::OPTIONS, None).await, (405, [None, None]));
        assert_eq!(call(Origins::SameOrigin, Method::OPTIONS, page).await, (405, [None, None]));
    }

    #[tokio::test]
    async fn each_request_is_a_span_and_its_handler_knows_the_position() {
        const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let queue = SpanQueue::new(8);
        let (clock, random) = (Arc::new(TestClock::default()), Arc::new(SeededRandom::new(1)));
        let position = async || trace::current_position().map(|position| position.to_string()).unwrap_or_default();
        let routes =
            Router::new().route("/lots", get(position)).route("/broken", get(async || StatusCode::SERVICE_UNAVAILABLE));
        let requests = Arc::new(RequestCounts::new([(Method::GET, "/lots".to_owned(), "lots.list".to_owned())]));
        // Pages are surfaces of their own: they continue the request of the surface that they are mounted in.
        let pages = Router::from(finish(Router::new().route("/{token}", get(position))));
        let surface = finish_counted(routes, FallbackResponses::problems(), Origins::SameOrigin, requests)
            .mount("/pages", pages)
            .traced(Tracer::new(queue.clone(), clock, random, 100));
        for (uri, caller, name, path) in [
            ("/lots", Some(CALLER), "lots.list", "/lots"),
            ("/broken", None, "other", "/broken"),
            ("/pages/secret", Some(CALLER), "pages", "/pages"),
        ] {
            let mut request = Request::builder().uri(uri);
            if let Some(caller) = caller {
                request = request.header("traceparent", caller);
            }
            let answer = surface.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
            let seen = answer.into_body().collect().await.unwrap().to_bytes();
            let mut spans = Vec::new();
            queue.take(&mut spans, 8).await;
            let [span] = &spans[..] else { panic!("{uri}: {spans:?}") };
            assert_eq!(span.parent.map(|parent| parent.to_string()).as_deref(), caller);
            let is_broken = uri == "/broken";
            assert_eq!((span.error.is_some(), seen.is_empty()), (is_broken, is_broken));
            assert!(is_broken || seen == span.position.to_string());
            assert_eq!(span.name, name);
            assert!(span.attributes.contains(&("url.path", Attribute::Text(path.to_owned()))), "{span:?}");
        }
    }
}
