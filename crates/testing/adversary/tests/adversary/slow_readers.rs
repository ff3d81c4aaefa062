//! Clients that read no responses, or that open an unlimited number of connections.

use std::net::{IpAddr, SocketAddr};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream, UdpSocket};

use crate::support::{Running, WAIT_MAX, peak_memory_mib};

/// Clients that send requests and read nothing.
const CLIENTS: usize = 100;
/// Requests that each client sends. The response has about 300 kB.
const REQUESTS: usize = 200;
const MEMORY_MIB_MAX: u64 = 400;
const HEALTH: &str = "GET /api/v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/// The response of the server until it closes the connection; empty if it accepts none.
async fn ask(address: SocketAddr, from: IpAddr) -> String {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    let Ok(mut stream) = socket.connect(address).await else { return String::new() };
    let (mut text, _) = (Vec::new(), stream.write_all(HEALTH.as_bytes()).await);
    let _ = stream.read_to_end(&mut text).await;
    String::from_utf8_lossy(&text).into_owned()
}

/// An address of this machine that is not loopback.
async fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    // Choosing a route sends nothing.
    socket.connect("192.0.2.1:9").await.ok()?;
    Some(socket.local_addr().unwrap().ip()).filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_reads_nothing_is_disconnected_and_costs_a_bounded_amount() {
    let running = Running::new(&[]).await;
    let pipelined = "GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(REQUESTS);
    let address = running.launch.platform;
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let pipelined = pipelined.clone();
            tokio::spawn(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                while stream.write_all(pipelined.as_bytes()).await.is_ok() {}
            })
        })
        .collect();
    assert!(
        ask(address, "127.0.0.1".parse().unwrap()).await.starts_with("HTTP/1.1 200"),
        "the server does not serve other clients"
    );
    let all = async {
        for client in clients {
            client.await.unwrap();
        }
    };
    tokio::time::timeout(WAIT_MAX, all).await.expect("a client that reads nothing keeps its connection");
    let memory = peak_memory_mib(running.server.id());
    println!("slow_readers: {CLIENTS} clients that read nothing disconnected, peak of {memory} MiB");
    assert!(memory < MEMORY_MIB_MAX, "{memory} MiB");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_of_one_address_are_bounded_and_others_are_served() {
    let Some(ip) = own_address().await else {
        println!("slow_readers: this machine has no address but loopback");
        return;
    };
    let data = tempfile::tempdir().unwrap();
    let launch = crate::support::launch(data.path()).set("CONNECTIONS_PER_ADDRESS", "5");
    let limited = Running::of(launch, data).await;
    let mut held = Vec::new();
    for _ in 0..5 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((ip, 0).into()).unwrap();
        let mut stream = socket.connect(limited.launch.platform).await.unwrap();
        // A response shows that the server has accepted the connection.
        stream.write_all(b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        stream.readable().await.unwrap();
        held.push(stream);
    }
    for _ in 0..5 {
        assert_eq!(ask(limited.launch.platform, ip).await, "", "a sixth connection is served");
    }
    assert!(ask(limited.launch.platform, "127.0.0.1".parse().unwrap()).await.starts_with("HTTP/1.1 200"));
    let subnet = format!("{ip}/32");
    let limited = limited.restarted(&[("PLATFORM__TRUSTED_PROXIES", &subnet)]).await;
    for _ in 0..10 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((ip, 0).into()).unwrap();
        held.push(socket.connect(limited.launch.platform).await.unwrap());
    }
    assert!(ask(limited.launch.platform, ip).await.starts_with("HTTP/1.1 200"), "a trusted proxy is limited");
}
