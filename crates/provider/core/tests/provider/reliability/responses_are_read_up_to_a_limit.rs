//! The dispatcher reads no more of a response than it stores, and records the attempt.

use provider_core::model::AttemptStatus;

use crate::hostile::{BUFFERS_BYTES, HostileBehaviour, attempted, fixture, receiver};

/// The receiver declares 300 MB. `hostile.rs` has the other ways to send too much.
#[tokio::test(flavor = "multi_thread")]
async fn of_a_response_of_300_megabytes_20_000_bytes_are_stored() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 314572800\r\n\r\n";
    let (address, sent) = receiver(HostileBehaviour::Flood(head, b"a")).await;
    let attempt = attempted(&fixture().await, &format!("http://{address}/")).await;
    assert_eq!((attempt.status, attempt.response_status_code), (AttemptStatus::Success, 200));
    assert_eq!(attempt.response.len(), 20_000);
    let sent = sent.load(std::sync::atomic::Ordering::Relaxed);
    assert!(sent < BUFFERS_BYTES, "{sent} bytes were read");
}
