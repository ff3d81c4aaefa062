//! Routes of pages, whose handlers all have one type.
//!
//! axum wraps a handler in some fifteen types that carry the type of its function, and the compiler proves of each that its
//! future can move between threads. Handlers of pages await deep futures: the proofs took a fifth of the time to compile the
//! administration. Behind these functions, one proof is made for each handler.

use std::sync::Arc;

use axum::extract::Request;
use axum::handler::Handler;
use axum::response::Response;
use axum::routing::{self, MethodRouter};
use futures_util::future::BoxFuture;

/// A page, or another resource that is read: answers GET.
pub fn get<S: SiteState, T: 'static>(page: impl Handler<T, S>) -> MethodRouter<S> {
    routing::get(AnyHandler::new(page))
}

/// An action that has no page: answers POST.
pub fn post<S: SiteState, T: 'static>(action: impl Handler<T, S>) -> MethodRouter<S> {
    routing::post(AnyHandler::new(action))
}

/// A page with a form: GET shows it, and POST takes what it sends.
pub fn form<S: SiteState, T: 'static, U: 'static>(
    page: impl Handler<T, S>,
    action: impl Handler<U, S>,
) -> MethodRouter<S> {
    get(page).post(AnyHandler::new(action))
}

/// What the handlers of a site share.
pub trait SiteState: Clone + Send + Sync + 'static {}

impl<S: Clone + Send + Sync + 'static> SiteState for S {}

/// A handler without the type of its function.
struct AnyHandler<S>(Arc<dyn Fn(Request, S) -> BoxFuture<'static, Response> + Send + Sync>);

impl<S: SiteState> AnyHandler<S> {
    fn new<T: 'static>(handler: impl Handler<T, S>) -> Self {
        AnyHandler(Arc::new(move |request, state| Box::pin(handler.clone().call(request, state))))
    }
}

impl<S> Clone for AnyHandler<S> {
    fn clone(&self) -> Self {
        AnyHandler(self.0.clone())
    }
}

impl<S: SiteState> Handler<(), S> for AnyHandler<S> {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, state: S) -> Self::Future {
        (self.0)(request, state)
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::extract::State;
    use http::header::ALLOW;
    use http::{Method, StatusCode};
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn a_form_is_shown_and_sent_and_its_handlers_have_the_state() {
        let show = async |State(house): State<&'static str>| format!("form of {house}");
        let send = async |State(house): State<&'static str>, body: String| format!("{body} at {house}");
        let router = Router::new().route("/", form(show, send)).route("/end", post(async || "ended"));
        let router = router.with_state("Weststrand");
        let answer = async |method: Method, path: &str| {
            let request = Request::builder().method(method).uri(path).body(Body::from("saved")).unwrap();
            let (parts, body) = router.clone().oneshot(request).await.unwrap().into_parts();
            let body = axum::body::to_bytes(body, 100).await.unwrap();
            (parts.status, parts.headers.get(ALLOW).cloned(), String::from_utf8(body.to_vec()).unwrap())
        };
        assert_eq!(answer(Method::GET, "/").await, (StatusCode::OK, None, "form of Weststrand".to_owned()));
        assert_eq!(answer(Method::POST, "/").await, (StatusCode::OK, None, "saved at Weststrand".to_owned()));
        assert_eq!(answer(Method::HEAD, "/").await, (StatusCode::OK, None, String::new()));
        let (status, allow, _) = answer(Method::PUT, "/").await;
        assert_eq!((status, allow.unwrap()), (StatusCode::METHOD_NOT_ALLOWED, "GET,HEAD,POST".parse().unwrap()));
        let (status, allow, _) = answer(Method::GET, "/end").await;
        assert_eq!((status, allow.unwrap()), (StatusCode::METHOD_NOT_ALLOWED, "POST".parse().unwrap()));
    }
}
