//! Tests of the client against local servers, most of them misbehaving.

mod early;
mod framing;
mod hostile;
mod interim;
mod owners;
mod phases;
mod proxy;
mod rebinding;
mod requests;
mod stale;
mod tls;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use http::HeaderName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Barrier, mpsc};

use super::*;
use crate::error::BodyFault;
use crate::headers::RESERVED_HEADERS;

const DEADLINE: Duration = Duration::from_secs(10);
const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// Starts a server on a free port that passes every connection to `serve`. The counter holds the number of connections.
async fn server<S, F>(serve: S) -> (SocketAddr, Arc<AtomicUsize>)
where
    S: Fn(TcpStream) -> F + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let taken = Arc::new(AtomicUsize::new(0));
    let counter = taken.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(serve(stream));
        }
    });
    (address, taken)
}

/// Starts a server that responds to every request with these bytes, and closes a connection after `requests_max`
/// requests.
async fn answering(answer: &'static [u8], requests_max: usize) -> (SocketAddr, Arc<AtomicUsize>) {
    server(move |mut stream| async move {
        for _ in 0..requests_max {
            if read_head(&mut stream).await.is_empty() || stream.write_all(answer).await.is_err() {
                return;
            }
        }
    })
    .await
}

/// Starts a server that responds only when `requests` of them are in flight, so that concurrent requests need as many
/// connections.
async fn answering_together(requests: usize) -> (SocketAddr, Arc<AtomicUsize>) {
    let barrier = Arc::new(Barrier::new(requests));
    server(move |mut stream| {
        let barrier = barrier.clone();
        async move {
            while !read_head(&mut stream).await.is_empty() {
                barrier.wait().await;
                stream.write_all(OK).await.unwrap();
            }
        }
    })
    .await
}

/// Reads to the empty line that ends the headers; nothing when the connection ends before.
async fn read_head(stream: &mut TcpStream) -> Vec<u8> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return Vec::new(),
        }
    }
    head
}

fn client(policy: AddressPolicy) -> Client {
    Client::new(ClientConfig { policy, ..ClientConfig::default() })
}

fn get(to: impl std::fmt::Display) -> Request {
    Request {
        method: Method::GET,
        to: to.to_string().parse().unwrap(),
        headers: Headers::default(),
        body: Bytes::new(),
        deadline: DEADLINE,
        response_bytes_max: 1_000,
    }
}

async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_request_is_sent_unchanged() {
    let (heads, mut received) = mpsc::unbounded_channel();
    let (address, _) = server(move |mut stream| {
        let heads = heads.clone();
        async move {
            let mut head = read_head(&mut stream).await;
            let mut body = [0; 4];
            stream.read_exact(&mut body).await.unwrap();
            head.extend_from_slice(&body);
            heads.send(String::from_utf8(head).unwrap()).unwrap();
            stream.write_all(OK).await.unwrap();
        }
    })
    .await;
    let mut request = get(format_args!("http://{address}/hooks/%7Ea?x=1&y=%20"));
    request.method = Method::POST;
    request.headers.add(&HeaderName::from_static("svix-id"), b"msg_1");
    request.headers.add(&HeaderName::from_static("x-odd"), b"a  b");
    request.body = Bytes::from_static(b"body");
    let response = client(AddressPolicy::any()).send(request).await.unwrap();
    assert_eq!((response.status, &response.body[..], response.truncated), (StatusCode::OK, &b"ok"[..], false));
    assert_eq!(
        received.recv().await.unwrap(),
        format!(
            "POST /hooks/%7Ea?x=1&y=%20 HTTP/1.1\r\nhost: {address}\r\nsvix-id: msg_1\r\nx-odd: a  b\r\n\
             content-length: 4\r\n\r\nbody"
        )
    );
}

#[tokio::test]
async fn an_endless_body_is_truncated_at_the_limit_and_the_connection_closed() {
    let (ended, mut hung_up) = mpsc::unbounded_channel();
    let (address, _) = server(move |mut stream| {
        let ended = ended.clone();
        async move {
            read_head(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await.unwrap();
            let chunk = [b"400\r\n".as_slice(), &[b'a'; 1024], b"\r\n"].concat();
            while stream.write_all(&chunk).await.is_ok() {}
            ended.send(()).unwrap();
        }
    })
    .await;
    let mut request = get(format_args!("http://{address}/"));
    request.response_bytes_max = 3_000;
    let response = client(AddressPolicy::any()).send(request).await.unwrap();
    assert!(response.truncated);
    assert_eq!(response.body, [b'a'; 3_000].as_slice());
    hung_up.recv().await.unwrap();
}

#[tokio::test]
async fn a_body_of_just_the_limit_is_whole() {
    let (address, _) = answering(OK, 9).await;
    let client = client(AddressPolicy::any());
    for (response_bytes_max, body, truncated) in [(2, "ok", false), (1, "o", true), (0, "", true)] {
        let request = Request { response_bytes_max, ..get(format_args!("http://{address}/")) };
        let response = client.send(request).await.unwrap();
        assert_eq!((&response.body[..], response.truncated), (body.as_bytes(), truncated));
    }
}

#[tokio::test]
async fn a_body_that_declares_more_than_the_limit_is_not_waited_for() {
    let (address, _) = answering(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nfive!", 9).await;
    let request = Request { response_bytes_max: 5, ..get(format_args!("http://{address}/")) };
    let response = client(AddressPolicy::any()).send(request).await.unwrap();
    assert_eq!((&response.body[..], response.truncated), (b"five!".as_slice(), true));
}

#[tokio::test]
async fn a_trickling_body_ends_at_the_deadline() {
    let (address, _) = server(|mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n").await;
        let mut pace = tokio::time::interval(Duration::from_millis(10));
        while stream.write_all(b"a").await.is_ok() {
            pace.tick().await;
        }
    })
    .await;
    let started = Instant::now();
    let request = Request { deadline: Duration::from_millis(100), ..get(format_args!("http://{address}/")) };
    let error = client(AddressPolicy::any()).send(request).await.unwrap_err();
    assert_eq!(error.to_string(), "the body of the response did not end within 100 ms");
    assert_eq!(error.code(), "timeout");
    let TransportError::Incomplete { response, .. } = error else { panic!("{error}") };
    assert!(response.status == StatusCode::OK && !response.body.is_empty(), "{response:?}");
    assert!(started.elapsed() >= Duration::from_millis(100));
}

#[tokio::test]
async fn a_server_that_never_responds_times_out_at_the_deadline() {
    let (ended, mut hung_up) = mpsc::unbounded_channel();
    let (address, _) = server(move |mut stream| {
        let ended = ended.clone();
        async move {
            read_head(&mut stream).await;
            assert!(read_head(&mut stream).await.is_empty());
            ended.send(()).unwrap();
        }
    })
    .await;
    let request = Request { deadline: Duration::from_millis(50), ..get(format_args!("http://{address}/")) };
    assert_eq!(client(AddressPolicy::any()).send(request).await.unwrap_err().code(), "timeout");
    hung_up.recv().await.unwrap();
}

#[tokio::test]
async fn the_headers_of_a_response_are_bounded() {
    let (address, _) = server(|mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nx-giant: ").await;
        while stream.write_all(&[b'a'; 4096]).await.is_ok() {}
    })
    .await;
    let error = client(AddressPolicy::any()).send(get(format_args!("http://{address}/"))).await.unwrap_err();
    assert_eq!(error, TransportError::HeaderTooLarge);
}

#[tokio::test]
async fn incomplete_and_malformed_responses_have_different_errors() {
    for (answer, code) in [
        (b"".as_slice(), "closed"),
        (b"HTTP/1.1 200 OK\r\ncontent-le", "closed"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfive!", "closed"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfive!", "closed"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "invalid"),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "invalid"),
    ] {
        let (address, _) = answering(answer, 1).await;
        let error = client(AddressPolicy::any()).send(get(format_args!("http://{address}/"))).await.unwrap_err();
        assert_eq!(error.code(), code, "{}", String::from_utf8_lossy(answer));
    }
}

#[tokio::test]
async fn a_redirect_is_returned_and_not_followed() {
    let (address, taken) =
        answering(b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", 9).await;
    let response = client(AddressPolicy::any()).send(get(format_args!("http://{address}/"))).await.unwrap();
    assert_eq!((response.status.as_u16(), taken.load(Ordering::SeqCst)), (302, 1));
}

#[tokio::test]
async fn requests_one_after_another_share_a_connection() {
    let (address, taken) = answering(OK, usize::MAX).await;
    let client = client(AddressPolicy::any());
    for _ in 0..20 {
        client.send(get(format_args!("http://{address}/"))).await.unwrap();
        settle().await;
    }
    assert_eq!(taken.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_connection_that_the_server_closed_while_idle_is_replaced() {
    let (address, taken) = answering(OK, 1).await;
    let client = client(AddressPolicy::any());
    for _ in 0..5 {
        client.send(get(format_args!("http://{address}/"))).await.unwrap();
        settle().await;
    }
    assert_eq!(taken.load(Ordering::SeqCst), 5);
}

#[tokio::test]
async fn an_idle_connection_is_closed_at_its_timeout() {
    let (ends, mut ended) = mpsc::unbounded_channel();
    let (address, _) = server(move |mut stream| {
        let ends = ends.clone();
        async move {
            while !read_head(&mut stream).await.is_empty() {
                stream.write_all(OK).await.unwrap();
            }
            ends.send(()).unwrap();
        }
    })
    .await;
    let idle_timeout = Duration::from_millis(20);
    let config = ClientConfig { policy: AddressPolicy::any(), idle_timeout, ..ClientConfig::default() };
    let client = Client::new(config);
    for _ in 0..2 {
        client.send(get(format_args!("http://{address}/"))).await.unwrap();
        // No further request is sent until then.
        tokio::time::timeout(DEADLINE, ended.recv()).await.unwrap();
    }
}

#[tokio::test]
async fn the_connections_of_concurrent_requests_to_one_host_are_reused() {
    const AT_A_TIME: usize = 200;
    let (address, taken) = answering_together(AT_A_TIME).await;
    let client = client(AddressPolicy::any());
    for _ in 0..3 {
        let requests = (0..AT_A_TIME).map(|_| client.send(get(format_args!("http://{address}/"))));
        assert!(futures_util::future::join_all(requests).await.iter().all(Result::is_ok));
    }
    let opened = taken.load(Ordering::SeqCst);
    assert!(opened <= AT_A_TIME, "{opened} connections for {AT_A_TIME} requests at a time");
}

#[tokio::test]
async fn no_more_idle_connections_are_kept_than_allowed() {
    let (address, taken) = answering_together(5).await;
    let config = ClientConfig { policy: AddressPolicy::any(), idle_per_host_max: 2, ..ClientConfig::default() };
    let client = Client::new(config);
    for opened in [5, 8] {
        let requests = (0..5).map(|_| client.send(get(format_args!("http://{address}/"))));
        assert!(futures_util::future::join_all(requests).await.iter().all(Result::is_ok));
        assert_eq!(taken.load(Ordering::SeqCst), opened);
    }
}

#[tokio::test]
async fn a_refused_address_never_sees_a_connection() {
    let (address, taken) = answering(OK, 9).await;
    let port = address.port();
    let strict = client(AddressPolicy::public_only(vec![]));
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "127.1", "0x7f000001", "0", "[::1]"] {
        let error = strict.send(get(format_args!("http://{host}:{port}/"))).await.unwrap_err();
        assert_eq!(error.code(), "refused_address", "{host}: {error}");
    }
    assert_eq!(taken.load(Ordering::SeqCst), 0);

    let allowing = client(AddressPolicy::public_only(vec!["127.0.0.0/8".parse().unwrap()]));
    for host in ["127.0.0.1", "localhost"] {
        allowing.send(get(format_args!("http://{host}:{port}/"))).await.unwrap();
    }
    assert_eq!(taken.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn an_unresolvable_and_an_unreachable_host_have_different_errors() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let impossible = format!("{}.invalid", "a".repeat(64));
    for (uri, code) in [(format!("http://{closed}/"), "connect"), (format!("http://{impossible}/"), "dns")] {
        let error = client(AddressPolicy::any()).send(get(&uri)).await.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
    }
}

#[tokio::test]
async fn an_ambiguous_request_is_not_sent() {
    let (address, taken) = answering(OK, 9).await;
    let client = client(AddressPolicy::any());
    for uri in [format!("http://user:password@{address}/"), "http://127.0.0.1:99999/".into(), "/only/a/path".into()] {
        assert_eq!(client.send(get(&uri)).await.unwrap_err().code(), "invalid", "{uri}");
    }
    for name in RESERVED_HEADERS {
        let mut request = get(format_args!("http://{address}/"));
        request.headers.add(&HeaderName::from_static(name), b"1");
        assert_eq!(client.send(request).await.unwrap_err().code(), "invalid", "{name}");
    }
    let request = Request { method: Method::CONNECT, ..get(format_args!("http://{address}/")) };
    assert_eq!(client.send(request).await.unwrap_err().code(), "invalid");
    assert_eq!(taken.load(Ordering::SeqCst), 0);
}

/// The system of such a server sends the body only after the head is acknowledged, and delayed acknowledgements take 40 ms.
/// The fastest response is compared, because a busy host can slow down some of them, and a delay affects all of them.
#[tokio::test]
async fn the_response_of_a_server_that_writes_head_and_body_separately_is_not_delayed() {
    let (address, taken) = server(|mut stream| async move {
        while !read_head(&mut stream).await.is_empty() {
            for part in [&b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"[..], b"ok"] {
                if stream.write_all(part).await.is_err() {
                    return;
                }
            }
        }
    })
    .await;
    let client = client(AddressPolicy::any());
    let mut durations = Vec::new();
    for _ in 0..60 {
        let started = Instant::now();
        assert_eq!(client.send(get(format!("http://{address}/"))).await.unwrap().body, "ok");
        durations.push(started.elapsed());
    }
    assert_eq!(taken.load(Ordering::SeqCst), 1);
    // The system acknowledges the first few responses of a connection without a delay.
    let fastest = durations[30..].iter().min().unwrap();
    assert!(*fastest < Duration::from_millis(30), "{durations:?}");
}
