//! The webhook receiver: an HTTP server that verifies deliveries and logs them.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use kit_runtime::clock::{SharedClock, rfc3339_ms};
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::arrival_log::{Arrival, ArrivalLog};
use crate::signature::{VerificationError, Verifier};

const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Arrivals in the summary page.
const LATEST_SHOWN: usize = 50;

/// A callback for each new arrival.
type ArrivalHook = Box<dyn Fn(&Arrival) + Send + Sync>;

/// A running receiver. It stops when it is dropped.
pub struct Receiver {
    shared: Arc<Shared>,
    addr: SocketAddr,
    server: JoinHandle<()>,
}

struct Shared {
    clock: SharedClock,
    verifier: RwLock<Option<Verifier>>,
    log: Mutex<ArrivalLog>,
    requests: AtomicU64,
    response_status: AtomicU16,
    arrived: Notify,
    on_arrival: OnceLock<ArrivalHook>,
    held: watch::Sender<bool>,
}

impl Receiver {
    /// Listens on `addr`; port 0 picks a free port. Until a secret is set, every delivery gets the response 503.
    pub async fn bind(addr: SocketAddr, clock: SharedClock) -> std::io::Result<Self> {
        let listener = TcpListener::bind(addr).await?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            clock,
            verifier: RwLock::new(None),
            log: Mutex::new(ArrivalLog::default()),
            requests: AtomicU64::new(0),
            response_status: AtomicU16::new(200),
            arrived: Notify::new(),
            on_arrival: OnceLock::new(),
            held: watch::Sender::new(false),
        });
        let server = tokio::spawn(accept(listener, shared.clone()));
        Ok(Receiver { shared, addr, server })
    }

    /// URL for the endpoint.
    pub fn url(&self) -> String {
        format!("http://{}/webhooks", self.addr)
    }

    /// Verifies deliveries with this secret from now on.
    pub fn set_secret(&self, secret: &str) -> Result<(), VerificationError> {
        let verifier = Verifier::new(secret)?;
        *self.shared.verifier.write().unwrap_or_else(PoisonError::into_inner) = Some(verifier);
        Ok(())
    }

    /// Responds to valid deliveries with this status from now on. Deliveries with a response other than 2xx are not
    /// logged.
    pub fn respond_with(&self, status: StatusCode) {
        self.shared.response_status.store(status.as_u16(), Ordering::Relaxed);
    }

    /// Holds all responses back from now on, like an endpoint that hangs.
    pub fn hold(&self) {
        self.shared.held.send_replace(true);
    }

    /// Sends the held responses, and responds without delay again.
    pub fn release(&self) {
        self.shared.held.send_replace(false);
    }

    /// Calls `hook` for each new arrival from now on, before the response. Only the first hook is kept.
    pub fn on_arrival(&self, hook: impl Fn(&Arrival) + Send + Sync + 'static) {
        let _ = self.shared.on_arrival.set(Box::new(hook));
    }

    /// Number of POST requests with a response so far, valid or not.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// Reads the arrival log.
    pub fn read<T>(&self, read: impl FnOnce(&ArrivalLog) -> T) -> T {
        read(&self.shared.log())
    }

    /// Waits until the arrival log fulfils the condition; false when `limit` passes first.
    pub async fn wait_until(&self, limit: Duration, mut condition: impl FnMut(&ArrivalLog) -> bool) -> bool {
        let wait = async {
            loop {
                let arrived = self.shared.arrived.notified();
                tokio::pin!(arrived);
                arrived.as_mut().enable();
                if condition(&self.shared.log()) {
                    return;
                }
                arrived.await;
            }
        };
        tokio::time::timeout(limit, wait).await.is_ok()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, ArrivalLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The page at the receiver's URL: counts, and the latest arrivals.
    fn summary(&self) -> String {
        let log = self.log();
        let latest = log.arrivals().iter().rev().take(LATEST_SHOWN);
        let lines: String = latest
            .map(|arrival| format!("{}  {}  {}\n", rfc3339_ms(arrival.at), arrival.subject, arrival.status))
            .collect();
        format!(
            "Lotwire webhook receiver\n\n{} received with a valid signature, {} further copies, {} refused\n\n{lines}",
            log.arrivals().len(),
            log.duplicates(),
            log.invalid()
        )
    }

    async fn respond(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        match *request.method() {
            Method::POST => {
                let status = self.receive(request).await;
                self.requests.fetch_add(1, Ordering::Relaxed);
                self.arrived.notify_waiters();
                with_status(status, String::new())
            }
            Method::GET => with_status(StatusCode::OK, self.summary()),
            _ => with_status(StatusCode::METHOD_NOT_ALLOWED, "POST a webhook here, or GET what arrived\n".to_owned()),
        }
    }

    async fn receive(&self, request: Request<Incoming>) -> StatusCode {
        let (head, body) = request.into_parts();
        let Ok(body) = Limited::new(body, BODY_BYTES_MAX).collect().await.map(|body| body.to_bytes()) else {
            return StatusCode::PAYLOAD_TOO_LARGE;
        };
        // `wait_for` fails only without a sender, and `self` owns the sender.
        let _ = self.held.subscribe().wait_for(|held| !held).await;
        let at = self.clock.now();
        let Some(verifier) = self.verifier.read().unwrap_or_else(PoisonError::into_inner).clone() else {
            return StatusCode::SERVICE_UNAVAILABLE;
        };
        match verify(&verifier, &head.headers, &body, at.as_second()) {
            Ok(message) => {
                let status = StatusCode::from_u16(self.response_status.load(Ordering::Relaxed)).unwrap_or_default();
                if status.is_success() {
                    let arrival = self.log().add(message, &body, at);
                    if let (Some(arrival), Some(hook)) = (arrival, self.on_arrival.get()) {
                        hook(&arrival);
                    }
                }
                status
            }
            Err(error) => {
                tracing::warn!(%error, "a delivery has no valid signature");
                self.log().count_invalid();
                StatusCode::UNAUTHORIZED
            }
        }
    }
}

fn with_status(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response
}

fn verify<'a>(
    verifier: &Verifier,
    headers: &'a HeaderMap,
    body: &[u8],
    now: i64,
) -> Result<&'a str, VerificationError> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).ok_or(VerificationError::Headers);
    let id = text("webhook-id")?;
    verifier.verify(id, text("webhook-timestamp")?, text("webhook-signature")?, body, now)?;
    Ok(id)
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Most likely the process is out of file descriptors; connections that close free some.
            kit_runtime::backoff::pause(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let shared = shared.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let shared = shared.clone();
                async move { Ok::<_, Infallible>(shared.respond(request).await) }
            });
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service);
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use kit_runtime::clock::SystemClock;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    const EVENT: &str = r#"{"itemUuid":"0198c6a0-0000-7000-8000-000000000001","auctioneerUuid":"0198c6a0-0000-7000-8000-000000000002","auctionUuid":"0198c6a0-0000-7000-8000-000000000003","status":"SOLD"}"#;

    async fn ask(receiver: &Receiver, method: &str, headers: &str, body: &str) -> String {
        let mut stream = tokio::net::TcpStream::connect(receiver.addr).await.unwrap();
        let length = body.len();
        let request = format!(
            "{method} /webhooks HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn the_page_shows_the_arrivals_and_is_not_counted_as_a_request() {
        let clock: SharedClock = Arc::new(SystemClock);
        let receiver = Receiver::bind(([127, 0, 0, 1], 0).into(), clock.clone()).await.unwrap();
        assert!(ask(&receiver, "POST", "", EVENT).await.starts_with("HTTP/1.1 503"));
        receiver.set_secret(SECRET).unwrap();
        assert!(ask(&receiver, "POST", "", EVENT).await.starts_with("HTTP/1.1 401"));

        let now = clock.now().as_second();
        let official = standardwebhooks::Webhook::new(SECRET).unwrap();
        let signature = official.sign("msg_1", now, EVENT.as_bytes()).unwrap();
        let signed = format!("webhook-id: msg_1\r\nwebhook-timestamp: {now}\r\nwebhook-signature: {signature}\r\n");
        for _ in 0..2 {
            assert!(ask(&receiver, "POST", &signed, EVENT).await.starts_with("HTTP/1.1 200"));
        }
        let page = ask(&receiver, "GET", "", "").await;
        assert!(page.contains("1 received with a valid signature, 1 further copies, 1 refused"), "{page}");
        assert!(page.contains("0198c6a0-0000-7000-8000-000000000001  SOLD"), "{page}");
        receiver.hold();
        let mut held = std::pin::pin!(ask(&receiver, "POST", &signed, EVENT));
        assert!(tokio::time::timeout(Duration::from_millis(50), &mut held).await.is_err());
        receiver.release();
        assert!(held.await.starts_with("HTTP/1.1 200"));
        assert!(ask(&receiver, "PUT", "", "").await.starts_with("HTTP/1.1 405"));
        assert_eq!(receiver.requests(), 5);
    }
}
