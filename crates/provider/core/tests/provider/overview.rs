//! The figures of an account across its applications, for the dashboard.

use std::sync::Arc;
use std::time::Duration;

use kit_runtime::clock::TestClock;
use provider_core::model::PayloadCheck;
use provider_core::model::counts::CountSpan;
use provider_core::*;
use serde_json::json;

use crate::fixture::{Fixture, message, payload, quick};
use crate::receiver::{Receiver, Reply};

#[tokio::test]
async fn the_setup_of_an_account_is_done_after_its_first_delivery() {
    let fixture = Fixture::new(quick()).await;
    let progress = async || fixture.provider.setup_progress(&fixture.caller).await.unwrap();
    let steps = progress().await;
    assert!(steps.has_api_key && steps.has_application && !steps.has_event_type && !steps.has_endpoint);
    let receiver = Receiver::start(|_| Reply::Status(204)).await;
    let endpoint = fixture.endpoint(&receiver.url()).await;
    assert!(progress().await.has_endpoint && !progress().await.is_done());
    fixture.send().await;
    fixture.finished(&endpoint).await;
    assert!(progress().await.is_done());
}

#[tokio::test]
async fn failing_endpoints_are_listed_with_their_applications_and_subscribers_by_event_type() {
    let fixture = Fixture::new(quick()).await;
    let caller = &fixture.caller;
    let created =
        fixture
            .provider
            .create_event_type(caller, "ITEM_STATUS_CHANGE", EventTypeInput::default(), None, |_| String::new());
    created.await.unwrap();
    let receiver = Receiver::start(|_| Reply::Status(500)).await;
    let chosen = EndpointInput {
        url: receiver.url(),
        filter_types: Some(vec!["ITEM_STATUS_CHANGE".into()]),
        ..EndpointInput::default()
    };
    let endpoint = fixture.endpoint_with(chosen).await;
    let message = fixture.send().await;
    fixture.attempts(&message, 1).await;
    let failing = fixture.provider.failing_endpoints(caller, 9).await.unwrap();
    let in_need = fixture.provider.endpoints_in_need(caller, 9).await.unwrap();
    assert_eq!(in_need.len(), failing.len());
    assert_eq!(Some(in_need[0].2), failing[0].1.failing_since);
    let [(application, failing)] = failing.as_slice() else { panic!("{failing:?}") };
    assert_eq!((application.name.as_str(), &failing.id), ("app", &endpoint.id));
    let subscribed = fixture.provider.subscribed_endpoints(caller, "ITEM_STATUS_CHANGE", 9).await.unwrap();
    assert_eq!(subscribed.len(), 1);
    assert!(fixture.provider.subscribed_endpoints(caller, "ITEM", 9).await.unwrap().is_empty());
    let overviews = fixture.provider.application_overviews(caller, std::slice::from_ref(application)).await.unwrap();
    let ApplicationOverview { figures, day } = &overviews[0];
    assert_eq!((figures.endpoints, figures.failing, day.attempts.success), (1, 1, 0));
    assert!(day.attempts.fail >= 1);
    assert_eq!(
        fixture.provider.search_applications(caller, "AP", &PageRequest::default()).await.unwrap().data.len(),
        1
    );
}

#[tokio::test]
async fn the_usage_of_an_account_is_counted_by_hour_and_day() {
    let clock = Arc::new(TestClock::new("2026-11-21T06:28:03Z".parse().unwrap()));
    let fixture = Fixture::at(clock.clone(), ProviderConfig::default()).await;
    fixture.send().await;
    clock.advance(Duration::from_secs(24 * 3_600));
    fixture.send().await;
    fixture.send().await;
    let usage = async |span| fixture.provider.account_usage(&fixture.caller, span).await.unwrap();
    let (hours, days) = (usage(CountSpan::DAY).await, usage(CountSpan::MONTH).await);
    let messages = |steps: &[UsageStep]| steps.iter().map(|step| step.messages.messages).sum::<u64>();
    assert_eq!((hours.len(), days.len()), (24, 30));
    assert_eq!((messages(&hours), messages(&days)), (2, 3));
    assert_eq!((days[28].messages.messages, days[29].messages.messages), (1, 2));
    assert_eq!(days[29].at, "2026-11-22T00:00:00Z".parse().unwrap());
    assert_eq!(fixture.provider.account_figures(&fixture.caller).await.unwrap().applications, 1);
}

#[tokio::test]
async fn findings_on_payloads_name_the_schema_rule_and_no_content() {
    let mut fixture = Fixture::without_workers(crate::fixture::store(), quick()).await;
    let schemas = json!({"1": {"type": "object", "required": ["itemUuid"]}});
    let input = EventTypeInput { schemas: Some(schemas), ..EventTypeInput::default() };
    let created =
        fixture.provider.create_event_type(&fixture.caller, "ITEM_STATUS_CHANGE", input, None, |_| String::new());
    created.await.unwrap();
    let mut account = fixture.provider.account(&fixture.caller.account).await.unwrap();
    account.settings.payload_check = PayloadCheck::Warn;
    fixture.provider.update_account(account).await.unwrap();
    fixture.caller = fixture.provider.authenticate(&fixture.key).await.unwrap();
    for _ in 0..2 {
        fixture.send().await;
    }
    let valid = MessageInput { payload: payload("{\"itemUuid\":\"1\"}"), ..message() };
    fixture.try_send(valid, None).await.unwrap();
    let findings = fixture.provider.payload_findings(&fixture.caller);
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((finding.event_type.as_str(), finding.version.as_str()), ("ITEM_STATUS_CHANGE", "1"));
    assert_eq!((finding.rule.as_str(), finding.messages), ("/required", 2));
}
