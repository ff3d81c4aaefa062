//! A browser without script, as far as a server sees one: it keeps a cookie, says where its forms come from, and follows no
//! redirect unasked.

use std::time::{Duration, Instant};

use axum::body::Body;
use http::header::{CONTENT_TYPE, COOKIE, LOCATION, ORIGIN, SET_COOKIE};
use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(10);

pub(crate) struct Visitor {
    http: Client<HttpConnector, Body>,
    server: String,
    /// What its forms say that they come from.
    pub(crate) origin: Option<String>,
    pub(crate) cookie: Option<String>,
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
        Self { http, server: server.to_owned(), origin: Some(server.to_owned()), cookie: None }
    }

    /// A page of the portal.
    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.call(Method::GET, path, Vec::new()).await
    }

    /// A form that is sent.
    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.call(Method::POST, path, form.into_bytes()).await
    }

    /// A form that is sent, and the page that it leads to.
    pub(crate) async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let answer = self.post(path, fields).await;
        let led_to = answer.is(303).location.clone().unwrap();
        self.get(led_to.strip_prefix("/app-portal").unwrap()).await
    }

    /// The page, once it shows the text.
    pub(crate) async fn until_shown(&mut self, path: &str, text: &str) -> Answer {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = self.get(path).await;
            if answer.is(200).text.contains(text) {
                return answer;
            }
            assert!(Instant::now() < deadline, "{text:?} did not come:\n{}", answer.text);
            tokio::time::sleep(PAUSE).await;
        }
    }

    pub(crate) async fn call(&mut self, method: Method, path: &str, body: Vec<u8>) -> Answer {
        let mut request = Request::builder().method(&method).uri(format!("{}/app-portal{path}", self.server));
        if let Some(cookie) = &self.cookie {
            request = request.header(COOKIE, format!("other=1; {cookie}"));
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
