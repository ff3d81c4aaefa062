//! Limits of the number of connections.

use kit_http::serve::Limits;
use tokio::io::AsyncReadExt as _;

use crate::fixture::{LONG, SHORT, Server, rest};

const ONCE: &str = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn a_connection_over_the_limit_waits_until_another_closes() {
    let server = Server::start(Limits { connections_max: 1, ..Limits::default() }).await;
    let mut first = server.connect("GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let mut byte = [0];
    first.read_exact(&mut byte).await.unwrap();
    let mut second = server.connect("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert!(
        tokio::time::timeout(SHORT, second.read_exact(&mut byte)).await.is_err(),
        "the connection limit is not enforced"
    );
    drop(first);
    assert!(rest(second).await.contains("200 OK"));
}

#[tokio::test]
async fn an_address_with_too_many_connections_gets_no_more_and_others_do() {
    let limits = Limits { connections_per_address_max: 2, unlimited_networks: Vec::new(), ..Limits::default() };
    let server = Server::start(limits).await;
    let (client, other) = ([127, 0, 0, 2], [127, 0, 0, 3]);
    let open = [server.connect_from(client).await, server.connect_from(client).await];
    assert_eq!(server.ask_from(client, ONCE).await, "");
    assert!(server.ask_from(other, ONCE).await.contains("200 OK"));
    drop(open);
    let served = async { while !server.ask_from(client, ONCE).await.contains("200 OK") {} };
    tokio::time::timeout(LONG, served).await.expect("a closed connection still counts");
}

#[tokio::test]
async fn the_server_itself_and_unlimited_networks_have_no_limit_of_connections() {
    let unlimited = vec!["127.0.0.4/32".parse().unwrap()];
    let limits = Limits { connections_per_address_max: 0, unlimited_networks: unlimited, ..Limits::default() };
    let server = Server::start(limits).await;
    for (address, is_served) in [([127, 0, 0, 1], true), ([127, 0, 0, 4], true), ([127, 0, 0, 2], false)] {
        assert_eq!(server.ask_from(address, ONCE).await.contains("200 OK"), is_served, "{address:?}");
    }
}
