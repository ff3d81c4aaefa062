//! A receiver on the loopback interface. A test sets its responses and reads the requests that arrived.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::fixture::real_pause;

/// A request that arrived.
pub(crate) struct Arrival {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) at: Instant,
}

/// How the receiver answers a request.
pub(crate) enum Reply {
    Status(u16),
    With(u16, &'static str, &'static str),
    Body(u16, Bytes),
    Never,
    After(Duration, u16),
}

pub(crate) struct Receiver {
    addr: SocketAddr,
    arrivals: mpsc::UnboundedReceiver<Arrival>,
}

const WAIT_MAX: Duration = Duration::from_secs(20);

impl Receiver {
    /// Answers request number `n` (from 0) with `reply(n)`.
    pub(crate) async fn start(reply: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (sender, arrivals) = mpsc::unbounded_channel();
        let reply = Arc::new(reply);
        let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let sender = sender.clone();
                let reply = Arc::clone(&reply);
                let count = Arc::clone(&count);
                let service = service_fn(move |request: Request<Incoming>| {
                    let sender = sender.clone();
                    let reply = Arc::clone(&reply);
                    let count = Arc::clone(&count);
                    async move {
                        let (parts, body) = request.into_parts();
                        let body = body.collect().await.unwrap().to_bytes();
                        let number = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        let path = parts.uri.path().to_owned();
                        let _ = sender.send(Arrival { path, headers: parts.headers, body, at: Instant::now() });
                        let response = Response::builder();
                        Ok::<_, Infallible>(match reply(number) {
                            Reply::Status(status) => response.status(status).body(Full::default()).unwrap(),
                            Reply::With(status, name, value) => {
                                response.status(status).header(name, value).body(Full::default()).unwrap()
                            }
                            Reply::Body(status, body) => response.status(status).body(Full::new(body)).unwrap(),
                            Reply::After(pause, status) => {
                                real_pause(pause).await;
                                response.status(status).body(Full::default()).unwrap()
                            }
                            Reply::Never => std::future::pending().await,
                        })
                    }
                });
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Self { addr, arrivals }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.addr)
    }

    pub(crate) async fn next(&mut self) -> Arrival {
        tokio::time::timeout(WAIT_MAX, self.arrivals.recv()).await.expect("nothing arrived").unwrap()
    }

    /// The next request, if one has arrived.
    pub(crate) fn arrived(&mut self) -> Option<Arrival> {
        self.arrivals.try_recv().ok()
    }

    /// The number of requests that have arrived and were not read yet.
    pub(crate) fn count_now(&mut self) -> usize {
        std::iter::from_fn(|| self.arrivals.try_recv().ok()).count()
    }
}
