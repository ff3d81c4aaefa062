//! A server that answers every request with 200 and records it: a receiver of webhooks whose headers a test looks at, or a
//! collector of traces.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails here, at the line that asked")]

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::IntoResponse;
use bytes::Bytes;
use http::{HeaderMap, Uri};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::ResourceSpans;
use prost::Message as _;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// See the module. It ends when it is dropped.
#[derive(Debug)]
pub struct RequestLog {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Shared {
    requests: Mutex<Vec<RecordedRequest>>,
    arrived: Notify,
}

/// A request that arrived.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// Its path.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl RequestLog {
    /// Listens on a free port of this machine.
    pub async fn bind() -> Self {
        Self::bind_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await
    }

    /// Listens at this address.
    pub async fn bind_at(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let router = Router::new().fallback(record).with_state(Arc::clone(&shared));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, shared, server }
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until the requests are as expected. Returns them all, as expected or not.
    pub async fn wait_until(
        &self,
        limit: Duration,
        is_expected: impl Fn(&[RecordedRequest]) -> bool,
    ) -> Vec<RecordedRequest> {
        let arriving = async {
            loop {
                let mut arrived = std::pin::pin!(self.shared.arrived.notified());
                // Enabled before the requests are read, or it misses one that arrives in between.
                arrived.as_mut().enable();
                if is_expected(&self.requests()) {
                    return;
                }
                arrived.await;
            }
        };
        let _late = tokio::time::timeout(limit, arriving).await;
        self.requests()
    }

    fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for RequestLog {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn record(State(shared): State<Arc<Shared>>, uri: Uri, headers: HeaderMap, body: Bytes) -> impl IntoResponse {
    let request = RecordedRequest { path: uri.path().to_owned(), headers, body };
    shared.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    shared.arrived.notify_waiters();
}

/// The spans of the traces in requests, by process.
pub fn resource_spans(requests: &[RecordedRequest]) -> Vec<ResourceSpans> {
    let decode = |request: &RecordedRequest| ExportTraceServiceRequest::decode(request.body.clone()).unwrap();
    requests.iter().flat_map(|request| decode(request).resource_spans).collect()
}
