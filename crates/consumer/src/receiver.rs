//! The HTTP server of the receiver.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use runtime::clock::SharedClock;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::record::{Arrival, Record};
use crate::signature::{VerificationError, Verifier};

const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Something that looks at each arrival.
type Look = Box<dyn Fn(&Arrival) + Send + Sync>;

/// A running receiver. It stops when it is dropped.
pub struct Receiver {
    shared: Arc<Shared>,
    addr: SocketAddr,
    server: JoinHandle<()>,
}

struct Shared {
    clock: SharedClock,
    verifier: RwLock<Option<Verifier>>,
    record: Mutex<Record>,
    requests: AtomicU64,
    answer: AtomicU16,
    arrived: Notify,
    on_arrival: OnceLock<Look>,
}

impl Receiver {
    /// Listens on `addr`; port 0 takes a free one. Until a secret is set, everything is refused with 503.
    pub async fn bind(addr: SocketAddr, clock: SharedClock) -> std::io::Result<Self> {
        let listener = TcpListener::bind(addr).await?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            clock,
            verifier: RwLock::new(None),
            record: Mutex::new(Record::default()),
            requests: AtomicU64::new(0),
            answer: AtomicU16::new(200),
            arrived: Notify::new(),
            on_arrival: OnceLock::new(),
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
    pub fn answer_with(&self, status: StatusCode) {
        self.shared.answer.store(status.as_u16(), Ordering::Relaxed);
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
    pub fn read<T>(&self, look: impl FnOnce(&Record) -> T) -> T {
        look(&self.shared.record())
    }

    /// Waits until the record is as asked; false when `limit` passed first.
    pub async fn wait_until(&self, limit: Duration, mut is_so: impl FnMut(&Record) -> bool) -> bool {
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
    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn receive(&self, request: Request<Incoming>) -> StatusCode {
        let (head, body) = request.into_parts();
        let Ok(body) = Limited::new(body, BODY_BYTES_MAX).collect().await.map(|body| body.to_bytes()) else {
            return StatusCode::PAYLOAD_TOO_LARGE;
        };
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
                self.record().refuse();
                StatusCode::UNAUTHORIZED
            }
        }
    }
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
                async move {
                    let status = shared.receive(request).await;
                    shared.requests.fetch_add(1, Ordering::Relaxed);
                    shared.arrived.notify_waiters();
                    let mut response = Response::new(Full::<Bytes>::default());
                    *response.status_mut() = status;
                    Ok::<_, Infallible>(response)
                }
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
