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
    /// An operational endpoint at this address; its id.
    pub(crate) async fn listen(&self, url: &str) -> String {
        self.listen_to(url, None).await
    }

    async fn listen_to(&self, url: &str, filter_types: Option<Vec<String>>) -> String {
        let input = EndpointInput { url: url.into(), filter_types, ..EndpointInput::default() };
        let created = self.provider.create_operational_endpoint(&self.caller, input, None, |_| String::new()).await;
        let Created::New(endpoint) = created.unwrap() else { panic!("it was there") };
        endpoint.id.to_string()
    }

    /// Waits until nothing is left to be told.
    pub(crate) async fn told(&self) {
        crate::fixture::eventually(async || {
            let left = self.store.operational_events(1).await.unwrap();
            (left.is_empty() && self.store.next_due().await.unwrap().is_none()).then_some(())
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
    // Nothing of it is among the account's own.
    let applications = fixture.provider.list_applications(&fixture.caller, &[], &PageRequest::default()).await.unwrap();
    assert_eq!(applications.data.iter().map(|row| row.uid.as_deref()).collect::<Vec<_>>(), [Some("app")]);
    let hidden = fixture.provider.application(&fixture.caller, "operational").await;
    assert!(matches!(hidden, Err(ProviderError::NotFound)));
    let input = EndpointInput { url: receiver.url(), disabled: true, ..EndpointInput::default() };
    fixture.provider.put_operational_endpoint(&fixture.caller, &listener, input).await.unwrap();
    fixture.provider.delete_operational_endpoint(&fixture.caller, &listener).await.unwrap();
    fixture.told().await;
    assert_eq!(receiver.count_now(), 0);
}

#[tokio::test]
async fn four_failures_send_attempt_failing_and_a_later_success_attempt_recovered() {
    let fixture = Fixture::new(schedule(7)).await;
    let mut told = Receiver::start(|_| Reply::Status(200)).await;
    fixture
        .listen_to(&told.url(), Some(vec!["message.attempt.failing".into(), "message.attempt.recovered".into()]))
        .await;
    let receiver = Receiver::start(|n| Reply::Status(if n < 5 { 500 } else { 200 })).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let message = fixture.send().await;
    let attempts = fixture.attempts(&message, 6).await;
    for (event_type, attempt) in
        [("message.attempt.failing", &attempts[3]), ("message.attempt.recovered", &attempts[5])]
    {
        let (told_type, data) = event(&told.next().await);
        assert_eq!((told_type.as_str(), data["msgId"].as_str()), (event_type, Some(&*message.id)));
        assert_eq!(data["lastAttempt"]["id"].as_str(), Some(&*attempt.id));
        assert_eq!(data["lastAttempt"]["responseStatusCode"], attempt.response_status_code);
    }
    fixture.finished(&endpoint).await;
    fixture.told().await;
    assert_eq!(told.count_now(), 0);
}

#[tokio::test]
async fn attempt_exhausted_and_endpoint_disabled_are_sent() {
    let fixture = Fixture::new(schedule(1)).await;
    let mut told = Receiver::start(|_| Reply::Status(200)).await;
    fixture.listen_to(&told.url(), Some(vec!["message.attempt.exhausted".into(), "endpoint.disabled".into()])).await;
    let receiver = Receiver::start(|n| Reply::Status(if n < 2 { 500 } else { 410 })).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    let message = fixture.send().await;
    let attempts = fixture.attempts(&message, 2).await;
    let (told_type, data) = event(&told.next().await);
    assert_eq!(
        (told_type.as_str(), &data["lastAttempt"]["id"]),
        ("message.attempt.exhausted", &Value::from(&*attempts[1].id))
    );

    fixture.send().await;
    let mut events = [event(&told.next().await), event(&told.next().await)];
    events.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(events[1].0, "message.attempt.exhausted");
    let (event_type, data) = &events[0];
    assert_eq!((event_type.as_str(), data["trigger"].as_str()), ("endpoint.disabled", Some("automatic")));
    assert_eq!((data["endpointId"].as_str(), data["failSince"].is_string()), (Some(&*endpoint.id), true));
}

#[tokio::test]
async fn events_are_for_the_account_that_they_are_of() {
    let fixture = Fixture::new(quick()).await;
    let mut told = Receiver::start(|_| Reply::Status(200)).await;
    fixture.listen(&told.url()).await;
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
    let none = fixture.provider.list_operational_endpoints(&other.caller, &PageRequest::default()).await.unwrap();
    assert_eq!(none.data, []);
    let ours = fixture.endpoint("http://127.0.0.1:9/").await;
    assert_eq!(event(&told.next().await).1["endpointId"].as_str(), Some(&*ours.id));
    fixture.told().await;
    assert_eq!(told.count_now(), 0);
}

#[tokio::test]
async fn an_ordered_endpoint_receives_the_operational_events_of_each_endpoint_in_order() {
    const ENDPOINTS: usize = 4;
    let fixture = Fixture::new(quick()).await;
    // The first ones are slow, and one fails.
    let pause = |n: usize| Duration::from_millis(if n.is_multiple_of(5) { 30 } else { 0 });
    let mut told = Receiver::start(move |n| Reply::After(pause(n), if n == 3 { 500 } else { 200 })).await;
    let (url, ordering) = (told.url(), Some(DeliveryOrder::PerKey));
    let input = EndpointInput { url, ordering, ..EndpointInput::default() };
    fixture.provider.create_operational_endpoint(&fixture.caller, input, None, |_| String::new()).await.unwrap();
    for _ in 0..ENDPOINTS {
        let endpoint = fixture.endpoint("http://127.0.0.1:9/").await;
        for disabled in [true, false, true] {
            let patch = EndpointPatch { disabled: PatchField::Set(disabled), ..EndpointPatch::default() };
            fixture.provider.patch_endpoint(&fixture.caller, "app", &endpoint.id, patch).await.unwrap();
        }
        fixture.provider.delete_endpoint(&fixture.caller, "app", &endpoint.id).await.unwrap();
    }
    let happened = ["created", "updated", "disabled", "updated", "updated", "disabled", "deleted"];
    let happened = happened.map(|word| format!("endpoint.{word}"));
    let mut heard: HashMap<String, Vec<String>> = HashMap::new();
    // One was told twice, as its first attempt failed.
    for _ in 0..=ENDPOINTS * happened.len() {
        let (event_type, data) = event(&told.next().await);
        heard.entry(data["endpointId"].as_str().unwrap().to_owned()).or_default().push(event_type);
    }
    fixture.told().await;
    assert_eq!((heard.len(), told.count_now()), (ENDPOINTS, 0));
    let twice: Vec<_> = heard.values_mut().filter(|types| types.len() > happened.len()).collect();
    assert_eq!(twice.len(), 1);
    twice.into_iter().for_each(|types| types.dedup());
    // Two successive changes of one endpoint cause two events of the same type.
    let mut happened = happened.to_vec();
    let whole = heard.values().filter(|types| **types == happened).count();
    happened.dedup();
    assert_eq!((whole, heard.values().filter(|types| **types == happened).count()), (ENDPOINTS - 1, 1));
}
