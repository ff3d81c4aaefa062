//! Idempotency keys: the same key and request, sent repeatedly and concurrently, have one effect and one response.
//! Another request with the key is refused and has no effect.

use futures_util::future::join_all;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

use super::{MakeFixture, on_each_store, play};
use crate::fixture::{Answer, Fixture};

on_each_store! {
    an_idempotency_key_has_one_effect_and_one_response: 48, 4;
}

/// A POST, and the list in which its effect is counted.
#[derive(Debug, Clone, Copy)]
struct Post {
    path: &'static str,
    body: fn(usize) -> Value,
    effects: fn(&Value) -> usize,
    counted_in: &'static str,
}

fn rows(list: &Value) -> usize {
    list["data"].as_array().map_or(0, Vec::len)
}

const POSTS: [Post; 7] = [
    Post {
        path: "/app",
        body: |number| json!({"name": format!("n{number}")}),
        effects: rows,
        counted_in: "/app?limit=250",
    },
    Post {
        path: "/event-type",
        body: |number| json!({"name": format!("e{number}"), "description": ""}),
        effects: rows,
        counted_in: "/event-type?limit=250",
    },
    Post {
        path: "/app/app/endpoint",
        body: |number| json!({"url": format!("https://example.com/{number}")}),
        effects: rows,
        counted_in: "/app/app/endpoint?limit=250",
    },
    Post {
        path: "/app/app/msg",
        body: |number| json!({"eventType": "a", "payload": {"number": number}}),
        effects: rows,
        counted_in: "/app/app/msg?limit=250",
    },
    Post {
        path: "/app/app/endpoint/ep/send-example",
        body: |number| json!({"eventType": "svix.ping", "exampleIndex": number}),
        effects: rows,
        counted_in: "/app/app/msg?limit=250",
    },
    Post {
        path: "/app/app/endpoint/ep/replay-missing",
        body: |number| json!({"since": format!("2026-11-{:02}T00:00:00Z", 10 + number % 10)}),
        effects: rows,
        counted_in: "/background-task?limit=250",
    },
    Post {
        path: "/operational-webhook/endpoint",
        body: |number| json!({"url": format!("https://example.com/{number}")}),
        effects: rows,
        counted_in: "/operational-webhook/endpoint?limit=250",
    },
];

/// Rounds of concurrent calls: the key, and which of two bodies.
type Rounds = Vec<Vec<(u8, usize)>>;

fn calls() -> impl Strategy<Value = (Post, Rounds)> {
    let call = (0..3_u8, prop_oneof![4 => Just(0_usize), 1 => Just(1)]);
    let round = proptest::collection::vec(call, 1..6);
    (proptest::sample::select(POSTS.to_vec()), proptest::collection::vec(round, 1..5))
}

fn an_idempotency_key_has_one_effect_and_one_response(cases: u32, make: MakeFixture) {
    play(cases, make, calls(), asks_again_and_again);
}

async fn asks_again_and_again(fixture: &Fixture, (post, rounds): (Post, Rounds)) -> Result<(), TestCaseError> {
    fixture.application("app").await;
    let made = fixture.post("/app/app/endpoint", json!({"url": "https://example.com/", "uid": "ep"})).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let count = async || {
        let list = fixture.get(post.counted_in).await;
        assert_eq!(list.status, 200, "{}", list.text);
        (post.effects)(&list.json())
    };
    let before = count().await;
    // The body of each key, and its response once it exists.
    let mut taken: [Option<(usize, String)>; 3] = Default::default();
    for round in rounds {
        let answers = round.iter().map(|(key, body)| ask(fixture, post, *key, *body));
        let answers: Vec<Answer> = join_all(answers).await;
        for ((key, body), answer) in round.iter().zip(&answers) {
            if answer.status < 300 {
                let place = &mut taken[usize::from(*key)];
                let (of_body, first) = place.get_or_insert_with(|| (*body, answer.text.to_string()));
                prop_assert_eq!((&*of_body, &*first), (body, &answer.text.to_string()), "key {}", key);
            }
        }
        for ((key, body), answer) in round.iter().zip(&answers) {
            let stands_for = taken[usize::from(*key)].as_ref().map(|(body, _)| *body);
            prop_assert!(stands_for.is_some(), "no call used key {key}: {} {}", answer.status, answer.text);
            if stands_for != Some(*body) {
                prop_assert_eq!(answer.status, 422, "{}", &answer.text);
                prop_assert_eq!(&answer.json()["detail"][0]["loc"], &json!(["header", "idempotency-key"]));
            } else {
                prop_assert!(answer.status < 300, "{} {}", answer.status, answer.text);
            }
        }
        let effects = taken.iter().flatten().count();
        prop_assert_eq!(count().await - before, effects);
    }
    Ok(())
}

async fn ask(fixture: &Fixture, post: Post, key: u8, body: usize) -> Answer {
    // Each key has different bodies, so that names are unique.
    let body = (post.body)(usize::from(key) * 2 + body).to_string();
    let headers = [("idempotency-key", ["k0", "k1", "k2"][usize::from(key)])];
    fixture.call_as(Some(&fixture.key), "POST", post.path, &headers, &body).await
}
