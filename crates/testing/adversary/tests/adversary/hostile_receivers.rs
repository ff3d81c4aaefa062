//! Hostile receivers: the cost of each is bounded, and none delays a delivery to another endpoint.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::raw::{read_request, response, serve, serve_answers};
use crate::support::{Account, Running, peak_memory_mib, wait_until};

/// Maximum number of bytes that one receiver can send. The socket buffers of both ends add several MiB to the bytes read.
const PUSHED_BYTES_MAX: usize = 32 << 20;
/// Memory limit of the process while all receivers answer.
const MEMORY_MIB_MAX: u64 = 400;
/// Maximum number of characters of a response that an attempt shows.
const SHOWN_CHARS_MAX: usize = 20_000;

/// What a receiver does after it has read the request.
#[derive(Clone)]
enum Act {
    /// Sends this once, and closes the connection.
    Once(Vec<u8>),
    /// Sends this once, and leaves the connection open and silent.
    Silent(Vec<u8>),
    /// Sends the first text, then the second one without end.
    Endless(Vec<u8>, Vec<u8>),
    /// Sends the first text, then a byte of the second one every 100 ms without end.
    Drip(Vec<u8>, Vec<u8>),
}

/// The expected outcome of the attempt.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Expected {
    Delivered,
    Failed,
}

use Act::{Drip, Endless, Once, Silent};
use Expected::{Delivered, Failed};

fn text(text: &str) -> Vec<u8> {
    text.replace('\n', "\r\n").into_bytes()
}

#[rustfmt::skip]
fn receivers() -> Vec<(&'static str, Act, Expected)> {
    let ok = "HTTP/1.1 200 OK\n";
    let with = |rest: &str| text(&format!("{ok}{rest}"));
    let zeros = vec![b'0'; 64 << 10];
    let gzip_bomb = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &[0xec; 4_000]].concat();
    let gzip = |encoding: &str| [with(&format!("content-encoding: {encoding}\ncontent-length: {}\n\n", gzip_bomb.len())), gzip_bomb.clone()].concat();
    vec![
        // Endings.
        ("closes without a response", Once(Vec::new()), Failed),
        ("closes in the status line", Once(text("HTTP/1.1 20")), Failed),
        ("closes in a header", Once(with("x-a: b")), Failed),
        ("closes before the end of the headers", Once(with("x-a: b\n")), Failed),
        ("closes in a body of a given length", Once(with("content-length: 10\n\nabc")), Failed),
        ("closes in a chunk", Once(with("transfer-encoding: chunked\n\n10\nabc")), Failed),
        ("closes before the last chunk", Once(with("transfer-encoding: chunked\n\n3\nabc\n")), Failed),
        ("ends the body by closing", Once(with("\nabc")), Delivered),
        // Silence and slowness.
        ("says nothing", Silent(Vec::new()), Failed),
        ("stops in the headers", Silent(with("x-a: b\n")), Failed),
        ("stops in the body", Silent(with("content-length: 10\n\nabc")), Failed),
        ("stops in a chunk", Silent(with("transfer-encoding: chunked\n\n10\nabc")), Failed),
        ("stops before the last chunk", Silent(with("transfer-encoding: chunked\n\n3\nabc\n")), Failed),
        ("never closes a body without a length", Silent(with("\nabc")), Failed),
        ("drips the status line", Drip(Vec::new(), text("HTTP/1.1 200 OK AND SO ON AND ON AND ON AND ON")), Failed),
        ("drips a header", Drip(with("x-a: "), b"b".to_vec()), Failed),
        ("drips the body", Drip(with("content-length: 100000\n\n"), b"b".to_vec()), Failed),
        ("drips interim answers", Drip(Vec::new(), text("HTTP/1.1 103 Early Hints\n\n")), Failed),
        ("sends 32 interim answers", Once(text(&format!("{}HTTP/1.1 200 OK\ncontent-length: 0\n\n", "HTTP/1.1 103 Early Hints\n\n".repeat(32)))), Delivered),
        ("sends 33 interim answers", Once(text(&format!("{}HTTP/1.1 200 OK\ncontent-length: 0\n\n", "HTTP/1.1 103 Early Hints\n\n".repeat(33)))), Failed),
        // Endless responses.
        ("sends interim answers without end", Endless(Vec::new(), text("HTTP/1.1 100 Continue\n\n")), Failed),
        ("sends hints without end", Endless(Vec::new(), text("HTTP/1.1 103 Early Hints\nlink: </a.css>\n\n")), Failed),
        ("sends long hints without end", Endless(Vec::new(), text(&format!("HTTP/1.1 103 Early Hints\nlink: {}\n\n", "a".repeat(30_000)))), Failed),
        ("sends headers without end", Endless(with(""), text("x-a: b\n")), Failed),
        ("sends one header without end", Endless(with("x-a: "), zeros.clone()), Failed),
        ("sends a header name without end", Endless(with(""), b"a".repeat(1_000)), Failed),
        ("sends a status line without end", Endless(text("HTTP/1.1 200 "), b"a".repeat(1_000)), Failed),
        ("sends empty lines without end", Endless(Vec::new(), text("\n")), Failed),
        ("sends a chunk extension without end", Endless(with("transfer-encoding: chunked\n\n3;a="), zeros.clone()), Failed),
        ("sends a chunk length without end", Endless(with("transfer-encoding: chunked\n\n"), b"0".repeat(1_000)), Failed),
        ("sends trailers without end", Endless(with("transfer-encoding: chunked\n\n0\n"), text("x-a: b\n")), Failed),
        // Long bodies: only their start is read, and the status decides.
        ("sends a body without end", Endless(with("\n"), zeros.clone()), Delivered),
        ("sends a body of 8 EiB", Endless(with("content-length: 9223372036854775807\n\n"), zeros.clone()), Delivered),
        ("sends chunks without end", Endless(with("transfer-encoding: chunked\n\n"), text("3\nabc\n")), Delivered),
        ("sends a chunk of 16 TiB", Endless(with("transfer-encoding: chunked\n\nfffffffffff\n"), zeros.clone()), Delivered),
        ("sends a compressed body", Once(gzip("gzip")), Delivered),
        ("sends a body compressed many times", Once(gzip("gzip, gzip, gzip, br, zstd, deflate")), Delivered),
        // No HTTP.
        ("speaks SSH", Once(text("SSH-2.0-OpenSSH_9.6\n")), Failed),
        ("speaks HTTP/0.9", Once(text("<html>ok</html>")), Failed),
        ("speaks HTTP/2", Once(b"\0\0\x12\x04\0\0\0\0\0".to_vec()), Failed),
        ("sends zero bytes", Endless(Vec::new(), vec![0; 1_000]), Failed),
        ("sends TLS", Once(vec![22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]), Failed),
        // Contradictions.
        ("gives two lengths", Once(with("content-length: 3\ncontent-length: 4\n\nabcd")), Failed),
        ("gives a negative length", Once(with("content-length: -1\n\nabc")), Failed),
        ("gives a length with a sign", Once(with("content-length: +3\n\nabc")), Failed),
        ("gives a length beyond 64 bits", Once(with("content-length: 99999999999999999999999\n\nabc")), Failed),
        ("gives a chunk length beyond 64 bits", Once(with("transfer-encoding: chunked\n\nfffffffffffffffff\nabc")), Failed),
        ("gives no chunk length", Once(with("transfer-encoding: chunked\n\nxyz\nabc\n0\n\n")), Failed),
        ("switches protocols", Once(text("HTTP/1.1 101 Switching Protocols\nupgrade: x\nconnection: upgrade\n\n")), Failed),
        ("answers with status 000", Once(text("HTTP/1.1 000 Nothing\ncontent-length: 0\n\n")), Failed),
        ("answers with status 999", Once(text("HTTP/1.1 999 Much\ncontent-length: 0\n\n")), Failed),
        ("answers with status 2000", Once(text("HTTP/1.1 2000 OK\ncontent-length: 0\n\n")), Failed),
        // Redirects, requested pauses and cookies.
        ("redirects to itself", Once(text("HTTP/1.1 302 Found\nlocation: /\ncontent-length: 0\n\n")), Failed),
        ("redirects to a file", Once(text("HTTP/1.1 302 Found\nlocation: file:///etc/passwd\ncontent-length: 0\n\n")), Failed),
        ("asks for credentials", Once(text("HTTP/1.1 401 Unauthorized\nwww-authenticate: Basic\ncontent-length: 0\n\n")), Failed),
        ("asks to wait forever", Once(text("HTTP/1.1 503 Busy\nretry-after: 99999999999999999999\ncontent-length: 0\n\n")), Failed),
        ("sends control characters", Once(with("content-length: 12\n\n\u{0}\u{1b}[2J\u{7f}\u{202e}abc")), Delivered),
    ]
}

async fn act(act: Act, mut stream: TcpStream, pushed: Arc<AtomicUsize>) {
    if read_request(&mut stream).await.is_none() {
        return;
    }
    let (first, then, is_slow) = match act {
        Once(bytes) => {
            let _ = stream.write_all(&bytes).await;
            return;
        }
        Silent(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = read_request(&mut stream).await;
            return;
        }
        Endless(first, then) => (first, then, false),
        Drip(first, then) => (first, then, true),
    };
    let _ = stream.write_all(&first).await;
    if is_slow {
        for byte in then.iter().cycle() {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            if stream.write_all(&[*byte]).await.is_err() {
                return;
            }
        }
    }
    while stream.write_all(&then).await.is_ok() {
        pushed.fetch_add(then.len(), Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_receiver_costs_a_bounded_amount_and_delays_no_other_endpoint() {
    let running =
        Running::new(&[("PROVIDER__REQUEST_TIMEOUT", "3s"), ("PROVIDER__ENDPOINTS_PER_APPLICATION", "100")]).await;
    let account = Account::new(&running, "attacked").await;
    let good = serve_answers(|_| response("200 OK", "", "good")).await;
    let good = account.endpoint(&format!("http://{good}/")).await;
    let mut endpoints = Vec::new();
    for (name, what, expected) in receivers() {
        let pushed = Arc::new(AtomicUsize::new(0));
        let counter = pushed.clone();
        let address = serve(move |stream, _| act(what.clone(), stream, counter.clone())).await;
        endpoints.push((account.endpoint(&format!("http://{address}/")).await, name, expected, pushed));
    }
    let message = account.message(json!({ "to": "all" })).await;
    let attempts = account.attempts(&message, endpoints.len() + 1).await;
    let of = |endpoint: &str| {
        let found = attempts.iter().find(|attempt| attempt["endpointId"] == endpoint);
        found.unwrap_or_else(|| panic!("no attempt of {endpoint}")).clone()
    };
    assert_eq!(of(&good)["response"], "good");
    let mut wrong = Vec::new();
    for (endpoint, name, expected, pushed) in &endpoints {
        let attempt = of(endpoint);
        let found = if attempt["status"] == 0 { Delivered } else { Failed };
        let shown = attempt["response"].as_str().map_or(0, |text| text.chars().count());
        let pushed = pushed.load(Ordering::Relaxed);
        if found != *expected || shown > SHOWN_CHARS_MAX || pushed > PUSHED_BYTES_MAX {
            let shown: String = attempt["response"].as_str().unwrap_or_default().chars().take(200).collect();
            wrong.push(format!("{name}: {found:?}, {pushed} bytes pushed, {}: {shown}", attempt["responseStatusCode"]));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let memory = peak_memory_mib(running.server.id());
    assert!(memory < MEMORY_MIB_MAX, "{memory} MiB");
    // The hostile endpoints do not delay a later delivery.
    let later = account.message(json!({ "to": "all" })).await;
    let path = format!("attempt/endpoint/{good}?limit=50");
    wait_until("a later delivery to the good endpoint", async || {
        let attempts = account.get(&path).await;
        attempts["data"].as_array().unwrap().iter().any(|attempt| attempt["msgId"] == *later)
    })
    .await;
    println!("hostile_receivers: {} receivers, peak of {memory} MiB", endpoints.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_is_shown_as_text_and_its_cookies_are_not_sent_back() {
    let running = Running::new(&[]).await;
    let account = Account::new(&running, "attacked").await;
    let cookies = Arc::new(AtomicUsize::new(0));
    let counter = cookies.clone();
    let receiver = serve_answers(move |request| {
        counter.fetch_add(usize::from(request.header("cookie").is_some()), Ordering::SeqCst);
        response("200 OK", "set-cookie: a=b\r\nx-lotwire: c\r\n", "<script>alert(1)</script>")
    })
    .await;
    account.endpoint(&format!("http://{receiver}/")).await;
    for _ in 0..3 {
        let message = account.message(json!({})).await;
        let attempt = &account.attempts(&message, 1).await[0];
        assert_eq!(attempt["response"], "<script>alert(1)</script>");
    }
    assert_eq!(cookies.load(Ordering::SeqCst), 0);
}
