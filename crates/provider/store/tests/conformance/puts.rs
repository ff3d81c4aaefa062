//! Concurrent upserts through the provider, on each store.

use std::sync::Arc;

use kit_outbound::{Exchange, Request, TransportError};
use kit_runtime::clock::SystemClock;
use kit_runtime::random::SystemRandom;
use kit_runtime::vault::{Key, Vault};
use provider_core::dispatcher::{ExchangeFuture, Transport};
use provider_core::error::ProviderResult;
use provider_core::{ApplicationInput, Caller, EndpointInput, Provider, ProviderConfig, ProviderParts, Put};
use tokio::task::JoinSet;

use super::given::*;

const TRIES: usize = 24;

/// Nothing is delivered in these stories.
struct Nowhere;

impl Transport for Nowhere {
    fn send(&self, _: Request) -> ExchangeFuture<'_> {
        Box::pin(async { Exchange::untimed(Err(TransportError::Stale)) })
    }
}

fn provider(store: Shared) -> Provider {
    let random = Arc::new(SystemRandom);
    let key = Key::generate(random.as_ref());
    Provider::new(ProviderParts {
        store,
        clock: Arc::new(SystemClock),
        random,
        vault: Arc::new(Vault::new(vec![(key.id(), key)]).unwrap()),
        transport: Arc::new(Nowhere),
        config: ProviderConfig::default(),
    })
}

fn named<T>(put: ProviderResult<Put<T>>, id: impl Fn(&T) -> String) -> (String, bool) {
    match put.unwrap() {
        Put::Created(made) => (id(&made), true),
        Put::Updated(changed) => (id(&changed), false),
    }
}

/// What they put is one, and one of them made it.
async fn is_one(mut puts: JoinSet<(String, bool)>) {
    let (mut ids, mut made) = (std::collections::BTreeSet::new(), 0);
    while let Some(put) = puts.join_next().await {
        let (id, is_new) = put.unwrap();
        ids.insert(id);
        made += usize::from(is_new);
    }
    assert_eq!((ids.len(), made), (1, 1));
}

pub(super) async fn concurrent_puts_create_once_and_update_after(store: Shared) {
    let provider = provider(store);
    let account = provider.create_account("Customer").await.unwrap();
    let caller = Caller::operator(&account);
    let (mut applications, mut endpoints, mut listeners) = (JoinSet::new(), JoinSet::new(), JoinSet::new());
    let endpoint =
        || EndpointInput { url: "https://example.com/".into(), uid: Some("e".into()), ..EndpointInput::default() };
    for _ in 0..TRIES {
        let (provider, caller) = (provider.clone(), caller.clone());
        applications.spawn(async move {
            let input = ApplicationInput { name: "App".into(), uid: Some("a".into()), ..ApplicationInput::default() };
            named(provider.put_application(&caller, "a", input).await, |application| application.id.to_string())
        });
    }
    is_one(applications).await;
    for _ in 0..TRIES {
        let (provider, caller) = (provider.clone(), caller.clone());
        endpoints.spawn(async move {
            named(provider.put_endpoint(&caller, "a", "e", endpoint()).await, |endpoint| endpoint.id.to_string())
        });
    }
    is_one(endpoints).await;
    for _ in 0..TRIES {
        let (provider, caller) = (provider.clone(), caller.clone());
        listeners.spawn(async move {
            let put = provider.put_operational_endpoint(&caller, "e", endpoint()).await;
            named(put, |endpoint| endpoint.id.to_string())
        });
    }
    is_one(listeners).await;
}
