//! Interim responses (1xx) before the final response.

use super::*;

const HINTS: &[u8] = b"HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n";

#[tokio::test]
async fn a_server_that_sends_interim_responses_without_end_is_left() {
    let long_hints = format!("HTTP/1.1 103 Early Hints\r\nlink: <{}>\r\n\r\n", "a".repeat(30_000)).into_bytes();
    for (interim, error) in [(HINTS.to_vec(), "invalid"), (long_hints, "header_too_large")] {
        let (ended, mut hung_up) = mpsc::unbounded_channel();
        let (address, _) = server(move |mut stream| {
            let (ended, interim) = (ended.clone(), interim.clone());
            async move {
                read_head(&mut stream).await;
                while stream.write_all(&interim).await.is_ok() {}
                ended.send(()).unwrap();
            }
        })
        .await;
        let outcome = client(AddressPolicy::any()).send(get(format_args!("http://{address}/"))).await;
        assert_eq!(outcome.unwrap_err().code(), error);
        // The client has closed the connection, so the server's next write fails.
        hung_up.recv().await.unwrap();
    }
}

#[tokio::test]
async fn some_interim_responses_are_skipped_and_the_connection_is_reused() {
    let (address, taken) = server(|mut stream| async move {
        while !read_head(&mut stream).await.is_empty() {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
            for _ in 0..5 {
                stream.write_all(HINTS).await.unwrap();
            }
            stream.write_all(OK).await.unwrap();
        }
    })
    .await;
    let client = client(AddressPolicy::any());
    for _ in 0..10 {
        assert_eq!(client.send(get(format_args!("http://{address}/"))).await.unwrap().body, "ok");
    }
    assert_eq!(taken.load(Ordering::SeqCst), 1);
}
