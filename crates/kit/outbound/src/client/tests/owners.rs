//! Requests of different owners to the same server.

use http::Uri;

use super::*;

/// Starts a server that is one response behind: it answers each request of a connection with the path of the request
/// before it, and the first request with its own path.
async fn answering_late() -> (SocketAddr, Arc<AtomicUsize>) {
    server(|mut stream| async move {
        let mut late = None;
        loop {
            let head = String::from_utf8(read_head(&mut stream).await).unwrap();
            let Some(path) = head.split(' ').nth(1).map(str::to_owned) else { return };
            let told = late.replace(path.clone()).unwrap_or(path);
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{told}", told.len());
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    })
    .await
}

fn get_for(address: SocketAddr, owner: &str) -> Request {
    let uri: Uri = format!("http://{address}/{owner}").parse().unwrap();
    Request { to: Destination::new(uri, owner), ..get("http://unused.example/") }
}

#[tokio::test]
async fn an_owner_never_reads_a_response_that_a_server_left_for_another_owner() {
    let (address, taken) = answering_late().await;
    let client = client(AddressPolicy::any());
    for owner in ["one", "other", "third"] {
        let response = client.send(get_for(address, owner)).await.unwrap();
        assert_eq!(response.body, format!("/{owner}"), "this is the response of another owner");
        settle().await;
    }
    assert_eq!(taken.load(Ordering::SeqCst), 3, "each owner has a connection of its own");
}

#[tokio::test]
async fn requests_of_one_owner_share_a_connection() {
    let (address, taken) = answering(OK, usize::MAX).await;
    let client = client(AddressPolicy::any());
    for owner in ["one", "other", "one", "other", "one"] {
        client.send(get_for(address, owner)).await.unwrap();
        settle().await;
    }
    assert_eq!(taken.load(Ordering::SeqCst), 2);
}
