//! A change of an endpoint applies to the next delivery.

use provider_core::EndpointInput;
use standardwebhooks::Webhook;

use crate::fixture::{Fixture, quick};
use crate::receiver::{Receiver, Reply};

#[tokio::test]
async fn a_changed_endpoint_is_used_by_the_next_delivery() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    fixture.send().await;
    assert!(receiver.next().await.headers.get("x-new").is_none());
    let headers = Some([("x-new".to_owned(), "1".to_owned())].into());
    let input = EndpointInput { url: receiver.url(), headers, ..EndpointInput::default() };
    fixture.provider.put_endpoint(&fixture.caller, "app", &endpoint.id, input).await.unwrap();
    fixture.send().await;
    assert_eq!(receiver.next().await.headers["x-new"], "1");
    let rotate = fixture.provider.rotate_endpoint_secret(&fixture.caller, "app", &endpoint.id, None, None, None);
    let secret = rotate.await.unwrap();
    fixture.send().await;
    let arrival = receiver.next().await;
    assert_eq!(arrival.headers["webhook-signature"].to_str().unwrap().split(' ').count(), 2);
    Webhook::new(&secret).unwrap().verify(&arrival.body, &arrival.headers).unwrap();
}
