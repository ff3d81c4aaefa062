//! A server on a real port.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::{get, post};
use kit_http::serve::{Limits, Port, serve};
use kit_http::tls::Certificates;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// A timeout that a test waits for.
pub(crate) const SHORT: Duration = Duration::from_millis(200);
/// A time that no test should need.
pub(crate) const LONG: Duration = Duration::from_secs(60);
/// Bytes of the response of `/large`: more than the buffers of two sockets.
pub(crate) const LARGE_BYTES: usize = 64 * 1024 * 1024;

pub(crate) struct Server {
    pub(crate) listener_addr: SocketAddr,
    pub(crate) stop: oneshot::Sender<()>,
    pub(crate) ended: JoinHandle<()>,
    /// A sender for each request to `/slow` in flight, which lets it finish.
    pub(crate) begun: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
    /// One entry for each response of `/large` that the server has sent or dropped.
    pub(crate) freed: mpsc::UnboundedReceiver<()>,
}

/// A body that reports when the server frees it.
struct LargeBody {
    bytes: Vec<u8>,
    freed: mpsc::UnboundedSender<()>,
}

impl AsRef<[u8]> for LargeBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for LargeBody {
    fn drop(&mut self) {
        _ = self.freed.send(());
    }
}

impl Server {
    pub(crate) async fn start(limits: Limits) -> Self {
        Self::start_with(None, limits).await
    }

    /// With TLS, if there are certificates.
    pub(crate) async fn start_with(certificates: Option<Arc<Certificates>>, limits: Limits) -> Self {
        let (begin, begun) = mpsc::unbounded_channel();
        let (free, freed) = mpsc::unbounded_channel();
        let slow = async move || {
            let (go_on, wait) = oneshot::channel();
            begin.send(go_on).unwrap();
            let _ = wait.await;
            "done"
        };
        let large = async move || Bytes::from_owner(LargeBody { bytes: vec![0; LARGE_BYTES], freed: free.clone() });
        let router = Router::new()
            .route("/", get(async || "ok"))
            .route("/length", post(async |body: Bytes| body.len().to_string()))
            .route("/slow", get(slow))
            .route("/large", get(large));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listener_addr = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async { drop(stopped.await) };
        let port = Port { listener, certificates };
        let ended = tokio::spawn(serve(port, kit_http::finish(router), stopped, limits));
        Server { listener_addr, stop, ended, begun, freed }
    }

    /// A connection on which the client has sent this text.
    pub(crate) async fn connect(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.listener_addr).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    /// Everything that a client at this address gets for a request.
    pub(crate) async fn ask_from(&self, address: [u8; 4], text: &str) -> String {
        let mut stream = self.connect_from(address).await;
        // The server may have closed the connection already.
        _ = stream.write_all(text.as_bytes()).await;
        rest(stream).await
    }

    /// A connection from another address of the loopback interface.
    pub(crate) async fn connect_from(&self, address: [u8; 4]) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((Ipv4Addr::from(address), 0).into()).unwrap();
        socket.connect(self.listener_addr).await.unwrap()
    }
}

/// Everything that the server sends until it closes the connection.
pub(crate) async fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(LONG, stream.read_to_end(&mut bytes)).await.expect("the connection is not closed");
    // The connection may also end with a reset.
    let _ = read;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The next response with a `Content-Length` on a connection that stays open.
pub(crate) async fn next_response(stream: &mut TcpStream) -> String {
    let read = async {
        let mut bytes = Vec::new();
        loop {
            bytes.push(stream.read_u8().await.expect("the connection is closed"));
            let text = String::from_utf8_lossy(&bytes);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text.into_owned();
            }
        }
    };
    tokio::time::timeout(LONG, read).await.expect("no response")
}
