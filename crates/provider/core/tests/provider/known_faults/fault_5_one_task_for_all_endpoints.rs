//! Each endpoint has a delivery of its own: what goes wrong with one repeats nothing at the others.

use crate::faults::{Fault, stage};
use crate::receiver::{Receiver, Reply};

#[tokio::test]
async fn an_error_within_at_one_endpoint_sends_nothing_again_to_the_others() {
    // The record of one attempt is lost to a bug.
    let stage = stage("record_attempts", Fault::Panic, 1).await;
    let mut receivers = Vec::new();
    for _ in 0..4 {
        let receiver = Receiver::start(|_| Reply::After(std::time::Duration::from_millis(30), 200)).await;
        receivers.push((stage.endpoint(&receiver.url()).await, receiver));
    }
    // One that answers at once, so that its record is the one that is lost.
    let mut quick = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = stage.endpoint(&quick.url()).await;
    let message = stage.send().await;
    stage.attempts(&message, 5).await;
    for (endpoint, receiver) in &mut receivers {
        stage.finished(endpoint).await;
        assert_eq!(receiver.count_now(), 1);
    }
    stage.finished(&endpoint).await;
    assert_eq!(quick.count_now(), 2, "its own attempt was lost, and is made again");
}
