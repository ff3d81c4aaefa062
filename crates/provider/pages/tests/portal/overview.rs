//! The overview, the filters of the list of messages, and the count before a replay.

use std::time::Duration;

use provider_core::EndpointInput;
use provider_core::model::Capability;
use testkit::web::Browser;

use crate::fixture::{Fixture, at, receiver};

#[tokio::test]
async fn the_overview_shows_rates_durations_and_endpoints_that_need_attention() {
    let fixture = Fixture::new().await;
    let mut visitor = fixture.visitor().await;
    visitor.get("/overview").await.is(200).shows("No endpoints yet");
    let good = fixture.endpoint(at(&receiver(200, "").await)).await;
    let bad = fixture.endpoint(at(&receiver(503, "").await)).await;
    visitor.get("/overview").await.shows("No endpoint is failing or disabled.");
    let message = fixture.message("a.b", "{}", None).await;
    visitor.until_shown(&format!("/endpoints/{}", good.id), &message.id).await;
    visitor.until_shown(&format!("/endpoints/{}", bad.id), &message.id).await;
    for path in ["/overview", "/overview?range=7d"] {
        let page = visitor.get(path).await;
        page.is(200).shows("50.0 %").shows("1 succeeded, 1 failed").shows("next attempt").shows("Failing");
        page.shows("Deliveries that succeeded").shows("Receiver failed (5xx)").shows("Duration, p95");
        page.shows("<table").shows(&bad.url).hides(&good.url).hides("style=");
    }
    // A class of causes leads to the messages that failed so, on the page of an endpoint, too.
    let link =
        |query: &str| format!("<a href=\"/app-portal/messages?{query}\">Receiver failed (5xx) <strong>1</strong>");
    visitor.get("/overview").await.shows(&link("cause=any-server&#38;from=2026-11-20T07%3A00"));
    visitor.get("/overview?range=7d").await.shows(&link("cause=any-server&#38;from=2026-11-14T12%3A00"));
    let of_endpoint = format!("endpoint={}&#38;cause=any-server&#38;from=2026-11-20T07%3A00", bad.id);
    visitor.get(&format!("/endpoints/{}", bad.id)).await.shows(&link(&of_endpoint));
    visitor.get(&format!("/endpoints/{}", good.id)).await.is(200).hides("Why attempts failed");
    let found = visitor.get(&format!("/messages?{}", of_endpoint.replace("&#38;", "&"))).await;
    found.is(200).shows(&message.id).shows("Cause: Receiver failed (5xx), any cause").shows("From: 2026-11-20T07:00");
    visitor.get("/messages?cause=any-timeout").await.is(200).shows("No matching messages");
    let list = visitor.get("/endpoints").await;
    list.shows("aria-label=\"Attempts of the last 24 hours: 1 succeeded, 0 failed\"");
}

#[tokio::test]
async fn messages_are_filtered_by_state_response_text_and_time() {
    let fixture = Fixture::new().await;
    let mut visitor = fixture.visitor().await;
    let unsent = fixture.message("a.b", "{\"itemUuid\":\"0199c0de-0000-7000-8000-00000000000A\"}", None).await;
    fixture.clock.advance(Duration::from_secs(3_600));
    let endpoint = fixture.endpoint(at(&receiver(404, "").await)).await;
    let failed = fixture.message("a.b", "{}", None).await;
    visitor.until_shown(&format!("/endpoints/{}", endpoint.id), &failed.id).await;
    visitor.until_shown("/messages", "404: The receiver has no route /hook.").await.shows("Retrying");
    for (query, shown, hidden) in [
        ("state=retrying", &failed.id, &unsent.id),
        ("state=not-sent", &unsent.id, &failed.id),
        ("code=4xx", &failed.id, &unsent.id),
        ("code=404", &failed.id, &unsent.id),
        ("cause=no_route", &failed.id, &unsent.id),
        (&format!("id={}", unsent.id), &unsent.id, &failed.id),
        ("q=0199c0de-0000-7000-8000-00000000000a", &unsent.id, &failed.id),
        ("q=%7B%0D%0A++%22itemUuid%22%3A+%220199c0de", &unsent.id, &failed.id),
        ("from=2026-11-21T07:00", &failed.id, &unsent.id),
        ("to=2026-11-21T07:00", &unsent.id, &failed.id),
        (&format!("endpoint={}", endpoint.id), &failed.id, &unsent.id),
        ("from=2026-11-21T06:00&to=2026-11-21T07:00", &unsent.id, &failed.id),
    ] {
        let link = |id: &str| format!("href=\"/app-portal/messages/{id}\"");
        let page = visitor.get(&format!("/messages?{query}")).await;
        page.is(200).shows(&link(shown)).hides(&link(hidden)).shows("Clear filters");
    }
    visitor.get("/messages?state=failed").await.shows("No matching messages");
    visitor.get("/messages?from=yesterday").await.is(200).shows("id=\"time-fault\"");
    let chips = visitor.get("/messages?state=retrying&code=4xx").await;
    chips.shows("Remove the filter State: Retrying").shows("href=\"/app-portal/messages?code=4xx&#38;\"");
}

#[tokio::test]
async fn a_replay_is_counted_before_it_is_confirmed() {
    let fixture = Fixture::new().await;
    fixture.message("a.b", "{}", None).await;
    fixture.message("a.b", "{}", None).await;
    fixture.clock.advance(Duration::from_secs(60));
    let late = fixture.endpoint(at(&receiver(200, "").await)).await;
    let mut visitor = fixture.visitor().await;
    let confirm = |query: &str| format!("/endpoints/{}/replay/confirm?{query}", late.id);
    let page = visitor.get(&confirm("what=missing&hours=24&since=")).await;
    page.is(200).shows("Send 2 messages again?").shows("name=\"since\" value=\"2026-11-20T06:29:03\"");
    visitor
        .get(&confirm("what=failed&hours=24"))
        .await
        .is(200)
        .shows("No messages to send")
        .hides("Send messages again</button>");
    visitor.get(&confirm("what=failed&since=yesterday")).await.is(422).shows("id=\"since-fault\"");
    visitor.get(&confirm("what=odd&hours=24")).await.is(400);
    let until = |until: &str| confirm(&format!("what=missing&hours=24&until={until}"));
    visitor.get(&until("2026-11-21T06:00")).await.is(200).shows("No messages to send");
    visitor.get(&until("2026-11-20T00:00")).await.is(422).shows("id=\"until-fault\"");
    visitor.get(&format!("/endpoints/{}/replay", late.id)).await.shows("No replays in the last 90 days");
}

#[tokio::test]
async fn a_running_replay_can_be_stopped_and_shows_the_outcome_of_its_messages() {
    let fixture = Fixture::new().await;
    for _ in 0..3 {
        fixture.message("a.b", "{}", None).await;
    }
    fixture.clock.advance(Duration::from_secs(60));
    let late = fixture.endpoint(at(&receiver(200, "").await)).await;
    let mut visitor = fixture.visitor().await;
    let path = format!("/endpoints/{}/replay", late.id);
    let fields = [("what", "missing"), ("hours", "24"), ("since", ""), ("until", "")];
    visitor.submit(&path, &fields).await.is(200).shows("The missing messages are being sent.");
    // The first step waits for the test clock.
    let running = visitor.get(&path).await;
    running.shows("Running").shows("Stop replay").shows("data-live=\"tasks\"");
    let (_, task) = running.text.split_once("name=\"task\" value=\"").unwrap();
    let task = task.split_once('"').unwrap().0.to_owned();
    let stop = format!("{path}/stop");
    let mut reader = fixture.visitor_who_may(&[]).await;
    reader.get(&path).await.shows("Running").hides("Stop replay");
    reader.post(&stop, &[("task", &task)]).await.is(403);
    let page = visitor.submit(&stop, &[("task", &task)]).await;
    page.shows("The replay was stopped.").shows("Stopped").hides("Stop replay").hides("Running");
    visitor.submit(&stop, &[("task", &task)]).await.is(200).shows("The replay had ended already.");

    visitor.submit(&path, &fields).await.is(200);
    for _ in 0..1_000 {
        if !visitor.get(&path).await.text.contains("Running") {
            break;
        }
        fixture.clock.advance(Duration::from_secs(1));
    }
    let page = visitor.until_shown(&path, "3 of 3 delivered, 0 failed, 0 waiting").await;
    page.shows("Finished").shows("Stopped").hides("data-live").hides("Delivering");
}

#[tokio::test]
async fn a_replay_shows_its_waiting_messages_until_a_later_one_takes_them_over() {
    let fixture = Fixture::new().await;
    for _ in 0..2 {
        fixture.message("a.b", "{}", None).await;
    }
    fixture.clock.advance(Duration::from_secs(60));
    let late = fixture.endpoint(at(&receiver(500, "").await)).await;
    let mut visitor = fixture.visitor().await;
    let path = format!("/endpoints/{}/replay", late.id);
    let replay = async |visitor: &mut Browser, what, results: &str| {
        visitor.submit(&path, &[("what", what), ("hours", "24"), ("since", ""), ("until", "")]).await.is(200);
        for _ in 0..1_000 {
            let page = visitor.get(&path).await;
            if page.text.contains(results) && !page.text.contains("Running") {
                return page;
            }
            fixture.clock.advance(Duration::from_millis(100));
        }
        panic!("{}", visitor.get(&path).await.text)
    };
    let page = replay(&mut visitor, "missing", "0 of 2 delivered, 0 failed, 2 waiting").await;
    page.shows("Delivering").shows("data-live=\"tasks\"").hides("Finished");
    let later = "0 of 2 delivered, 0 failed, 0 waiting, 2 sent again by a later replay";
    let page = replay(&mut visitor, "failed", later).await;
    page.shows("0 of 2 delivered, 0 failed, 2 waiting<").shows("Finished").shows("Delivering");
}

#[tokio::test]
async fn a_failed_response_is_open_and_the_request_is_shown_without_its_signature() {
    let fixture = Fixture::new().await;
    let endpoint = fixture.endpoint(at(&receiver(500, "boom").await)).await;
    let message = fixture.message("a.b", "{\"it\":\"'s\"}", None).await;
    let mut visitor = fixture.visitor().await;
    let page = visitor.until_shown(&format!("/messages/{}", message.id), "boom").await;
    page.shows("<details open data-auto>")
        .shows("<h3>Request</h3>")
        .shows("Copy as cURL")
        .shows("500: The receiver&#39;s own code failed: boom");
    page.shows("webhook-signature: v1,MASKED").shows(&format!("webhook-id: {}", message.id)).hides("v1,=");
    let raw = visitor.get(&format!("/messages/{}?payload=raw", message.id)).await;
    raw.shows(
        "<code>{<span class=\"code-name\">&#34;it&#34;</span>:<span class=\"code-text\">&#34;&#39;s&#34;</span>}</code>",
    );
    let of_endpoint = visitor.get(&format!("/endpoints/{}", endpoint.id)).await;
    of_endpoint.shows("none has succeeded since then").shows("Replay missed messages").shows("&amp;state=undelivered");
    let mut reader = fixture.visitor_who_may(&[]).await;
    reader.get(&format!("/endpoints/{}", endpoint.id)).await.shows("id=\"endpoint-id\"").shows("Copy endpoint id");
    reader.get("/messages/live?after=odd").await.is(400);
    let live = format!("/endpoints/{}/live?", endpoint.id);
    reader
        .get(&format!("/endpoints/{}?status=fail", endpoint.id))
        .await
        .shows(&format!("{live}status=fail&#38;after=atmpt_"));
    reader.get(&format!("{live}after=odd")).await.is(400);
    reader.get(&format!("{live}status=odd&after=atmpt_1")).await.is(400);
}

#[tokio::test]
async fn headers_are_shown_without_secrets_and_a_request_is_signed_for_those_who_manage_endpoints() {
    let fixture = Fixture::new().await;
    let headers = [("X-Tenant".to_owned(), "a-secret-tenant".to_owned())].into();
    let input = EndpointInput { headers: Some(headers), ..at(&receiver(500, "boom").await) };
    let endpoint = fixture.endpoint(input).await;
    let message = fixture.message("a.b", "{\"it\":\"'s\"}", None).await;
    let path = format!("/messages/{}", message.id);
    let mut reader = fixture.visitor_who_may(&[]).await;
    let page = reader.until_shown(&path, "boom").await;
    page.shows("set-cookie</span>: session=MASKED; Path=/")
        .shows("content-type</span>: text/plain")
        .hides("a-secret-cookie");
    page.shows("Headers as sent")
        .shows("user-agent</span>: Lotwire-Webhooks/")
        .shows("x-tenant</span>: MASKED")
        .hides("a-secret-tenant");
    page.hides("The endpoint was changed since").hides("Sign for now");
    let sign = format!("{path}/sign");
    reader.post(&sign, &[("endpoint", &endpoint.id)]).await.is(403);

    let mut manager = fixture.visitor_who_may(&[Capability::ManageEndpoint]).await;
    manager.get(&path).await.shows("Sign for now");
    let page = manager.post(&sign, &[("endpoint", &endpoint.id)]).await;
    page.is(200).shows("usually accept it for five minutes").hides("a-secret-tenant").shows("x-tenant: MASKED");
    let coloured = page.text.split_once("id=\"signed\">").unwrap().1.split_once("</code>").unwrap().0;
    let command = coloured.replace("<span class=\"code-text\">", "").replace("</span>", "");
    let command = command.replace("&#39;", "'").replace("&#34;", "\"").replace("&#38;", "&");
    let value = |name: &str| {
        let (_, rest) = command.split_once(&format!("'{name}: ")).unwrap();
        rest.split_once('\'').unwrap().0.to_owned()
    };
    let secret = fixture.provider.endpoint_secret(&fixture.account, &fixture.app.id, &endpoint.id).await.unwrap();
    let webhook = standardwebhooks::Webhook::new(&secret).unwrap();
    let seconds = value("webhook-timestamp").parse().unwrap();
    let expected = webhook.sign(&value("webhook-id"), seconds, b"{\"it\":\"'s\"}").unwrap();
    assert_eq!((value("webhook-id"), value("webhook-signature")), (message.id.to_string(), expected));
    assert_eq!(seconds, kit_runtime::clock::Clock::now(&*fixture.clock).as_second());
    let log = fixture.provider.activity(&fixture.account, Default::default()).await.unwrap().entries;
    assert_eq!((log[0].action.as_str(), log[0].subject.as_str()), ("endpoint.request_signed", &*endpoint.id));
    assert_eq!(log[0].after, format!("message: {}", message.id));
    manager.post(&sign, &[("endpoint", "ep_1")]).await.is(404);
    fixture.provider.expunge_message(&fixture.account, &fixture.app.id, &message.id).await.unwrap();
    manager.get(&path).await.hides("Sign for now");
    manager.post(&sign, &[("endpoint", &endpoint.id)]).await.is(400);
}
