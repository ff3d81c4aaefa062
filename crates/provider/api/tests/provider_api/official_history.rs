//! The official client against a running provider: messages and attempts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::routing::post;
use http::{HeaderMap, StatusCode};
use kit_runtime::clock::SystemClock;
use kit_runtime::tasks::Tasks;
use provider_core::ProviderConfig;
use serde_json::{Value, json};
use svix::api::*;
use svix::error::Error;
use svix::models::*;

use crate::fixture;
use crate::official::{PATIENCE, start};

/// Repeats a call until it returns a value.
async fn eventually<T>(mut read: impl AsyncFnMut() -> Option<T>) -> T {
    let poll = async {
        loop {
            match read().await {
                Some(answer) => return answer,
                None => tokio::task::yield_now().await,
            }
        }
    };
    tokio::time::timeout(PATIENCE, poll).await.expect("the expected state was not reached in time")
}

fn types(names: &[&str]) -> Option<std::collections::BTreeSet<String>> {
    Some(names.iter().map(|name| (*name).to_owned()).collect())
}

#[tokio::test]
async fn the_official_client_searches_resends_and_removes() {
    let tasks = Tasks::new();
    let provider = fixture::provider(
        provider_store::sqlite::open_temporary().unwrap(),
        Arc::new(SystemClock),
        ProviderConfig::default(),
    );
    provider.spawn_workers(&tasks);
    let key = fixture::key(&provider, "customer").await;
    let count = Arc::new(AtomicUsize::new(0));
    // The first request fails, and later ones succeed.
    let hook = async move |headers: HeaderMap| match count.fetch_add(1, Ordering::SeqCst) {
        _ if headers["content-type"] != "text/plain" => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "what is it?"),
        0 => (StatusCode::INTERNAL_SERVER_ERROR, "no"),
        _ => (StatusCode::OK, "yes"),
    };
    let receiver = start(kit_http::finish(Router::new().route("/hook", post(hook)))).await;
    let server_url = Some(start(provider_api::surface(provider)).await);
    let svix = Svix::new(key, Some(SvixOptions { server_url, ..SvixOptions::default() }));
    let app = svix.application().create(ApplicationIn::new("house".into()), None).await.unwrap().id;
    let endpoint =
        svix.endpoint().create(app.clone(), EndpointIn::new(format!("{receiver}/hook")), None).await.unwrap().id;

    let message = MessageIn {
        tags: types(&["spring"]),
        channels: types(&["lots"]),
        payload_retention_hours: Some(200),
        ..MessageIn::new_raw_payload("item.sold".into(), "plain text".into()).with_content_type("text/plain".into())
    };
    let shown = MessageCreateOptions { with_content: Some(true), ..Default::default() };
    let sent = svix.message().create(app.clone(), message, Some(shown)).await.unwrap();
    assert_eq!((&sent.tags, &sent.payload), (&types(&["spring"]), &json!({"rawPayload": "plain text"})));
    let precheck = MessagePrecheckIn { event_type: "item.sold".into(), channels: None };
    assert!(svix.message().precheck(app.clone(), precheck, None).await.unwrap().active);

    // The delivery failed and waits for its next attempt.
    let attempted = eventually(async || {
        let sending = MessageAttemptListAttemptedMessagesOptions {
            status: Some(MessageStatus::Sending),
            channel: Some("lots".into()),
            tag: Some("spring".into()),
            event_types: types(&["item.sold", "item.passed"]),
            after: Some(sent.timestamp - Duration::from_secs(60)),
            before: Some(sent.timestamp + Duration::from_secs(60)),
            with_content: Some(true),
            expanded_statuses: Some(true),
            ..Default::default()
        };
        let list = svix.message_attempt().list_attempted_messages(app.clone(), endpoint.clone(), Some(sending)).await;
        list.unwrap().data.into_iter().next()
    })
    .await;
    assert_eq!((&attempted.id, attempted.status_text), (&sent.id, MessageStatusText::Sending));
    assert!(attempted.next_attempt.is_some());
    let list = svix.message_attempt().list_attempted_destinations(app.clone(), sent.id.clone(), None).await.unwrap();
    let destination = &list.data[0];
    assert_eq!((&destination.id, destination.status), (&endpoint, MessageStatus::Fail));
    assert_eq!(destination.next_attempt, attempted.next_attempt);

    svix.message_attempt().resend(app.clone(), sent.id.clone(), endpoint.clone(), None).await.unwrap();
    let attempt = eventually(async || {
        let succeeded = MessageAttemptListByEndpointOptions {
            status: Some(MessageStatus::Success),
            status_code_class: Some(StatusCodeClass::Code2xx),
            event_types: types(&["item.sold"]),
            with_msg: Some(true),
            with_content: Some(true),
            ..Default::default()
        };
        let list = svix.message_attempt().list_by_endpoint(app.clone(), endpoint.clone(), Some(succeeded)).await;
        list.unwrap().data.into_iter().next()
    })
    .await;
    assert_eq!((attempt.trigger_type, attempt.response.as_str()), (MessageAttemptTriggerType::Manual, "yes"));
    assert_eq!(attempt.msg.as_ref().map(|message| (&message.id, &message.payload)), Some((&sent.id, &json!({}))));
    let failed = MessageAttemptListByMsgOptions {
        status: Some(MessageStatus::Fail),
        endpoint_id: Some(endpoint.clone()),
        with_content: Some(true),
        tag: Some("spring".into()),
        ..Default::default()
    };
    let failed = svix.message_attempt().list_by_msg(app.clone(), sent.id.clone(), Some(failed)).await.unwrap();
    assert_eq!(failed.data.iter().map(|attempt| attempt.response.as_str()).collect::<Vec<_>>(), ["no"]);

    let (app_id, message_id) = (|| app.clone(), || sent.id.clone());
    svix.message_attempt().expunge_content(app_id(), message_id(), attempt.id.clone()).await.unwrap();
    let expunged = svix.message_attempt().get(app_id(), message_id(), attempt.id, None).await.unwrap();
    assert_eq!(expunged.response, "EXPUNGED");
    svix.message().expunge_content(app_id(), message_id()).await.unwrap();
    let of_spring = MessageListOptions {
        tag: Some("spring".into()),
        event_types: types(&["item.sold", "x"]),
        with_content: Some(true),
        ..Default::default()
    };
    let listed = svix.message().list(app_id(), Some(of_spring)).await.unwrap();
    assert_eq!(
        listed.data.iter().map(|message| &message.payload).collect::<Vec<&Value>>(),
        [&json!({"expired": true})]
    );
    let refused = svix.message_attempt().resend(app_id(), message_id(), endpoint, None).await.unwrap_err();
    let Error::Http(refused) = refused else { panic!("{refused:?}") };
    assert_eq!((refused.status.as_u16(), refused.payload.unwrap().code.as_str()), (400, "missing_payload"));
    tasks.shutdown(PATIENCE).await.unwrap();
}
