//! The official client against a running provider: setting up, sending, and reading attempts.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use http::HeaderMap;
use kit_http::Surface;
use kit_http::serve::{Limits, serve};
use kit_runtime::clock::SystemClock;
use kit_runtime::tasks::Tasks;
use provider_core::ProviderConfig;
use serde_json::json;
use svix::api::*;
use svix::error::Error;
use svix::models::*;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::{event_types, fixture};

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Serves until the end of the test; returns the address.
pub(crate) async fn start(surface: Surface) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, surface, std::future::pending(), Limits::default()));
    format!("http://{addr}")
}

#[tokio::test]
async fn the_official_client_sets_up_sends_and_sees_the_attempt() {
    let tasks = Tasks::new();
    let provider = fixture::provider(
        provider_store::sqlite::open_temporary().unwrap(),
        Arc::new(SystemClock),
        ProviderConfig::default(),
    );
    provider.spawn_workers(&tasks);
    let key = fixture::key(&provider, "customer").await;
    let (arrived, mut arrivals) = mpsc::unbounded_channel();
    let hook = async move |headers: HeaderMap, body: Bytes| {
        arrived.send((headers, body)).unwrap();
        "taken"
    };
    let receiver = start(kit_http::finish(Router::new().route("/hook", post(hook)))).await;
    let options =
        SvixOptions { server_url: Some(start(provider_api::surface(provider)).await), ..SvixOptions::default() };
    let svix = Svix::new(format!("{key}.eu"), Some(options));

    let application = ApplicationIn { uid: Some("house".into()), ..ApplicationIn::new("Hammer & Sons".into()) };
    let created = svix.application().create(application.clone(), None).await.unwrap();
    assert_eq!(svix.application().get_or_create(application, None).await.unwrap(), created);
    let app = created.id;
    for event_type in event_types::of_the_platform() {
        let given: EventTypeIn = serde_json::from_value(event_type).unwrap();
        assert_eq!(svix.event_type().create(given.clone(), None).await.unwrap().schemas, given.schemas);
    }
    let with_content = EventTypeListOptions { with_content: Some(true), ..Default::default() };
    let known = svix.event_type().list(Some(with_content)).await.unwrap();
    assert_eq!(known.data.len(), 2);

    let endpoint = EndpointIn {
        event_types: Some(["ITEM_STATUS_CHANGE".into()].into()),
        ..EndpointIn::new(format!("{receiver}/hook"))
    };
    let endpoint = svix.endpoint().create(app.clone(), endpoint, None).await.unwrap();
    let rotated =
        svix.endpoint().rotate_secret(app.clone(), endpoint.id.clone(), Default::default(), None).await.unwrap();
    let secret = svix.endpoint().get_secret(app.clone(), endpoint.id.clone()).await.unwrap().key;
    assert_eq!(rotated.key, secret);

    let payload = json!({"itemUuid": "i", "auctioneerUuid": "a", "auctionUuid": "b", "status": "SOLD"});
    let message =
        MessageIn { event_id: Some("i.1".into()), ..MessageIn::new("ITEM_STATUS_CHANGE".into(), payload.clone()) };
    let sent = svix.message().create(app.clone(), message.clone(), None).await.unwrap();
    let (headers, body) = tokio::time::timeout(PATIENCE, arrivals.recv()).await.unwrap().unwrap();
    svix::webhooks::Webhook::new(&secret).unwrap().verify(&body, &headers).unwrap();
    assert_eq!((headers["svix-id"].to_str().unwrap(), body), (sent.id.as_str(), payload.to_string().into()));

    // The provider records the attempt after the response.
    let recorded = async {
        loop {
            let list = svix.message_attempt().list_by_msg(app.clone(), sent.id.clone(), None).await.unwrap();
            if let Some(attempt) = list.data.into_iter().next() {
                break attempt;
            }
            tokio::task::yield_now().await;
        }
    };
    let attempt = tokio::time::timeout(PATIENCE, recorded).await.unwrap();
    assert_eq!((attempt.status, attempt.status_text), (MessageStatus::Success, MessageStatusText::Success));
    let by_endpoint = svix.message_attempt().list_by_endpoint(app.clone(), endpoint.id.clone(), None).await.unwrap();
    assert_eq!(by_endpoint.data.as_slice(), std::slice::from_ref(&attempt));
    let whole = svix.message_attempt().get(app.clone(), sent.id.clone(), attempt.id, None).await.unwrap();
    assert_eq!((whole.response.as_str(), whole.response_status_code), ("taken", 200));

    assert_conflict(svix.message().create(app.clone(), message, None).await);
    let with_content = MessageListOptions { with_content: Some(true), ..Default::default() };
    let listed = svix.message().list(app.clone(), Some(with_content)).await.unwrap();
    assert_eq!(listed.data[0].payload, payload);
    let invalid = svix.endpoint().create(app.clone(), EndpointIn::new("nowhere".into()), None).await.unwrap_err();
    let Error::Validation(invalid) = invalid else { panic!("{invalid:?}") };
    assert_eq!(invalid.payload.unwrap().detail[0].loc, ["body", "url"]);
    svix.endpoint().delete(app.clone(), endpoint.id).await.unwrap();
    svix.application().delete(app.clone()).await.unwrap();
    let gone = svix.application().get(app).await.unwrap_err();
    let Error::Http(gone) = gone else { panic!("{gone:?}") };
    assert_eq!((gone.status.as_u16(), gone.payload.unwrap().code.as_str()), (404, "not_found"));
    tasks.shutdown(PATIENCE).await.unwrap();
}

#[track_caller]
fn assert_conflict(result: Result<MessageOut, Error>) {
    match result.unwrap_err() {
        Error::Http(error) => assert_eq!(error.status.as_u16(), 409),
        other => panic!("{other:?}"),
    }
}
