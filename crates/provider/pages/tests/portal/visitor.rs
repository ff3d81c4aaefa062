//! A browser without script: it keeps a cookie, sends the origin of its forms, and follows a redirect only if the test
//! says so.

use axum::body::Body;
use http::header::{CONTENT_TYPE, COOKIE, LOCATION, ORIGIN, SET_COOKIE};
use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// Requests that a visitor makes for a page until the page shows a text. Each is an exchange over TCP.
const REQUESTS_MAX: usize = 20_000;

pub(crate) struct Visitor {
    http: Client<HttpConnector, Body>,
    server: String,
    /// The `Origin` header of its forms.
    pub(crate) origin: Option<String>,
    pub(crate) cookie: Option<String>,
    /// What the browser loads pages into, such as `iframe`.
    pub(crate) dest: Option<&'static str>,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) location: Option<String>,
    pub(crate) text: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) -> &Self {
        assert!(self.text.contains(text), "{text:?} is not in:\n{}", self.text);
        self
    }

    #[track_caller]
    pub(crate) fn hides(&self, text: &str) -> &Self {
        assert!(!self.text.contains(text), "{text:?} is in:\n{}", self.text);
        self
    }

    #[track_caller]
    pub(crate) fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{:?}\n{}", self.location, self.text);
        self
    }
}

impl Visitor {
    pub(crate) fn at(server: &str) -> Self {
        let http = Client::builder(TokioExecutor::new()).build_http();
        Self { http, server: server.to_owned(), origin: Some(server.to_owned()), cookie: None, dest: None }
    }

    /// A page of the portal.
    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.call(Method::GET, path, Vec::new()).await
    }

    /// Sends a form.
    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.call(Method::POST, path, form.into_bytes()).await
    }

    /// Sends a form and follows its redirect.
    pub(crate) async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let answer = self.post(path, fields).await;
        let location = answer.is(303).location.clone().unwrap();
        self.get(location.strip_prefix("/app-portal").unwrap()).await
    }

    /// Requests a page until it shows the text.
    pub(crate) async fn until_shown(&mut self, path: &str, text: &str) -> Answer {
        let mut answer = self.get(path).await;
        for _ in 0..REQUESTS_MAX {
            if answer.is(200).text.contains(text) {
                return answer;
            }
            tokio::task::yield_now().await;
            answer = self.get(path).await;
        }
        panic!("{path} did not show {text:?} after {REQUESTS_MAX} requests:\n{}", answer.text);
    }

    /// Status, headers and body of a page that is not a text.
    pub(crate) async fn raw(&mut self, path: &str) -> (u16, HeaderMap, Vec<u8>) {
        let request = Request::builder().uri(format!("{}/app-portal{path}", self.server));
        let request = request.header(COOKIE, self.cookie.clone().unwrap_or_default());
        let response = self.http.request(request.body(Body::empty()).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        (parts.status.as_u16(), parts.headers, body.collect().await.unwrap().to_bytes().to_vec())
    }

    pub(crate) async fn call(&mut self, method: Method, path: &str, body: Vec<u8>) -> Answer {
        let mut request = Request::builder().method(&method).uri(format!("{}/app-portal{path}", self.server));
        if let Some(cookie) = &self.cookie {
            request = request.header(COOKIE, format!("other=1; {cookie}"));
        }
        if let Some(dest) = self.dest {
            request = request.header("sec-fetch-dest", dest);
        }
        if method == Method::POST {
            request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
            if let Some(origin) = &self.origin {
                request = request.header(ORIGIN, origin);
            }
        }
        let response = self.http.request(request.body(Body::from(body)).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        if let Some(set) = parts.headers.get(SET_COOKIE) {
            let (pair, rest) = set.to_str().unwrap().split_once(';').unwrap();
            self.cookie = (!rest.contains("Max-Age=0;")).then(|| pair.to_owned());
        }
        let location = parts.headers.get(LOCATION).map(|location| location.to_str().unwrap().to_owned());
        let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        Answer { status: parts.status.as_u16(), headers: parts.headers, location, text }
    }
}
