//! A message that was committed is delivered, though whoever sent it was told nothing: there is no queue beside the
//! table that could be lost.

use provider_core::ProviderError;

use crate::faults::{Fault, fixture};
use crate::fixture::message;
use crate::receiver::{Receiver, Reply};

#[tokio::test]
async fn a_message_that_was_committed_without_an_answer_is_delivered_nevertheless() {
    for fault in [Fault::CommittedUnacknowledged, Fault::Panic] {
        let fixture = fixture("accept", fault, 1).await;
        let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
        let endpoint = fixture.endpoint(&receiver.url()).await;
        let refused = fixture.try_send(message(), None).await;
        assert!(matches!(refused, Err(ProviderError::Unavailable(_))));
        if fault == Fault::CommittedUnacknowledged {
            receiver.next().await;
        }
        fixture.send().await;
        receiver.next().await;
        fixture.finished(&endpoint).await;
    }
}

/// The sender's own retry then finds it, rather than a conflict with something that is never sent.
#[tokio::test]
async fn the_senders_retry_after_that_is_one_more_answer_and_no_second_message() {
    let fixture = fixture("accept", Fault::CommittedUnacknowledged, 1).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let key = crate::fixture::idempotency("auto_1", "{}");
    assert!(fixture.try_send(message(), Some(&key)).await.is_err());
    fixture.try_send(message(), Some(&key)).await.unwrap();
    receiver.next().await;
    fixture.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), 0);
}
