//! A server whose responses a test writes byte by byte.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Maximum size of a request.
const REQUEST_BYTES_MAX: usize = 1 << 20;

/// Serves every connection with `handle` until the test ends. Connections are numbered from 0.
pub async fn serve<F>(handle: impl Fn(TcpStream, usize) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    serve_at("127.0.0.1", handle).await
}

/// As [`serve`], on this IP address.
pub async fn serve_at<F>(ip: &str, handle: impl Fn(TcpStream, usize) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind((ip, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut number = 0;
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(handle(stream, number));
            number += 1;
        }
    });
    address
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Request {
    pub head: String,
    pub body: Vec<u8>,
}

impl Request {
    /// The path with its query.
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

/// Reads a request with a `Content-Length`; none when the connection ends.
pub async fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if bytes.len() > REQUEST_BYTES_MAX || stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut request = Request { head, body: bytes.split_off(end) };
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while request.body.len() < length {
        if stream.read_buf(&mut request.body).await.ok()? == 0 {
            return None;
        }
    }
    Some(request)
}

/// Answers each request with the result of `answer`, on persistent connections.
pub async fn serve_answers(answer: impl Fn(&Request) -> Vec<u8> + Clone + Send + Sync + 'static) -> SocketAddr {
    serve(move |mut stream, _| {
        let answer = answer.clone();
        async move {
            while let Some(request) = read_request(&mut stream).await {
                if stream.write_all(&answer(&request)).await.is_err() {
                    return;
                }
            }
        }
    })
    .await
}

/// A whole response.
pub fn response(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Sends these bytes to a server, and reads until it closes the connection.
pub async fn exchange(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let _ = stream.write_all(bytes).await;
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text).await;
    String::from_utf8_lossy(&text).into_owned()
}
