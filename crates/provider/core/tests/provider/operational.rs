//! Operational webhooks: an account receives events about its endpoints and attempts.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use provider_core::config::retry_schedule::RetrySchedule;
use provider_core::{
    Created, DeliveryOrder, EndpointInput, EndpointPatch, PageRequest, PatchField, ProviderConfig, ProviderError,
};
use serde_json::Value;
use standardwebhooks::Webhook;

use crate::fixture::{Fixture, quick};
use crate::receiver::{Arrival, Receiver, Reply};

impl Fixture {
    /// Creates an operational endpoint with this URL, and returns its id.
    pub(crate) async fn listen(&self, url: &str) -> String {
        self.listen_to(url, None).await
    }

    async fn listen_to(&self, url: &str, filter_types: Option<Vec<String>>) -> String {
        let input = EndpointInput { url: url.into(), filter_types, ..EndpointInput::default() };
        let created = self.provider.create_operational_endpoint(&self.caller, input, None, |_| String::new()).await;
        let Created::New(endpoint) = created.unwrap() else { panic!("the endpoint exists already") };
        endpoint.id.to_string()
    }

    /// Waits until every operational event is a message, and every message is delivered.
    pub(crate) async fn wait_for_operational_deliveries(&self) {
        crate::fixture::eventually(async || {
            let pending = self.store.operational_events(1).await.unwrap();
            (pending.is_empty() && self.store.next_due().await.unwrap().is_none()).then_some(())
        })
        .await;
    }
}

fn event(arrival: &Arrival) -> (String, Value) {
    let payload: Value = serde_json::from_slice(&arrival.body).unwrap();
    (payload["type"].as_str().unwrap().to_owned(), payload["data"].clone())
}

fn schedule(retries: usize) -> ProviderConfig {
    ProviderConfig { retry_schedule: RetrySchedule::new(vec![Duration::from_millis(10); retries]), ..quick() }
}

#[tokio::test]
async fn endpoint_changes_are_sent_signed_except_those_of_operational_endpoints() {
    let fixture = Fixture::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let listener = fixture.listen(&receiver.url()).await;
    let secret = fixture.provider.operational_secret(&fixture.caller, &listener).await.unwrap();
    let endpoint = fixture.endpoint("http://127.0.0.1:9/").await;
    fixture.provider.delete_endpoint(&fixture.caller, "app", &endpoint.id).await.unwrap();
    let mut types = BTreeSet::new();
    for _ in 0..2 {
        let arrival = receiver.next().await;
        Webhook::new(&secret).unwrap().verify(&arrival.body, &arrival.headers).unwrap();
        let (event_type, data) = event(&arrival);
        assert_eq!((data["endpointId"].as_str(), data["appUid"].as_str()), (Some(&*endpoint.id), Some("app")));
        types.insert(event_type);
    }
    assert_eq!(types, ["endpoint.created", "endpoint.deleted"].map(String::from).into());
    // The application of the operational endpoints is not listed among those of the account.
    let applications = fixture.provider.list_applications(&fixture.caller, &[], &PageRequest::default()).await.unwrap();
    assert_eq!(applications.data.iter().map(|row| row.uid.as_deref()).collect::<Vec<_>>(), [Some("app")]);
    let hidden = fixture.provider.application(&fixture.caller, "operational").await;
    assert!(matches!(hidden, Err(ProviderError::NotFound)));
    let input = EndpointInput { url: receiver.url(), disabled: true, ..EndpointInput::default() };
    fixture.provider.put_operational_endpoint(&fixture.caller, &listener, input).await.unwrap();
    fixture.provider.delete_operational_endpoint(&fixture.caller, &listener).await.unwrap();
    fixture.wait_for_operational_deliveries().await;
    assert_eq!(receiver.count_now(), 0);
}

#[tokio::test]
async fn four_failures_send_attempt_failing_and_a_later_success_attempt_recovered() {
    let fixture = Fixture::new(schedule(7)).await;
    let mut operational_receiver = Receiver::start(|_| Reply::Status(200)).await;
    fixture
        .listen_to(
            &operational_receiver.url(),
            Some(vec!["message.attempt.failing".into(), "message.attempt.recovered".into()]),
        )
        .await;
    let receiver = Receiver::start(|n| Reply::Status(if n < 5 { 500 } else { 200 })).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let message = fixture.send().await;
    let attempts = fixture.attempts(&message, 6).await;
    for (event_type, attempt) in
        [("message.attempt.failing", &attempts[3]), ("message.attempt.recovered", &attempts[5])]
    {
        let (event_type_sent, data) = event(&operational_receiver.next().await);
        assert_eq!((event_type_sent.as_str(), data["msgId"].as_str()), (event_type, Some(&*message.id)));
        assert_eq!(data["lastAttempt"]["id"].as_str(), Some(&*attempt.id));
        assert_eq!(data["lastAttempt"]["responseStatusCode"], attempt.response_status_code);
    }
    fixture.finished(&endpoint).await;
    fixture.wait_for_operational_deliveries().await;
    assert_eq!(operational_receiver.count_now(), 0);
}

#[tokio::test]
async fn attempt_exhausted_and_endpoint_disabled_are_sent() {
    let fixture = Fixture::new(schedule(1)).await;
    let mut operational_receiver = Receiver::start(|_| Reply::Status(200)).await;
    fixture
        .listen_to(
            &operational_receiver.url(),
            Some(vec!["message.attempt.exhausted".into(), "endpoint.disabled".into()]),
        )
        .await;
    let receiver = Receiver::start(|n| Reply::Status(if n < 2 { 500 } else { 410 })).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let message = fixture.send().await;
    let attempts = fixture.attempts(&message, 2).await;
    let (event_type_sent, data) = event(&operational_receiver.next().await);
    assert_eq!(
        (event_type_sent.as_str(), &data["lastAttempt"]["id"]),
        ("message.attempt.exhausted", &Value::from(&*attempts[1].id))
    );

    fixture.send().await;
    let mut events = [event(&operational_receiver.next().await), event(&operational_receiver.next().await)];
    events.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(events[1].0, "message.attempt.exhausted");
    let (event_type, data) = &events[0];
    assert_eq!((event_type.as_str(), data["trigger"].as_str()), ("endpoint.disabled", Some("automatic")));
    assert_eq!((data["endpointId"].as_str(), data["failSince"].is_string()), (Some(&*endpoint.id), true));
}

#[tokio::test]
async fn operational_events_are_sent_only_to_their_account() {
    let fixture = Fixture::new(quick()).await;
    let mut operational_receiver = Receiver::start(|_| Reply::Status(200)).await;
    fixture.listen(&operational_receiver.url()).await;
    let account = fixture.provider.create_account("Other").await.unwrap();
    let key = fixture.provider.create_api_key(&account.id, "key").await.unwrap().text;
    let other = Fixture {
        store: fixture.store.clone(),
        provider: fixture.provider.clone(),
        tasks: fixture.tasks.clone(),
        caller: fixture.provider.authenticate(&key).await.unwrap(),
        key,
    };
    other.application("app").await;
    other.endpoint("http://127.0.0.1:9/").await;
    let endpoints = fixture.provider.list_operational_endpoints(&other.caller, &PageRequest::default()).await.unwrap();
    assert_eq!(endpoints.data, []);
    let ours = fixture.endpoint("http://127.0.0.1:9/").await;
    assert_eq!(event(&operational_receiver.next().await).1["endpointId"].as_str(), Some(&*ours.id));
    fixture.wait_for_operational_deliveries().await;
    assert_eq!(operational_receiver.count_now(), 0);
}

#[tokio::test]
async fn an_ordered_endpoint_receives_the_operational_events_of_each_endpoint_in_order() {
    const ENDPOINTS: usize = 4;
    let fixture = Fixture::new(quick()).await;
    // Every fifth request is slow, and one fails.
    let pause = |n: usize| Duration::from_millis(if n.is_multiple_of(5) { 30 } else { 0 });
    let mut operational_receiver =
        Receiver::start(move |n| Reply::After(pause(n), if n == 3 { 500 } else { 200 })).await;
    let ordering = Some(DeliveryOrder::PerKey);
    let input = EndpointInput { url: operational_receiver.url(), ordering, ..EndpointInput::default() };
    fixture.provider.create_operational_endpoint(&fixture.caller, input, None, |_| String::new()).await.unwrap();
    for _ in 0..ENDPOINTS {
        let endpoint = fixture.endpoint("http://127.0.0.1:9/").await;
        for disabled in [true, false, true] {
            let patch = EndpointPatch { disabled: PatchField::Set(disabled), ..EndpointPatch::default() };
            fixture.provider.patch_endpoint(&fixture.caller, "app", &endpoint.id, patch).await.unwrap();
        }
        fixture.provider.delete_endpoint(&fixture.caller, "app", &endpoint.id).await.unwrap();
    }
    let expected = ["created", "updated", "disabled", "updated", "updated", "disabled", "deleted"];
    let expected = expected.map(|word| format!("endpoint.{word}"));
    let mut received: HashMap<String, Vec<String>> = HashMap::new();
    // One event arrives twice: its first attempt failed.
    for _ in 0..=ENDPOINTS * expected.len() {
        let (event_type, data) = event(&operational_receiver.next().await);
        received.entry(data["endpointId"].as_str().unwrap().to_owned()).or_default().push(event_type);
    }
    fixture.wait_for_operational_deliveries().await;
    assert_eq!((received.len(), operational_receiver.count_now()), (ENDPOINTS, 0));
    let repeated: Vec<_> = received.values_mut().filter(|types| types.len() > expected.len()).collect();
    assert_eq!(repeated.len(), 1);
    repeated.into_iter().for_each(|types| types.dedup());
    // Two successive changes of one endpoint cause two events of the same type.
    let mut expected = expected.to_vec();
    let complete = received.values().filter(|types| **types == expected).count();
    expected.dedup();
    assert_eq!((complete, received.values().filter(|types| **types == expected).count()), (ENDPOINTS - 1, 1));
}
