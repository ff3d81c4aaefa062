//! Expiry, last use and lock-out of API keys and App Portal tokens.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use kit_outbound::{AddressPolicy, Client, ClientConfig};
use kit_runtime::clock::TestClock;
use kit_runtime::random::SeededRandom;
use kit_runtime::tasks::Tasks;
use kit_runtime::vault::{Key, Vault};
use provider_core::activity::ActivityQuery;
use provider_core::model::ActorKind;
use provider_core::*;

use crate::fixture::{eventually, quick, store};

fn on_clock(clock: &Arc<TestClock>, store: Arc<dyn port::Store>) -> Provider {
    let key = Key::generate(&SeededRandom::new(1));
    Provider::new(ProviderParts {
        store,
        clock: clock.clone(),
        random: Arc::new(SeededRandom::new(2)),
        vault: Arc::new(Vault::new(vec![(key.id(), key)]).unwrap()),
        transport: Arc::new(Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() })),
        config: quick(),
    })
}

fn clock() -> Arc<TestClock> {
    Arc::new(TestClock::new("2026-11-21T06:28:03.123Z".parse().unwrap()))
}

#[tokio::test]
async fn an_expired_key_is_refused_even_if_it_was_just_authenticated() {
    let clock = clock();
    let provider = on_clock(&clock, store());
    let account = provider.create_account("Customer").await.unwrap();
    let now = kit_runtime::clock::Clock::now(&*clock);
    let until = |seconds| Some(now + SignedDuration::from_secs(seconds));
    let key = provider.create_api_key_with(&account.id, "short", until(2), None).await.unwrap();
    assert_eq!(key.key.expires_at, until(2));
    assert!(!format!("{key:?}").contains(&key.text), "the debug output contains the key");
    provider.authenticate(&key.text).await.unwrap();
    clock.advance(Duration::from_millis(1_999));
    provider.authenticate(&key.text).await.unwrap();
    clock.advance(Duration::from_millis(1));
    assert_eq!(provider.authenticate(&key.text).await.unwrap_err().code(), "authentication_failed");
    let expiry_in_the_past = provider.create_api_key_with(&account.id, "over", until(2), None).await.unwrap_err();
    assert_eq!(expiry_in_the_past.code(), "validation");
}

#[tokio::test]
async fn the_last_use_of_a_key_is_recorded_at_most_once_an_hour() {
    let clock = clock();
    let provider = on_clock(&clock, store());
    let account = provider.create_account("Customer").await.unwrap();
    let key = provider.create_api_key(&account.id, "key").await.unwrap();
    let used_after = async |minutes: u64| {
        clock.advance(Duration::from_secs(60 * minutes));
        provider.authenticate(&key.text).await.unwrap();
        let listed = provider.list_api_keys(&account.id, &PageRequest::default()).await.unwrap().data;
        listed[0].last_used_at.map(|at| at.duration_since(key.key.created_at).as_mins())
    };
    let listed = provider.list_api_keys(&account.id, &PageRequest::default()).await.unwrap().data;
    assert_eq!(listed[0].last_used_at, None);
    assert_eq!(used_after(1).await, Some(1));
    assert_eq!(used_after(59).await, Some(1));
    assert_eq!(used_after(1).await, Some(61));
}

#[tokio::test]
async fn the_last_use_of_a_link_is_recorded_at_most_once_an_hour_and_its_maker_is_named() {
    let clock = clock();
    let provider = on_clock(&clock, store());
    let account = provider.create_account("Customer").await.unwrap();
    let key = provider.create_api_key(&account.id, "platform").await.unwrap().text;
    let of_key = provider.authenticate(&key).await.unwrap();
    let application = ApplicationInput { name: "app".into(), uid: Some("app".into()), ..Default::default() };
    let input = PortalAccessInput { application: Some(application), ..Default::default() };
    let access = provider.create_portal_access(&of_key, "app", input).await.unwrap();
    let operator = Caller::operator(&account);
    let others = provider.create_portal_access(&operator, "app", PortalAccessInput::default()).await.unwrap();
    let links = async || provider.portal_links(&operator, "app", &PageRequest::default()).await.unwrap().data;
    let makers: Vec<_> = links().await.into_iter().map(|link| (link.maker.kind, link.maker.name)).collect();
    assert_eq!(makers, [(ActorKind::Operator, "Operator".to_owned()), (ActorKind::ApiKey, "platform".to_owned())]);
    let used_after = async |minutes: u64| {
        clock.advance(Duration::from_secs(60 * minutes));
        provider.authenticate(&access.token).await.unwrap();
        let link = links().await.pop().unwrap();
        link.last_used_at.map(|at| at.duration_since(link.created_at).as_mins())
    };
    assert_eq!((used_after(1).await, used_after(59).await, used_after(1).await), (Some(1), Some(1), Some(61)));
    assert_eq!(links().await[0].last_used_at, None, "the other link was not used");

    let token = provider.authenticate(&others.token).await.unwrap();
    let refused = provider.create_portal_access(&token, "app", PortalAccessInput::default()).await.unwrap_err();
    assert_eq!(refused.code(), "insufficient_access", "a link makes no further links");
    let log = provider.activity(&operator, ActivityQuery::default()).await.unwrap().entries;
    let actions: Vec<_> = log.iter().map(|entry| (entry.action.as_str(), entry.actor_kind)).collect();
    assert!(actions.contains(&("application.portal_link_created", ActorKind::Operator)), "{actions:?}");
    assert!(!actions.contains(&("application.portal_link_created", ActorKind::ApiKey)), "{actions:?}");
}

#[tokio::test]
async fn a_worker_deletes_expired_tokens() {
    let clock = clock();
    let store = store();
    let provider = on_clock(&clock, Arc::clone(&store));
    let account = provider.create_account("Customer").await.unwrap();
    let caller = Caller::operator(&account);
    let application = ApplicationInput { name: "app".into(), uid: Some("app".into()), ..Default::default() };
    let input = PortalAccessInput { application: Some(application), expiry_seconds: Some(3_600), ..Default::default() };
    let access = provider.create_portal_access(&caller, "app", input).await.unwrap();
    let token = provider.authenticate(&access.token).await.unwrap();
    let Scope::Application(token) = token.scope else { panic!("{token:?}") };
    let tasks = Tasks::new();
    provider.spawn_workers(&tasks);
    clock.advance(Duration::from_secs(3_700));
    eventually(async || store.app_token_by_hash(token.hash).await.unwrap().is_none().then_some(())).await;
    tasks.shutdown(Duration::from_secs(20)).await.unwrap();
}

#[tokio::test]
async fn wrong_keys_do_not_lock_out_a_valid_key_from_the_same_address_even_after_a_restart() {
    let clock = clock();
    let store = store();
    let provider = on_clock(&clock, store.clone());
    let account = provider.create_account("Customer").await.unwrap();
    let key = provider.create_api_key(&account.id, "key").await.unwrap();
    // A new process has no key in its cache.
    let restarted = on_clock(&clock, store);
    let from = Some("192.0.2.1".parse().unwrap());
    let guess = |number: usize| format!("{}{number}", &key.text[..key.text.len() - 3]);
    for number in 100..140 {
        let refused = restarted.authenticate_from(Some(&guess(number)), from).await.unwrap_err();
        assert!(["authentication_failed", "too_many_requests"].contains(&refused.code()), "{refused}");
    }
    assert_eq!(restarted.authenticate_from(Some(&guess(999)), from).await.unwrap_err().code(), "too_many_requests");
    restarted.authenticate_from(Some(&key.text), from).await.unwrap();
}
