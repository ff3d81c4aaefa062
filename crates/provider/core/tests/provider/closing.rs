//! Receivers that close a kept-alive connection while the dispatcher sends the next request on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use provider_core::model::AttemptStatus;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::fixture::{Fixture, quick};

/// Answers the first request of each connection, and resets the connection when the second arrives.
async fn answer_once(mut stream: TcpStream, answered: Arc<AtomicUsize>) {
    let mut request = Vec::new();
    while !request.windows(4).any(|window| window == b"\r\n\r\n") || !request.ends_with(b"}") {
        let Ok(1..) = stream.read_buf(&mut request).await else { return };
    }
    answered.fetch_add(1, Ordering::SeqCst);
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    // The operating system sends a reset when a socket with unread bytes is closed.
    let _ = stream.peek(&mut [0]).await;
}

#[tokio::test]
async fn a_stale_keep_alive_connection_is_retried_without_a_failed_attempt() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answered = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&answered);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer_once(stream, Arc::clone(&count)));
        }
    });
    let fixture = Fixture::new(quick()).await;
    fixture.endpoint(&format!("http://{address}/hook")).await;
    for sent in 1..=6 {
        let message = fixture.send().await;
        let attempts = fixture.attempts(&message, 1).await;
        assert_eq!(attempts[0].status, AttemptStatus::Success, "{sent}: {}", attempts[0].response);
        assert_eq!(
            (attempts.len(), answered.load(Ordering::SeqCst)),
            (1, sent),
            "one attempt and one request for each message"
        );
        let times = attempts[0].times.unwrap();
        assert_eq!((times.sent_twice, times.reused_connection()), (sent > 1, false), "{sent}: {times:?}");
    }
}
