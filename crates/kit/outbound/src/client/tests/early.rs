//! Responses that begin before the request has been written completely.

use tokio::sync::Notify;

use super::*;

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
