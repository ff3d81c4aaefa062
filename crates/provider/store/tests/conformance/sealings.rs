//! What is sealed: with which keys, and sealing it again.

use kit_runtime::vault::Sealed;
use provider_core::model::{Endpoint, OldSecret};

use super::given::*;

fn sealed(text: &str) -> Sealed {
    Sealed::from_text(text)
}

pub(super) async fn sentinels_are_replaced_as_they_were_seen(store: Shared) {
    assert_eq!(store.sentinels().await.unwrap(), []);
    let (one, two) = (sealed("v1.a.AAAA"), sealed("v1.b.AAAA"));
    store.replace_sentinels(vec![], vec![one.clone()]).await.unwrap();
    // Another node starts at the same time, and saw none.
    let late = store.replace_sentinels(vec![], vec![two.clone()]).await;
    assert_eq!(reason(late.unwrap_err()), "stale");
    assert_eq!(store.sentinels().await.unwrap(), std::slice::from_ref(&one));
    store.replace_sentinels(vec![one.clone()], vec![one.clone(), two.clone()]).await.unwrap();
    store.replace_sentinels(vec![two.clone(), one], vec![two.clone()]).await.unwrap();
    assert_eq!(store.sentinels().await.unwrap(), [two]);
}

pub(super) async fn an_endpoints_secrets_are_replaced_where_they_are_what_was_seen(store: Shared) {
    routes(&store, 3).await;
    let with = |endpoint: &Endpoint, text: &str| Endpoint {
        secret: sealed(text),
        old_secrets: vec![OldSecret { secret: sealed(text), expires_at: at(99) }],
        headers: [("x-key".to_owned(), text.to_owned())].into(),
        ..endpoint.clone()
    };
    let stored = store.all_endpoints(None, 9).await.unwrap();
    assert_eq!(stored.iter().map(|one| one.id.clone()).collect::<Vec<_>>(), [1, 2, 3].map(|number| id("ep", number)));
    assert_eq!(store.all_endpoints(Some(id("ep", 1)), 1).await.unwrap(), stored[1..2]);
    for endpoint in &stored {
        store.replace_endpoint(endpoint.clone(), with(endpoint, "v1.a.AAAA"), None).await.unwrap();
    }

    let seen = store.all_endpoints(None, 9).await.unwrap();
    // One header of the second is entered meanwhile, and the first is given another description.
    let described = Endpoint { description: "meanwhile".to_owned(), ..seen[0].clone() };
    store.replace_endpoint(seen[0].clone(), described.clone(), None).await.unwrap();
    let headed = Endpoint { headers: [("x-key".to_owned(), "v1.b.CCCC".to_owned())].into(), ..seen[1].clone() };
    store.replace_endpoint(seen[1].clone(), headed.clone(), None).await.unwrap();
    let before = version(&store).await;
    let resealed = || seen.iter().map(|old| (old.clone(), with(old, "v1.b.BBBB"))).collect();
    assert_eq!(store.reseal_endpoints(resealed()).await.unwrap(), 2);
    assert_eq!(store.reseal_endpoints(resealed()).await.unwrap(), 0);
    let third = with(&seen[2], "v1.b.BBBB");
    let expected = [with(&described, "v1.b.BBBB"), headed, third];
    assert_eq!(store.all_endpoints(None, 9).await.unwrap(), expected, "nothing else changes");
    assert_eq!(version(&store).await, before, "messages are routed as before");
}
