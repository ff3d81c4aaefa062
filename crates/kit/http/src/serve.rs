//! Serves a surface over HTTP/1.1 and HTTP/2, with or without TLS, with limits and a graceful shutdown.
//!
//! The binary calls it once for each listener. Guarantees: a client that sends or reads slowly holds a connection no
//! longer than the [`Limits`] allow; one address holds no more connections than they allow; when [`serve`] returns, no
//! connection is open.

use std::future::Future;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ipnet::{IpNet, Ipv4Net};
use kit_runtime::log_throttle::LogThrottle;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::Surface;
use crate::connection::ConnectionServer;
use crate::connections_per_address::ConnectionsPerAddress;
use crate::tls::{self, Certificates};

/// Pause after a failed accept. The usual cause is that the process has no file descriptor left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Limits of a server.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections at the same time; further ones wait to be accepted.
    pub connections_max: usize,
    /// Connections of one IPv4 address, or of one IPv6 network (/64), at the same time; further ones are closed.
    pub connections_per_address_max: usize,
    /// Networks without a limit for each address, such as those of trusted proxies. The server's own address has none
    /// either.
    pub unlimited_networks: Vec<IpNet>,
    /// Time in which a request's line and headers have to arrive, and a TLS handshake has to end.
    pub header_read_timeout: Duration,
    /// Time in which the next part of a request's body has to arrive.
    pub body_idle_timeout: Duration,
    /// Time in which the whole body of a request has to arrive.
    pub body_timeout: Duration,
    /// Time in which the client has to take the next part of a response.
    pub write_timeout: Duration,
    /// Time without a request after which an HTTP/2 connection is closed.
    pub http2_idle_timeout: Duration,
    /// Bytes of a request's line and headers.
    pub header_bytes_max: usize,
    /// Time for which the server delays a response to read the small rest of a body that the handler did not read.
    pub discard_timeout: Duration,
    /// Time for which the server keeps a connection open after its last response, if the client is still sending.
    pub linger: Duration,
    /// Time that requests in flight have to finish after `stop`; then the server closes their connections.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections_max: 20_000,
            connections_per_address_max: CONNECTIONS_PER_ADDRESS_MAX,
            unlimited_networks: loopback_networks().to_vec(),
            header_read_timeout: Duration::from_secs(15),
            body_idle_timeout: Duration::from_secs(15),
            body_timeout: Duration::from_secs(15 * 60),
            write_timeout: Duration::from_secs(30),
            http2_idle_timeout: Duration::from_secs(60),
            header_bytes_max: 64 * 1024,
            discard_timeout: Duration::from_secs(1),
            linger: Duration::from_secs(5),
            drain: Duration::from_secs(20),
        }
    }
}

/// Default limit of the connections of one address.
pub const CONNECTIONS_PER_ADDRESS_MAX: usize = 256;

/// The networks of the loopback interface, through which a node calls itself.
pub fn loopback_networks() -> [IpNet; 2] {
    let v4 = Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8);
    [v4.into(), IpAddr::from(Ipv6Addr::LOCALHOST).into()]
}

/// A socket that accepts connections.
pub struct Port {
    /// The socket.
    pub listener: TcpListener,
    /// The certificates; none without TLS.
    pub certificates: Option<Arc<Certificates>>,
}

impl From<TcpListener> for Port {
    /// A port without TLS.
    fn from(listener: TcpListener) -> Self {
        Self { listener, certificates: None }
    }
}

/// Serves until `stop` resolves. Then it accepts nothing more, lets the requests in flight finish, and closes the
/// connections that are left at the end of [`Limits::drain`].
pub async fn serve(port: impl Into<Port>, surface: Surface, stop: impl Future<Output = ()>, limits: Limits) {
    let Port { listener, certificates } = port.into();
    let acceptor = certificates.map(|certificates| certificates.acceptor());
    let per_address = ConnectionsPerAddress::new(limits.connections_per_address_max, limits.unlimited_networks.clone());
    let server = Arc::new(ConnectionServer::new(surface, limits));
    let (limits, stopping) = (server.limits(), CancellationToken::new());
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept(), if connections.len() < limits.connections_max => accepted,
            Some(_) = connections.join_next() => continue,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let own = stream.local_addr().ok().map(|own| own.ip());
                let Some(counted) = per_address.admit(peer.ip(), own) else {
                    log_refused(peer.ip());
                    continue;
                };
                let _ = stream.set_nodelay(true);
                let (server, acceptor, stopping) = (Arc::clone(&server), acceptor.clone(), stopping.clone());
                connections.spawn(async move {
                    match acceptor {
                        None => server.serve(stream, peer.ip(), stopping).await,
                        Some(acceptor) => {
                            let time_max = server.limits().header_read_timeout;
                            let handshake = tls::accept(&acceptor, stream, time_max);
                            if let Some(Some(stream)) = stopping.run_until_cancelled(handshake).await {
                                server.serve(stream, peer.ip(), stopping).await;
                            }
                        }
                    }
                    drop(counted);
                });
            }
            Err(error) if is_of_the_connection(&error) => {}
            Err(error) => {
                log_accept_error(&error);
                if tokio::time::timeout(ACCEPT_PAUSE, &mut stop).await.is_ok() {
                    break;
                }
            }
        }
    }
    drop(listener);
    stopping.cancel();
    let drained = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(limits.drain, drained).await.is_err() {
        tracing::warn!("the server closed connections whose requests did not finish within the drain time");
    }
    connections.shutdown().await;
}

/// Whether an accept failed because the client closed the connection before it was accepted.
fn is_of_the_connection(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused)
}

fn log_accept_error(error: &std::io::Error) {
    static THROTTLE: LogThrottle = LogThrottle::new();
    if let Some(suppressed) = THROTTLE.allow() {
        tracing::error!(
            %error,
            suppressed,
            "the server can't accept connections and tries again; if it has too many open files, raise the limit of \
             the process (ulimit -n, LimitNOFILE)"
        );
    }
}

fn log_refused(address: IpAddr) {
    static THROTTLE: LogThrottle = LogThrottle::new();
    if let Some(suppressed) = THROTTLE.allow() {
        tracing::warn!(
            %address,
            suppressed,
            "the server closed a connection, because its address has too many; for a reverse proxy, list its network \
             in trusted_proxies"
        );
    }
}
