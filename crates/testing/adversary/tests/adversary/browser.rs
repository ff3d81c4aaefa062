//! A browser without script that sends raw requests, so that a test chooses every header.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::raw::exchange;
use crate::support::{Account, Running};

pub const PASSWORD: &str = "three lots of a chair";

/// A browser at the pages below one path of a server.
#[derive(Clone)]
pub struct Browser {
    server: SocketAddr,
    base: &'static str,
    cookies: BTreeMap<String, String>,
    /// The `Origin` and `Host` that it sends.
    pub origin: String,
    pub host: String,
    /// The `Sec-Fetch-Site` that it sends; empty to send none, as on plain HTTP.
    pub fetch_site: &'static str,
    /// Further lines of every head, each with its end.
    pub lines: String,
}

/// A received response.
pub struct Page {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Page {
    /// The value of a header; empty when there is none.
    pub fn header(&self, name: &str) -> &str {
        let line = self.head.lines().filter_map(|line| line.split_once(':'));
        line.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next().unwrap_or("")
    }
}

impl Browser {
    pub fn new(server: SocketAddr, base: &'static str) -> Self {
        let origin = format!("http://{server}");
        let host = server.to_string();
        Browser { server, base, cookies: BTreeMap::new(), origin, host, fetch_site: "", lines: String::new() }
    }

    /// The path prefix of the pages.
    pub fn base(&self) -> &'static str {
        self.base
    }

    /// The value of the cookie whose name begins with this.
    pub fn cookie(&self, begin: &str) -> String {
        let found = self.cookies.iter().find(|(name, _)| name.starts_with(begin));
        found.map(|(_, value)| value.clone()).expect("the server has set the cookie")
    }

    pub fn set_cookie(&mut self, name: &str, value: &str) {
        self.cookies.insert(name.to_owned(), value.to_owned());
    }

    pub async fn get(&mut self, path: &str) -> Page {
        let request = format!("GET {}{path} HTTP/1.1\r\n{}\r\n", self.base, self.headers());
        self.exchange(&request).await
    }

    /// Sends a form.
    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let form = fields.join("&");
        let site =
            if self.fetch_site.is_empty() { String::new() } else { format!("Sec-Fetch-Site: {}\r\n", self.fetch_site) };
        let request = format!(
            "POST {}{path} HTTP/1.1\r\n{}Origin: {}\r\n{site}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
            self.base,
            self.headers(),
            self.origin,
            form.len()
        );
        self.exchange(&request).await
    }

    /// Opens a stream of events. Returns the connection, and its status.
    pub async fn stream(&self, path: &str) -> (TcpStream, u16) {
        let mut stream = TcpStream::connect(self.server).await.unwrap();
        let request = format!("GET {}{path} HTTP/1.1\r\n{}\r\n", self.base, self.headers());
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.windows(4).any(|four| four == b"\r\n\r\n") && stream.read_buf(&mut head).await.unwrap() > 0 {}
        (stream, status(&String::from_utf8_lossy(&head)))
    }

    fn headers(&self) -> String {
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = if cookies.is_empty() { String::new() } else { format!("Cookie: {}\r\n", cookies.join("; ")) };
        format!("Host: {}\r\nConnection: close\r\n{cookies}{}", self.host, self.lines)
    }

    async fn exchange(&mut self, request: &str) -> Page {
        let answer = exchange(self.server, request.as_bytes()).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        for line in head.lines().filter_map(|line| line.strip_prefix("set-cookie: ")) {
            let (name, value) = line.split(';').next().and_then(|cookie| cookie.split_once('=')).unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        Page { status: status(head), head: head.to_owned(), body: body.to_owned() }
    }
}

fn status(head: &str) -> u16 {
    head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

/// Percent-encodes a value of a form.
pub fn encoded(value: &str) -> String {
    value
        .bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Signs a visitor in to an application's portal with a new link.
pub async fn portal_visitor(running: &Running, account: &Account, application: &str) -> Browser {
    let path = format!("/api/v1/auth/app-portal-access/{application}");
    let token = account.api.make("post", &path, &account.key, &json!({})).await.text("token");
    let mut browser = Browser::new(running.launch.provider, "/app-portal");
    let page = browser.post("/login", &[("key", &token)]).await;
    assert_eq!(page.status, 303, "{}", page.body);
    browser
}

/// Signs a user in to the dashboard. Returns the browser and the user's e-mail address.
pub async fn dashboard_user(running: &Running, account: &str) -> (Browser, &'static str) {
    let link = running.launch.run_command(&["provider", "account", "sign-in-code", account, "--json"]).unwrap();
    let mut browser = Browser::new(running.launch.provider, "/dashboard");
    assert_eq!(browser.post("/join", &[("key", link["url"].as_str().unwrap())]).await.status, 303);
    let email = "ann@example.com";
    let joined = browser.post("/join/account", &[("name", "Ann"), ("email", email), ("password", PASSWORD)]).await;
    assert_eq!(joined.status, 303, "{}", joined.body);
    (browser, email)
}
