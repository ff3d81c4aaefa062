//! The graceful shutdown.

use kit_http::serve::Limits;
use tokio::net::TcpStream;

use crate::fixture::{LONG, SHORT, Server, rest};

#[tokio::test]
async fn a_request_in_flight_at_shutdown_finishes() {
    let mut server = Server::start(Limits::default()).await;
    let stream = server.connect("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let go_on = server.begun.recv().await.unwrap();
    server.stop.send(()).unwrap();
    // A refused connection shows that the drain has begun.
    while TcpStream::connect(server.listener_addr).await.is_ok() {
        tokio::task::yield_now().await;
    }
    go_on.send(()).unwrap();
    assert!(rest(stream).await.ends_with("done"));
    tokio::time::timeout(LONG, server.ended).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_request_in_flight_at_the_end_of_the_drain_is_cancelled() {
    let mut server = Server::start(Limits { drain: SHORT, ..Limits::default() }).await;
    let stream = server.connect("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let go_on = server.begun.recv().await.unwrap();
    server.stop.send(()).unwrap();
    tokio::time::timeout(LONG, server.ended).await.unwrap().unwrap();
    assert!(go_on.is_closed(), "the handler was still running when serve returned");
    assert_eq!(rest(stream).await, "");
}
