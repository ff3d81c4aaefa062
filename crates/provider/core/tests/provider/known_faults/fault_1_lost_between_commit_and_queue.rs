//! A message that was committed is delivered, though whoever sent it was told nothing: there is no queue beside the
//! table that could be lost.

use provider_core::ProviderError;

use crate::faults::{Fault, stage};
use crate::receiver::{Receiver, Reply};
use crate::stage::message;

#[tokio::test]
async fn a_message_that_was_committed_without_an_answer_is_delivered_nevertheless() {
    for fault in [Fault::DoneUnsaid, Fault::Panic] {
        let stage = stage("accept", fault, 1).await;
        let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
        let endpoint = stage.endpoint(&receiver.url()).await;
        let refused = stage.try_send(message(), None).await;
        assert!(matches!(refused, Err(ProviderError::Unavailable(_))));
        if fault == Fault::DoneUnsaid {
            receiver.next().await;
        }
        stage.send().await;
        receiver.next().await;
        stage.finished(&endpoint).await;
    }
}

/// The sender's own retry then finds it, rather than a conflict with something that is never sent.
#[tokio::test]
async fn the_senders_retry_after_that_is_one_more_answer_and_no_second_message() {
    let stage = stage("accept", Fault::DoneUnsaid, 1).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = stage.endpoint(&receiver.url()).await;
    let key = crate::stage::idempotency("auto_1", "{}");
    assert!(stage.try_send(message(), Some(&key)).await.is_err());
    stage.try_send(message(), Some(&key)).await.unwrap();
    receiver.next().await;
    stage.finished(&endpoint).await;
    assert_eq!(receiver.count_now(), 0);
}
