//! Support connects a customer to its provider: the outcome of the test request, and the events that are sent then.

use std::time::Duration;

use kit_runtime::clock::Clock as _;
use kit_runtime::vault::Secret;
use platform_core::PlatformConfig;
use platform_core::customers::connections::{ConnectConsumer, CredentialTest, ProviderChoice};
use platform_core::port::StartFrom;

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
        assert_eq!((failing.error.as_str(), failing.at), ("the provider answered 503", fixture.clock.now()));
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
    assert_eq!(refused.tested, Some(CredentialTest::Refused("it answered 401: {}".into())));
    // No server listens at the address. The connection is stored all the same; the test uses the stored key.
    let gone = enter(connect(Some("http://127.0.0.1:1"), None)).await;
    assert!(
        matches!(&gone.tested, Some(CredentialTest::Refused(why)) if why.contains("could not connect")),
        "{gone:?}"
    );
    assert_eq!((gone.provider_url.as_str(), gone.has_api_key), ("http://127.0.0.1:1", true));
    // A key by itself never goes to another provider.
    let kept = enter(connect(None, Some("sk_another"))).await;
    assert_eq!(kept.provider_url, gone.provider_url);
    let back = enter(ConnectConsumer { provider: ProviderChoice::Configured, ..connect(None, None) }).await;
    assert_eq!(back.provider_url, fixture.platform.config().default_provider_url);
    let read = fixture.platform.consumer(&fixture.caller, fixture.customer.uuid).await.unwrap();
    assert_eq!((read.provider_url, read.tested), (back.provider_url, None));
}
