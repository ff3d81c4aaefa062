//! Messages of all applications: finding them by what is known of them, and one message with its attempts.

use std::time::Duration;

use provider_core::model::Role;

use crate::workplace::{HOSTILE, Workplace, at, receiver};

#[tokio::test]
async fn a_message_is_found_across_applications_by_what_is_known_of_it() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Viewer).await;
    ann.get("/messages").await.is(200).shows("No messages yet").shows("Open API access");
    let (north, south) = (place.application("North <b>").await, place.application("South").await);
    let unsent = place.send_event(&north.id, "a.b", "{\"lot\":\"LOT-7\"}", Some("event.1")).await;
    place.clock.advance(Duration::from_secs(1_800));
    let bad = place.endpoint(&north.id, at(&receiver(404, "nothing here").await)).await;
    place.endpoint(&south.id, at(&receiver(204, "").await)).await;
    let failed = place.send_event(&north.id, "a.b", "{}", Some("event.2")).await;
    let good = place.send_event(&south.id, "c.d", "{}", Some("event.2")).await;
    ann.until_shown("/messages", "404: The receiver has no route /hook.").await.shows("North &#60;b&#62;");
    ann.until_shown("/messages", "1 of 1").await.shows("event.2").shows("No endpoint").shows("Next attempt");

    let path = |app: &str, id: &str| format!("href=\"/dashboard/applications/{app}/messages/{id}\"");
    let [unsent, failed, good] =
        [(&north, &unsent), (&north, &failed), (&south, &good)].map(|(app, message)| path(&app.id, &message.id));
    for (query, shown, hidden) in [
        ("id=event.2".to_owned(), vec![&failed, &good], vec![&unsent]),
        ("eventType=c.d".to_owned(), vec![&good], vec![&failed, &unsent]),
        (format!("application={}", north.id), vec![&failed, &unsent], vec![&good]),
        (format!("application={}&endpoint={}", north.id, bad.id), vec![&failed], vec![&good, &unsent]),
        (format!("endpoint={}&state=undelivered", bad.id), vec![&failed], vec![&good, &unsent]),
        ("state=delivered".to_owned(), vec![&good], vec![&failed, &unsent]),
        ("state=not-sent".to_owned(), vec![&unsent], vec![&failed, &good]),
        ("state=retrying".to_owned(), vec![&failed], vec![&good, &unsent]),
        ("code=404".to_owned(), vec![&failed], vec![&good, &unsent]),
        ("cause=no_route".to_owned(), vec![&failed], vec![&good, &unsent]),
        ("q=lot-7".to_owned(), vec![&unsent], vec![&failed, &good]),
        ("from=2026-11-21T06:50".to_owned(), vec![&failed, &good], vec![&unsent]),
    ] {
        let page = ann.get(&format!("/messages?{query}")).await;
        page.is(200).shows("Clear filters").shows("data-tail");
        shown.into_iter().for_each(|path| _ = page.shows(path));
        hidden.into_iter().for_each(|path| _ = page.hides(path));
    }
    let of_endpoint = format!("application={}&endpoint={}", north.id, bad.id);
    let class = format!("/messages?{of_endpoint}&cause=any-refused&from=2026-11-20T07%3A00");
    ann.get(&format!("/messages?{of_endpoint}"))
        .await
        .shows(&format!("<a href=\"/dashboard{}\">Refused (4xx) <strong>1</strong>", class.replace('&', "&#38;")));
    ann.get(&class).await.is(200).shows(&failed).hides(&good).hides(&unsent);
    ann.get("/messages").await.is(200).hides("Why attempts failed");
    ann.get("/messages?state=failed")
        .await
        .is(200)
        .shows("No matching messages")
        .shows("deleted since are not searched");
    ann.get("/messages?q=lot-7").await.shows("are searched");
    for (query, said) in [
        ("q=lot&from=2026-11-01T00:00&to=2026-11-03T00:00", "at most a day before the end"),
        ("code=204", "Must be a status code such as 503"),
        ("cause=bad_luck", "Must be one of the causes"),
        ("code=404&cause=no_route", "a response or a cause, not both"),
        ("application=nowhere", "application of this account has this id or uid"),
        ("from=2026-11-21T07:00&to=2026-11-21T06:00", "Must be before the end"),
    ] {
        ann.get(&format!("/messages?{query}")).await.is(200).shows(said).shows("Nothing was searched");
    }
    ann.get("/messages?iterator=odd").await.is(400);
    ann.get("/messages/live?after=odd").await.is(400);
    let hostile: String = form_urlencoded::byte_serialize(HOSTILE.as_bytes()).collect();
    for field in ["id", "eventType", "application", "endpoint", "state", "code", "cause", "q"] {
        ann.get(&format!("/messages?{field}={hostile}")).await.is(200).hides("<script>alert");
    }
}

#[tokio::test]
async fn a_failing_endpoint_leads_to_the_request_and_response_that_failed_in_two_clicks() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Viewer).await;
    let app = place.application("North").await;
    let bad = place.endpoint(&app.id, at(&receiver(503, "come back later").await)).await;
    let quiet =
        place.endpoint(&app.id, provider_core::EndpointInput { disabled: true, ..at("https://quiet.example/") }).await;
    place.send_event(&app.id, "a.b", "{\"lot\":7}", Some("event.1")).await;
    ann.until_shown("/", &format!("endpoint={}", bad.id)).await;
    let href = |text: &str, part: &str| {
        let link = text.split("href=\"/dashboard").find(|link| link.contains(part)).unwrap();
        link.split('"').next().unwrap().replace("&amp;", "&").replace("&#38;", "&")
    };
    for start in ["/".to_owned(), format!("/applications/{}", app.id)] {
        let first = href(&ann.get(&start).await.text, &format!("endpoint={}", bad.id));
        let second = href(&ann.until_shown(&first, "503").await.text, "attempt=atmpt_");
        let page = ann.get(second.split('#').next().unwrap()).await;
        page.is(200)
            .shows("<details open data-auto>")
            .shows("come back later")
            .shows("&#34;lot&#34;</span>: <span class=\"code-value\">7</span>");
        page.shows("1 other endpoint, to which the message was not sent").shows(&quiet.url).hides("Resend message");
        page.shows("<td data-of=\"Next attempt\">The endpoint is disabled</td>")
            .shows("/ <a href=\"/dashboard/applications/");
        // The payload is before the endpoints, and those before the attempts.
        let places = ["id=\"payload\"", "id=\"destinations\"", "id=\"other-endpoints\"", "id=\"attempts\""]
            .map(|part| page.text.find(part));
        assert!(places.is_sorted() && places[0].is_some(), "{places:?}");
    }
    let message = place.provider.message(&place.account, &app.id, "event.1").await.unwrap();
    let path = format!("/applications/{}/messages/{}", app.id, message.id);
    ann.get(&format!("{path}/payload")).await.is(200).shows("{\"lot\":7}");
    ann.post(&format!("{path}/resend"), &[("endpoint", &bad.id)]).await.is(403);
    ann.get(&format!("/applications/{}/messages/msg_1", app.id)).await.is(404);
    let mut bob = place.user(Role::Member).await;
    bob.get(&path).await.shows("Resend message");
    bob.submit(&format!("{path}/resend"), &[("endpoint", &bad.id)]).await.shows("The message is being sent once more.");
    let entry = ann.get("/activity?q=resent").await;
    entry.is(200).shows("Resent a message to the endpoint").shows("Ann").shows(&bad.url).shows("message: msg_");
    assert_eq!(entry.text.matches("Resent a message").count(), 1);
    // A program may resend thousands.
    let account = place.provider.account(&place.account.account).await.unwrap();
    let key = place.provider.create_api_key(&account.id, "shop").await.unwrap();
    let program = place.provider.authenticate(&key.text).await.unwrap();
    place.provider.resend(&program, &app.id, &message.id, &bad.id, None, String::new).await.unwrap();
    assert_eq!(ann.get("/activity?q=resent").await.text.matches("Resent a message").count(), 1);
    bob.until_shown(&path, "manual").await;
    // Another account sees nothing of it.
    let other = provider_core::Caller::operator(&place.provider.create_account("Other").await.unwrap());
    assert!(place.provider.message(&other, &app.id, &message.id).await.is_err());
}
