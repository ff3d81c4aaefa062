//! Opens connections, and is the only code that applies the address policy.
//!
//! The client calls it when its pool has no idle connection. The policy checks each address right before the connector
//! connects to it, whether the URL contained the address or a name resolved to it.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{StreamExt, TryFutureExt as _};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use crate::address::AddressPolicy;
use crate::client::ClientConfig;
use crate::destination::Origin;
use crate::error::TransportError;
use crate::phase_times::{Phase, PhaseTimer};
use crate::proxy::Proxy;
use crate::resolver::{ADDRESSES_MAX, Resolve};
use crate::stream::Stream;
use crate::time_limit::TimeLimit;
use crate::tls::{self, TlsFault};

/// `errno` of a process and of a system without free file descriptors, on Linux and macOS.
const EMFILE: i32 = 24;
const ENFILE: i32 = 23;

/// Head start of an address before the next one is tried in parallel (RFC 8305).
const CONNECTION_ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// Connects with TCP, and with TLS for `https`, within a time limit.
#[derive(Clone)]
pub(crate) struct Connector {
    policy: Arc<AddressPolicy>,
    resolver: Arc<dyn Resolve>,
    proxy: Option<Arc<Proxy>>,
    tls: TlsConnector,
    connect_timeout: Duration,
}

impl Connector {
    pub(crate) fn new(config: &ClientConfig) -> Self {
        Self {
            policy: Arc::new(config.policy.clone()),
            resolver: Arc::clone(&config.resolver),
            proxy: config.proxy.clone().map(Arc::new),
            tls: TlsConnector::from(Arc::new(tls::client_config(config.extra_roots.clone()))),
            connect_timeout: config.connect_timeout,
        }
    }

    /// The addresses of an origin that the policy allows.
    pub(crate) async fn look_up(&self, origin: &Origin, limit: TimeLimit) -> Result<Vec<IpAddr>, TransportError> {
        let found = self.resolve_within(&origin.host, origin.port, limit).await?;
        let found = self.allowed_addresses(&origin.host, found)?;
        Ok(found.iter().map(SocketAddr::ip).collect())
    }

    /// Opens a connection to an origin. One limit covers the name lookup, TCP and TLS: the connect timeout, or the
    /// request's limit if it is reached first. The error says in which of them it was reached.
    pub(crate) async fn connect(
        &self,
        origin: &Origin,
        request: TimeLimit,
        timer: &mut PhaseTimer,
    ) -> Result<Stream, TransportError> {
        let Origin { tls, host, port, .. } = origin;
        let limit = TimeLimit::since(Instant::now(), self.connect_timeout).or_sooner(request);
        let tcp = self.open_tcp(host, *port, limit, timer).await?;
        // A request is written at once, so Nagle's algorithm would only delay it.
        let _ = tcp.set_nodelay(true);
        if !tls {
            return Ok(Stream::Tcp(tcp));
        }
        let name = ServerName::try_from(without_brackets(host).to_owned());
        let name = name.map_err(|error| TransportError::Tls(TlsFault::Other(error.to_string())))?;
        timer.begin(Phase::Tls);
        let handshake = limit.run(self.tls.connect(name, tcp)).await;
        let tls = handshake.map_err(|_| TransportError::TlsTimeout { limit_ms: limit.ms })?;
        let tls = tls.map_err(|error| TransportError::Tls(tls::fault(&error)))?;
        Ok(Stream::Tls(Box::new(tls)))
    }

    async fn open_tcp(
        &self,
        host: &str,
        port: u16,
        limit: TimeLimit,
        timer: &mut PhaseTimer,
    ) -> Result<TcpStream, TransportError> {
        if without_brackets(host).parse::<IpAddr>().is_err() {
            timer.begin(Phase::Dns);
        }
        let addresses = self.allowed_addresses(host, self.resolve_within(host, port, limit).await?)?;
        timer.begin(Phase::Connect);
        let late = |address: String| TransportError::ConnectTimeout { address, limit_ms: limit.ms };
        match &self.proxy {
            Some(proxy) => {
                limit.run(self.connect_via_proxy(proxy, addresses)).await.map_err(|_| late(host.to_owned())).flatten()
            }
            None => {
                let first = addresses.front().map_or_else(|| host.to_owned(), SocketAddr::to_string);
                limit
                    .run(happy_eyeballs(addresses))
                    .await
                    .map_err(|_| late(first))?
                    .map_err(|failed| failed.into_error(host))
            }
        }
    }

    /// A tunnel to the first of the addresses that the proxy can reach.
    async fn connect_via_proxy(
        &self,
        proxy: &Proxy,
        addresses: VecDeque<SocketAddr>,
    ) -> Result<TcpStream, TransportError> {
        // The customer, who reads the error, must not learn the address of the operator's proxy.
        let unreachable = |error: &dyn std::fmt::Display| {
            tracing::warn!(?proxy, %error, "the proxy of outbound requests can't be reached");
            TransportError::Proxy("the proxy can't be reached".to_owned())
        };
        let at = self.resolve(&proxy.host, proxy.port).await.map_err(|error| unreachable(&error))?;
        let mut error = None;
        for address in addresses {
            let mut stream = happy_eyeballs(at.iter().copied().collect()).await.map_err(|error| unreachable(&error))?;
            match proxy.open(&mut stream, address).await {
                Ok(()) => return Ok(stream),
                Err(refused) => error = Some(refused),
            }
        }
        Err(error.unwrap_or_else(|| TransportError::Proxy("the host has no address".to_owned())))
    }

    async fn resolve_within(&self, host: &str, port: u16, limit: TimeLimit) -> Result<Vec<SocketAddr>, TransportError> {
        let silent = |_| TransportError::NameServers {
            host: host.to_owned(),
            reason: format!("no answer within {} ms", limit.ms),
        };
        limit.run(self.resolve(host, port)).await.map_err(silent).flatten()
    }

    async fn resolve(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, TransportError> {
        let bare = without_brackets(host);
        if let Ok(ip) = bare.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(ip, port)]);
        }
        let failed = |reason: String| TransportError::Dns { host: host.to_owned(), reason };
        let mut found = match self.resolver.resolve(bare, port).await {
            Ok(found) => found,
            Err(error) if is_temporary(&error) => {
                return Err(TransportError::NameServers { host: host.to_owned(), reason: error.to_string() });
            }
            Err(error) => return Err(failed(error.to_string())),
        };
        found.truncate(ADDRESSES_MAX);
        if found.is_empty() { Err(failed("it has no address".to_owned())) } else { Ok(found) }
    }

    /// The addresses that the policy allows; if there is none, why the first one is refused.
    fn allowed_addresses(&self, host: &str, found: Vec<SocketAddr>) -> Result<VecDeque<SocketAddr>, TransportError> {
        let mut refused = None;
        let mut allowed_addresses = VecDeque::with_capacity(found.len());
        for address in found {
            match self.policy.check(address.ip()) {
                Ok(()) => allowed_addresses.push_back(address),
                Err(error) => {
                    tracing::debug!(host, address = %error.address, kind = error.kind, "the address policy refused \
                    an address");
                    refused = refused.or(Some(error));
                }
            }
        }
        match refused {
            Some(refused) if allowed_addresses.is_empty() => {
                Err(TransportError::RefusedAddress { host: host.to_owned(), refused })
            }
            _ => Ok(allowed_addresses),
        }
    }
}

/// Removes the brackets of an IPv6 address in a URL.
fn without_brackets(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// Whether the name servers failed, in contrast to a name that does not exist. The resolver of the operating system says
/// it by text only (`EAI_AGAIN`).
fn is_temporary(error: &io::Error) -> bool {
    let text = error.to_string();
    text.contains("Temporary failure") || text.contains("Try again") || error.kind() == io::ErrorKind::TimedOut
}

/// Why an address can't be connected to.
#[derive(Debug)]
struct FailedAddress {
    address: Option<SocketAddr>,
    error: io::Error,
}

impl FailedAddress {
    fn into_error(self, host: &str) -> TransportError {
        let (host, reason) = (host.to_owned(), self.to_string());
        match (self.address, self.error.kind()) {
            (Some(address), io::ErrorKind::ConnectionRefused) => TransportError::ConnectionRefused { host, address },
            _ if is_local(&self.error) => TransportError::LocalFault { host, reason },
            _ => TransportError::Connect { host, reason },
        }
    }
}

/// Whether this machine itself has no network, no free port or no free file descriptor.
fn is_local(error: &io::Error) -> bool {
    use io::ErrorKind::{AddrNotAvailable, NetworkDown, NetworkUnreachable};
    matches!(error.kind(), NetworkUnreachable | NetworkDown | AddrNotAvailable)
        || matches!(error.raw_os_error(), Some(EMFILE | ENFILE))
}

impl fmt::Display for FailedAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.address, self.error.kind()) {
            (Some(address), io::ErrorKind::ConnectionRefused) => write!(formatter, "{address} refused the connection"),
            (Some(address), _) => write!(formatter, "{} ({address})", self.error),
            (None, _) => self.error.fmt(formatter),
        }
    }
}

/// Connects to the addresses in order. The next one is tried when the one before has failed or its head start is over.
/// The first connection is returned and the others are closed.
async fn happy_eyeballs(mut addresses: VecDeque<SocketAddr>) -> Result<TcpStream, FailedAddress> {
    let mut error = FailedAddress { address: None, error: io::ErrorKind::AddrNotAvailable.into() };
    let mut tries = FuturesUnordered::new();
    loop {
        if let Some(address) = addresses.pop_front() {
            let failed = move |error| FailedAddress { address: Some(address), error };
            tries.push(TcpStream::connect(address).map_err(failed));
        }
        let outcome = if addresses.is_empty() {
            tries.next().await
        } else {
            match tokio::time::timeout(CONNECTION_ATTEMPT_DELAY, tries.next()).await {
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
        let stream = happy_eyeballs(VecDeque::from([closed, closed, open.1])).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), open.1);
        let error = happy_eyeballs(VecDeque::from([closed, closed])).await.unwrap_err();
        assert_eq!(error.to_string(), format!("{closed} refused the connection"));
        let refused = TransportError::ConnectionRefused { host: "a.example".to_owned(), address: closed };
        assert_eq!(error.into_error("a.example"), refused);
    }

    #[test]
    fn faults_of_this_machine_are_told_apart() {
        let of = |errno| {
            let error = io::Error::from_raw_os_error(errno);
            FailedAddress { address: Some(([203, 0, 113, 7], 443).into()), error }.into_error("a.example")
        };
        for errno in [EMFILE, ENFILE, 101, 100, 99] {
            assert!(matches!(of(errno), TransportError::LocalFault { .. }), "{errno}");
        }
        let unreachable = "could not connect to a.example: Network is unreachable (os error 101) (203.0.113.7:443)";
        assert_eq!(of(101).to_string(), unreachable);
        assert!(matches!(of(113), TransportError::Connect { .. }), "no route to the host");
    }

    #[tokio::test]
    async fn an_address_that_does_not_respond_only_delays_the_next_one() {
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
        let stream = happy_eyeballs(VecDeque::from([address, next])).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), next);
    }
}
