//! Connections through a proxy.
//!
//! The client resolves names and applies the address policy as without a proxy, and sends the proxy the checked IP
//! address, never the name. So the result of the policy does not depend on the proxy's resolver. The policy does not
//! apply to the proxy's own address, which the operator configures. All requests, `http` ones too, go through a tunnel.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::{Host, Url};

use crate::error::TransportError;

/// Maximum bytes of a proxy's response to CONNECT.
const ANSWER_BYTES_MAX: usize = 8 * 1024;
/// Maximum bytes of a user name and of a password.
const CREDENTIAL_BYTES_MAX: usize = 255;

/// A proxy: `http://user:password@host:port` (CONNECT) or `socks5://…` (RFC 1928, user and password by RFC 1929).
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    kind: Kind,
    pub(crate) host: String,
    pub(crate) port: u16,
    credentials: Option<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Http,
    Socks5,
}

/// The text is not the address of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "write a proxy as http://host:port or socks5://host:port, with user:password@ before the host if it requires them"
)]
pub struct InvalidProxy;

impl FromStr for Proxy {
    type Err = InvalidProxy;

    fn from_str(text: &str) -> Result<Self, InvalidProxy> {
        let url = Url::parse(text).map_err(|_| InvalidProxy)?;
        let (kind, usual_port) = match url.scheme() {
            "http" => (Kind::Http, 80),
            "socks5" => (Kind::Socks5, 1080),
            _ => return Err(InvalidProxy),
        };
        let host = match url.host().ok_or(InvalidProxy)? {
            Host::Ipv6(ip) => ip.to_string(),
            host => host.to_string(),
        };
        let plain = matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
        let credential = |text: &str| {
            let bytes = percent_decoded(text).filter(|bytes| bytes.len() <= CREDENTIAL_BYTES_MAX)?;
            String::from_utf8(bytes).ok()
        };
        let credentials = match (url.username(), url.password()) {
            ("", None) => None,
            (user, password) => {
                let pair = (credential(user), credential(password.unwrap_or_default()));
                let (Some(user), Some(password)) = pair else { return Err(InvalidProxy) };
                Some((user, password))
            }
        };
        if !plain || host.is_empty() {
            return Err(InvalidProxy);
        }
        Ok(Self { kind, host, port: url.port().unwrap_or(usual_port), credentials })
    }
}

/// Omits the credentials.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({:?} {}:{})", self.kind, self.host, self.port)
    }
}

impl Proxy {
    /// Opens a tunnel to `target` on `stream`, which is connected to the proxy.
    pub(crate) async fn open(&self, stream: &mut TcpStream, target: SocketAddr) -> Result<(), TransportError> {
        let opened = match self.kind {
            Kind::Http => self.connect(stream, target).await,
            Kind::Socks5 => self.socks5(stream, target).await,
        };
        opened.map_err(TransportError::Proxy)
    }

    async fn connect(&self, stream: &mut TcpStream, target: SocketAddr) -> Result<(), String> {
        let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
        if let Some((user, password)) = &self.credentials {
            let pair = STANDARD.encode(format!("{user}:{password}"));
            request.push_str(&format!("Proxy-Authorization: Basic {pair}\r\n"));
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).await.map_err(io_error_text)?;
        // Byte by byte: the bytes after the response belong to the target.
        let mut answer = Vec::with_capacity(256);
        while !answer.ends_with(b"\r\n\r\n") {
            if answer.len() >= ANSWER_BYTES_MAX {
                return Err("the proxy's response is too long".to_owned());
            }
            answer.push(stream.read_u8().await.map_err(io_error_text)?);
        }
        let line = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let code = line.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2..5)).map(String::from_utf8_lossy);
        match code.as_deref() {
            Some(code) if code.starts_with('2') => Ok(()),
            Some(code) if code.bytes().all(|byte| byte.is_ascii_digit()) => Err(format!(
                "the proxy responded with \
            {code}"
            )),
            _ => Err("the proxy's response is not HTTP".to_owned()),
        }
    }

    async fn socks5(&self, stream: &mut TcpStream, target: SocketAddr) -> Result<(), String> {
        const NONE: u8 = 0;
        const PASSWORD: u8 = 2;
        let method = if self.credentials.is_some() { PASSWORD } else { NONE };
        stream.write_all(&[5, 1, method]).await.map_err(io_error_text)?;
        if read::<2>(stream).await? != [5, method] {
            return Err("the proxy does not accept the authentication method".to_owned());
        }
        if let Some((user, password)) = &self.credentials {
            let mut request = vec![1];
            for text in [user, password] {
                request.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
                request.extend_from_slice(text.as_bytes());
            }
            stream.write_all(&request).await.map_err(io_error_text)?;
            if read::<2>(stream).await?[1] != 0 {
                return Err("the proxy rejected the user name and password".to_owned());
            }
        }
        let mut request = vec![5, 1, 0];
        match target.ip() {
            IpAddr::V4(ip) => {
                request.push(1);
                request.extend_from_slice(&ip.octets());
            }
            IpAddr::V6(ip) => {
                request.push(4);
                request.extend_from_slice(&ip.octets());
            }
        }
        request.extend_from_slice(&target.port().to_be_bytes());
        stream.write_all(&request).await.map_err(io_error_text)?;
        let [version, reply, _, kind] = read::<4>(stream).await?;
        if version != 5 {
            return Err("the proxy's response is not SOCKS 5".to_owned());
        }
        if reply != 0 {
            return Err(format!("the proxy responded with: {}", reason(reply)));
        }
        // The address that the proxy connects from is read and discarded.
        let length = match kind {
            1 => 4,
            4 => 16,
            3 => usize::from(stream.read_u8().await.map_err(io_error_text)?),
            _ => return Err("the proxy's response is not SOCKS 5".to_owned()),
        };
        let mut bound = vec![0; length + 2];
        stream.read_exact(&mut bound).await.map_err(io_error_text)?;
        Ok(())
    }
}

async fn read<const N: usize>(stream: &mut TcpStream) -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).await.map_err(io_error_text)?;
    Ok(bytes)
}

fn io_error_text(error: std::io::Error) -> String {
    format!("the connection to the proxy broke: {error}")
}

/// The text of a reply code (RFC 1928, section 6).
fn reason(reply: u8) -> &'static str {
    match reply {
        2 => "not allowed",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "time to live expired",
        _ => "failure",
    }
}

fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    Some(decoded)
}
