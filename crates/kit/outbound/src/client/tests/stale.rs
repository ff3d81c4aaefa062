//! Pooled connections that the server closes at the moment of reuse.

use super::*;

/// How a server handles the second request of a connection.
#[derive(Debug, Clone, Copy)]
enum OnSecondRequest {
    /// Reads the request, and closes the connection.
    Closes,
    /// Closes the connection with the request unread, which resets it.
    Resets,
    /// Sends this text, and closes the connection.
    Says(&'static str),
}

/// Starts a server that responds to the first request of each connection. The counters hold the connections and the
/// requests.
async fn answering_once(second: OnSecondRequest) -> (SocketAddr, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let read = Arc::new(AtomicUsize::new(0));
    let counter = read.clone();
    let (address, taken) = server(move |mut stream| {
        let read = counter.clone();
        async move {
            if read_head(&mut stream).await.is_empty() {
                return;
            }
            read.fetch_add(1, Ordering::SeqCst);
            stream.write_all(OK).await.unwrap();
            if matches!(second, OnSecondRequest::Resets) {
                stream.peek(&mut [0]).await.unwrap();
                return;
            }
            if read_head(&mut stream).await.is_empty() {
                return;
            }
            read.fetch_add(1, Ordering::SeqCst);
            if let OnSecondRequest::Says(words) = second {
                stream.write_all(words.as_bytes()).await.unwrap();
            }
        }
    })
    .await;
    (address, taken, read)
}

#[tokio::test]
async fn a_pooled_connection_that_ends_before_a_response_is_stale_and_an_idempotent_request_is_sent_again() {
    for (second, read_of_three) in [(OnSecondRequest::Closes, 3), (OnSecondRequest::Resets, 2)] {
        let (address, taken, read) = answering_once(second).await;
        let client = client(AddressPolicy::any());
        let address = format!("http://{address}/");
        client.send(get(&address)).await.unwrap();
        let response = client.send_idempotent(|| get(&address)).await.unwrap();
        assert_eq!(&response.body[..], b"ok");
        let counted = (taken.load(Ordering::SeqCst), read.load(Ordering::SeqCst));
        assert_eq!(counted, (2, read_of_three), "{second:?}");
        let error = client.send(get(&address)).await.unwrap_err();
        assert_eq!(
            (&error, error.code()),
            (&TransportError::Stale, "closed"),
            "{second:?}: a plain send does not \
        repeat the request"
        );
    }
}

#[tokio::test]
async fn a_request_is_not_repeated_after_a_byte_of_the_response() {
    for words in
        ["H", "HTTP/1.1 20", "HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfive!"]
    {
        let (address, taken, read) = answering_once(OnSecondRequest::Says(words)).await;
        let client = client(AddressPolicy::any());
        let address = format!("http://{address}/");
        client.send(get(&address)).await.unwrap();
        let outcome = client.send_idempotent(|| get(&address)).await;
        assert!(
            matches!(outcome.unwrap_err(), TransportError::ClosedEarly | TransportError::Incomplete { .. }),
            "{words}"
        );
        assert_eq!((taken.load(Ordering::SeqCst), read.load(Ordering::SeqCst)), (1, 2), "{words}");
    }
}

#[tokio::test]
async fn a_fresh_connection_that_ends_without_an_answer_is_a_failure() {
    let (address, taken) = answering(b"", 1).await;
    let address = format!("http://{address}/");
    let client = client(AddressPolicy::any());
    let outcome = client.send_idempotent(|| get(&address)).await;
    assert_eq!((outcome.unwrap_err(), taken.load(Ordering::SeqCst)), (TransportError::Closed, 1));
}

#[tokio::test]
async fn both_attempts_share_one_deadline_and_the_error_names_the_whole_of_it() {
    let (address, _) = server(|mut stream| async move { while !read_head(&mut stream).await.is_empty() {} }).await;
    let (began, spent) = (Instant::now(), DEADLINE - Duration::from_millis(40));
    let outcome = client(AddressPolicy::any()).send_fresh(get(format!("http://{address}/")), spent).await.outcome;
    assert_eq!(outcome.unwrap_err(), TransportError::Timeout { limit_ms: DEADLINE.as_millis() as u64 });
    assert!(began.elapsed() < DEADLINE / 2, "{:?}", began.elapsed());
}
