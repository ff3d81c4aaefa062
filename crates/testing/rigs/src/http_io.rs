//! Lightweight HTTP, so that the measured server has most of the CPU: a sender on a persistent connection, and a
//! receiver that verifies each signature and records which items it has received, and when.

use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::{Buf as _, BytesMut};
use consumer::Verifier;
use jiff::Timestamp;
use kit_runtime::clock::{Clock as _, SystemClock};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::RigError;

const HEADERS_MAX: usize = 32;
/// Maximum size of an HTTP message, head and body.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// Time between two polls of the number of received items.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// The bytes of a body before the UUID of its item.
const BEFORE_SUBJECT: &[u8] = br#"{"itemUuid":""#;
const SUBJECT_BYTES: usize = 36;
const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// A persistent connection to one address.
pub(crate) struct Connection {
    stream: TcpStream,
    read: BytesMut,
    written: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: &str) -> Result<Self, RigError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, read: BytesMut::new(), written: Vec::new() })
    }

    /// Sends one request and returns the status of the response. `head` has no `content-length` and no final empty
    /// line.
    pub(crate) async fn send(&mut self, head: &[u8], body: &[u8]) -> Result<u16, RigError> {
        self.written.clear();
        self.written.extend_from_slice(head);
        self.written.extend_from_slice(format!("content-length: {}\r\n\r\n", body.len()).as_bytes());
        self.written.extend_from_slice(body);
        self.stream.write_all(&self.written).await?;
        loop {
            let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
            let mut response = httparse::Response::new(&mut headers);
            if let httparse::Status::Complete(head) = response.parse(&self.read)? {
                let end = head + content_length(response.headers)?;
                if self.read.len() >= end {
                    let status = response.code.unwrap_or_default();
                    self.read.advance(end);
                    return Ok(status);
                }
            }
            read_on(&mut self.stream, &mut self.read).await?;
        }
    }
}

/// A receiver that counts distinct items. It accepts other messages without counting them.
pub(crate) struct Sink {
    shared: Arc<Shared>,
    address: SocketAddr,
    server: JoinHandle<()>,
}

struct Shared {
    clock: SystemClock,
    verifier: Option<Verifier>,
    items: Mutex<ReceivedItems>,
    received: AtomicU64,
    duplicates: AtomicU64,
    refused: AtomicU64,
    held: watch::Sender<bool>,
}

#[derive(Default)]
struct ReceivedItems {
    of: HashSet<Uuid>,
    /// Time of the first message about each item.
    at: Vec<Timestamp>,
}

impl Sink {
    /// Listens on a free port of this machine.
    pub(crate) async fn listen() -> Result<(TcpListener, SocketAddr), RigError> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    }

    /// Serves a listener. Without a secret, the receiver accepts unsigned messages.
    pub(crate) fn answer(
        (listener, address): (TcpListener, SocketAddr),
        secret: Option<&str>,
    ) -> Result<Self, RigError> {
        let shared = Arc::new(Shared {
            clock: SystemClock,
            verifier: secret.map(Verifier::new).transpose()?,
            items: Mutex::default(),
            received: AtomicU64::new(0),
            duplicates: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            held: watch::Sender::new(false),
        });
        let server = tokio::spawn(accept(listener, shared.clone()));
        Ok(Sink { shared, address, server })
    }

    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }

    /// Delays all responses from now on.
    pub(crate) fn hold(&self) {
        self.shared.held.send_replace(true);
    }

    /// Sends the delayed responses and responds normally again.
    pub(crate) fn release(&self) {
        self.shared.held.send_replace(false);
    }

    /// Times of the first message about each item, in order of arrival.
    pub(crate) fn times(&self) -> Vec<Timestamp> {
        self.shared.items().at.clone()
    }

    /// Number of distinct items so far.
    pub(crate) fn received(&self) -> u64 {
        self.shared.received.load(Ordering::Relaxed)
    }

    /// Number of repeated messages about these items so far.
    pub(crate) fn duplicates(&self) -> u64 {
        self.shared.duplicates.load(Ordering::Relaxed)
    }

    /// Waits until `count` distinct items were received.
    pub(crate) async fn wait_for(&self, count: u64, limit: Duration) -> Result<(), RigError> {
        let begin = Instant::now();
        while self.received() < count {
            let refused = self.shared.refused.load(Ordering::Relaxed);
            if refused > 0 {
                return Err(format!("{refused} deliveries have an invalid signature").into());
            }
            if begin.elapsed() > limit {
                return Err(
                    format!("{} of {count} items were received within {} s", self.received(), limit.as_secs()).into()
                );
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Ok(())
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn item(body: &[u8]) -> Option<Uuid> {
    let subject = body.strip_prefix(BEFORE_SUBJECT)?.get(..SUBJECT_BYTES)?;
    Uuid::try_parse_ascii(subject).ok()
}

impl Shared {
    fn take(&self, headers: &[httparse::Header<'_>], body: &[u8]) {
        let text = |name: &str| {
            let header = headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
            std::str::from_utf8(header.value).ok()
        };
        let now = self.clock.now();
        let is_signed = self.verifier.as_ref().is_none_or(|verifier| {
            let signed = (text("webhook-id"), text("webhook-timestamp"), text("webhook-signature"));
            let (Some(id), Some(timestamp), Some(signature)) = signed else { return false };
            verifier.verify(id, timestamp, signature, body, now.as_second()).is_ok()
        });
        if !is_signed {
            self.refused.fetch_add(1, Ordering::Relaxed);
        } else if let Some(item) = item(body) {
            let counter = if self.items().first(item, now) { &self.received } else { &self.duplicates };
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn items(&self) -> MutexGuard<'_, ReceivedItems> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReceivedItems {
    fn first(&mut self, item: Uuid, now: Timestamp) -> bool {
        let is_new = self.of.insert(item);
        if is_new {
            self.at.push(now);
        }
        is_new
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let shared = shared.clone();
        tokio::spawn(async move { serve(stream, &shared).await });
    }
}

/// Responds to requests until the sender closes the connection or sends invalid HTTP.
async fn serve(mut stream: TcpStream, shared: &Shared) -> Result<(), RigError> {
    stream.set_nodelay(true)?;
    let mut read = BytesMut::new();
    let mut held = shared.held.subscribe();
    loop {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut headers);
        if let httparse::Status::Complete(head) = request.parse(&read)? {
            let end = head + content_length(request.headers)?;
            if let Some(body) = read.get(head..end) {
                held.wait_for(|held| !held).await?;
                shared.take(request.headers, body);
                read.advance(end);
                stream.write_all(OK).await?;
                continue;
            }
        }
        read_on(&mut stream, &mut read).await?;
    }
}

fn content_length(headers: &[httparse::Header<'_>]) -> Result<usize, RigError> {
    let length = headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.ok_or("a message without Content-Length")?;
    Ok(std::str::from_utf8(length.value)?.parse()?)
}

async fn read_on(stream: &mut TcpStream, read: &mut BytesMut) -> Result<(), RigError> {
    if read.len() > MESSAGE_BYTES_MAX {
        return Err("an HTTP message is longer than the limit of the rig".into());
    }
    if stream.read_buf(read).await? == 0 {
        return Err("the connection was closed".into());
    }
    Ok(())
}
