//! The official client against a running provider: applications, event types, endpoints and secrets.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use kit_runtime::clock::SystemClock;
use kit_runtime::tasks::Tasks;
use provider_core::ProviderConfig;
use serde_json::json;
use svix::api::*;
use svix::error::Error;
use svix::models::*;
use tokio::sync::mpsc;

use crate::fixture;
use crate::official::{PATIENCE, start};

const PRIVATE: &str = "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
const PUBLIC: &str = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";

struct OfficialClient {
    svix: Svix,
    app: String,
    receiver: String,
    arrivals: mpsc::UnboundedReceiver<(String, HeaderMap, Bytes)>,
    tasks: Tasks,
}

impl OfficialClient {
    async fn new() -> Self {
        let tasks = Tasks::new();
        let provider = fixture::provider(
            provider_store::sqlite::open_temporary().unwrap(),
            Arc::new(SystemClock),
            ProviderConfig::default(),
        );
        provider.spawn_workers(&tasks);
        let key = fixture::key(&provider, "customer").await;
        let (arrived, arrivals) = mpsc::unbounded_channel();
        let hook = async move |uri: http::Uri, headers: HeaderMap, body: Bytes| {
            arrived.send((uri.path().to_owned(), headers, body)).unwrap();
        };
        let receiver = start(kit_http::finish(Router::new().route("/{hook}", post(hook)))).await;
        let options =
            SvixOptions { server_url: Some(start(provider_api::surface(provider)).await), ..SvixOptions::default() };
        let svix = Svix::new(key, Some(options));
        let app = svix.application().create(ApplicationIn::new("Hammer & Sons".into()), None).await.unwrap().id;
        Self { svix, app, receiver, arrivals, tasks }
    }

    async fn endpoint(&self, path: &str) -> String {
        let endpoint = EndpointIn::new(format!("{}/{path}", self.receiver));
        self.svix.endpoint().create(self.app.clone(), endpoint, None).await.unwrap().id
    }

    async fn ping(&self, endpoint: &str) -> MessageOut {
        let example = EventExampleIn::new("svix.ping".into());
        self.svix.endpoint().send_example(self.app.clone(), endpoint.to_owned(), example, None).await.unwrap()
    }

    async fn arrival(&mut self) -> (String, HeaderMap, Bytes) {
        tokio::time::timeout(PATIENCE, self.arrivals.recv()).await.unwrap().unwrap()
    }
}

#[tokio::test]
async fn applications_and_event_types_are_patched() {
    let OfficialClient { svix, app, tasks, .. } = OfficialClient::new().await;
    let patch = ApplicationPatch {
        name: Some("New".into()),
        uid: js_option::JsOption::Some("house".into()),
        throttle_rate: js_option::JsOption::Some(7),
        ..ApplicationPatch::default()
    };
    let patched = svix.application().patch(app.clone(), patch).await.unwrap();
    assert_eq!((patched.name.as_str(), patched.uid.as_deref(), patched.throttle_rate), ("New", Some("house"), Some(7)));
    let cleared = ApplicationPatch { uid: js_option::JsOption::Null, ..ApplicationPatch::default() };
    let patched = svix.application().patch(app, cleared).await.unwrap();
    assert_eq!((patched.uid, patched.throttle_rate), (None, Some(7)));
    let used = ApplicationListOptions { exclude_apps_with_no_endpoints: Some(true), ..Default::default() };
    assert_eq!(svix.application().list(Some(used)).await.unwrap().data, []);

    let spec = json!({"openapi": "3.1.0", "webhooks": {"item.sold": {"post": {"description": "Sold", "requestBody":
        {"content": {"application/json": {"schema": {"type": "object", "examples": [{"a": 1}, {"a": 2}]}}}}}}}});
    let import = EventTypeImportOpenApiIn { spec: Some(spec.clone()), dry_run: Some(true), ..Default::default() };
    let dry = svix.event_type().import_openapi(import, None).await.unwrap().data;
    assert_eq!((dry.modified.len(), dry.to_modify.unwrap()[0].name.as_str()), (0, "item.sold"));
    let import = EventTypeImportOpenApiIn { spec_raw: Some(spec.to_string()), ..Default::default() };
    assert_eq!(svix.event_type().import_openapi(import, None).await.unwrap().data.modified, ["item.sold"]);
    let patch = EventTypePatch {
        deprecated: Some(true),
        feature_flags: js_option::JsOption::Some(["early".to_owned()].into()),
        ..EventTypePatch::default()
    };
    let patched = svix.event_type().patch("item.sold".into(), patch).await.unwrap();
    assert_eq!((patched.deprecated, patched.feature_flags), (true, Some(["early".to_owned()].into())));
    let upsert = EventTypeUpsertIn::new("Sold for good".into());
    let upserted = svix.event_type().upsert("item.sold".into(), upsert).await.unwrap();
    assert_eq!((upserted.deprecated, upserted.feature_flags, upserted.schemas), (false, None, None));
    let expunge = Some(EventTypeDeleteOptions { expunge: Some(true) });
    svix.event_type().delete("item.sold".into(), expunge).await.unwrap();
    let Err(Error::Http(gone)) = svix.event_type().get("item.sold".into()).await else {
        panic!("the deleted event type was found")
    };
    assert_eq!(gone.status.as_u16(), 404);
    tasks.shutdown(PATIENCE).await.unwrap();
}

/// A known fault of the open-source server, where a change takes effect after half a minute.
#[tokio::test]
async fn the_next_delivery_uses_the_changed_headers_and_address() {
    let mut played = OfficialClient::new().await;
    let (app, svix) = (played.app.clone(), played.svix.clone());
    let (endpoint, _other) = (played.endpoint("one").await, played.endpoint("other").await);
    played.ping(&endpoint).await;
    assert!(!played.arrival().await.1.contains_key("x-customer"));
    let set = |headers: &[(&str, &str)]| {
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let headers = EndpointHeadersIn::new(set(&[("X-Customer", "17"), ("Authorization", "Bearer secret")]));
    svix.endpoint().set_headers(app.clone(), endpoint.clone(), headers).await.unwrap();
    played.ping(&endpoint).await;
    let (_, arrived, body) = played.arrival().await;
    assert_eq!(arrived["x-customer"], "17");
    assert_eq!(arrived["authorization"], "Bearer secret");
    assert_eq!(body, r#"{"success":true}"#);
    let shown = svix.endpoint().get_headers(app.clone(), endpoint.clone()).await.unwrap();
    assert_eq!((shown.headers, shown.sensitive), (set(&[("X-Customer", "17")]), ["Authorization".to_owned()].into()));

    let patch = EndpointHeadersPatchIn {
        delete_headers: Some(vec!["authorization".into()]),
        ..EndpointHeadersPatchIn::new(set(&[("X-Customer", "18")]))
    };
    svix.endpoint().patch_headers(app.clone(), endpoint.clone(), patch).await.unwrap();
    let moved = EndpointPatch { url: Some(format!("{}/two", played.receiver)), ..EndpointPatch::default() };
    svix.endpoint().patch(app.clone(), endpoint.clone(), moved).await.unwrap();
    played.ping(&endpoint).await;
    let (path, arrived, _) = played.arrival().await;
    assert_eq!((path.as_str(), &arrived["x-customer"]), ("/two", &"18".parse().unwrap()));
    assert!(!arrived.contains_key("authorization"));

    // A line break returns an error and does not close the connection.
    let broken = EndpointHeadersPatchIn::new(set(&[("X-Customer", "line\r\nbreak: yes")]));
    let refused = svix.endpoint().patch_headers(app.clone(), endpoint.clone(), broken).await.unwrap_err();
    let Error::Validation(refused) = refused else { panic!("{refused:?}") };
    assert_eq!(refused.payload.unwrap().detail[0].loc, ["body", "headers", "X-Customer"]);

    let counted = async {
        loop {
            let stats = svix.endpoint().get_stats(app.clone(), endpoint.clone(), None).await.unwrap();
            if stats.success == 3 {
                break stats;
            }
            tokio::task::yield_now().await;
        }
    };
    let stats = tokio::time::timeout(PATIENCE, counted).await.unwrap();
    assert_eq!((stats.pending, stats.sending, stats.fail, stats.canceled), (0, 0, 0, 0));
    assert!(played.arrivals.try_recv().is_err(), "the example was sent to a second endpoint");
    played.tasks.shutdown(PATIENCE).await.unwrap();
}

#[tokio::test]
async fn an_endpoint_signs_with_a_given_or_generated_key_pair() {
    let mut played = OfficialClient::new().await;
    let (app, svix) = (played.app.clone(), played.svix.clone());
    let endpoint = played.endpoint("one").await;
    let shared = svix.endpoint().get_secret(app.clone(), endpoint.clone()).await.unwrap().key;
    let given = EndpointSecretRotateIn { key: Some(PRIVATE.into()), ..EndpointSecretRotateIn::default() };
    let rotated = svix.endpoint().rotate_secret(app.clone(), endpoint.clone(), given, None).await.unwrap().key;
    assert_eq!(rotated, PUBLIC);
    assert_eq!(svix.endpoint().get_secret(app.clone(), endpoint.clone()).await.unwrap().key, PUBLIC);
    played.ping(&endpoint).await;
    let (_, headers, body) = played.arrival().await;
    verify(PUBLIC, &headers, &body);
    // The old secret also signs during its grace period.
    svix::webhooks::Webhook::new(&shared).unwrap().verify(&body, &headers).unwrap();

    let at_once = EndpointSecretRotateIn { grace_period_seconds: Some(0), ..EndpointSecretRotateIn::default() };
    let made = svix.endpoint().rotate_secret(app.clone(), endpoint.clone(), at_once, None).await.unwrap().key;
    assert!(made.starts_with("whpk_") && made != PUBLIC, "{made}");
    played.ping(&endpoint).await;
    let (_, headers, body) = played.arrival().await;
    verify(&made, &headers, &body);

    let back = EndpointSecretRotateIn { key: Some(shared.clone()), grace_period_seconds: Some(0) };
    assert_eq!(svix.endpoint().rotate_secret(app.clone(), endpoint.clone(), back, None).await.unwrap().key, shared);

    let created = EndpointIn { secret: Some(PRIVATE.into()), ..EndpointIn::new(format!("{}/two", played.receiver)) };
    let created = svix.endpoint().create(app.clone(), created, None).await.unwrap();
    assert_eq!(svix.endpoint().get_secret(app.clone(), created.id).await.unwrap().key, PUBLIC);
    played.tasks.shutdown(PATIENCE).await.unwrap();
}

/// The first signature is that of the key pair.
fn verify(public: &str, headers: &HeaderMap, body: &[u8]) {
    let text = |name: &str| headers[name].to_str().unwrap();
    assert_eq!(text("svix-signature"), text("webhook-signature"));
    let public = STANDARD.decode(public.strip_prefix("whpk_").unwrap()).unwrap();
    let public = ed25519_compact::PublicKey::from_slice(&public).unwrap();
    let first = text("webhook-signature").split(' ').next().unwrap();
    let signature = STANDARD.decode(first.strip_prefix("v1a,").unwrap()).unwrap();
    let signature = ed25519_compact::Signature::from_slice(&signature).unwrap();
    let signed = [format!("{}.{}.", text("webhook-id"), text("webhook-timestamp")).as_bytes(), body].concat();
    public.verify(&signed, &signature).unwrap();
}
