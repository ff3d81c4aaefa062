//! Requests to a surface or server, for the tests of APIs and pages: a browser without script, and responses that are read
//! to their end.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails here, at the line that asked")]

mod answer;

use std::collections::BTreeMap;

use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_TYPE, COOKIE, HOST, ORIGIN, SET_COOKIE};
use http::{Method, Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kit_http::Surface;

pub use self::answer::Answer;

/// Requests for a page until it shows a text.
const REQUESTS_MAX: usize = 20_000;
const BOUNDARY: &str = "a-boundary-of-the-test";

/// Sends a request to a surface in process.
pub async fn send(surface: &Surface, method: &Method, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Answer::read(surface.answer(request.body(Body::from(body.to_owned())).unwrap()).await).await
}

/// A browser without script: it keeps cookies by name and path, sends the origin of its forms, and follows a redirect only
/// if the test says so.
pub struct Browser {
    wire: Wire,
    /// The path of the application; the paths of requests are below it.
    path: &'static str,
    /// Scheme and host of the application.
    server: String,
    /// The part of the path that a proxy in front of the server removes.
    pub removed_by_proxy: &'static str,
    /// The `Origin` header of its forms.
    pub origin: Option<String>,
    /// Values and paths of cookies by name.
    pub cookies: BTreeMap<String, (String, String)>,
    /// The element that pages are loaded into, such as `iframe`.
    pub dest: Option<&'static str>,
    /// The part of a page that it loads as a script does.
    fragment: Option<String>,
}

enum Wire {
    InProcess(Box<Surface>),
    Tcp(Box<Client<HttpConnector, Body>>),
}

impl Browser {
    /// A browser of the application at this path of a surface, which answers in process.
    pub fn of_surface(surface: &Surface, server: &str, path: &'static str) -> Self {
        Self::new(Wire::InProcess(Box::new(surface.clone())), server, path)
    }

    /// A browser of the application at this path of a server that listens.
    pub fn of_server(server: &str, path: &'static str) -> Self {
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self::new(Wire::Tcp(Box::new(client)), server, path)
    }

    fn new(wire: Wire, server: &str, path: &'static str) -> Self {
        let (server, origin) = (server.to_owned(), Some(server.to_owned()));
        Self { wire, path, server, removed_by_proxy: "", origin, cookies: BTreeMap::new(), dest: None, fragment: None }
    }

    /// The value of a cookie.
    #[track_caller]
    pub fn cookie(&self, name: &str) -> String {
        self.cookies.get(name).expect("the browser has the cookie").0.clone()
    }

    /// Gives the browser a cookie of the application.
    pub fn set_cookie(&mut self, name: &str, value: &str) {
        self.cookies.insert(name.to_owned(), (value.to_owned(), self.path.to_owned()));
    }

    /// A page.
    pub async fn get(&mut self, path: &str) -> Answer {
        self.call(Method::GET, path, "", Vec::new()).await
    }

    /// The part of a page that a script loads alone.
    pub async fn get_fragment(&mut self, path: &str, name: &str) -> Answer {
        self.fragment = Some(name.to_owned());
        let answer = self.get(path).await;
        self.fragment = None;
        answer
    }

    /// Sends a form.
    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.call(Method::POST, path, "application/x-www-form-urlencoded", form.into_bytes()).await
    }

    /// Sends a form and follows its redirect.
    pub async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let location = self.post(path, fields).await.is(303).location.clone().unwrap();
        self.get(&location).await
    }

    /// Requests a page until it shows the text.
    pub async fn until_shown(&mut self, path: &str, text: &str) -> Answer {
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

    /// Sends a form with one file in the field `file`.
    pub async fn upload(&mut self, path: &str, name: &str, content: &[u8]) -> Answer {
        self.upload_fields(path, &[], "file", &[(name, content)]).await
    }

    /// Sends a form with several files in the field `files`.
    pub async fn upload_all(&mut self, path: &str, files: &[(&str, &[u8])]) -> Answer {
        self.upload_fields(path, &[], "files", files).await
    }

    /// Sends a form with fields and files; a browser sends an empty file when the user chose none.
    pub async fn upload_fields(
        &mut self,
        path: &str,
        fields: &[(&str, &str)],
        file_field: &str,
        files: &[(&str, &[u8])],
    ) -> Answer {
        let mut body = Vec::new();
        for (name, value) in fields {
            let part = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            body.extend(part.into_bytes());
        }
        for (name, content) in files {
            let head = format!(
                "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{file_field}\"; filename=\"{name}\"\r\n\
                 Content-Type: application/octet-stream\r\n\r\n"
            );
            body.extend([head.as_bytes(), content, b"\r\n"].concat());
        }
        body.extend(format!("--{BOUNDARY}--\r\n").into_bytes());
        self.call(Method::POST, path, &format!("multipart/form-data; boundary={BOUNDARY}"), body).await
    }

    /// Sends a body as a script does.
    pub async fn send(&mut self, path: &str, body: &[u8]) -> Answer {
        self.call(Method::POST, path, "application/octet-stream", body.to_vec()).await
    }

    /// Sends a request with this body.
    pub async fn call(&mut self, method: Method, path: &str, content_type: &str, body: Vec<u8>) -> Answer {
        let path = format!("{}{path}", self.path);
        let request = self.request(method, &path, content_type).body(Body::from(body)).unwrap();
        let answer = Answer::read(self.response(request).await).await;
        for set in answer.headers.get_all(SET_COOKIE) {
            self.keep_cookie(set.to_str().unwrap());
        }
        answer.below(&format!("{}{}", self.removed_by_proxy, self.path))
    }

    fn request(&self, method: Method, path: &str, content_type: &str) -> http::request::Builder {
        let is_form = method == Method::POST;
        let mut request = Request::builder().method(method).header("user-agent", "Test browser");
        request = match self.wire {
            Wire::InProcess(_) => {
                let server: Uri = self.server.parse().unwrap();
                request.uri(path).header(HOST, server.authority().unwrap().as_str())
            }
            Wire::Tcp(_) => request.uri(format!("{}{path}", self.server)),
        };
        let public_path = format!("{}{path}", self.removed_by_proxy);
        let sent = self.cookies.iter().filter(|(_, (_, below))| public_path.starts_with(below.as_str()));
        let sent: Vec<String> = sent.map(|(name, (value, _))| format!("{name}={value}")).collect();
        if !sent.is_empty() {
            // Another application of the host has a cookie, too.
            request = request.header(COOKIE, format!("other=1; {}", sent.join("; ")));
        }
        if let Some(dest) = self.dest {
            request = request.header("sec-fetch-dest", dest);
        }
        if let Some(fragment) = &self.fragment {
            request = request.header("x-fragment", fragment);
        }
        if is_form {
            request = request.header(CONTENT_TYPE, content_type);
            if let Some(origin) = &self.origin {
                request = request.header(ORIGIN, origin);
            }
        }
        request
    }

    async fn response(&self, request: Request<Body>) -> Response {
        match &self.wire {
            Wire::InProcess(surface) => surface.answer(request).await,
            Wire::Tcp(client) => client.request(request).await.unwrap().map(Body::new),
        }
    }

    fn keep_cookie(&mut self, set: &str) {
        let same_site = if self.dest == Some("iframe") { "None" } else { "Lax" };
        assert!(set.contains(&format!("; HttpOnly; SameSite={same_site}")), "{set}");
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
