//! Connections, and the one place where the policy is asked.
//!
//! The HTTP client calls it when its pool has no idle connection. The policy judges each address right before the
//! connection to it is tried, whether it was written in the URL or resolved from a name.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::rt::TokioIo;
use rustls::RootCertStore;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tower_service::Service;

use crate::address::AddressPolicy;
use crate::error::TransportError;

/// Names resolved at the same time; each takes a thread until the system's resolver gives up.
const LOOKUPS_MAX: usize = 64;
/// Addresses of one name that are tried.
const ADDRESSES_MAX: usize = 8;
/// An address gets this long before the next one is tried beside it.
const HEAD_START: Duration = Duration::from_millis(250);

type Connecting<T> = Pin<Box<dyn Future<Output = Result<T, TransportError>> + Send>>;

/// Connects with TCP, and TLS where the URL says `https`, within a limit.
#[derive(Clone)]
pub(crate) struct Connector {
    https: HttpsConnector<TcpConnector>,
    connect_timeout: Duration,
}

#[derive(Clone)]
pub(crate) struct TcpConnector {
    policy: Arc<AddressPolicy>,
    lookups: Arc<Semaphore>,
}

impl Connector {
    pub(crate) fn new(policy: AddressPolicy, connect_timeout: Duration, extra_roots: RootCertStore) -> Self {
        let mut roots = extra_roots;
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        #[expect(clippy::expect_used, reason = "the compiled-in provider knows the default versions")]
        let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring supports TLS 1.2 and 1.3")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let tcp = TcpConnector { policy: Arc::new(policy), lookups: Arc::new(Semaphore::new(LOOKUPS_MAX)) };
        let https =
            HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(tcp);
        Self { https, connect_timeout }
    }
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = TransportError;
    type Future = Connecting<Self::Response>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.https.call(uri);
        let limit = self.connect_timeout;
        // The limit is needed beside the request's deadline: the client may go on connecting for its pool after the
        // request has found another connection.
        Box::pin(async move {
            match tokio::time::timeout(limit, connecting).await {
                Ok(Ok(stream)) => Ok(stream),
                Ok(Err(error)) => Err(match error.downcast::<TransportError>() {
                    Ok(error) => *error,
                    // Everything of TCP is a `TransportError` already.
                    Err(error) => TransportError::Tls(error.to_string()),
                }),
                Err(_) => Err(TransportError::Timeout { awaited: "connection", limit_ms: limit.as_millis() as u64 }),
            }
        })
    }
}

impl Service<Uri> for TcpConnector {
    type Response = TokioIo<TcpStream>;
    type Error = TransportError;
    type Future = Connecting<Self::Response>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move { connector.connect(&uri).await.map(TokioIo::new) })
    }
}

impl TcpConnector {
    async fn connect(&self, uri: &Uri) -> Result<TcpStream, TransportError> {
        let host = uri.host().unwrap_or_default();
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        let addresses = self.permitted(host, self.resolve(host, port).await?)?;
        let stream = connect_first(addresses)
            .await
            .map_err(|error| TransportError::Connect { host: host.to_owned(), reason: error.to_string() })?;
        // A request is written in one piece: waiting to fill a packet would only delay it.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }

    async fn resolve(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, TransportError> {
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if let Ok(ip) = bare.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(ip, port)]);
        }
        let failed = |reason: String| TransportError::Dns { host: host.to_owned(), reason };
        let permit = Arc::clone(&self.lookups).acquire_owned().await.map_err(|error| failed(error.to_string()))?;
        let name = bare.to_owned();
        let lookup = tokio::task::spawn_blocking(move || {
            // Held until the resolver is done, also when nobody waits for it any more.
            let _permit = permit;
            (name.as_str(), port).to_socket_addrs().map(|found| found.take(ADDRESSES_MAX).collect::<Vec<_>>())
        });
        match lookup.await {
            Ok(Ok(found)) if found.is_empty() => Err(failed("it has no address".to_owned())),
            Ok(Ok(found)) => Ok(found),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// The addresses that the policy lets through, or why the first one is refused when it is none of them.
    fn permitted(&self, host: &str, found: Vec<SocketAddr>) -> Result<VecDeque<SocketAddr>, TransportError> {
        let mut refused = None;
        let mut permitted = VecDeque::with_capacity(found.len());
        for address in found {
            match self.policy.check(address.ip()) {
                Ok(()) => permitted.push_back(address),
                Err(error) => {
                    tracing::debug!(host, address = %error.address, kind = error.kind, "an address was refused");
                    refused = refused.or(Some(error));
                }
            }
        }
        match refused {
            Some(refused) if permitted.is_empty() => {
                Err(TransportError::RefusedAddress { host: host.to_owned(), refused })
            }
            _ => Ok(permitted),
        }
    }
}

/// Tries the addresses in order; the next one when the one before has failed or had its head start. The first connection
/// wins, and the others are dropped.
async fn connect_first(mut addresses: VecDeque<SocketAddr>) -> io::Result<TcpStream> {
    let mut error = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let mut tries = FuturesUnordered::new();
    loop {
        if let Some(address) = addresses.pop_front() {
            tries.push(TcpStream::connect(address));
        }
        let outcome = if addresses.is_empty() {
            tries.next().await
        } else {
            match tokio::time::timeout(HEAD_START, tries.next()).await {
                Ok(outcome) => outcome,
                Err(_) => continue,
            }
        };
        match outcome {
            Some(Ok(stream)) => return Ok(stream),
            Some(Err(failed)) => error = failed,
            None => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_next_address_is_tried_when_one_refuses() {
        let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let open = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let open = open.local_addr().map(|address| (open, address)).unwrap();
        let stream = connect_first(VecDeque::from([closed, closed, open.1])).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), open.1);
        let error = connect_first(VecDeque::from([closed, closed])).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }

    #[tokio::test]
    async fn an_address_that_does_not_answer_only_gets_a_head_start() {
        // A listener whose queue is full leaves further connections unanswered.
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let silent = socket.listen(1).unwrap();
        let address = silent.local_addr().unwrap();
        let mut fillers = Vec::new();
        for _ in 0..8 {
            let filler = tokio::time::timeout(Duration::from_millis(20), TcpStream::connect(address)).await;
            match filler {
                Ok(stream) => fillers.push(stream.unwrap()),
                Err(_) => break,
            }
        }
        assert!(fillers.len() < 8, "the queue is full");
        let open = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let next = open.local_addr().unwrap();
        let stream = connect_first(VecDeque::from([address, next])).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), next);
    }
}
