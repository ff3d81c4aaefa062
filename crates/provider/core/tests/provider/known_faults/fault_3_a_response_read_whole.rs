//! No more of a response is read than is kept, and its attempt is recorded.

use provider_core::model::AttemptStatus;

use crate::hostile::{BUFFERS_BYTES, HostileBehaviour, attempted, fixture, receiver};

/// 300 MB, which are there for the taking; `hostile.rs` has the other ways to send too much.
#[tokio::test(flavor = "multi_thread")]
async fn of_three_hundred_megabytes_twenty_thousand_bytes_are_taken() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 314572800\r\n\r\n";
    let (address, sent) = receiver(HostileBehaviour::Flood(head, b"a")).await;
    let attempt = attempted(&fixture().await, &format!("http://{address}/")).await;
    assert_eq!((attempt.status, attempt.response_status_code), (AttemptStatus::Success, 200));
    assert_eq!(attempt.response.len(), 20_000);
    let sent = sent.load(std::sync::atomic::Ordering::Relaxed);
    assert!(sent < BUFFERS_BYTES, "{sent} bytes were taken");
}
