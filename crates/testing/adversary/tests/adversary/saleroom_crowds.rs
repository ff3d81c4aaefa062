//! A room full of telephones behind one address, beside visitors who send too much or too slowly.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::raw::exchange;
use crate::salerooms::Salerooms;
use crate::support::WAIT_MAX;

/// Telephones on the Wi-Fi of a saleroom.
const PHONES: usize = 300;
/// Forms of which only a part is sent.
const FORMS: usize = 200;
const PART_BYTES: usize = 100_000;
/// The one address of the room, as the proxy says.
const ROOM: &str = "X-Forwarded-For: 203.0.113.9\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn three_hundred_phones_of_one_address_are_served_beside_half_sent_forms() {
    let settings = [("PLATFORM__TRUSTED_PROXIES", "127.0.0.0/8"), ("REQUEST_BODIES_MIB", "16")];
    let salerooms = Salerooms::open(&settings).await;
    let (sale, lot) = salerooms.sale(0).await;
    let mut open = Vec::new();
    for number in 0..FORMS {
        let path = ["/hartley/sign-in", "/hartley/sign-up", "/hartley/token", "/colours"][number % 4];
        let mut stream = TcpStream::connect(salerooms.port).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\n{ROOM}Origin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n{PART_BYTES:x}\r\n",
            host = salerooms.host
        );
        let _ = stream.write_all(head.as_bytes()).await;
        let _ = stream.write_all(&vec![b'a'; PART_BYTES]).await;
        open.push(stream);
    }
    // Each phone reads the catalogue and follows the lot, all at the same time.
    let phones = (0..PHONES).map(|_| {
        let (address, host, sale, lot) = (salerooms.port, salerooms.host.clone(), sale.clone(), lot.clone());
        tokio::spawn(async move {
            let page = format!("GET {sale} HTTP/1.1\r\nHost: {host}\r\n{ROOM}Connection: close\r\n\r\n");
            let page = exchange(address, page.as_bytes()).await;
            assert!(page.starts_with("HTTP/1.1 200"), "{page}");
            let mut stream = TcpStream::connect(address).await.unwrap();
            let follow = format!("GET {lot}/live HTTP/1.1\r\nHost: {host}\r\n{ROOM}\r\n");
            stream.write_all(follow.as_bytes()).await.unwrap();
            let mut head = Vec::new();
            while !head.windows(4).any(|four| four == b"\r\n\r\n") && stream.read_buf(&mut head).await.unwrap() > 0 {}
            assert!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
            stream
        })
    });
    let phones: Vec<_> = phones.collect();
    let mut streams = Vec::new();
    for phone in phones {
        streams.push(tokio::time::timeout(WAIT_MAX, phone).await.expect("a phone waits").unwrap());
    }
    assert_eq!(streams.len(), PHONES);
    println!("saleroom_crowds: {PHONES} phones of one address served beside {FORMS} half-sent forms");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_too_large_is_refused_by_its_head() {
    let salerooms = Salerooms::open(&[]).await;
    let host = &salerooms.host;
    let forms =
        ["/hartley/sign-in", "/hartley/sign-up", "/hartley/sign-up/account", "/hartley/token", "/hartley/revoke"];
    for path in forms {
        for (bytes, is_refused) in [(9_000, true), (2_000_000, true), (1_000, false)] {
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n\
                 Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {bytes}\r\n\r\n"
            );
            let answer = exchange(salerooms.port, &[head.into_bytes(), vec![b'a'; bytes]].concat()).await;
            assert_eq!(answer.starts_with("HTTP/1.1 413"), is_refused, "{path} {bytes}: {answer}");
            assert!(answer.starts_with("HTTP/1.1 4"), "{path} {bytes}: {answer}");
        }
    }
    let long = "a".repeat(70_000);
    for request in [
        format!("GET /hartley/{long} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"),
        format!("GET /hartley HTTP/1.1\r\nHost: {host}\r\nCookie: a={long}\r\nConnection: close\r\n\r\n"),
        format!("GET /hartley HTTP/1.1\r\nHost: {host}\r\n{}Connection: close\r\n\r\n", "A: b\r\n".repeat(5_000)),
    ] {
        let answer = exchange(salerooms.port, request.as_bytes()).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{}", &answer[..answer.len().min(200)]);
    }
    println!("saleroom_crowds: {} oversized requests refused", 2 * forms.len() + 3);
}
