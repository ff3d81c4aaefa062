//! Responses that begin before the request has been written completely, or at all.

use tokio::sync::Notify;

use super::*;
use crate::exchange::PreparedRequest;
use crate::stream::Stream;
use crate::time_limit::TimeLimit;

/// More than the socket buffers of both sides hold.
const LARGE: usize = 20_000_000;

fn large(address: SocketAddr) -> Request {
    Request { method: Method::POST, body: Bytes::from(vec![b'x'; LARGE]), ..get(format_args!("http://{address}/")) }
}

#[tokio::test]
async fn a_server_that_responds_early_still_gets_the_whole_request() {
    let (read, mut received) = mpsc::unbounded_channel();
    let (address, taken) = server(move |mut stream| {
        let read = read.clone();
        async move {
            while !read_head(&mut stream).await.is_empty() {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n").await.unwrap();
                let mut body = vec![0; LARGE];
                stream.read_exact(&mut body).await.unwrap();
                read.send(body.iter().all(|byte| *byte == b'x')).unwrap();
                stream.write_all(b"ok").await.unwrap();
            }
        }
    })
    .await;
    let client = client(AddressPolicy::any());
    for _ in 0..2 {
        assert_eq!(client.send(large(address)).await.unwrap().body, "ok");
        assert!(received.recv().await.unwrap());
    }
    assert_eq!(taken.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_response_before_the_whole_request_is_read_closes_the_connection() {
    let (ended, mut hung_up) = mpsc::unbounded_channel();
    let responded = Arc::new(Notify::new());
    let (address, taken) = server({
        let responded = responded.clone();
        move |mut stream| {
            let (ended, responded) = (ended.clone(), responded.clone());
            async move {
                read_head(&mut stream).await;
                stream.write_all(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno").await.unwrap();
                // Once the client has the response, it sends no more than what is already in the socket buffers.
                responded.notified().await;
                let mut rest = Vec::new();
                let _ = stream.read_to_end(&mut rest).await;
                ended.send(rest.len() < LARGE).unwrap();
            }
        }
    })
    .await;
    let client = client(AddressPolicy::any());
    for connections in 1..=2 {
        let response = client.send(large(address)).await.unwrap();
        assert_eq!((response.status.as_u16(), &response.body[..]), (413, &b"no"[..]));
        responded.notify_one();
        // The rest of the request is not sent as part of the next one.
        assert!(hung_up.recv().await.unwrap());
        assert_eq!(taken.load(Ordering::SeqCst), connections);
    }
}

#[tokio::test]
async fn an_early_response_is_returned_although_the_server_reads_no_more() {
    let (address, _) = server(|mut stream| async move {
        read_head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno").await.unwrap();
        // Dropping the stream with unread bytes resets the connection.
    })
    .await;
    let response = client(AddressPolicy::any()).send(large(address)).await.unwrap();
    assert_eq!((response.status.as_u16(), &response.body[..]), (413, &b"no"[..]));
}

/// A connection on which the server has already written these bytes.
async fn connection_after(bytes: &'static [u8]) -> Connection {
    let (address, _) = server(move |mut stream| async move {
        stream.write_all(bytes).await.unwrap();
        while !read_head(&mut stream).await.is_empty() {}
    })
    .await;
    let stream = TcpStream::connect(address).await.unwrap();
    stream.readable().await.unwrap();
    Connection::new(Stream::Tcp(stream), 8 * 1024).await.unwrap()
}

fn limit() -> TimeLimit {
    TimeLimit::since(tokio::time::Instant::now(), DEADLINE)
}

fn prepared() -> PreparedRequest {
    let to: Destination = "http://host/".parse().unwrap();
    PreparedRequest::new(Method::POST, &to, Headers::default(), Bytes::from_static(b"body")).unwrap()
}

#[tokio::test]
async fn a_new_connection_may_have_its_response_before_the_request() {
    let mut connection = connection_after(b"HTTP/1.1 503 Too busy\r\ncontent-length: 2\r\n\r\nno").await;
    let response = connection.exchange(&prepared(), 9, limit(), &mut PhaseTimer::default()).await.ok().unwrap();
    assert_eq!((response.status.as_u16(), &response.body[..]), (503, &b"no"[..]));
    let mut connection = connection_after(b"SSH-2.0-OpenSSH_9.6\r\n").await;
    let outcome = connection.exchange(&prepared(), 9, limit(), &mut PhaseTimer::default()).await;
    let beginning = "SSH-2.0-OpenSSH_9.6\\r\\n".to_owned();
    assert!(matches!(outcome, Err(ExchangeError::Transport(error)) if error == TransportError::NotHttp { beginning }));
}

/// They could be the response that another request was to have.
#[tokio::test]
async fn bytes_on_a_pooled_connection_are_not_the_response_to_the_next_request() {
    let (request_was_answered, bytes_follow) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (address, _) = server({
        let (answered, follow) = (request_was_answered.clone(), bytes_follow.clone());
        move |mut stream| {
            let (answered, follow) = (answered.clone(), follow.clone());
            async move {
                read_head(&mut stream).await;
                stream.write_all(OK).await.unwrap();
                answered.notified().await;
                stream.write_all(OK).await.unwrap();
                follow.notify_one();
                while !read_head(&mut stream).await.is_empty() {}
            }
        }
    })
    .await;
    let stream = TcpStream::connect(address).await.unwrap();
    let mut connection = Connection::new(Stream::Tcp(stream), 8 * 1024).await.unwrap();
    assert!(
        connection.exchange(&prepared(), 9, limit(), &mut PhaseTimer::default()).await.is_ok()
            && connection.is_reusable()
    );
    request_was_answered.notify_one();
    bytes_follow.notified().await;
    settle().await;
    // As if they arrived after the pool had checked the connection.
    assert!(matches!(
        connection.exchange(&prepared(), 9, limit(), &mut PhaseTimer::default()).await,
        Err(ExchangeError::Unsent(_))
    ));
}

/// The client closes such a connection at once, and does not pool it until the next request or the idle timeout.
#[tokio::test]
async fn a_connection_that_the_response_ends_is_not_pooled() {
    for (answer, is_reusable) in [
        (OK, true),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n", false),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok", false),
        (b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n", false),
    ] {
        let mut connection = connection_after(answer).await;
        assert!(
            connection.exchange(&prepared(), 9, limit(), &mut PhaseTimer::default()).await.is_ok(),
            "{}",
            answer.escape_ascii()
        );
        assert_eq!(connection.is_reusable(), is_reusable, "{}", answer.escape_ascii());
    }
}
