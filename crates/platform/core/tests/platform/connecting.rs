//! Support connects a customer to its provider: the result of the test request, and the events that the publisher then sends.

use std::time::Duration;

use kit_runtime::clock::Clock as _;
use kit_runtime::vault::Secret;
use platform_core::PlatformConfig;
use platform_core::customers::connections::{ConnectConsumer, ConnectionState, CredentialTest, ProviderChoice};
use platform_core::port::{ProviderAddress, StartFrom};

use crate::fixture::{KEY, TestPlatform, node};
use crate::provider::{Provider, Reply};
use crate::publishing::{WORKERS, pending};

#[tokio::test]
async fn waiting_events_are_published_at_once_when_another_process_changes_the_connection() {
    for by in ["connect", "resume"] {
        let provider = Provider::start([Reply::With(503, "retry-after", "3600".into())]).await;
        let fixture = TestPlatform::connected(&provider, PlatformConfig::default()).await;
        let auction = fixture.draft().await;
        provider.request(1).await;
        fixture.asleep(WORKERS + 1).await;
        let failing =
            fixture.platform.consumer(&fixture.caller, fixture.customer.uuid).await.unwrap().backlog.failing.unwrap();
        assert!(failing.error.starts_with("the provider answered 503: it is out of order"), "{failing:?}");
        assert_eq!(failing.at, fixture.clock.now());
        let hour = Duration::from_secs(3_600);
        assert!(failing.next_attempt_at.unwrap() >= fixture.clock.now() + hour, "{failing:?}");
        // A management command runs on the same store without workers.
        let command = node(&fixture.store, &fixture.clock, PlatformConfig::default(), 2);
        match by {
            "connect" => {
                let connect = ConnectConsumer {
                    provider: ProviderChoice::Of(provider.url.clone()),
                    application_id: None,
                    api_key: None,
                    start: StartFrom::Now,
                };
                command.connect_consumer(&fixture.caller, fixture.customer.uuid, &connect).await.unwrap();
            }
            _ => drop(command.test_and_resume(&fixture.caller, fixture.customer.uuid).await.unwrap()),
        }
        fixture.store.remote_changes().notify();
        assert_eq!(provider.request(2).await.idempotency_key, format!("{}.1", auction.uuid), "{by}");
        fixture.close().await;
        assert_eq!(pending(&fixture).await, (0, 0));
    }
}

#[tokio::test]
async fn connecting_reports_the_response_to_the_credentials() {
    let provider = Provider::start([]).await;
    let fixture = TestPlatform::new().await;
    let connect = |provider_url: Option<&str>, key: Option<&str>| ConnectConsumer {
        provider: provider_url.map_or(ProviderChoice::Kept, |url| ProviderChoice::Of(url.to_owned())),
        application_id: Some("app_1".into()),
        api_key: key.map(|key| Secret::new(key.as_bytes().to_vec())),
        start: StartFrom::Now,
    };
    let connect_consumer = async |connect| {
        fixture.platform.connect_consumer(&fixture.caller, fixture.customer.uuid, &connect).await.unwrap()
    };
    assert_eq!(
        connect_consumer(connect(Some(&provider.url), None)).await.tested,
        None,
        "a connection without a key was tested"
    );
    assert_eq!(connect_consumer(connect(Some(&provider.url), Some(KEY))).await.tested, Some(CredentialTest::Accepted));
    provider.otherwise(Reply::Status(401));
    let refused = connect_consumer(connect(Some(&provider.url), Some("sk_wrong"))).await;
    let Some(CredentialTest::Refused(why)) = &refused.tested else { panic!("{refused:?}") };
    assert!(why.starts_with("the provider answered 401: it does not accept the API key"), "{why}");
    assert_eq!((refused.state().0, refused.is_connected()), (ConnectionState::Refused, false));
    // No server listens at the address. The connection is stored all the same.
    let unreachable = connect_consumer(connect(Some("http://127.0.0.1:1"), Some(KEY))).await;
    assert!(
        matches!(&unreachable.tested, Some(CredentialTest::Refused(why)) if why.contains("did not answer")),
        "{unreachable:?}"
    );
    assert_eq!(unreachable.state().0, ConnectionState::Unreachable);
    assert_eq!((unreachable.provider_url.as_str(), unreachable.has_api_key), ("http://127.0.0.1:1", true));
    // A new key without an address keeps the stored address.
    let kept = connect_consumer(connect(None, Some("sk_another"))).await;
    assert_eq!(kept.provider_url, unreachable.provider_url);
    let embedded = ConnectConsumer { provider: ProviderChoice::Configured, ..connect(None, Some(KEY)) };
    let embedded = connect_consumer(embedded).await;
    assert_eq!(embedded.provider, ProviderAddress::Embedded);
    let read = fixture.platform.consumer(&fixture.caller, fixture.customer.uuid).await.unwrap();
    assert_eq!((read.provider, read.tested), (embedded.provider, None));
}

#[tokio::test]
async fn another_address_requires_a_new_key_so_that_the_stored_key_is_not_sent_there() {
    let known = Provider::start([]).await;
    let foreign = Provider::start([]).await;
    let fixture = TestPlatform::connected(&known, PlatformConfig::default()).await;
    let connect = |provider, key: Option<&str>| ConnectConsumer {
        provider,
        application_id: None,
        api_key: key.map(|key| Secret::new(key.as_bytes().to_vec())),
        start: StartFrom::Now,
    };
    let connect_consumer =
        async |connect| fixture.platform.connect_consumer(&fixture.caller, fixture.customer.uuid, &connect).await;
    for provider in [ProviderChoice::Of(foreign.url.clone()), ProviderChoice::Embedded, ProviderChoice::Configured] {
        let refused = connect_consumer(connect(provider, None)).await.unwrap_err();
        assert_eq!(refused.code(), "api_key_required");
    }
    assert_eq!(foreign.credential_tests(), [""; 0], "the stored key was sent to another provider");
    connect_consumer(connect(ProviderChoice::Of(known.url.clone()), None)).await.unwrap();
    connect_consumer(connect(ProviderChoice::Of(foreign.url.clone()), Some("sk_other"))).await.unwrap();
    assert_eq!(foreign.credential_tests().len(), 1);
    fixture.close().await;
}

#[tokio::test]
async fn a_connection_reports_the_time_of_its_first_success_and_of_its_first_failure() {
    let provider = Provider::start([Reply::Status(202), Reply::Status(503), Reply::Status(503)]).await;
    let fixture = TestPlatform::connected(&provider, PlatformConfig::default()).await;
    let state = async || {
        let state = fixture.platform.consumer(&fixture.caller, fixture.customer.uuid).await.unwrap();
        (state.state().0, state.state().1, state.is_connected())
    };
    let working_since = fixture.clock.now();
    assert_eq!(state().await, (ConnectionState::Working, working_since, true));
    fixture.clock.advance(Duration::from_secs(60));
    fixture.draft().await;
    provider.request(1).await;
    fixture.asleep(WORKERS).await;
    assert_eq!(state().await, (ConnectionState::Working, working_since, true));
    fixture.draft().await;
    provider.request(2).await;
    while state().await.0 == ConnectionState::Working {
        tokio::task::yield_now().await;
    }
    let failing_since = fixture.clock.now();
    assert_eq!(state().await, (ConnectionState::Unreachable, failing_since, false));
    // The lane pauses after each failure: the clock may move only while it sleeps too.
    while provider.requests().len() < 4 {
        tokio::select! {
            _ = provider.request(4) => {}
            () = fixture.asleep(WORKERS + 1) => fixture.clock.advance(Duration::from_secs(1)),
        }
    }
    while state().await.0 == ConnectionState::Unreachable {
        tokio::task::yield_now().await;
    }
    assert!(state().await.2, "a success did not end the failure");
    fixture.close().await;
}

#[tokio::test]
async fn the_next_event_uses_a_connection_that_another_process_changed() {
    let before = Provider::start([]).await;
    let after = Provider::start([]).await;
    let fixture = TestPlatform::connected(&before, PlatformConfig::default()).await;
    fixture.draft().await;
    before.request(1).await;
    // A management command changes the same store, and sends no signal to this process.
    let command = node(&fixture.store, &fixture.clock, PlatformConfig::default(), 2);
    let connect = ConnectConsumer {
        provider: ProviderChoice::Of(after.url.clone()),
        application_id: Some("app_2".into()),
        api_key: Some(Secret::new(b"sk_2".to_vec())),
        start: StartFrom::Now,
    };
    command.connect_consumer(&fixture.caller, fixture.customer.uuid, &connect).await.unwrap();
    fixture.draft().await;
    let request = after.request(1).await;
    assert_eq!((request.line.as_str(), request.authorization.as_str()), ("POST /api/v1/app/app_2/msg/", "Bearer sk_2"));
    assert_eq!(before.requests().len(), 1);
    fixture.close().await;
}
