//! A change of an endpoint is used by the very next delivery.

use provider_core::EndpointInput;
use standardwebhooks::Webhook;

use crate::receiver::{Receiver, Reply};
use crate::stage::{Stage, quick};

#[tokio::test]
async fn a_changed_endpoint_is_used_by_the_next_delivery() {
    let stage = Stage::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = stage.endpoint(&receiver.url()).await;
    stage.send().await;
    assert!(receiver.next().await.headers.get("x-new").is_none());
    let headers = Some([("x-new".to_owned(), "1".to_owned())].into());
    let input = EndpointInput { url: receiver.url(), headers, ..EndpointInput::default() };
    stage.provider.put_endpoint(&stage.caller, "app", &endpoint.id, input).await.unwrap();
    stage.send().await;
    assert_eq!(receiver.next().await.headers["x-new"], "1");
    let rotate = stage.provider.rotate_endpoint_secret(&stage.caller, "app", &endpoint.id, None, None, None);
    let secret = rotate.await.unwrap();
    stage.send().await;
    let arrival = receiver.next().await;
    assert_eq!(arrival.headers["webhook-signature"].to_str().unwrap().split(' ').count(), 2);
    Webhook::new(&secret).unwrap().verify(&arrival.body, &arrival.headers).unwrap();
}
