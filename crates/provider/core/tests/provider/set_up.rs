//! Accounts, keys, applications, event types, endpoints: what a customer sets up before sending messages.

use std::collections::HashSet;

use provider_core::model::EventType;
use provider_core::{
    ApplicationInput, Archived, Created, EndpointInput, EndpointPatch, EventTypeInput, EventTypePatch, Idempotency,
    IfExists, PageRequest, PatchField, ProviderError, Put, StoredAnswer,
};
use serde_json::json;

use crate::fixture::{Fixture, quick, store};

async fn fixture() -> Fixture {
    Fixture::without_workers(store(), quick()).await
}

fn code<T: std::fmt::Debug>(result: Result<T, ProviderError>) -> &'static str {
    result.unwrap_err().code()
}

#[tokio::test]
async fn an_api_key_authenticates_with_any_region_suffix_until_it_is_deleted() {
    let fixture = fixture().await;
    for key in [fixture.key.clone(), format!("{}.eu", fixture.key)] {
        assert_eq!(fixture.provider.authenticate(&key).await.unwrap(), fixture.caller);
    }
    for wrong in ["", "lwp_", "x", &fixture.key[1..], &format!("{}x", fixture.key), &"lwp_".repeat(1_000)] {
        assert_eq!(code(fixture.provider.authenticate(wrong).await), "authentication_failed");
    }
    let account = &fixture.caller.account;
    let listed = fixture.provider.list_api_keys(account, &PageRequest::default()).await.unwrap();
    assert_eq!(listed.data.len(), 1);
    fixture.provider.delete_api_key(account, &fixture.caller.key).await.unwrap();
    assert_eq!(code(fixture.provider.authenticate(&fixture.key).await), "authentication_failed");
    assert_eq!(code(fixture.provider.create_api_key("org_x", "name").await), "not_found");
    assert_eq!(code(fixture.provider.create_api_key(account, " ").await), "validation");
}

#[tokio::test]
async fn another_accounts_application_is_not_there() {
    let fixture = fixture().await;
    let other = fixture.provider.create_account("Other").await.unwrap();
    let key = fixture.provider.create_api_key(&other.id, "key").await.unwrap();
    let other = fixture.provider.authenticate(&key.text).await.unwrap();
    let application = fixture.provider.application(&fixture.caller, "app").await.unwrap();
    for id in ["app", &application.id] {
        assert_eq!(code(fixture.provider.application(&other, id).await), "not_found");
        let send = fixture.provider.create_message(&other, id, crate::fixture::message(), None);
        assert_eq!(code(send.await), "not_found");
    }
}

#[tokio::test]
async fn an_application_is_made_once_for_one_key_and_one_uid() {
    let fixture = fixture().await;
    let create = async |uid: Option<&str>, if_taken, key: Option<&Idempotency>| {
        let input = ApplicationInput { name: "name".into(), uid: uid.map(Into::into), ..ApplicationInput::default() };
        let render = |application: &provider_core::model::Application| json!({"id": *application.id}).to_string();
        fixture.provider.create_application(&fixture.caller, input, if_taken, key, render).await
    };
    let key = Idempotency::new("k", "POST", "/api/v1/app", b"{}").unwrap();
    let Created::New(first) = create(Some("one"), IfExists::Refuse, Some(&key)).await.unwrap() else { panic!() };
    let Created::Replayed(again) = create(Some("one"), IfExists::Refuse, Some(&key)).await.unwrap() else { panic!() };
    assert_eq!(again, StoredAnswer { status: 201, body: format!("{{\"id\":\"{}\"}}", first.id) });
    let other = Idempotency::new("k", "POST", "/api/v1/app", b"{ }").unwrap();
    assert_eq!(code(create(Some("two"), IfExists::Refuse, Some(&other)).await), "idempotency_key_reused");
    assert_eq!(code(create(Some("one"), IfExists::Refuse, None).await), "conflict");
    assert_eq!(create(Some("one"), IfExists::Get, None).await.unwrap(), Created::Existing(first));
    assert_eq!(code(create(Some("app_x"), IfExists::Refuse, None).await), "validation");
}

#[tokio::test]
async fn a_put_replaces_or_makes() {
    let fixture = fixture().await;
    let put = async |id: &str, uid: &str| {
        let input = ApplicationInput { name: "put".into(), uid: Some(uid.into()), ..ApplicationInput::default() };
        fixture.provider.put_application(&fixture.caller, id, input).await
    };
    let Put::Created(made) = put("unknown", "other").await.unwrap() else { panic!() };
    assert_eq!(code(fixture.provider.application(&fixture.caller, "unknown").await), "not_found");
    assert_eq!(fixture.provider.application(&fixture.caller, "other").await.unwrap(), made);
    let Put::Updated(renamed) = put("other", "renamed").await.unwrap() else { panic!() };
    assert_eq!(fixture.provider.application(&fixture.caller, "renamed").await.unwrap(), renamed);
    assert_eq!(code(put("renamed", "app").await), "conflict");
    fixture.provider.delete_application(&fixture.caller, "renamed").await.unwrap();
    assert_eq!(code(fixture.provider.delete_application(&fixture.caller, "renamed").await), "not_found");
}

#[tokio::test]
async fn an_event_type_comes_out_of_the_archive_when_it_is_made_again() {
    let fixture = fixture().await;
    let create = async |name: &str| {
        let schemas = json!({"1": {"type": "object", "title": "Item status changed"}});
        let input = EventTypeInput { schemas: Some(schemas), ..EventTypeInput::default() };
        fixture.provider.create_event_type(&fixture.caller, name, input, None, |_| String::new()).await
    };
    for name in ["A", "B", "C", "D"] {
        create(name).await.unwrap();
    }
    assert_eq!(code(create("A").await), "event_type_exists");
    assert_eq!(code(create("two words").await), "validation");
    for name in ["A", "C"] {
        fixture.provider.archive_event_type(&fixture.caller, name).await.unwrap();
    }
    let list = async |page: &PageRequest, archived| {
        let list = fixture.provider.list_event_types(&fixture.caller, page, archived).await.unwrap();
        (list.data.into_iter().map(|event_type| event_type.name).collect::<Vec<_>>().concat(), list.done)
    };
    assert_eq!(list(&PageRequest::default(), Archived::Hidden).await, ("BD".into(), true));
    assert_eq!(list(&PageRequest::first(1), Archived::Hidden).await, ("B".into(), false));
    assert_eq!(list(&PageRequest::default(), Archived::Shown).await, ("ABCD".into(), true));
    assert!(matches!(create("A").await.unwrap(), Created::New(_)));
    assert!(!fixture.provider.event_type(&fixture.caller, "A").await.unwrap().archived);
    fixture.provider.expunge_event_type(&fixture.caller, "A").await.unwrap();
    assert_eq!(code(fixture.provider.event_type(&fixture.caller, "A").await), "not_found");
}

#[tokio::test]
async fn type_names_in_upper_case_are_accepted_in_a_schema_and_kept_as_those_of_json_schema() {
    let fixture = fixture().await;
    let field = |name: &str| json!({"1": {"type": "object", "properties": {"itemUuid": {"type": name}}}});
    let input = || EventTypeInput { schemas: Some(field("STRING")), ..EventTypeInput::default() };
    let created =
        fixture.provider.create_event_type(&fixture.caller, "A", input(), None, |_| String::new()).await.unwrap();
    let Created::New(created) = created else { panic!("{created:?}") };
    let Put::Created(put) = fixture.provider.upsert_event_type(&fixture.caller, "B", input()).await.unwrap() else {
        panic!("there was none")
    };
    let patch = EventTypePatch { schemas: PatchField::Set(Some(field("INTEGER"))), ..EventTypePatch::default() };
    let patched = fixture.provider.patch_event_type(&fixture.caller, "B", patch).await.unwrap();
    assert_eq!([created.schemas, put.schemas], [Some(field("string")), Some(field("string"))]);
    assert_eq!(patched.schemas, Some(field("integer")));
}

#[tokio::test]
async fn an_endpoint_is_checked_as_a_whole() {
    let fixture = fixture().await;
    let create = async |input: EndpointInput| {
        let input = EndpointInput { url: "https://example.com/".into(), ..input };
        fixture.provider.create_endpoint(&fixture.caller, "app", input, None, |_| String::new()).await
    };
    let names = |names: &[&str]| Some(names.iter().map(ToString::to_string).collect::<Vec<_>>());
    let default = EndpointInput::default;
    let many: Vec<String> = (0..11).map(|n| n.to_string()).collect();
    for (input, expected) in [
        (EndpointInput { filter_types: names(&[]), ..default() }, "validation"),
        (EndpointInput { filter_types: names(&["UNKNOWN"]), ..default() }, "validation"),
        (EndpointInput { channels: names(&[]), ..default() }, "validation"),
        (EndpointInput { channels: Some(many), ..default() }, "validation"),
        (EndpointInput { throttle_rate: Some(0), ..default() }, "validation"),
        (EndpointInput { uid: Some("ep_1".into()), ..default() }, "validation"),
        (EndpointInput { secret: Some("whsec_AAAA".into()), ..default() }, "validation"),
        (EndpointInput { headers: Some([("host".into(), "x".into())].into()), ..default() }, "validation"),
    ] {
        assert_eq!(code(create(input.clone()).await), expected, "{input:?}");
    }
    for url in ["", "example.com", "ftp://example.com/", "http://user:password@example.com/", "http://[:::1]"] {
        let input = EndpointInput { url: url.into(), ..default() };
        let result = fixture.provider.create_endpoint(&fixture.caller, "app", input, None, |_| String::new()).await;
        assert_eq!(code(result), "validation", "{url}");
    }
    let ok = EndpointInput { uid: Some("one".into()), ..default() };
    let Created::New(endpoint) = create(ok.clone()).await.unwrap() else { panic!() };
    assert_eq!(code(create(ok).await), "conflict");
    let listed = fixture.provider.list_endpoints(&fixture.caller, "app", &PageRequest::default()).await.unwrap();
    assert_eq!(listed.data, [endpoint]);
    fixture.provider.delete_endpoint(&fixture.caller, "app", "one").await.unwrap();
    assert_eq!(code(fixture.provider.endpoint(&fixture.caller, "app", "one").await), "not_found");
}

#[tokio::test]
async fn ten_rotated_secrets_may_still_sign() {
    let fixture = fixture().await;
    let given = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let input = EndpointInput {
        url: "https://example.com/".into(),
        uid: Some("ep".into()),
        secret: Some(given.into()),
        ..EndpointInput::default()
    };
    fixture.endpoint_with(input).await;
    assert_eq!(fixture.provider.endpoint_secret(&fixture.caller, "app", "ep").await.unwrap(), given);
    let rotate = async |secret: Option<&str>, grace: Option<i64>| {
        fixture.provider.rotate_endpoint_secret(&fixture.caller, "app", "ep", secret, grace, None).await
    };
    for _ in 0..10 {
        let secret = rotate(None, None).await.unwrap();
        assert_eq!(fixture.provider.endpoint_secret(&fixture.caller, "app", "ep").await.unwrap(), secret);
    }
    assert_eq!(code(rotate(None, None).await), "limit_reached");
    assert_eq!(rotate(Some(given), Some(0)).await.unwrap(), given);
    assert_eq!(code(rotate(None, Some(604_801)).await), "validation");
    assert_eq!(code(rotate(None, Some(-1)).await), "validation");
    assert_eq!(code(rotate(Some("whsec_AAAA"), None).await), "validation");
}

/// A secret that is there already is neither kept nor signed with twice.
#[tokio::test]
async fn a_secret_that_is_rotated_to_again_signs_once() {
    let fixture = fixture().await;
    let endpoint = fixture.endpoint("https://example.com/").await;
    let (one, other) = ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    let kept = async |secret: &str| {
        let rotated =
            fixture.provider.rotate_endpoint_secret(&fixture.caller, "app", &endpoint.id, Some(secret), None, None);
        assert_eq!(rotated.await.unwrap(), secret);
        fixture.provider.endpoint(&fixture.caller, "app", &endpoint.id).await.unwrap().old_secrets.len()
    };
    // The first is the one that it was made with.
    assert_eq!([kept(one).await, kept(one).await, kept(other).await, kept(other).await], [1, 1, 2, 2]);
    assert_eq!([kept(one).await, kept(other).await, kept(one).await], [2, 2, 2]);
}

#[tokio::test]
async fn of_those_who_put_an_event_type_at_the_same_time_one_makes_it() {
    // On disk: in memory no call is ever between two others.
    let directory = tempfile::tempdir().unwrap();
    let store = provider_store::sqlite::open(&directory.path().join("provider.db")).await.unwrap();
    let fixture = Fixture::without_workers(store, quick()).await;
    let puts = (0..8).map(|number| {
        let input = EventTypeInput { description: format!("number {number}"), ..EventTypeInput::default() };
        fixture.provider.upsert_event_type(&fixture.caller, "sold", input)
    });
    let made_at = |event_type: EventType| event_type.created_at;
    let (mut made, mut times) = (0, HashSet::new());
    for put in futures_util::future::join_all(puts).await {
        match put.unwrap() {
            Put::Created(event_type) => {
                made += 1;
                times.insert(made_at(event_type));
            }
            Put::Updated(event_type) => _ = times.insert(made_at(event_type)),
        }
    }
    assert_eq!((made, times.len()), (1, 1));
}

#[tokio::test]
async fn of_patches_at_the_same_time_none_is_lost() {
    // On disk: in memory no call is ever between two others.
    let directory = tempfile::tempdir().unwrap();
    let store = provider_store::sqlite::open(&directory.path().join("provider.db")).await.unwrap();
    let fixture = Fixture::without_workers(store, quick()).await;
    let endpoint = fixture.endpoint("https://example.com/").await;
    let patch = |patch: EndpointPatch| fixture.provider.patch_endpoint(&fixture.caller, "app", &endpoint.id, patch);
    let headers = [("x-one".to_owned(), Some("1".to_owned()))].into();
    let (url, description, channels, set, rotated) = tokio::join!(
        patch(EndpointPatch { url: PatchField::Set("https://example.org/".into()), ..EndpointPatch::default() }),
        patch(EndpointPatch { description: PatchField::Set("d".into()), ..EndpointPatch::default() }),
        patch(EndpointPatch { channels: PatchField::Set(Some(vec!["c".into()])), ..EndpointPatch::default() }),
        fixture.provider.patch_endpoint_headers(&fixture.caller, "app", &endpoint.id, &headers),
        fixture.provider.rotate_endpoint_secret(&fixture.caller, "app", &endpoint.id, None, None, None),
    );
    for patched in [url, description, channels] {
        patched.unwrap();
    }
    set.unwrap();
    let now = fixture.provider.endpoint(&fixture.caller, "app", &endpoint.id).await.unwrap();
    assert_eq!((now.url.as_str(), now.description.as_str(), now.headers.len()), ("https://example.org/", "d", 1));
    assert_eq!((now.channels, now.old_secrets.len()), (Some(vec!["c".to_owned()]), 1));
    let secret = fixture.provider.endpoint_secret(&fixture.caller, "app", &endpoint.id).await.unwrap();
    assert_eq!(secret, rotated.unwrap());
}

#[tokio::test]
async fn values_of_headers_are_sealed_at_rest_and_read_and_changed_as_they_are() {
    let fixture = fixture().await;
    let headers = |pairs: &[(&str, &str)]| -> std::collections::BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let first = headers(&[("Authorization", "Bearer of-the-receiver"), ("X-Customer", "größe")]);
    let url = "https://example.com/".to_owned();
    let input = EndpointInput { url, headers: Some(first.clone()), ..EndpointInput::default() };
    let endpoint = fixture.endpoint_with(input.clone()).await;
    let stored = async || fixture.store.endpoint(&endpoint.application, &endpoint.id).await.unwrap().unwrap();
    let read = async || fixture.provider.endpoint_headers(&fixture.caller, "app", &endpoint.id).await.unwrap();
    let is_sealed =
        |endpoint: &provider_core::model::Endpoint| endpoint.headers.values().all(|value| value.starts_with("v1."));
    assert!(is_sealed(&stored().await), "{:?}", stored().await);
    assert_eq!(read().await, first);

    let patch = [("x-customer".to_owned(), Some("18".to_owned()))].into();
    fixture.provider.patch_endpoint_headers(&fixture.caller, "app", &endpoint.id, &patch).await.unwrap();
    assert_eq!(read().await, headers(&[("Authorization", "Bearer of-the-receiver"), ("x-customer", "18")]));
    let second = headers(&[("X-Other", "1")]);
    fixture.provider.put_endpoint_headers(&fixture.caller, "app", &endpoint.id, &second).await.unwrap();
    assert!(is_sealed(&stored().await));
    assert_eq!(read().await, second);
    fixture.provider.put_endpoint(&fixture.caller, "app", &endpoint.id, input).await.unwrap();
    assert!(is_sealed(&stored().await));
    assert_eq!(read().await, first);
}
