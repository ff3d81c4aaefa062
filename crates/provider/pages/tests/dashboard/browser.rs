//! A browser without script: it keeps cookies by name and path, and sends the origin of its forms.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use http::header::{CONTENT_TYPE, COOKIE, LOCATION, ORIGIN, SET_COOKIE};
use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt as _;
use kit_http::Surface;

use crate::fixture::ORIGIN_OF_SERVER;

const FORM: &str = "application/x-www-form-urlencoded";
const PATH: &str = "/dashboard";
const BOUNDARY: &str = "a-boundary-of-the-test";

pub(crate) struct Browser {
    surface: Arc<Surface>,
    /// Values and paths of cookies by name.
    pub(crate) cookies: BTreeMap<String, (String, String)>,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// Below the dashboard's path.
    pub(crate) location: Option<String>,
    pub(crate) text: String,
    pub(crate) bytes: Vec<u8>,
}

impl Answer {
    #[track_caller]
    pub(crate) fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{:?}\n{}", self.location, self.text);
        self
    }

    #[track_caller]
    pub(crate) fn leads_to(&self, location: &str) -> &Self {
        assert_eq!((self.status, self.location.as_deref()), (303, Some(location)), "{}", self.text);
        self
    }

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

    /// The text of the element with this id.
    #[track_caller]
    pub(crate) fn text_of(&self, id: &str) -> String {
        let (_, rest) = self.text.split_once(&format!("id=\"{id}\">")).expect("the page has the element");
        rest.split_once('<').unwrap().0.replace("&#38;", "&")
    }
}

impl Browser {
    pub(crate) fn new(surface: &Arc<Surface>) -> Self {
        Self { surface: Arc::clone(surface), cookies: BTreeMap::new() }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.call(Method::GET, path, None, Vec::new()).await
    }

    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.call(Method::POST, path, Some(FORM.to_owned()), form.into_bytes()).await
    }

    /// Sends a form and follows its redirect.
    pub(crate) async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let location = self.post(path, fields).await.is(303).location.clone().unwrap();
        self.get(&location).await
    }

    /// Sends a form with a file; a browser sends an empty one when none was chosen.
    pub(crate) async fn upload(&mut self, path: &str, fields: &[(&str, &str)], file: (&str, &[u8])) -> Answer {
        let mut body = Vec::new();
        for (name, value) in fields {
            let part = format!("--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            body.extend(part.into_bytes());
        }
        let (name, content) = file;
        let head = format!(
            "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{name}\"; filename=\"f\"\r\n\
             content-type: application/octet-stream\r\n\r\n"
        );
        body.extend(head.into_bytes());
        body.extend(content);
        body.extend(format!("\r\n--{BOUNDARY}--\r\n").into_bytes());
        self.call(Method::POST, path, Some(format!("multipart/form-data; boundary={BOUNDARY}")), body).await
    }

    async fn call(&mut self, method: Method, path: &str, kind: Option<String>, body: Vec<u8>) -> Answer {
        let path = format!("{PATH}{path}");
        let mut request = Request::builder().method(&method).uri(&path).header("user-agent", "Test browser");
        let sent = self.cookies.iter().filter(|(_, (_, of))| path.starts_with(of.as_str()));
        let sent: Vec<String> = sent.map(|(name, (value, _))| format!("{name}={value}")).collect();
        if !sent.is_empty() {
            request = request.header(COOKIE, sent.join("; "));
        }
        if let Some(kind) = kind {
            request = request.header(CONTENT_TYPE, kind).header(ORIGIN, ORIGIN_OF_SERVER);
        }
        let response = self.surface.answer(request.body(Body::from(body)).unwrap()).await;
        let (parts, body) = response.into_parts();
        for set in parts.headers.get_all(SET_COOKIE) {
            self.set_cookie(set.to_str().unwrap());
        }
        let location = parts.headers.get(LOCATION).map(|location| location.to_str().unwrap());
        let location = location.map(|location| location.strip_prefix(PATH).unwrap_or(location).to_owned());
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Answer { status: parts.status.as_u16(), headers: parts.headers, location, text, bytes }
    }

    fn set_cookie(&mut self, set: &str) {
        assert!(set.contains("; HttpOnly; SameSite=Lax"), "{set}");
        let (pair, rest) = set.split_once(';').unwrap();
        let (name, value) = pair.split_once('=').unwrap();
        let path = rest.split("Path=").nth(1).unwrap().split(';').next().unwrap();
        if rest.contains("Max-Age=0;") {
            self.cookies.remove(name);
        } else {
            self.cookies.insert(name.to_owned(), (value.to_owned(), path.to_owned()));
        }
    }
}
