//! PUT: if another caller creates the same object first, the slower PUT updates that object.

use provider_core::{ApplicationInput, EndpointInput, ProviderConfig, ProviderError, Put};

use crate::faulty_store::{Fault, FaultyStore};
use crate::fixture::{Fixture, quick, store};

const URL: &str = "https://example.com/hook";
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER_SECRET: &str = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A provider that loses the race for its first call of `method`.
async fn fixture_with_concurrent_insert(method: &'static str, config: ProviderConfig) -> Fixture {
    let faulty = FaultyStore::new(store(), method, Fault::ConcurrentInsert, 0);
    let fixture = Fixture::without_workers(faulty.clone(), config).await;
    faulty.fault_next_call();
    fixture
}

fn application(uid: &str) -> ApplicationInput {
    ApplicationInput { name: "Ours".into(), uid: Some(uid.into()), ..ApplicationInput::default() }
}

fn endpoint(uid: &str) -> EndpointInput {
    EndpointInput { url: URL.into(), uid: Some(uid.into()), description: "ours".into(), ..EndpointInput::default() }
}

#[tokio::test]
async fn a_put_updates_an_application_that_another_caller_created_first() {
    let fixture = fixture_with_concurrent_insert("create_application", quick()).await;
    let Put::Updated(put) = fixture.provider.put_application(&fixture.caller, "new", application("new")).await.unwrap()
    else {
        panic!("the PUT created a second object")
    };
    assert_eq!((put.name.as_str(), &*put.id), ("Ours", "app_beaten"));
    // A conflict that a second try can't resolve is still returned.
    let taken = fixture.provider.put_application(&fixture.caller, "unknown", application("new")).await;
    assert!(matches!(taken, Err(ProviderError::Conflict { .. })), "{taken:?}");
}

#[tokio::test]
async fn a_put_updates_an_endpoint_that_another_caller_created_first_even_at_the_limit() {
    for endpoints_max in [1_000, 1] {
        let config = ProviderConfig { endpoints_max, ..quick() };
        let fixture = fixture_with_concurrent_insert("create_endpoint", config).await;
        let put = fixture.provider.put_endpoint(&fixture.caller, "app", "new", endpoint("new")).await.unwrap();
        let Put::Updated(put) = put else { panic!("the PUT created a second object") };
        assert_eq!((put.description.as_str(), &*put.id), ("ours", "ep_beaten"));
    }
    let full = Fixture::without_workers(store(), ProviderConfig { endpoints_max: 1, ..quick() }).await;
    full.endpoint(URL).await;
    let refused = full.provider.put_endpoint(&full.caller, "app", "new", endpoint("new")).await;
    assert!(matches!(refused, Err(ProviderError::BadRequest { code: "limit_reached", .. })), "{refused:?}");
}

#[tokio::test]
async fn a_put_updates_an_operational_endpoint_that_another_caller_created_first() {
    let fixture = fixture_with_concurrent_insert("create_endpoint", quick()).await;
    let put = fixture.provider.put_operational_endpoint(&fixture.caller, "ops", endpoint("ops")).await.unwrap();
    let Put::Updated(put) = put else { panic!("the PUT created a second object") };
    assert_eq!((put.description.as_str(), &*put.id), ("ours", "ep_beaten"));
}

#[tokio::test]
async fn a_put_of_an_endpoint_accepts_only_its_current_secret() {
    let fixture = Fixture::without_workers(store(), quick()).await;
    let with = |secret: &str| EndpointInput { secret: Some(secret.into()), ..endpoint("e") };
    let put = async |input| fixture.provider.put_endpoint(&fixture.caller, "app", "e", input).await;
    assert!(matches!(put(with(SECRET)).await, Ok(Put::Created(_))));
    let secret = async || fixture.provider.endpoint_secret(&fixture.caller, "app", "e").await.unwrap();
    assert_eq!(secret().await, SECRET);
    // The secret with its prefix, without it, and no secret.
    for input in [with(SECRET), with(&SECRET[6..]), endpoint("e")] {
        assert!(matches!(put(input).await, Ok(Put::Updated(_))));
    }
    let input = EndpointInput { description: "changed".into(), ..with(OTHER_SECRET) };
    let Err(ProviderError::Validation(faults)) = put(input).await else { panic!("the PUT accepted another secret") };
    assert_eq!(faults[0].loc, ["body", "secret"]);
    assert!(faults[0].msg.contains("secret/rotate"), "{}", faults[0].msg);
    let kept = fixture.provider.endpoint(&fixture.caller, "app", "e").await.unwrap();
    assert_eq!((secret().await.as_str(), kept.description.as_str()), (SECRET, "ours"));
}
