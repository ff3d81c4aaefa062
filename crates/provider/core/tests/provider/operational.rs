//! Operational webhooks: an account is told of what happened to its endpoints and attempts.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use provider_core::retry::RetrySchedule;
use provider_core::{
    Change, Created, DeliveryOrder, EndpointInput, EndpointPatch, PageRequest, ProviderConfig, ProviderError,
};
use serde_json::Value;
use standardwebhooks::Webhook;

use crate::receiver::{Arrival, Receiver, Reply};
use crate::stage::{Stage, quick};

impl Stage {
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
        crate::stage::eventually(async || {
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
async fn an_accounts_endpoint_changes_arrive_signed_and_its_own_listeners_are_never_told_of() {
    let stage = Stage::new(quick()).await;
    let mut receiver = Receiver::start(|_| Reply::Status(200)).await;
    let listener = stage.listen(&receiver.url()).await;
    let secret = stage.provider.operational_secret(&stage.caller, &listener).await.unwrap();
    let endpoint = stage.endpoint("http://127.0.0.1:9/").await;
    stage.provider.delete_endpoint(&stage.caller, "app", &endpoint.id).await.unwrap();
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
    let applications = stage.provider.list_applications(&stage.caller, &[], &PageRequest::default()).await.unwrap();
    assert_eq!(applications.data.iter().map(|row| row.uid.as_deref()).collect::<Vec<_>>(), [Some("app")]);
    let hidden = stage.provider.application(&stage.caller, "operational").await;
    assert!(matches!(hidden, Err(ProviderError::NotFound)));
    let input = EndpointInput { url: receiver.url(), disabled: true, ..EndpointInput::default() };
    stage.provider.put_operational_endpoint(&stage.caller, &listener, input).await.unwrap();
    stage.provider.delete_operational_endpoint(&stage.caller, &listener).await.unwrap();
    stage.told().await;
    assert_eq!(receiver.count_now(), 0);
}

#[tokio::test]
async fn a_message_that_fails_four_times_is_told_to_be_failing_and_then_to_have_recovered() {
    let stage = Stage::new(schedule(7)).await;
    let mut told = Receiver::start(|_| Reply::Status(200)).await;
    stage
        .listen_to(&told.url(), Some(vec!["message.attempt.failing".into(), "message.attempt.recovered".into()]))
        .await;
    let receiver = Receiver::start(|n| Reply::Status(if n < 5 { 500 } else { 200 })).await;
    let endpoint = stage.endpoint(&receiver.url()).await;
    let message = stage.send().await;
    let attempts = stage.attempts(&message, 6).await;
    for (event_type, attempt) in
        [("message.attempt.failing", &attempts[3]), ("message.attempt.recovered", &attempts[5])]
    {
        let (told_type, data) = event(&told.next().await);
        assert_eq!((told_type.as_str(), data["msgId"].as_str()), (event_type, Some(&*message.id)));
        assert_eq!(data["lastAttempt"]["id"].as_str(), Some(&*attempt.id));
        assert_eq!(data["lastAttempt"]["responseStatusCode"], attempt.response_status_code);
    }
    stage.finished(&endpoint).await;
    stage.told().await;
    assert_eq!(told.count_now(), 0);
}

#[tokio::test]
async fn the_end_of_the_schedule_and_a_disabled_endpoint_are_told() {
    let stage = Stage::new(schedule(1)).await;
    let mut told = Receiver::start(|_| Reply::Status(200)).await;
    stage.listen_to(&told.url(), Some(vec!["message.attempt.exhausted".into(), "endpoint.disabled".into()])).await;
    let receiver = Receiver::start(|n| Reply::Status(if n < 2 { 500 } else { 410 })).await;
    let endpoint = stage.endpoint(&receiver.url()).await;
    let message = stage.send().await;
    let attempts = stage.attempts(&message, 2).await;
    let (told_type, data) = event(&told.next().await);
    assert_eq!(
        (told_type.as_str(), &data["lastAttempt"]["id"]),
        ("message.attempt.exhausted", &Value::from(&*attempts[1].id))
    );

    stage.send().await;
    let mut events = [event(&told.next().await), event(&told.next().await)];
    events.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(events[1].0, "message.attempt.exhausted");
    let (event_type, data) = &events[0];
    assert_eq!((event_type.as_str(), data["trigger"].as_str()), ("endpoint.disabled", Some("automatic")));
    assert_eq!((data["endpointId"].as_str(), data["failSince"].is_string()), (Some(&*endpoint.id), true));
}

#[tokio::test]
async fn events_are_for_the_account_that_they_are_of() {
    let stage = Stage::new(quick()).await;
    let mut told = Receiver::start(|_| Reply::Status(200)).await;
    stage.listen(&told.url()).await;
    let account = stage.provider.create_account("Other").await.unwrap();
    let key = stage.provider.create_api_key(&account.id, "key").await.unwrap().text;
    let other = Stage {
        store: stage.store.clone(),
        provider: stage.provider.clone(),
        tasks: stage.tasks.clone(),
        caller: stage.provider.authenticate(&key).await.unwrap(),
        key,
    };
    other.application("app").await;
    other.endpoint("http://127.0.0.1:9/").await;
    let none = stage.provider.list_operational_endpoints(&other.caller, &PageRequest::default()).await.unwrap();
    assert_eq!(none.data, []);
    let ours = stage.endpoint("http://127.0.0.1:9/").await;
    assert_eq!(event(&told.next().await).1["endpointId"].as_str(), Some(&*ours.id));
    stage.told().await;
    assert_eq!(told.count_now(), 0);
}

#[tokio::test]
async fn a_listener_that_asks_for_order_hears_of_each_endpoint_what_happened_one_after_the_other() {
    const ENDPOINTS: usize = 4;
    let stage = Stage::new(quick()).await;
    // The first ones are slow, and one fails.
    let pause = |n: usize| Duration::from_millis(if n.is_multiple_of(5) { 30 } else { 0 });
    let mut told = Receiver::start(move |n| Reply::After(pause(n), if n == 3 { 500 } else { 200 })).await;
    let (url, ordering) = (told.url(), Some(DeliveryOrder::PerKey));
    let input = EndpointInput { url, ordering, ..EndpointInput::default() };
    stage.provider.create_operational_endpoint(&stage.caller, input, None, |_| String::new()).await.unwrap();
    for _ in 0..ENDPOINTS {
        let endpoint = stage.endpoint("http://127.0.0.1:9/").await;
        for disabled in [true, false, true] {
            let patch = EndpointPatch { disabled: Change::Set(disabled), ..EndpointPatch::default() };
            stage.provider.patch_endpoint(&stage.caller, "app", &endpoint.id, patch).await.unwrap();
        }
        stage.provider.delete_endpoint(&stage.caller, "app", &endpoint.id).await.unwrap();
    }
    let happened = ["created", "updated", "disabled", "updated", "updated", "disabled", "deleted"];
    let happened = happened.map(|word| format!("endpoint.{word}"));
    let mut heard: HashMap<String, Vec<String>> = HashMap::new();
    // One was told twice, as its first attempt failed.
    for _ in 0..=ENDPOINTS * happened.len() {
        let (event_type, data) = event(&told.next().await);
        heard.entry(data["endpointId"].as_str().unwrap().to_owned()).or_default().push(event_type);
    }
    stage.told().await;
    assert_eq!((heard.len(), told.count_now()), (ENDPOINTS, 0));
    let twice: Vec<_> = heard.values_mut().filter(|types| types.len() > happened.len()).collect();
    assert_eq!(twice.len(), 1);
    twice.into_iter().for_each(|types| types.dedup());
    // Two changes of one endpoint that follow each other are told by the same word.
    let mut happened = happened.to_vec();
    let whole = heard.values().filter(|types| **types == happened).count();
    happened.dedup();
    assert_eq!((whole, heard.values().filter(|types| **types == happened).count()), (ENDPOINTS - 1, 1));
}
