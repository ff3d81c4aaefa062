//! Hostile and broken receivers. The dispatcher records each attempt within its deadline, and reads only a limited part of the
//! response.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use provider_core::config::retry_schedule::RetrySchedule;
use provider_core::model::{Attempt, AttemptStatus};
use provider_core::{AllowedSchemes, EndpointAddressPolicy, EndpointInput, ProviderConfig, ProviderError};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::fixture::{Fixture, quick, real_pause};

const DEADLINE: Duration = Duration::from_millis(400);
/// Bytes that a sender can write although the peer reads none: the socket buffers of both ends, on this machine.
pub(crate) const BUFFERS_BYTES: u64 = 16 * 1024 * 1024;

/// What a receiver does with a connection after it has read the request.
#[derive(Clone, Copy)]
pub(crate) enum HostileBehaviour {
    /// Sends these bytes, and keeps the connection.
    Send(&'static [u8]),
    /// Sends these bytes, and closes it.
    SendAndClose(&'static [u8]),
    /// Sends the first once, and the second again and again.
    Flood(&'static [u8], &'static [u8]),
    /// Sends the first at once and then a byte every few milliseconds.
    Drip(&'static [u8]),
    /// Closes so that the sender sees a reset.
    Reset,
}

/// Starts a receiver. Returns its address and a counter of the bytes that it has sent.
pub(crate) async fn receiver(behaviour: HostileBehaviour) -> (SocketAddr, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let sent = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&sent);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, behaviour, Arc::clone(&count)));
        }
    });
    (address, sent)
}

async fn serve(mut stream: TcpStream, behaviour: HostileBehaviour, sent: Arc<AtomicU64>) {
    let mut request = [0; 256];
    if matches!(behaviour, HostileBehaviour::Reset) {
        // The operating system sends a reset when a socket with unread bytes is closed.
        stream.readable().await.unwrap();
        return;
    }
    if stream.read(&mut request).await.is_err() {
        return;
    }
    let (HostileBehaviour::Send(first)
    | HostileBehaviour::SendAndClose(first)
    | HostileBehaviour::Flood(first, _)
    | HostileBehaviour::Drip(first)) = behaviour
    else {
        return;
    };
    let _ = stream.write_all(first).await;
    match behaviour {
        HostileBehaviour::Flood(_, repeated) => {
            let chunk = repeated.repeat((64 * 1024 / repeated.len()).max(1));
            while stream.write_all(&chunk).await.is_ok() {
                sent.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            }
        }
        HostileBehaviour::Drip(_) => {
            while stream.write_all(b"a").await.is_ok() {
                real_pause(Duration::from_millis(5)).await;
            }
        }
        HostileBehaviour::Send(_) => {
            let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
        }
        HostileBehaviour::SendAndClose(_) | HostileBehaviour::Reset => {}
    }
}

pub(crate) async fn fixture() -> Fixture {
    Fixture::new(ProviderConfig { request_timeout: DEADLINE, retry_schedule: RetrySchedule::new(vec![]), ..quick() })
        .await
}

/// Sends one message to an endpoint with this URL, and returns its only attempt.
pub(crate) async fn attempted(fixture: &Fixture, url: &str) -> Attempt {
    let endpoint = fixture.endpoint(url).await;
    let began = Instant::now();
    let message = fixture.send().await;
    let attempt = fixture.attempts(&message, 1).await.remove(0);
    // Five seconds of tolerance: a busy machine can delay the test.
    assert!(began.elapsed() < DEADLINE + Duration::from_secs(5), "{url}");
    assert!(attempt.response_duration_ms < 400 + 2_000, "{attempt:?}");
    assert!(attempt.response.len() <= 27_000, "more than 20,000 bytes, or their base64, were stored");
    fixture.finished(&endpoint).await;
    fixture.provider.delete_endpoint(&fixture.caller, "app", &endpoint.id).await.unwrap();
    attempt
}

#[tokio::test(flavor = "multi_thread")]
async fn each_hostile_response_is_recorded_within_its_deadline_and_read_up_to_a_limit() {
    use HostileBehaviour::{Drip, Flood, Reset, Send, SendAndClose};
    const ENDLESS: &[u8] = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    const GIB: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n";
    let fixture = fixture().await;
    for (what, behaviour, code, part) in [
        ("endless chunks", Flood(ENDLESS, b"5\r\naaaaa\r\n"), 200, "aaaa"),
        ("a huge chunk", Flood(b"HTTP/1.1 500 E\r\ntransfer-encoding: chunked\r\n\r\nffffffff\r\n", b"a"), 500, "aaaa"),
        ("a declared gigabyte", Flood(GIB, b"a"), 200, "aaaa"),
        ("an endless body without a length", Flood(b"HTTP/1.1 200 OK\r\n\r\n", b"a"), 200, "aaaa"),
        ("endless chunk extensions", Flood(ENDLESS, b"5;ext=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), 0, ""),
        ("endless trailers", Flood(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n"), 0, ""),
        ("a byte at a time", Drip(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n"), 200, "a"),
        ("a header a byte at a time", Drip(b"HTTP/1.1 200 OK\r\nx: "), 0, "no response within 400 ms"),
        ("an endless header", Flood(b"HTTP/1.1 200 OK\r\nx: ", b"a"), 0, "headers of the response are too large"),
        ("endless headers", Flood(b"HTTP/1.1 200 OK\r\n", b"x: a\r\n"), 0, "headers of the response are too large"),
        ("an endless status line", Flood(b"HTTP/1.1 200 ", b"O"), 0, "headers of the response are too large"),
        ("a flood of 1xx", Flood(b"", b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"), 0, ""),
        ("a flood of 100", Flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), 0, ""),
        (
            "a switch of protocols",
            Send(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
            101,
            "",
        ),
        ("an early close", SendAndClose(b""), 0, "before the response was complete"),
        ("a close within headers", SendAndClose(b"HTTP/1.1 200 OK\r\ncontent-le"), 0, "closed in the headers"),
        ("a body that is too short", SendAndClose(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort"), 200, "short"),
        ("a body that is short and open", Send(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort"), 200, "short"),
        (
            "a body that is too long",
            SendAndClose(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok and more"),
            200,
            "ok",
        ),
        ("a negative length", SendAndClose(b"HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\nok"), 0, "not valid HTTP"),
        (
            "two lengths",
            SendAndClose(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\noks"),
            0,
            "not valid HTTP",
        ),
        (
            "a length of 20 digits",
            SendAndClose(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n"),
            0,
            "not valid HTTP",
        ),
        ("an invalid chunk size", SendAndClose(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"), 0, ""),
        ("a reset", Reset, 0, ""),
        ("silence", Send(b""), 0, "no response within 400 ms"),
        ("another protocol", SendAndClose(b"SSH-2.0-OpenSSH_9.9\r\n"), 0, "is not HTTP; it begins with"),
        (
            "HTTP/2 without negotiation",
            SendAndClose(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00"),
            0,
            "is not HTTP; it begins with",
        ),
        ("HTTP/0.9", SendAndClose(b"<html>hello</html>"), 0, "is not HTTP; it begins with"),
        ("a status of four digits", SendAndClose(b"HTTP/1.1 9999 Odd\r\n\r\n"), 0, "not valid HTTP"),
        ("a NUL in a header", SendAndClose(b"HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n"), 0, "not valid HTTP"),
        (
            "a body with a gzip header",
            SendAndClose(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\n\x1f\x8b\x08"),
            200,
            "H4sI",
        ),
    ] {
        let (address, sent) = receiver(behaviour).await;
        let attempt = attempted(&fixture, &format!("http://{address}/")).await;
        assert_eq!(attempt.response_status_code, code, "{what}: {}", attempt.response);
        assert!(attempt.response.contains(part), "{what}: {}", attempt.response);
        let is_cut_off =
            ["a byte at a time", "a body that is too short", "a body that is short and open"].contains(&what);
        assert_eq!(attempt.status == AttemptStatus::Success, code == 200 && !is_cut_off, "{what}");
        if !what.starts_with("a flood") && !what.starts_with("endless t") && !what.starts_with("endless chunk ") {
            let sent = sent.load(Ordering::Relaxed);
            assert!(sent < BUFFERS_BYTES, "{what}: {sent} bytes were read");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_failures_and_unaccepted_connections_are_recorded() {
    let fixture = fixture().await;
    for (behaviour, part) in [
        (HostileBehaviour::SendAndClose(b"\x15\x03\x01\x00\x02\x02\x46"), "TLS is too old"),
        (HostileBehaviour::SendAndClose(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "is it a plain http port?"),
        (HostileBehaviour::SendAndClose(b""), "TLS failed"),
        (HostileBehaviour::Flood(b"\x16\x03\x03\x40\x00", b"\x02"), "TLS failed"),
        (HostileBehaviour::Send(b""), "no TLS handshake within 400 ms"),
    ] {
        let (address, _) = receiver(behaviour).await;
        let attempt = attempted(&fixture, &format!("https://{address}/")).await;
        assert!(attempt.response.contains(part), "{}", attempt.response);
    }
    // The operating system completes the handshake, but no program accepts the connection.
    let unaccepted = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let attempt = attempted(&fixture, &format!("http://{}/", unaccepted.local_addr().unwrap())).await;
    assert!(attempt.response.contains("within 400 ms"), "{}", attempt.response);
}

#[tokio::test]
async fn a_redirect_is_recorded_as_a_failure_and_not_followed() {
    let fixture = fixture().await;
    let private = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let location = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://{}/\r\ncontent-length: 0\r\n\r\n",
        private.local_addr().unwrap()
    );
    let (address, _) = receiver(HostileBehaviour::Send(location.leak().as_bytes())).await;
    let attempt = attempted(&fixture, &format!("http://{address}/")).await;
    assert_eq!((attempt.response_status_code, attempt.status), (307, AttemptStatus::Fail));
    let connection = tokio::time::timeout(Duration::from_millis(50), private.accept()).await;
    assert!(connection.is_err(), "the dispatcher followed the redirect");
}

#[tokio::test]
async fn an_endpoint_url_with_a_private_address_is_refused() {
    let policy = kit_outbound::AddressPolicy::public_only(vec!["10.1.0.0/16".parse().unwrap()]);
    let fixture = Fixture::new(ProviderConfig {
        address_policy: EndpointAddressPolicy { policy, schemes: AllowedSchemes::All },
        ..quick()
    })
    .await;
    let create = async |url: &str| {
        let input = EndpointInput { url: url.into(), ..EndpointInput::default() };
        fixture.provider.create_endpoint(&fixture.caller, "app", input, None, |_| String::new()).await
    };
    for url in [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://[::ffff:10.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://metadata.google.internal/",
        "http://localhost./",
        "http://10.2.0.1/",
        "http://user@example.com/",
    ] {
        assert!(matches!(create(url).await, Err(ProviderError::Validation(_))), "{url}");
    }
    for url in ["https://example.com/", "http://8.8.8.8/", "http://10.1.2.3/"] {
        assert!(create(url).await.is_ok(), "{url}");
    }
}

#[tokio::test]
async fn with_https_only_no_request_is_sent_over_plain_http() {
    let (address, _) = receiver(HostileBehaviour::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")).await;
    let open = Fixture::without_workers(crate::fixture::store(), quick()).await;
    open.endpoint(&format!("http://{address}/")).await;
    let message = open.send().await;
    let address_policy =
        EndpointAddressPolicy { schemes: AllowedSchemes::HttpsOnly, ..EndpointAddressPolicy::default() };
    let strict = crate::fixture::provider(Arc::clone(&open.store), ProviderConfig { address_policy, ..quick() });
    strict.spawn_workers(&open.tasks);
    let attempt = open.attempts(&message, 1).await.remove(0);
    assert_eq!((attempt.response_status_code, attempt.status), (0, AttemptStatus::Fail));
    assert!(attempt.response.contains("https://"), "{}", attempt.response);
    let input = EndpointInput { url: "http://example.com/".into(), ..EndpointInput::default() };
    let refused = strict.create_endpoint(&open.caller, "app", input, None, |_| String::new()).await;
    assert!(matches!(refused, Err(ProviderError::Validation(_))));
}
