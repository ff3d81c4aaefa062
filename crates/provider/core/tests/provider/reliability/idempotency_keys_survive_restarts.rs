//! An idempotency key is stored in the transaction of its request. A call cut off half-way leaves no partial state, a
//! restart keeps the key, and a different request with the same key is refused.

use std::sync::Arc;

use provider_core::{MessageInput, PageRequest, ProviderError};

use crate::fixture::{Fixture, PAYLOAD, idempotency, message, provider, quick, store};

#[tokio::test]
async fn the_same_key_and_request_is_one_message_and_another_request_is_refused() {
    let fixture = Arc::new(Fixture::without_workers(store(), quick()).await);
    let key = idempotency("auto_1", PAYLOAD);
    let input = || MessageInput { event_id: Some("item.1".into()), ..message() };
    let repeats: Vec<_> = (0..8)
        .map(|_| {
            let fixture = fixture.clone();
            let key = key.clone();
            let input = input();
            tokio::spawn(async move { fixture.try_send(input, Some(&key)).await.unwrap() })
        })
        .collect();
    let first = fixture.try_send(input(), Some(&key)).await.unwrap();
    for repeat in repeats {
        assert_eq!(repeat.await.unwrap(), first);
    }
    let other = fixture.try_send(input(), Some(&idempotency("auto_1", "{}"))).await;
    assert!(matches!(other, Err(ProviderError::IdempotencyMismatch)));
    let taken = fixture.try_send(input(), Some(&idempotency("auto_2", PAYLOAD))).await;
    assert!(matches!(taken, Err(ProviderError::Conflict { .. })));
    let listed = fixture.provider.list_messages(&fixture.caller, "app", &PageRequest::default()).await.unwrap();
    assert_eq!(listed.data, [first]);
}

#[tokio::test]
async fn a_cancelled_call_and_a_restart_leave_the_idempotency_key_usable() {
    let fixture = Fixture::without_workers(store(), quick()).await;
    let key = idempotency("auto_1", PAYLOAD);
    // The call is cancelled at each of its await points.
    for polls in 0..20 {
        let mut call = Box::pin(fixture.try_send(message(), Some(&key)));
        for _ in 0..polls {
            let poll = std::future::poll_fn(|context| std::task::Poll::Ready(call.as_mut().poll(context))).await;
            if poll.is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    let first = fixture.try_send(message(), Some(&key)).await.unwrap();
    let next = Fixture { provider: provider(Arc::clone(&fixture.store), quick()), ..fixture };
    assert_eq!(next.try_send(message(), Some(&key)).await.unwrap(), first);
    let listed = next.provider.list_messages(&next.caller, "app", &PageRequest::default()).await.unwrap();
    assert_eq!(listed.data, [first]);
}
