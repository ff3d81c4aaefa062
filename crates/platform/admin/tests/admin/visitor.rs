//! A browser without script: it keeps cookies, and sends the origin of its forms.

use std::collections::BTreeMap;

use axum::body::Body;
use http::header::{CONTENT_TYPE, COOKIE, LOCATION, ORIGIN, SET_COOKIE};
use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt as _;
use kit_http::Surface;
use tower::ServiceExt as _;

pub(crate) struct Visitor {
    surface: Surface,
    /// The `Origin` header of its forms.
    pub(crate) origin: Option<&'static str>,
    pub(crate) cookies: BTreeMap<String, String>,
    /// The `X-Fragment` header of its requests.
    fragment: Option<&'static str>,
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

    #[track_caller]
    pub(crate) fn leads_to(&self, path: &str) -> &Self {
        assert_eq!(self.is(303).location.as_deref(), Some(format!("/admin{path}").as_str()));
        self
    }

    /// The text between two marks.
    #[track_caller]
    pub(crate) fn between(&self, before: &str, after: &str) -> String {
        let rest = self.text.split_once(before).unwrap_or_else(|| panic!("{before:?} is not in:\n{}", self.text)).1;
        rest.split_once(after).unwrap().0.to_owned()
    }
}

impl Visitor {
    pub(crate) fn new(surface: Surface) -> Self {
        Self { surface, origin: Some("http://admin.test"), cookies: BTreeMap::new(), fragment: None }
    }

    /// A page of the administration.
    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.call(Method::GET, path, Vec::new()).await
    }

    /// The part of a page that a script loads by itself.
    pub(crate) async fn get_fragment(&mut self, path: &str, name: &'static str) -> Answer {
        self.fragment = Some(name);
        let answer = self.get(path).await;
        self.fragment = None;
        answer
    }

    /// Sends a form.
    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.call_as(Method::POST, path, "application/x-www-form-urlencoded", form.into_bytes()).await
    }

    /// Sends a form and follows its redirect.
    pub(crate) async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let answer = self.post(path, fields).await;
        let location = answer.is(303).location.clone().unwrap();
        self.get(location.strip_prefix("/admin").unwrap()).await
    }

    /// Sends a form with one file in the field `file`.
    pub(crate) async fn upload(&mut self, path: &str, name: &str, content: &[u8]) -> Answer {
        let head = format!("--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
        let body = [head.as_bytes(), content, b"\r\n--edge--\r\n"].concat();
        self.call_as(Method::POST, path, "multipart/form-data; boundary=edge", body).await
    }

    /// Sends a form with several files in the field `files`.
    pub(crate) async fn upload_all(&mut self, path: &str, files: &[(&str, &[u8])]) -> Answer {
        let mut body = Vec::new();
        for (name, content) in files {
            let head = format!("--edge\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\r\n");
            body.extend([head.as_bytes(), content, b"\r\n"].concat());
        }
        body.extend(b"--edge--\r\n");
        self.call_as(Method::POST, path, "multipart/form-data; boundary=edge", body).await
    }

    /// Sends a body as a script does.
    pub(crate) async fn send(&mut self, path: &str, body: &[u8]) -> Answer {
        self.call_as(Method::POST, path, "application/octet-stream", body.to_vec()).await
    }

    async fn call(&mut self, method: Method, path: &str, body: Vec<u8>) -> Answer {
        self.call_as(method, path, "", body).await
    }

    async fn call_as(&mut self, method: Method, path: &str, content_type: &str, body: Vec<u8>) -> Answer {
        let mut request = Request::builder().method(&method).uri(format!("/admin{path}")).header("host", "admin.test");
        if !self.cookies.is_empty() {
            let pairs: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request = request.header(COOKIE, pairs.join("; "));
        }
        if let Some(fragment) = self.fragment {
            request = request.header("x-fragment", fragment);
        }
        if method == Method::POST {
            request = request.header(CONTENT_TYPE, content_type);
            if let Some(origin) = self.origin {
                request = request.header(ORIGIN, origin);
            }
        }
        let request = request.body(Body::from(body)).unwrap();
        let (parts, body) = self.surface.clone().oneshot(request).await.unwrap().into_parts();
        for set in parts.headers.get_all(SET_COOKIE) {
            let set = set.to_str().unwrap();
            assert!(set.contains("; HttpOnly; SameSite=Lax"), "{set}");
            let (pair, rest) = set.split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            if rest.contains("Max-Age=0;") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let location = parts.headers.get(LOCATION).map(|location| location.to_str().unwrap().to_owned());
        let text = String::from_utf8_lossy(&body.collect().await.unwrap().to_bytes()).into_owned();
        Answer { status: parts.status.as_u16(), headers: parts.headers, location, text }
    }
}
