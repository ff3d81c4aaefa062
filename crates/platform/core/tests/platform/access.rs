//! API keys, users, access of a customer's key, and idempotent answers.

use std::time::Duration;

use kit_runtime::vault::Secret;
use platform_core::access::NewApiKey;
use platform_core::journal::SubjectKind;
use platform_core::port::{Customer, Page};
use platform_core::users::NewUser;
use platform_core::{IdempotentRequest, Outcome, PlatformConfig, PlatformError, Role, Scope};

use crate::fixture::{TestPlatform, node};

fn new_key(fixture: &TestPlatform, scopes: &[Scope]) -> NewApiKey {
    NewApiKey {
        name: "web site".into(),
        customer: Some(fixture.customer.uuid),
        scopes: scopes.iter().copied().collect(),
        expires_at: None,
    }
}

#[tokio::test]
async fn a_key_works_until_it_expires_and_its_use_is_recorded_once_a_minute() {
    let fixture = TestPlatform::new().await;
    let expires_at = Some(fixture.platform.now() + Duration::from_secs(90));
    let new = NewApiKey { expires_at, ..new_key(&fixture, &[Scope::AuctionsRead]) };
    let created = fixture.platform.create_api_key(&fixture.caller, &new).await.unwrap();
    let key = created.key.expose_str().unwrap().to_owned();
    assert!(key.starts_with("lw_") && key.len() == 36, "{key}");
    let begin = fixture.platform.now();
    let last_used = async || fixture.store.api_key_by_hash(created.record.hash).await.unwrap().unwrap().last_used_at;
    for _ in 0..3 {
        let caller = fixture.platform.authenticate(&key).await.unwrap();
        assert_eq!(caller.actor, format!("key:{}", created.record.uuid));
        assert_eq!(caller.customer, Some(fixture.customer.uuid));
        assert!(caller.require(Scope::AuctionsRead).is_ok());
        assert!(matches!(caller.require(Scope::AuctionsWrite), Err(PlatformError::Forbidden(_))));
        fixture.clock.advance(Duration::from_secs(20));
        assert_eq!(last_used().await, Some(begin), "the use was recorded twice within a minute");
    }
    fixture.clock.advance(Duration::from_secs(1));
    fixture.platform.authenticate(&key).await.unwrap();
    assert_eq!(last_used().await, Some(fixture.platform.now()));
    fixture.clock.advance(Duration::from_secs(29));
    assert!(matches!(fixture.platform.authenticate(&key).await, Err(PlatformError::Unauthenticated)));
    assert!(matches!(fixture.platform.authenticate("lw_wrong").await, Err(PlatformError::Unauthenticated)));
}

#[tokio::test]
async fn a_revoked_key_stops_at_once_on_this_node_and_after_the_cache_time_on_others() {
    let fixture = TestPlatform::new().await;
    let other_node = node(&fixture.store, &fixture.clock, PlatformConfig::default(), 2);
    let create = async || {
        let created =
            fixture.platform.create_api_key(&fixture.caller, &new_key(&fixture, &[Scope::KeysWrite])).await.unwrap();
        (created.record.uuid, created.key.expose_str().unwrap().to_owned())
    };
    let (uuid, key) = create().await;
    let (other, other_key) = create().await;
    let caller = fixture.platform.authenticate(&key).await.unwrap();
    other_node.authenticate(&key).await.unwrap();
    let at = fixture.platform.now();
    fixture.platform.revoke_api_key(&caller, uuid).await.unwrap();
    assert!(matches!(fixture.platform.authenticate(&key).await, Err(PlatformError::Unauthenticated)));
    fixture.platform.authenticate(&other_key).await.unwrap();
    other_node.authenticate(&key).await.unwrap();
    fixture.clock.advance(fixture.platform.config().key_cache_ttl);
    assert!(matches!(other_node.authenticate(&key).await, Err(PlatformError::Unauthenticated)));

    // A revoked key is still listed, and revoking it again changes nothing.
    fixture.platform.revoke_api_key(&fixture.caller, uuid).await.unwrap();
    let page = Page { after: None, limit: 10 };
    let listed = fixture.platform.api_keys(&fixture.caller, Some(fixture.customer.uuid), page).await.unwrap();
    let listed: Vec<_> = listed.into_iter().map(|key| (key.uuid, key.revoked_at)).collect();
    assert_eq!(listed, [(uuid, Some(at)), (other, None)]);
    let used = fixture.platform.api_key(&fixture.caller, uuid).await.unwrap().last_used_at;
    assert_eq!(used, Some(at));
}

#[tokio::test]
async fn a_key_of_a_customer_lists_and_revokes_only_keys_of_that_customer() {
    let fixture = TestPlatform::new().await;
    let other = fixture.platform.create_customer(&fixture.caller, "Jones", None).await.unwrap().fresh().unwrap();
    let staff = NewApiKey { customer: None, ..new_key(&fixture, &[Scope::KeysWrite]) };
    let staff = fixture.platform.create_api_key(&fixture.caller, &staff).await.unwrap().record;
    let own = fixture
        .platform
        .create_api_key(&fixture.caller, &new_key(&fixture, &[Scope::EventsRead]))
        .await
        .unwrap()
        .record;
    let confined = |customer| platform_core::Caller { customer: Some(customer), ..fixture.caller.clone() };
    let smith = confined(fixture.customer.uuid);
    let jones = confined(other.uuid);
    let page = || Page { after: None, limit: 10 };
    assert_eq!(fixture.platform.api_keys(&smith, None, page()).await.unwrap(), std::slice::from_ref(&own));
    assert_eq!(fixture.platform.api_keys(&jones, None, page()).await.unwrap(), []);
    assert_eq!(fixture.platform.api_keys(&fixture.caller, None, page()).await.unwrap(), [staff.clone(), own.clone()]);
    for (caller, key) in [(&jones, &own), (&jones, &staff), (&smith, &staff)] {
        assert_eq!(fixture.platform.api_key(caller, key.uuid).await.unwrap_err().code(), "not_found");
        assert_eq!(fixture.platform.revoke_api_key(caller, key.uuid).await.unwrap_err().code(), "not_found");
    }
    let reader = platform_core::Caller { scopes: [Scope::KeysRead].into_iter().collect(), ..smith };
    assert_eq!(fixture.platform.api_key(&reader, own.uuid).await.unwrap(), own);
    assert_eq!(fixture.platform.revoke_api_key(&reader, own.uuid).await.unwrap_err().code(), "forbidden");
}

#[tokio::test]
async fn a_key_can_grant_only_its_own_scopes_and_customer() {
    let fixture = TestPlatform::new().await;
    let new = new_key(&fixture, &[Scope::KeysWrite, Scope::AuctionsRead]);
    let created = fixture.platform.create_api_key(&fixture.caller, &new).await.unwrap();
    let caller = fixture.platform.authenticate(created.key.expose_str().unwrap()).await.unwrap();
    let more = new_key(&fixture, &[Scope::AuctionsWrite]);
    assert_eq!(fixture.platform.create_api_key(&caller, &more).await.unwrap_err().code(), "forbidden");
    let wider = NewApiKey { customer: None, ..new_key(&fixture, &[Scope::AuctionsRead]) };
    assert_eq!(fixture.platform.create_api_key(&caller, &wider).await.unwrap_err().code(), "forbidden");
    let other = fixture.platform.create_customer(&fixture.caller, "Jones", None).await.unwrap().fresh().unwrap();
    let elsewhere = NewApiKey { customer: Some(other.uuid), ..new_key(&fixture, &[Scope::AuctionsRead]) };
    assert_eq!(fixture.platform.create_api_key(&caller, &elsewhere).await.unwrap_err().code(), "not_found");
}

#[tokio::test]
async fn another_customers_records_are_not_found() {
    let fixture = TestPlatform::new().await;
    let auction = fixture.draft().await;
    let other = fixture.platform.create_customer(&fixture.caller, "Jones", None).await.unwrap().fresh().unwrap();
    let jones = platform_core::Caller { customer: Some(other.uuid), ..fixture.caller.clone() };
    assert_eq!(fixture.platform.auction(&jones, auction.uuid).await.unwrap_err().code(), "not_found");
    assert_eq!(fixture.platform.auctioneer(&jones, fixture.auctioneer.uuid).await.unwrap_err().code(), "not_found");
    assert_eq!(fixture.platform.customer(&jones, fixture.customer.uuid).await.unwrap_err().code(), "not_found");
    let all = Page { after: None, limit: 10 };
    assert_eq!(fixture.platform.auctions(&jones, None, all).await.unwrap(), []);
    assert_eq!(fixture.platform.customers(&jones, Page { after: None, limit: 10 }).await.unwrap(), [other]);
    let events =
        fixture.platform.events_after(&jones, Some(fixture.customer.uuid), Page { after: None, limit: 10 }).await;
    assert_eq!(events.unwrap_err().code(), "not_found");
}

#[tokio::test]
async fn a_repeated_write_gets_its_first_answer() {
    let fixture = TestPlatform::new().await;
    let render = |customer: &Customer| customer.uuid.to_string();
    let answering = |hash| IdempotentRequest {
        caller: fixture.caller.id,
        key: "once",
        request_hash: [hash; 32],
        status: 201,
        render: &render,
        tag: &|_| None,
    };
    let create = |hash| fixture.platform.create_customer(&fixture.caller, "Jones", Some(answering(hash)));
    let Outcome::Fresh(customer) = create(1).await.unwrap() else { panic!("the first write was replayed") };
    let Outcome::Replayed(answer) = create(1).await.unwrap() else { panic!("the second write was repeated") };
    assert_eq!((answer.status, answer.body), (201, customer.uuid.to_string()));
    assert_eq!(create(2).await.unwrap_err().code(), "idempotency_mismatch");
    fixture.clock.advance(Duration::from_secs(24 * 3600 + 1));
    assert_eq!(fixture.platform.delete_expired_answers().await.unwrap(), 1);
    assert_eq!(create(1).await.unwrap_err().code(), "taken");
}

#[tokio::test]
async fn a_user_has_an_argon2id_hash_and_one_address() {
    let fixture = TestPlatform::new().await;
    let password = Secret::new(b"correct horse battery".to_vec());
    let create = async |email: &str| {
        let new = NewUser {
            name: None,
            email: email.into(),
            role: Role::Clerk,
            password: Some(password.clone()),
            must_change_password: false,
        };
        fixture.platform.create_user(&fixture.caller, new, None).await?.fresh().map(|created| created.user)
    };
    let user = create(" Ann@Example.com ").await.unwrap();
    assert_eq!((user.email.as_str(), user.profile.role.as_str()), ("ann@example.com", "clerk"));
    assert!(user.password_hash.starts_with("$argon2id$v=19$"), "{}", user.password_hash);
    assert_eq!(create("ann@example.com").await.unwrap_err().code(), "taken");
    assert_eq!(create("ann").await.unwrap_err().code(), "invalid");
}

#[tokio::test]
async fn a_history_exists_only_for_an_existing_auction_or_item() {
    let fixture = TestPlatform::new().await;
    let auction = fixture.draft().await;
    let all = || Page { after: None, limit: 10 };
    let rows = fixture.platform.history(&fixture.caller, (SubjectKind::Auction, auction.uuid), all()).await.unwrap();
    assert_eq!((rows.len(), rows[0].sequence, rows[0].actor.as_str()), (1, 1, "command-line"));
    let unknown = fixture.platform.history(&fixture.caller, (SubjectKind::Auction, fixture.customer.uuid), all()).await;
    assert_eq!(unknown.unwrap_err().code(), "not_found");
}
