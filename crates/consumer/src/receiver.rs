//! The HTTP server of the receiver.

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
/// Arrivals in the summary that a GET shows.
const LATEST_SHOWN: usize = 50;

/// Something that looks at each arrival.
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
    record: Mutex<ArrivalLog>,
    requests: AtomicU64,
    answer: AtomicU16,
    arrived: Notify,
    on_arrival: OnceLock<ArrivalHook>,
    held: watch::Sender<bool>,
}

impl Receiver {
    /// Listens on `addr`; port 0 takes a free one. Until a secret is set, everything is refused with 503.
    pub async fn bind(addr: SocketAddr, clock: SharedClock) -> std::io::Result<Self> {
        let listener = TcpListener::bind(addr).await?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            clock,
            verifier: RwLock::new(None),
            record: Mutex::new(ArrivalLog::default()),
            requests: AtomicU64::new(0),
            answer: AtomicU16::new(200),
            arrived: Notify::new(),
            on_arrival: OnceLock::new(),
            held: watch::Sender::new(false),
        });
        let server = tokio::spawn(accept(listener, shared.clone()));
        Ok(Receiver { shared, addr, server })
    }

    /// Address to enter as an endpoint.
    pub fn url(&self) -> String {
        format!("http://{}/webhooks", self.addr)
    }

    /// Verifies with this secret from now on.
    pub fn set_secret(&self, secret: &str) -> Result<(), VerificationError> {
        let verifier = Verifier::new(secret)?;
        *self.shared.verifier.write().unwrap_or_else(PoisonError::into_inner) = Some(verifier);
        Ok(())
    }

    /// Answers valid deliveries with this status from now on; those that are not answered 2xx are not recorded.
    pub fn respond_with(&self, status: StatusCode) {
        self.shared.answer.store(status.as_u16(), Ordering::Relaxed);
    }

    /// Keeps whoever delivers waiting from now on, as an endpoint that hangs does.
    pub fn hold(&self) {
        self.shared.held.send_replace(true);
    }

    /// Answers again, those who wait first.
    pub fn release(&self) {
        self.shared.held.send_replace(false);
    }

    /// Calls `look` with each new arrival from now on, before it is answered. Only the first call of this counts.
    pub fn on_arrival(&self, look: impl Fn(&Arrival) + Send + Sync + 'static) {
        let _ = self.shared.on_arrival.set(Box::new(look));
    }

    /// Requests answered so far, valid or not.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// Looks at the record.
    pub fn read<T>(&self, look: impl FnOnce(&ArrivalLog) -> T) -> T {
        look(&self.shared.record())
    }

    /// Waits until the record is as asked; false when `limit` passed first.
    pub async fn wait_until(&self, limit: Duration, mut is_so: impl FnMut(&ArrivalLog) -> bool) -> bool {
        let wait = async {
            loop {
                let arrived = self.shared.arrived.notified();
                tokio::pin!(arrived);
                arrived.as_mut().enable();
                if is_so(&self.shared.record()) {
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
    fn record(&self) -> MutexGuard<'_, ArrivalLog> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What somebody sees who opens the receiver's address.
    fn summary(&self) -> String {
        let record = self.record();
        let latest = record.arrivals().iter().rev().take(LATEST_SHOWN);
        let lines: String = latest
            .map(|arrival| format!("{}  {}  {}\n", rfc3339_ms(arrival.at), arrival.subject, arrival.status))
            .collect();
        format!(
            "Lotwire webhook receiver\n\n{} received with a valid signature, {} further copies, {} refused\n\n{lines}",
            record.arrivals().len(),
            record.duplicates(),
            record.invalid()
        )
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
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
        // The sender of the signal is in `self`, so it is there as long as this waits.
        let _ = self.held.subscribe().wait_for(|held| !held).await;
        let at = self.clock.now();
        let Some(verifier) = self.verifier.read().unwrap_or_else(PoisonError::into_inner).clone() else {
            return StatusCode::SERVICE_UNAVAILABLE;
        };
        match verify(&verifier, &head.headers, &body, at.as_second()) {
            Ok(message) => {
                let answer = StatusCode::from_u16(self.answer.load(Ordering::Relaxed)).unwrap_or_default();
                if answer.is_success() {
                    let arrival = self.record().add(message, &body, at);
                    if let (Some(arrival), Some(look)) = (arrival, self.on_arrival.get()) {
                        look(&arrival);
                    }
                }
                answer
            }
            Err(error) => {
                tracing::warn!(%error, "a delivery can't be believed");
                self.record().count_invalid();
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
            // Out of file descriptors, most likely: some are given back while we wait.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let shared = shared.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let shared = shared.clone();
                async move { Ok::<_, Infallible>(shared.answer(request).await) }
            });
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service);
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a sender's connection ended early");
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
    async fn who_opens_the_address_sees_what_arrived_and_counts_as_nothing() {
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
