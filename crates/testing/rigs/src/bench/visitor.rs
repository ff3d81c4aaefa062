//! A visitor of a site behind a reverse proxy: HTTP/1.1 over one connection, with the visitor's address in `X-Forwarded-For`, and the
//! cookies that the server sets. It uses little CPU, because it shares the cores with the server.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::RigError;

const HEADERS_MAX: usize = 64;
const RESPONSE_BYTES_MAX: usize = 4 << 20;
/// Time limit for a response.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// Where a site listens, and the host of its pages.
#[derive(Debug, Clone)]
pub(super) struct SiteAddress {
    pub(super) listen: SocketAddr,
    pub(super) host: String,
}

/// A visitor. Their next request goes over the connection of the last one, if that is still open.
pub(super) struct Visitor {
    site: SiteAddress,
    from: IpAddr,
    cookies: BTreeMap<String, String>,
    connection: Option<TcpStream>,
    read: BytesMut,
}

/// A response with its whole body.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// The body, if the status is one of these.
    pub(super) fn require(self, statuses: &[u16], what: &str) -> Result<String, RigError> {
        let text = String::from_utf8_lossy(&self.body).into_owned();
        if statuses.contains(&self.status) {
            return Ok(text);
        }
        Err(format!("{what}: status {}: {}", self.status, words_of(&text)).into())
    }
}

/// The text of a page from its heading on, shortened.
pub(super) fn words_of(page: &str) -> String {
    let main = page.split_once("<main").map_or(page, |(_, main)| main);
    let mut is_tag = false;
    let text: String = main
        .chars()
        .filter(|letter| {
            let was_tag = is_tag;
            is_tag = if *letter == '<' { true } else { is_tag && *letter != '>' };
            !was_tag && !is_tag
        })
        .collect();
    text.split_whitespace().take(60).collect::<Vec<_>>().join(" ")
}

impl Visitor {
    pub(super) fn new(site: &SiteAddress, from: IpAddr) -> Self {
        Self { site: site.clone(), from, cookies: BTreeMap::new(), connection: None, read: BytesMut::new() }
    }

    /// The same visitor at another node, and from another address.
    pub(super) fn at(self, site: &SiteAddress, from: IpAddr) -> Self {
        Self { cookies: self.cookies, ..Self::new(site, from) }
    }

    pub(super) async fn get(&mut self, path: &str) -> Result<Answer, RigError> {
        self.send("GET", path, "").await
    }

    /// Sends a form of a page of the site.
    pub(super) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Result<Answer, RigError> {
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let origin = &self.site.host;
        let head = format!(
            "origin: http://{origin}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n",
            form.len()
        );
        self.send("POST", path, &format!("{head}\r\n{form}")).await
    }

    /// `rest` is what follows the common header fields; empty for a request without a body.
    async fn send(&mut self, method: &str, path: &str, rest: &str) -> Result<Answer, RigError> {
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nx-forwarded-for: {}\r\naccept-language: en\r\n",
            self.site.host, self.from
        );
        if !self.cookies.is_empty() {
            let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request += &format!("cookie: {}\r\n", cookies.join("; "));
        }
        request += if rest.is_empty() { "\r\n" } else { rest };
        if self.connection.is_some() {
            // The server may have closed the idle connection.
            if let Ok(Ok(answer)) = tokio::time::timeout(ANSWER_MAX, self.exchange(request.as_bytes())).await {
                return Ok(answer);
            }
        }
        self.read.clear();
        let stream = TcpStream::connect(self.site.listen).await?;
        stream.set_nodelay(true)?;
        self.connection = Some(stream);
        tokio::time::timeout(ANSWER_MAX, self.exchange(request.as_bytes())).await?
    }

    async fn exchange(&mut self, request: &[u8]) -> Result<Answer, RigError> {
        let mut stream = self.connection.take().ok_or("no connection")?;
        stream.write_all(request).await?;
        loop {
            if let Some((answer, head)) = self.parse()? {
                self.read.advance(head);
                self.connection = Some(stream);
                return Ok(answer);
            }
            if self.read.len() > RESPONSE_BYTES_MAX {
                return Err("a response is longer than the limit of the rig".into());
            }
            if stream.read_buf(&mut self.read).await? == 0 {
                return Err("the connection was closed".into());
            }
        }
    }

    /// The response that was read, and its bytes; none while it is incomplete.
    fn parse(&mut self) -> Result<Option<(Answer, usize)>, RigError> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(head) = response.parse(&self.read)? else { return Ok(None) };
        let status = response.code.unwrap_or_default();
        let mut length = None;
        let mut cookies = Vec::new();
        for header in response.headers.iter() {
            let value = std::str::from_utf8(header.value)?;
            if header.name.eq_ignore_ascii_case("content-length") {
                length = Some(value.parse::<usize>()?);
            } else if header.name.eq_ignore_ascii_case("set-cookie") {
                let pair = value.split(';').next().and_then(|pair| pair.split_once('='));
                cookies.extend(pair.map(|(name, value)| (name.to_owned(), value.to_owned())));
            }
        }
        let length = length.ok_or_else(|| format!("a response with status {status} has no Content-Length"))?;
        let Some(body) = self.read.get(head..head + length) else { return Ok(None) };
        let answer = Answer { status, body: body.to_vec() };
        self.cookies.extend(cookies);
        Ok(Some((answer, head + length)))
    }
}
