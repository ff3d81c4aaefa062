//! A push service (RFC 8030) on a port of its own, with browsers whose keys the test has. It keeps what arrives.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::post;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use web_push_native::Auth;
use web_push_native::p256::SecretKey;

/// Bytes of an authentication secret.
const AUTH_BYTES: usize = 16;
/// Bytes of a private key.
const KEY_BYTES: usize = 32;

/// A message that the service took, or refused.
#[derive(Debug, Clone)]
pub struct ReceivedPush {
    /// Name of the browser that it is for.
    pub browser: String,
    /// Headers.
    pub headers: HeaderMap,
    /// Body, encrypted.
    pub body: Bytes,
}

/// A push service.
pub struct PushService {
    url: String,
    received: mpsc::UnboundedReceiver<ReceivedPush>,
    status: Arc<AtomicU16>,
}

/// A browser that messages can be sent to.
#[derive(Debug, Clone)]
pub struct PushBrowser {
    /// URL of its push service.
    pub endpoint: String,
    /// Its public key, an uncompressed point.
    pub key: Vec<u8>,
    /// Its authentication secret.
    pub auth: Vec<u8>,
    secret: SecretKey,
}

#[derive(Clone)]
struct Service {
    received: mpsc::UnboundedSender<ReceivedPush>,
    status: Arc<AtomicU16>,
}

impl PushService {
    /// Starts a service that takes every message.
    ///
    /// Errors: when no port is free.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let (sender, received) = mpsc::unbounded_channel();
        let status = Arc::new(AtomicU16::new(StatusCode::CREATED.as_u16()));
        let service = Service { received: sender, status: Arc::clone(&status) };
        let router = Router::new().route("/{browser}", post(take)).with_state(service);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { url, received, status })
    }

    /// A browser of this name, whose keys follow from the name.
    pub fn browser(&self, name: &str) -> PushBrowser {
        let bytes = |length: usize| name.bytes().chain(std::iter::repeat(1)).take(length).collect::<Vec<u8>>();
        #[expect(clippy::expect_used, reason = "a name that is no key is a fault of the test")]
        let secret = SecretKey::from_slice(&bytes(KEY_BYTES)).expect("the name makes a key of P-256");
        let key = secret.public_key().to_sec1_bytes().to_vec();
        let endpoint = format!("{}/{name}", self.url);
        PushBrowser { endpoint, key, auth: bytes(AUTH_BYTES), secret }
    }

    /// Answers each message with this status from now on.
    pub fn answer(&self, status: StatusCode) {
        self.status.store(status.as_u16(), Ordering::SeqCst);
    }

    /// The messages that arrived since the last call, without waiting.
    pub fn arrived(&mut self) -> Vec<ReceivedPush> {
        std::iter::from_fn(|| self.received.try_recv().ok()).collect()
    }

    /// Waits for the next message; none when the service has stopped.
    pub async fn next(&mut self) -> Option<ReceivedPush> {
        self.received.recv().await
    }
}

impl PushBrowser {
    /// The text of a message to this browser; none for one that is not.
    pub fn read(&self, message: &ReceivedPush) -> Option<String> {
        let auth = Auth::clone_from_slice(&self.auth);
        let read = web_push_native::decrypt(message.body.to_vec(), &self.secret, &auth).ok()?;
        String::from_utf8(read).ok()
    }
}

async fn take(
    State(service): State<Service>,
    Path(browser): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    // The test may have ended.
    let _ = service.received.send(ReceivedPush { browser, headers, body });
    StatusCode::from_u16(service.status.load(Ordering::SeqCst)).unwrap_or(StatusCode::CREATED)
}
