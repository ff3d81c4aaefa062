//! Support connects a customer to its provider: the outcome of the test request, and the events that are sent then.

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
async fn what_waited_for_its_time_goes_at_once_when_another_process_has_mended_the_connection() {
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
        // A management command: the same store, no workers.
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
async fn connecting_tells_what_the_provider_says_to_the_credentials() {
    let provider = Provider::start([]).await;
    let fixture = TestPlatform::new().await;
    let connect = |provider_url: Option<&str>, key: Option<&str>| ConnectConsumer {
        provider: provider_url.map_or(ProviderChoice::Kept, |url| ProviderChoice::Of(url.to_owned())),
        application_id: Some("app_1".into()),
        api_key: key.map(|key| Secret::new(key.as_bytes().to_vec())),
        start: StartFrom::Now,
    };
    let enter = async |connect| {
        fixture.platform.connect_consumer(&fixture.caller, fixture.customer.uuid, &connect).await.unwrap()
    };
    assert_eq!(enter(connect(Some(&provider.url), None)).await.tested, None, "there is nothing to test with");
    assert_eq!(enter(connect(Some(&provider.url), Some(KEY))).await.tested, Some(CredentialTest::Accepted));
    provider.otherwise(Reply::Status(401));
    let refused = enter(connect(Some(&provider.url), Some("sk_wrong"))).await;
    let Some(CredentialTest::Refused(why)) = &refused.tested else { panic!("{refused:?}") };
    assert!(why.starts_with("the provider answered 401: it does not accept the API key"), "{why}");
    assert_eq!((refused.state().0, refused.is_connected()), (ConnectionState::Refused, false));
    // No server listens at the address. The connection is stored all the same.
    let gone = enter(connect(Some("http://127.0.0.1:1"), Some(KEY))).await;
    assert!(matches!(&gone.tested, Some(CredentialTest::Refused(why)) if why.contains("did not answer")), "{gone:?}");
    assert_eq!(gone.state().0, ConnectionState::Unreachable);
    assert_eq!((gone.provider_url.as_str(), gone.has_api_key), ("http://127.0.0.1:1", true));
    // A key by itself never goes to another provider.
    let kept = enter(connect(None, Some("sk_another"))).await;
    assert_eq!(kept.provider_url, gone.provider_url);
    let back = ConnectConsumer { provider: ProviderChoice::Configured, ..connect(None, Some(KEY)) };
    let back = enter(back).await;
    assert_eq!(back.provider, ProviderAddress::Embedded);
    let read = fixture.platform.consumer(&fixture.caller, fixture.customer.uuid).await.unwrap();
    assert_eq!((read.provider, read.tested), (back.provider, None));
}

#[tokio::test]
async fn another_address_needs_the_key_again_so_that_the_stored_key_is_not_sent_there() {
    let (known, foreign) = (Provider::start([]).await, Provider::start([]).await);
    let fixture = TestPlatform::connected(&known, PlatformConfig::default()).await;
    let connect = |provider, key: Option<&str>| ConnectConsumer {
        provider,
        application_id: None,
        api_key: key.map(|key| Secret::new(key.as_bytes().to_vec())),
        start: StartFrom::Now,
    };
    let enter =
        async |connect| fixture.platform.connect_consumer(&fixture.caller, fixture.customer.uuid, &connect).await;
    for provider in [ProviderChoice::Of(foreign.url.clone()), ProviderChoice::Embedded, ProviderChoice::Configured] {
        let refused = enter(connect(provider, None)).await.unwrap_err();
        assert_eq!(refused.code(), "api_key_required");
    }
    assert_eq!(foreign.tested(), [""; 0], "the stored key was sent to another provider");
    enter(connect(ProviderChoice::Of(known.url.clone()), None)).await.unwrap();
    enter(connect(ProviderChoice::Of(foreign.url.clone()), Some("sk_other"))).await.unwrap();
    assert_eq!(foreign.tested().len(), 1);
    fixture.close().await;
}

#[tokio::test]
async fn a_connection_works_since_its_first_success_and_fails_since_its_first_failure() {
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
    for _ in 0..8 {
        fixture.clock.advance(Duration::from_secs(1));
        fixture.asleep(WORKERS).await;
    }
    provider.request(4).await;
    while state().await.0 == ConnectionState::Unreachable {
        tokio::task::yield_now().await;
    }
    assert!(state().await.2, "a success ends the failure");
    fixture.close().await;
}

#[tokio::test]
async fn a_connection_that_another_process_changed_counts_for_the_very_next_event() {
    let (before, after) = (Provider::start([]).await, Provider::start([]).await);
    let fixture = TestPlatform::connected(&before, PlatformConfig::default()).await;
    fixture.draft().await;
    before.request(1).await;
    // A management command: the same store, and no signal to this process.
    let command = node(&fixture.store, &fixture.clock, PlatformConfig::default(), 2);
    let connect = ConnectConsumer {
        provider: ProviderChoice::Of(after.url.clone()),
        application_id: Some("app_2".into()),
        api_key: Some(Secret::new(b"sk_2".to_vec())),
        start: StartFrom::Now,
    };
    command.connect_consumer(&fixture.caller, fixture.customer.uuid, &connect).await.unwrap();
    fixture.draft().await;
    let asked = after.request(1).await;
    assert_eq!((asked.line.as_str(), asked.authorization.as_str()), ("POST /api/v1/app/app_2/msg/", "Bearer sk_2"));
    assert_eq!(before.asked().len(), 1);
    fixture.close().await;
}
