//! A committed message is delivered even if its sender got no answer: the delivery rows are in the same transaction, and
//! there is no queue beside the table that could lose it.

use provider_core::ProviderError;

use crate::faults::fixture;
use crate::faulty_store::Fault;
use crate::fixture::message;
use crate::receiver::{Receiver, Reply};

#[tokio::test]
async fn a_message_committed_without_an_answer_is_delivered() {
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

/// The retry finds the stored answer instead of a conflict.
#[tokio::test]
async fn a_retry_with_the_same_idempotency_key_creates_no_second_message() {
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
