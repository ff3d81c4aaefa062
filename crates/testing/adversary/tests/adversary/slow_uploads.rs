//! Clients that do not finish their requests.

use tokio::io::AsyncReadExt as _;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::support::{Account, Running, WAIT_MAX};

/// The beginnings of requests that are never completed.
const BEGINNINGS: &[&str] = &[
    "",
    "GE",
    "GET / HTTP/1.1\r\nHost: x\r\nX-A: ",
    "PRI * HT",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x04\x01\0",
    "POST /api/v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{",
    "POST /api/v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_finish_its_request_is_disconnected() {
    let (running, salerooms) = Running::with_salerooms(&[]).await;
    let mut clients = Vec::new();
    for address in [running.launch.platform, running.launch.provider, salerooms] {
        for beginning in BEGINNINGS {
            clients.push(tokio::spawn(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(beginning.as_bytes()).await.unwrap();
                let mut answer = Vec::new();
                let reading = stream.read_to_end(&mut answer);
                assert!(tokio::time::timeout(WAIT_MAX, reading).await.is_ok(), "{beginning:?} keeps its connection");
                assert!(!answer.starts_with(b"HTTP/1.1 2"), "{beginning:?}");
            }));
        }
    }
    for client in clients {
        client.await.unwrap();
    }
    println!("slow_uploads: {} unfinished requests disconnected", 3 * BEGINNINGS.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_with_a_key_who_stops_within_a_body_is_disconnected_after_the_pause_limit() {
    let running = Running::new(&[]).await;
    let account = Account::new(&running, "slow").await;
    let head = format!("POST {} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n", account.path("msg"), account.key);
    let begun = ["Content-Length: 90\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n9\r\n{"];
    let clients = begun.map(|rest| {
        let request = format!("{head}Content-Type: application/json\r\n{rest}");
        tokio::spawn(async move {
            let mut stream = TcpStream::connect(running.launch.provider).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            // A whole upload may take 15 minutes, so only the limit on a pause within a body can end the connection in this time.
            let reading = stream.read_to_end(&mut answer);
            assert!(tokio::time::timeout(WAIT_MAX, reading).await.is_ok(), "{request} keeps its connection");
            assert!(!answer.starts_with(b"HTTP/1.1 2"), "{request}");
        })
    });
    for client in clients {
        client.await.unwrap();
    }
}
