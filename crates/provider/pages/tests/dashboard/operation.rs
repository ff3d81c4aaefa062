//! Usage, operational webhooks, background tasks and the payload check.

use std::time::Duration;

use jiff::SignedDuration;
use provider_core::model::Role;
use provider_core::model::{PayloadCheck, TaskKind, UnknownEventTypes};
use provider_core::{Created, EventTypeInput, ReplayInput};
use serde_json::json;

use crate::workplace::{HOSTILE, Workplace, at, receiver};

/// Half seconds of the test clock until a background task has finished.
const TICKS_MAX: usize = 1_000;

#[tokio::test]
async fn usage_is_shown_by_day_and_as_csv() {
    let place = Workplace::open().await;
    let app = place.application("Hammer").await;
    place.send(&app.id, "a.b", "{}").await;
    place.clock.advance(Duration::from_secs(24 * 3_600));
    let mut ann = place.user(Role::Viewer).await;
    place.endpoint(&app.id, at(&receiver(204, "").await)).await;
    place.send(&app.id, "a.b", "{}").await;
    ann.until_shown(&format!("/applications/{}", app.id), "100 %").await;
    ann.until_shown("/usage", "1 succeeded, 0 failed").await;
    let page = ann.get("/usage").await;
    page.is(200)
        .shows("with 4 B of payloads")
        .shows("1<small>0 failed for good")
        .shows("<td>2026-11-22</td>")
        .shows("<svg")
        .shows("Download CSV")
        .hides("style=");
    let csv = ann.get("/usage.csv").await;
    csv.is(200).shows("day_utc,messages,payload_bytes,attempts_succeeded,attempts_failed,messages_delivered,");
    csv.shows("2026-11-21,1,2,0,0,0,0,0,0\r\n2026-11-22,1,2,1,0,1,0,0,0\r\n");
    assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
    assert_eq!(csv.text.lines().count(), 31);
}

#[tokio::test]
async fn an_operational_endpoint_is_added_changed_and_deleted() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Member).await;
    ann.get("/operational-webhooks").await.is(200).shows("No operational endpoints yet").shows("endpoint.disabled");
    ann.post("/operational-webhooks/new", &[("url", "ftp://x"), ("types", "some")])
        .await
        .is(422)
        .shows("id=\"url-fault\"")
        .shows("value=\"ftp://x\"")
        .shows("id=\"types-fault\"")
        .shows("<li><a href=\"#url\">")
        .shows("<li><a href=\"#eventTypes\">");
    let form = [
        ("url", "https://ops.example/"),
        ("description", HOSTILE),
        ("types", "some"),
        ("eventTypes", "endpoint.disabled"),
    ];
    let page = ann.submit("/operational-webhooks/new", &form).await;
    page.is(200).shows("https://ops.example/").shows("endpoint.disabled").hides("<script>alert").hides("whsec_");
    let found = place.provider.list_operational_endpoints(&place.account, &Default::default()).await.unwrap().data;
    let path = |page: &str| format!("/operational-webhooks/{}{page}", found[0].id);
    ann.post(&path("/secret"), &[]).await.is(200).shows("whsec_");
    let secret = async || place.provider.operational_secret(&place.account, &found[0].id).await.unwrap();
    let before = secret().await;
    ann.submit(&path("/rotate"), &[]).await.shows("new signing secret");
    assert_ne!(secret().await, before);
    ann.get(&path("/edit")).await.is(200).shows("value=\"endpoint.disabled\" checked");
    let form = [("url", "https://other.example/"), ("types", "all"), ("disabled", "yes")];
    ann.submit(&path("/edit"), &form)
        .await
        .is(200)
        .shows("https://other.example/")
        .shows("Disabled")
        .shows("All events");
    ann.get(&path("/delete")).await.is(200).shows("No event is sent");
    ann.submit(&path("/delete"), &[]).await.shows("The endpoint was deleted.").shows("No operational endpoints yet");
    ann.get(&path("")).await.is(404);
    let mut viewer = place.user(Role::Viewer).await;
    viewer.post(&path("/secret"), &[]).await.is(403);
}

#[tokio::test]
async fn a_background_task_shows_its_progress_and_outcome() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Viewer).await;
    ann.get("/tasks").await.is(200).shows("No background tasks yet");
    let app = place.application("Hammer").await;
    place.send(&app.id, "a.b", "{}").await;
    place.clock.advance(Duration::from_secs(60));
    let endpoint = place.endpoint(&app.id, at(&receiver(204, "").await)).await;
    let input = ReplayInput::time_range(TaskKind::ReplayMissing, app.created_at - SignedDuration::from_secs(60), None);
    place.provider.replay(&place.account, &app.id, &endpoint.id, input, None, |_| String::new()).await.unwrap();
    ann.get("/tasks").await.shows("Replay missing messages").shows("Running").shows("data-live=\"tasks\"");
    for _ in 0..TICKS_MAX {
        place.clock.advance(Duration::from_millis(500));
        if ann.get("/tasks?status=finished").await.text.contains("Replay missing messages") {
            break;
        }
    }
    let page = ann.until_shown("/tasks?status=finished", "1 of 1 delivered, 0 failed, 0 waiting").await;
    page.shows("Finished").shows("Hammer").hides("data-live");
    let path = page.text.split("/dashboard/tasks/").nth(1).unwrap().split('"').next().unwrap();
    let detail = ann.get(&format!("/tasks/{path}")).await;
    detail.is(200).shows("1 of 1 delivered, 0 failed, 0 waiting.").shows(&endpoint.url);
    let entry = ann.get("/activity").await;
    entry.is(200).shows("Sent missing messages to the endpoint").shows(&endpoint.url).shows("from: 2026-11-21T");
    entry.shows(&format!("<a href=\"/dashboard/tasks/{path}\">1 (1 of 1 delivered, 0 failed, 0 waiting)</a>"));
    ann.get("/tasks?status=failed").await.shows("No such tasks");

    let input = ReplayInput::time_range(TaskKind::ReplayMissing, app.created_at - SignedDuration::from_secs(60), None);
    let again = place.provider.replay(&place.account, &app.id, &endpoint.id, input, None, |_| String::new()).await;
    let Created::New(task) = again.unwrap() else { panic!("a new task") };
    assert!(place.provider.stop_endpoint_task(&place.account, &app.id, &endpoint.id, &task.id).await.unwrap());
    ann.get("/tasks?status=failed").await.shows("Stopped").hides(">Failed<");
    ann.get("/activity").await.shows("Stopped sending messages again to the endpoint").shows("\">0</a>");
    ann.get(&format!("/tasks/{}", task.id)).await.is(200).shows("Stopped").hides("stopped on request");
    ann.get("/tasks/qtask_1srOrx2ZWZBpBUvZwXKQmoEYga2").await.is(404);
}

#[tokio::test]
async fn the_payload_check_is_set_and_shows_what_it_found_without_the_payload() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Admin).await;
    ann.get("/payload-check").await.is(200).shows("value=\"off\" checked").shows("No findings");
    ann.submit("/payload-check", &[("check", "warn")]).await.shows("was saved").shows("value=\"warn\" checked");
    let settings = place.provider.account(&place.account.account).await.unwrap().settings;
    assert_eq!(settings.payload_check, PayloadCheck::Warn);
    ann.post("/payload-check", &[("check", "odd")]).await.is(400);
    let schemas = Some(json!({"1": {"type": "object", "required": ["itemUuid"]}}));
    let input = EventTypeInput { schemas, ..EventTypeInput::default() };
    place.provider.create_event_type(&place.account, "a.b", input, None, |_| String::new()).await.unwrap();
    let app = place.application("Hammer").await;
    place.send(&app.id, "a.b", "{\"secret\": 1}").await;
    let page = ann.get("/payload-check").await;
    page.shows("1 accepted with a warning")
        .shows("<code>/required</code>")
        .shows("href=\"/dashboard/event-types/a.b\"");
    page.hides("secret");
    place.user(Role::Viewer).await.get("/payload-check").await.is(200).shows("Warn.").hides("Save payload check");
}

#[tokio::test]
async fn unknown_event_types_are_listed_with_their_key_and_created_with_a_button() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Admin).await;
    ann.get("/event-types").await.is(200).shows("value=\"warn\" checked").hides("id=\"unknown-types\"");
    let app = place.application("Hammer").await;
    for event_type in ["a.b", "a.b", "c.d"] {
        place.send(&app.id, event_type, "{}").await;
    }
    let page = ann.get("/event-types").await;
    page.shows("id=\"unknown-types\"").shows("<code>a.b</code>").shows(&place.account.name).shows(&place.account.key);
    page.shows("data-of=\"Messages\">2<").shows("data-of=\"Messages\">1<");
    ann.submit("/unknown-event-types/create", &[("name", "a.b")]).await.shows("was created").shows("a.b");
    ann.get("/event-types").await.shows("href=\"/dashboard/event-types/a.b\"").hides("event type a.b</span>");
    place
        .user(Role::Viewer)
        .await
        .get("/event-types")
        .await
        .is(200)
        .shows("Warn: it is delivered")
        .hides("Save setting");

    ann.post("/unknown-event-types", &[("handling", "odd")]).await.is(400);
    ann.submit("/unknown-event-types", &[("handling", "accept")])
        .await
        .shows("was saved")
        .hides("id=\"unknown-types\"");
    let settings = place.provider.account(&place.account.account).await.unwrap().settings;
    assert_eq!(settings.unknown_event_types, UnknownEventTypes::Accept);
    place.user(Role::Member).await.post("/unknown-event-types", &[("handling", "reject")]).await.is(403);
}
