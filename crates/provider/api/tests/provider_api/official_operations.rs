//! The official client against a running provider: background tasks and operational webhooks.

use std::sync::Arc;
use std::sync::atomic::AtomicU16;
use std::sync::atomic::Ordering::SeqCst;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use http::{HeaderMap, StatusCode};
use kit_runtime::clock::{Clock as _, SystemClock};
use kit_runtime::tasks::Tasks;
use provider_core::ProviderConfig;
use provider_core::config::retry_schedule::RetrySchedule;
use serde_json::{Value, json};
use svix::api::*;
use svix::models::*;
use tokio::sync::mpsc;

use crate::fixture;
use crate::official::{PATIENCE, start};

/// A client of a provider that makes one attempt, the address of a receiver that returns the status, and the received
/// requests.
async fn set_up(tasks: &Tasks, status: Arc<AtomicU16>) -> (Svix, String, mpsc::UnboundedReceiver<(HeaderMap, Bytes)>) {
    let config = ProviderConfig { retry_schedule: RetrySchedule::new(Vec::new()), ..ProviderConfig::default() };
    let provider = fixture::provider(provider_store::sqlite::open_temporary().unwrap(), Arc::new(SystemClock), config);
    provider.spawn_workers(tasks);
    let key = fixture::key(&provider, "customer").await;
    let (arrived, arrivals) = mpsc::unbounded_channel();
    let hook = async move |headers: HeaderMap, body: Bytes| {
        arrived.send((headers, body)).unwrap();
        StatusCode::from_u16(status.load(SeqCst)).unwrap()
    };
    let receiver = start(kit_http::finish(Router::new().route("/hook", post(hook)))).await;
    let server_url = Some(start(provider_api::surface(provider)).await);
    let svix = Svix::new(key, Some(SvixOptions { server_url, ..SvixOptions::default() }));
    (svix, format!("{receiver}/hook"), arrivals)
}

async fn finished(svix: &Svix, id: &str) -> BackgroundTaskOut {
    let asking = async {
        loop {
            let task = svix.background_task().get(id.to_owned()).await.unwrap();
            if task.status != BackgroundTaskStatus::Running {
                return task;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.unwrap()
}

#[tokio::test]
async fn the_official_client_recovers_and_replays() {
    const MESSAGES: usize = 5;
    let tasks = Tasks::new();
    let status = Arc::new(AtomicU16::new(500));
    let (svix, url, mut arrivals) = set_up(&tasks, Arc::clone(&status)).await;
    let app = svix.application().create(ApplicationIn::new("House".into()), None).await.unwrap().id;
    let endpoint = svix.endpoint().create(app.clone(), EndpointIn::new(url.clone()), None).await.unwrap().id;
    for _ in 0..MESSAGES {
        svix.message().create(app.clone(), MessageIn::new("a.b".into(), json!({})), None).await.unwrap();
        arrivals.recv().await.unwrap();
    }
    status.store(200, SeqCst);
    // The provider records the attempt after the response.
    let recorded = async {
        while svix.message_attempt().list_by_endpoint(app.clone(), endpoint.clone(), None).await.unwrap().data.len()
            < MESSAGES
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, recorded).await.unwrap();
    let since = SystemClock.now() - jiff::SignedDuration::from_hours(1);
    let span = json!({"since": since.to_string()});

    let failures: RecoverIn = serde_json::from_value(span.clone()).unwrap();
    let recover = svix.endpoint().recover(app.clone(), endpoint.clone(), failures, None).await.unwrap();
    assert_eq!(recover.task, BackgroundTaskType::EndpointRecover);
    let ended = finished(&svix, &recover.id).await;
    assert_eq!((ended.status, &ended.data["messagesSent"]), (BackgroundTaskStatus::Finished, &json!(MESSAGES)));
    for _ in 0..MESSAGES {
        arrivals.recv().await.unwrap();
    }

    let late = svix.endpoint().create(app.clone(), EndpointIn::new(url), None).await.unwrap().id;
    let missing: ReplayIn = serde_json::from_value(span.clone()).unwrap();
    let replay = svix.endpoint().replay_missing(app.clone(), late, missing, None).await.unwrap();
    assert_eq!(finished(&svix, &replay.id).await.data["messagesSent"], json!(MESSAGES));
    let filter = BulkReplayIn {
        status: Some(MessageStatus::Success),
        status_code_class: Some(StatusCodeClass::Code2xx),
        event_types: Some(["a.b".to_owned()].into()),
        ..serde_json::from_value(span).unwrap()
    };
    for _ in 0..MESSAGES {
        arrivals.recv().await.unwrap();
    }
    let bulk = svix.endpoint().bulk_replay(app.clone(), endpoint.clone(), filter, None).await.unwrap();
    assert_eq!(finished(&svix, &bulk.id).await.data["messagesFound"], json!(MESSAGES));

    let options = BackgroundTaskListOptions {
        status: Some(BackgroundTaskStatus::Finished),
        task: Some(BackgroundTaskType::EndpointBulkReplay),
        limit: Some(1),
        iterator: None,
        order: Some(svix::models::Ordering::Descending),
    };
    let listed = svix.background_task().list(Some(options)).await.unwrap();
    assert_eq!(listed.data.into_iter().map(|task| task.id).collect::<Vec<_>>(), [bulk.id]);

    let stats = svix.endpoint().get_attempt_stats(app.clone(), endpoint, None).await.unwrap();
    assert_eq!((stats.fail, stats.canceled), (MESSAGES as u64, 0));
    let whole = || MessageListOptions { with_content: Some(true), ..Default::default() };
    let sent = svix.message().list(app.clone(), Some(whole())).await.unwrap().data;
    let ids = [sent[0].id.clone(), "nowhere".to_owned()].into();
    let asked = BulkExpungeContentsIn { ids: Some(ids) };
    let results = svix.message().bulk_expunge_content(app.clone(), asked, None).await.unwrap().results;
    assert_eq!((results[&sent[0].id], results["nowhere"]), (BulkExpungeStatus::Expunged, BulkExpungeStatus::NotFound));
    let purge = svix.message().expunge_all_contents(app.clone(), None).await.unwrap();
    assert_eq!(purge.task, BackgroundTaskType::ApplicationPurgeContent);
    let purged = finished(&svix, &purge.id).await;
    assert_eq!((purged.status, &purged.data["messagesPurged"]), (BackgroundTaskStatus::Finished, &json!(MESSAGES - 1)));
    let left = svix.message().list(app, Some(whole())).await.unwrap().data;
    assert!(left.len() == MESSAGES && left.iter().all(|message| message.payload == json!({"expired": true})));
    tasks.shutdown(PATIENCE).await.unwrap();
}

#[tokio::test]
async fn the_official_client_receives_operational_webhooks() {
    let tasks = Tasks::new();
    let status = Arc::new(AtomicU16::new(204));
    let (svix, url, mut arrivals) = set_up(&tasks, status).await;
    let operational = svix.operational_webhook().endpoint();
    let given = OperationalWebhookEndpointIn {
        event_types: Some(["endpoint.created".to_owned()].into()),
        ..OperationalWebhookEndpointIn::new(url.clone())
    };
    let created = operational.create(given, None).await.unwrap();
    let id = created.id.clone();
    assert_eq!(operational.get(id.clone()).await.unwrap(), created);
    assert_eq!(operational.list(None).await.unwrap().data, [created]);
    let headers = OperationalWebhookEndpointHeadersIn::new([("x-key".to_owned(), "1".to_owned())].into());
    operational.set_headers(id.clone(), headers).await.unwrap();
    assert_eq!(operational.get_headers(id.clone()).await.unwrap().headers["x-key"], "1");
    operational.rotate_secret(id.clone(), OperationalWebhookEndpointSecretIn::new(), None).await.unwrap();
    let secret = operational.get_secret(id.clone()).await.unwrap().key;
    let upsert = OperationalWebhookEndpointUpsertIn {
        description: Some("Ours".into()),
        ..OperationalWebhookEndpointUpsertIn::new(url)
    };
    assert_eq!(operational.upsert(id.clone(), upsert).await.unwrap().description, "Ours");

    let app = svix.application().create(ApplicationIn::new("House".into()), None).await.unwrap().id;
    let endpoint = EndpointIn::new("http://127.0.0.1:9/".into());
    let endpoint = svix.endpoint().create(app.clone(), endpoint, None).await.unwrap().id;
    let (headers, body) = tokio::time::timeout(PATIENCE, arrivals.recv()).await.unwrap().unwrap();
    svix::webhooks::Webhook::new(&secret).unwrap().verify(&body, &headers).unwrap();
    let answer: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        answer,
        json!({"type": "endpoint.created",
            "data": {"appId": app, "appUid": null, "endpointId": endpoint, "endpointUid": null}})
    );
    assert_eq!(headers["x-key"], "1");
    operational.delete(id).await.unwrap();
    tasks.shutdown(PATIENCE).await.unwrap();
}
