//! Blocked ordering keys of an endpoint: the banner, a retry, and the question before a message is skipped.

use provider_core::model::Role;
use provider_core::{DeliveryOrder, EndpointInput};

use crate::workplace::{Workplace, at, receiver};

#[tokio::test]
async fn a_blocked_key_is_shown_above_the_endpoints_messages_and_a_member_retries_and_skips() {
    let place = Workplace::open().await;
    let (mut ann, mut bob) = (place.user(Role::Viewer).await, place.user(Role::Member).await);
    let app = place.application("North").await;
    let in_order = EndpointInput { ordering: Some(DeliveryOrder::PerKey), ..at(&receiver(500, "boom").await) };
    let endpoint = place.endpoint(&app.id, in_order).await;
    let list = format!("/messages?application={}&endpoint={}", app.id, endpoint.id);
    let path = format!("/applications/{}/endpoints/{}/ordering", app.id, endpoint.id);
    ann.get(&list).await.is(200).hides("id=\"blocked\"");
    ann.get(&path).await.is(200).shows("No blocked keys").shows(&endpoint.url);
    let first = place.send_in_order(&app.id, "event.1", "lot-1").await;
    for number in 2..=4 {
        place.send_in_order(&app.id, &format!("event.{number}"), "lot-1").await;
    }
    let other = place.send_in_order(&app.id, "event.5", "lot-2").await;
    let page = ann.until_shown(&list, "2 ordering keys are blocked").await;
    page.shows("3 messages wait").shows("<code>lot-1</code> has been blocked the longest").shows(&first.id);
    page.shows("Show all blocked keys").hides("Retry now").hides("Skip message");
    ann.get("/messages").await.hides("id=\"blocked\"");
    ann.get(&format!("/messages?application=nowhere&endpoint={}", endpoint.id)).await.is(200).hides("id=\"blocked\"");
    ann.get(&path).await.shows("lot-2").shows(&other.id).hides("Retry now").hides("Skip message");
    let head = [("key", "lot-1"), ("messageId", &*first.id)];
    ann.post(&path, &head).await.is(403);
    ann.post(&format!("{path}/retry"), &head).await.is(403);

    bob.get(&list).await.shows("Retry now").shows("Skip message");
    bob.submit(&format!("{path}/retry"), &head).await.is(200).shows("The message is being retried.");
    bob.until_shown(&path, "failed 2 times").await;
    let question = format!("{path}/skip?key=lot-1&messageId={}", first.id);
    ann.get(&question).await.is(403);
    let page = bob.get(&question).await;
    page.is(200).shows("event.1").shows("a.b").shows("3 messages of this key go on after it, in their order");
    page.shows("unless it is resent").shows("Keep waiting");
    bob.submit(&path, &head).await.is(200).shows("The message was skipped.");
    bob.get(&question).await.leads_to(&format!("{path}?done=unblocked"));
    ann.get("/messages?state=skipped").await.is(200).shows("event.1").hides("event.2");
    ann.get("/activity").await.shows("Skipped a message to the endpoint").shows("Retried a message to the endpoint");
    ann.get(&format!("/applications/{}/endpoints/ep_1/ordering", app.id)).await.is(404);
    bob.post(&path, &[("key", "a b"), ("messageId", &*first.id)]).await.is(404);
}
