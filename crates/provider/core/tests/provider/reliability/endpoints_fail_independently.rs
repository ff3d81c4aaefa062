//! Each endpoint has its own delivery: a failure at one endpoint repeats nothing at the others.

use crate::faults::fixture;
use crate::faulty_store::Fault;
use crate::receiver::{Receiver, Reply};

#[tokio::test]
async fn an_internal_error_at_one_endpoint_repeats_nothing_at_the_others() {
    // The first record of an attempt is lost in a panic.
    let fixture = fixture("record_attempts", Fault::Panic, 1).await;
    let mut receivers = Vec::new();
    for _ in 0..4 {
        let receiver = Receiver::start(|_| Reply::After(std::time::Duration::from_millis(30), 200)).await;
        receivers.push((fixture.endpoint(&receiver.url()).await, receiver));
    }
    // This endpoint answers without delay, so its record is the one that is lost.
    let mut quick = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = fixture.endpoint(&quick.url()).await;
    let message = fixture.send().await;
    fixture.attempts(&message, 5).await;
    for (endpoint, receiver) in &mut receivers {
        fixture.finished(endpoint).await;
        assert_eq!(receiver.count_now(), 1);
    }
    fixture.finished(&endpoint).await;
    assert_eq!(quick.count_now(), 2, "the attempt whose record was lost was not repeated");
}
