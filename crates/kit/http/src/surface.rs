//! What is put around a whole surface.

use std::any::Any;
use std::convert::Infallible;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use futures_util::future::{Either, ready};
use http::{StatusCode, Uri};
use tower::Service;

use crate::cors::{self, Origins};
use crate::problem::Problem;
use crate::request_counts::RequestCounts;
use crate::request_id;

/// What a surface answers, in its own shape, where no handler does.
#[derive(Debug, Clone, Copy)]
pub struct FallbackResponses {
    /// 404 for an address that leads nowhere.
    pub route_not_found: fn() -> Response,
    /// 405; the `Allow` header is added.
    pub method_not_allowed: fn() -> Response,
    /// 500 when a handler panicked. The panic has been logged.
    pub panicked: fn() -> Response,
}

/// Puts around a surface that speaks problem details what all of them need: JSON for unknown routes and methods, a request
/// id on every answer, an answer even when a handler panics, and paths with and without a slash at their end (handlers see
/// them without).
pub fn finish(router: Router) -> Surface {
    finish_as(router, FallbackResponses { route_not_found, method_not_allowed, panicked }, Origins::SameOrigin)
}

/// The same for a surface with its own shape of errors, which pages of these origins may call.
pub fn finish_as(router: Router, faults: FallbackResponses, origins: Origins) -> Surface {
    surface(router, faults, origins, None)
}

/// The same, and every answer is counted.
pub fn finish_counted(
    router: Router,
    faults: FallbackResponses,
    origins: Origins,
    requests: Arc<RequestCounts>,
) -> Surface {
    surface(router, faults, origins, Some(requests))
}

fn surface(
    router: Router,
    faults: FallbackResponses,
    origins: Origins,
    requests: Option<Arc<RequestCounts>>,
) -> Surface {
    let router = router
        .fallback(async move || (faults.route_not_found)())
        .method_not_allowed_fallback(async move || (faults.method_not_allowed)());
    Surface { router, panicked: faults.panicked, origins, requests, mounted: None }
}

/// One service for all of it: as layers of the router each would cost every request a box and a clone of the routes. It
/// stands around the router, because routes are looked up before a router's own layers run.
#[derive(Clone)]
pub struct Surface {
    router: Router,
    panicked: fn() -> Response,
    origins: Origins,
    requests: Option<Arc<RequestCounts>>,
    mounted: Option<(&'static str, Router)>,
}

impl Surface {
    /// With a surface of its own at a path and below it.
    pub fn mount(mut self, path: &'static str, other: Router) -> Self {
        self.mounted = Some((path, Router::new().nest_service(path, other)));
        self
    }

    /// The answer to a request.
    pub fn answer(&self, mut request: Request) -> impl Future<Output = Response> + Send + use<> {
        if let Some(other) = self.mounted_at(request.uri().path()) {
            return Either::Left(call_router(other, request));
        }
        trim_slash(request.uri_mut());
        let counted = self
            .requests
            .clone()
            .map(|requests| (requests.operation(request.method(), request.uri().path()), requests));
        let identity = request_id::RequestIdentity::of(&request);
        let is_cross_origin = cors::is_cross_origin(self.origins, &request);
        let preflight = if is_cross_origin { cors::preflight(&request) } else { None };
        let answer = match preflight {
            Some(answer) => Either::Left(ready(answer)),
            None => Either::Right(catch_panic(call_router(&self.router, request), self.panicked)),
        };
        Either::Right(identity.in_scope(answer).map(move |mut response| {
            if is_cross_origin {
                cors::allow(&mut response);
            }
            if let Some((asked, requests)) = counted {
                requests.count(asked, response.status());
            }
            response
        }))
    }

    /// What answers at a path, when it is not this surface.
    fn mounted_at(&self, asked: &str) -> Option<&Router> {
        let (path, other) = self.mounted.as_ref()?;
        let below = asked.strip_prefix(path)?;
        (below.is_empty() || below.starts_with('/')).then_some(other)
    }
}

impl From<Surface> for Router {
    /// To go on with as a router; served as it is, a surface is one look-up of a route faster.
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

/// The answer of a router, which is always ready to be called. Nothing but looking up the route is done before it is awaited.
fn call_router(router: &Router, request: Request) -> impl Future<Output = Response> + Send + use<> {
    Service::<Request>::call(&mut router.clone(), request).map(|Ok(response)| response)
}

/// The same, and an answer in place of a panic.
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

/// `/lots/` is `/lots`; the query stays.
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
    // A part of what was an address before is one now.
    if let Ok(path_and_query) = path_and_query {
        parts.path_and_query = Some(path_and_query);
    }
    *uri = Uri::from_parts(parts).unwrap_or_default();
}

/// Within the request's span, so the line has its id.
fn log(panic: &(dyn Any + Send)) {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = text.unwrap_or("of an unknown kind"), "a handler panicked");
}

/// 404 for an address that leads nowhere, as a problem.
pub fn route_not_found() -> Response {
    Problem::new(StatusCode::NOT_FOUND, "route_not_found", "there is nothing at this address").into_response()
}

fn method_not_allowed() -> Response {
    let detail = "this address does not take this method; the Allow header names those that it takes";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail).into_response()
}

fn panicked() -> Response {
    let detail = "something went wrong here; it has been logged with the request id";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::get;
    use http::header::{ALLOW, CONTENT_TYPE};
    use http::{Method, Request, Uri};
    use http_body_util::BodyExt as _;
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
    async fn a_slash_at_the_end_makes_no_difference() {
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
    async fn what_stands_beside_a_surface_answers_at_its_path_and_below_it() {
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
    async fn what_no_handler_answers_is_answered_as_a_problem() {
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
    async fn a_page_of_another_origin_may_call_where_it_is_let_and_nowhere_else() {
        let routes = || Router::new().route("/lots", get(async || "root"));
        let faults = FallbackResponses { route_not_found, method_not_allowed, panicked };
        let call = async |origins, method, origin: Option<&str>| {
            let mut request = Request::builder().method(method).uri("/lots").body(Body::empty()).unwrap();
            if let Some(origin) = origin {
                request.headers_mut().insert("origin", origin.parse().unwrap());
                request.headers_mut().insert("access-control-request-method", "POST".parse().unwrap());
                let wanted = "authorization,content-type".parse().unwrap();
                request.headers_mut().insert("access-control-request-headers", wanted);
            }
            let answer = finish_as(routes(), faults, origins).oneshot(request).await.unwrap();
            let header = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
            let allowed = [header("access-control-allow-origin"), header("access-control-allow-headers")];
            (answer.status().as_u16(), allowed)
        };
        let page = Some("https://portal.example");
        let (star, wanted) = (Some("*".to_owned()), Some("authorization,content-type".to_owned()));
        assert_eq!(call(Origins::Any, Method::OPTIONS, page).await, (204, [star.clone(), wanted]));
        assert_eq!(call(Origins::Any, Method::GET, page).await, (200, [star.clone(), None]));
        assert_eq!(call(Origins::Any, Method::DELETE, page).await, (405, [star, None]), "it may read why");
        assert_eq!(call(Origins::Any, Method::GET, None).await, (200, [None, None]));
        assert_eq!(call(Origins::Any, Method::OPTIONS, None).await, (405, [None, None]));
        assert_eq!(call(Origins::SameOrigin, Method::OPTIONS, page).await, (405, [None, None]));
    }
}
