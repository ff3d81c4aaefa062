//! Accounts, keys, applications, event types and endpoints, which a customer sets up before sending messages.

use std::collections::HashSet;

use kit_runtime::vault::Secret;
use provider_core::model::EventType;
use provider_core::{
    AccountOpening, ApplicationInput, Archived, Created, EndpointInput, EndpointPatch, EventTypeInput, EventTypePatch,
    Idempotency, IfExists, PageRequest, PatchField, ProviderError, Put, StoredAnswer,
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
async fn the_account_of_a_record_is_opened_once_with_its_latest_key() {
    let fixture = fixture().await;
    let provider = &fixture.provider;
    let uuid = *b"\x01\x9a\xc4\x11\x22\x33\x70one-custm";
    let (first, second) = (provider.new_api_key_text(), provider.new_api_key_text());
    let open = async |key: &Secret| {
        let opening = AccountOpening { uuid, name: "Hartley & Sons", key_name: "Platform", key };
        provider.open_account(&opening).await.unwrap()
    };
    let authenticate = async |key: &Secret| provider.authenticate(key.expose_str().unwrap()).await;
    assert_eq!(code(authenticate(&first).await), "authentication_failed");
    // Two calls at the same time, and one more.
    let (one, two) = tokio::join!(open(&first), open(&first));
    assert_eq!((&one, &two), (&open(&first).await, &one));
    let accounts = provider.list_accounts(&PageRequest::default()).await.unwrap().data;
    assert_eq!(accounts.iter().filter(|account| account.name == "Hartley & Sons").count(), 1);
    let keys = async || provider.list_api_keys(&one.id, &PageRequest::default()).await.unwrap().data;
    assert_eq!(keys().await.len(), 1);
    let caller = authenticate(&first).await.unwrap();
    assert_eq!(caller.account, one.id);
    // Another key takes the place of the first. A key that a person made stays.
    let other = provider.create_api_key(&one.id, "site").await.unwrap();
    assert_eq!(open(&second).await, one);
    assert_eq!(code(authenticate(&first).await), "authentication_failed");
    assert_eq!(authenticate(&second).await.unwrap().account, one.id);
    assert!(provider.authenticate(&other.text).await.is_ok());
    assert_eq!(keys().await.len(), 2);
    let foreign = Secret::new(b"known to a person".to_vec());
    let opening = AccountOpening { uuid, name: "Hartley & Sons", key_name: "Platform", key: &foreign };
    assert_eq!(code(provider.open_account(&opening).await), "internal");
    // Only the text of the key that was made revokes it; the account and the other key stay.
    for (key, left) in [(&first, 2), (&foreign, 2), (&second, 1), (&second, 1)] {
        provider.revoke_opened_key(uuid, key).await.unwrap();
        assert_eq!(keys().await.len(), left);
    }
    assert_eq!(code(authenticate(&second).await), "authentication_failed");
    assert!(provider.authenticate(&other.text).await.is_ok());
    provider.revoke_opened_key(*b"\x01\x9a\xc4\x11\x22\x33\x70unknown!!", &second).await.unwrap();
}

#[tokio::test]
async fn an_application_of_another_account_is_not_found() {
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
async fn an_application_is_created_once_for_one_idempotency_key_and_one_uid() {
    let fixture = fixture().await;
    let create = async |uid: Option<&str>, if_taken, key: Option<&Idempotency>| {
        let input = ApplicationInput { name: "name".into(), uid: uid.map(Into::into), ..ApplicationInput::default() };
        let render = |application: &provider_core::model::Application| json!({"id": *application.id}).to_string();
        fixture.provider.create_application(&fixture.caller, input, if_taken, key, render).await
    };
    let key = Idempotency::new("k", "POST", "/api/v1/app", b"{}").unwrap();
    let Created::New(application) = create(Some("one"), IfExists::Refuse, Some(&key)).await.unwrap() else { panic!() };
    let Created::Replayed(answer) = create(Some("one"), IfExists::Refuse, Some(&key)).await.unwrap() else { panic!() };
    assert_eq!(answer, StoredAnswer { status: 201, body: format!("{{\"id\":\"{}\"}}", application.id) });
    let other_body = Idempotency::new("k", "POST", "/api/v1/app", b"{ }").unwrap();
    assert_eq!(code(create(Some("two"), IfExists::Refuse, Some(&other_body)).await), "idempotency_key_reused");
    assert_eq!(code(create(Some("one"), IfExists::Refuse, None).await), "conflict");
    assert_eq!(create(Some("one"), IfExists::Get, None).await.unwrap(), Created::Existing(application));
    assert_eq!(code(create(Some("app_x"), IfExists::Refuse, None).await), "validation");
}

#[tokio::test]
async fn a_put_creates_or_replaces_an_application() {
    let fixture = fixture().await;
    let put = async |id: &str, uid: &str| {
        let input = ApplicationInput { name: "put".into(), uid: Some(uid.into()), ..ApplicationInput::default() };
        fixture.provider.put_application(&fixture.caller, id, input).await
    };
    let Put::Created(created) = put("unknown", "other").await.unwrap() else { panic!() };
    assert_eq!(code(fixture.provider.application(&fixture.caller, "unknown").await), "not_found");
    assert_eq!(fixture.provider.application(&fixture.caller, "other").await.unwrap(), created);
    let Put::Updated(renamed) = put("other", "renamed").await.unwrap() else { panic!() };
    assert_eq!(fixture.provider.application(&fixture.caller, "renamed").await.unwrap(), renamed);
    assert_eq!(code(put("renamed", "app").await), "conflict");
    fixture.provider.delete_application(&fixture.caller, "renamed").await.unwrap();
    assert_eq!(code(fixture.provider.delete_application(&fixture.caller, "renamed").await), "not_found");
}

#[tokio::test]
async fn creating_an_archived_event_type_again_unarchives_it() {
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
async fn upper_case_type_names_in_a_schema_are_stored_in_lower_case() {
    let fixture = fixture().await;
    let field = |name: &str| json!({"1": {"type": "object", "properties": {"itemUuid": {"type": name}}}});
    let input = || EventTypeInput { schemas: Some(field("STRING")), ..EventTypeInput::default() };
    let created =
        fixture.provider.create_event_type(&fixture.caller, "A", input(), None, |_| String::new()).await.unwrap();
    let Created::New(created) = created else { panic!("{created:?}") };
    let Put::Created(put) = fixture.provider.upsert_event_type(&fixture.caller, "B", input()).await.unwrap() else {
        panic!("the event type existed already")
    };
    let patch = EventTypePatch { schemas: PatchField::Set(Some(field("INTEGER"))), ..EventTypePatch::default() };
    let patched = fixture.provider.patch_event_type(&fixture.caller, "B", patch).await.unwrap();
    assert_eq!([created.schemas, put.schemas], [Some(field("string")), Some(field("string"))]);
    assert_eq!(patched.schemas, Some(field("integer")));
}

#[tokio::test]
async fn an_endpoint_with_an_invalid_field_is_refused() {
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
    let valid = EndpointInput { uid: Some("one".into()), ..default() };
    let Created::New(endpoint) = create(valid.clone()).await.unwrap() else { panic!() };
    assert_eq!(code(create(valid).await), "conflict");
    let listed = fixture.provider.list_endpoints(&fixture.caller, "app", &PageRequest::default()).await.unwrap();
    assert_eq!(listed.data, [endpoint]);
    fixture.provider.delete_endpoint(&fixture.caller, "app", "one").await.unwrap();
    assert_eq!(code(fixture.provider.endpoint(&fixture.caller, "app", "one").await), "not_found");
}

#[tokio::test]
async fn at_most_ten_rotated_secrets_are_in_their_grace_period() {
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

/// Rotating to an existing secret stores no second copy of it, so a message has one signature of it.
#[tokio::test]
async fn rotating_to_an_existing_secret_stores_no_copy() {
    let fixture = fixture().await;
    let endpoint = fixture.endpoint("https://example.com/").await;
    let one = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let old_secrets_after = async |secret: &str| {
        let rotated =
            fixture.provider.rotate_endpoint_secret(&fixture.caller, "app", &endpoint.id, Some(secret), None, None);
        assert_eq!(rotated.await.unwrap(), secret);
        fixture.provider.endpoint(&fixture.caller, "app", &endpoint.id).await.unwrap().old_secrets.len()
    };
    // The first rotation replaces the secret that the endpoint was created with.
    for (secret, expected) in [(one, 1), (one, 1), (other, 2), (other, 2), (one, 2), (other, 2), (one, 2)] {
        assert_eq!(old_secrets_after(secret).await, expected);
    }
}

#[tokio::test]
async fn of_concurrent_puts_of_an_event_type_one_creates_it() {
    // A store on disk, because calls to a store in memory never interleave.
    let directory = tempfile::tempdir().unwrap();
    let store = provider_store::sqlite::open(&directory.path().join("provider.db")).await.unwrap();
    let fixture = Fixture::without_workers(store, quick()).await;
    let puts = (0..8).map(|number| {
        let input = EventTypeInput { description: format!("number {number}"), ..EventTypeInput::default() };
        fixture.provider.upsert_event_type(&fixture.caller, "sold", input)
    });
    let created_at = |event_type: EventType| event_type.created_at;
    let mut created_count = 0;
    let mut times = HashSet::new();
    for put in futures_util::future::join_all(puts).await {
        match put.unwrap() {
            Put::Created(event_type) => {
                created_count += 1;
                times.insert(created_at(event_type));
            }
            Put::Updated(event_type) => _ = times.insert(created_at(event_type)),
        }
    }
    assert_eq!((created_count, times.len()), (1, 1));
}

#[tokio::test]
async fn no_concurrent_patch_is_lost() {
    // A store on disk, because calls to a store in memory never interleave.
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
    for result in [url, description, channels] {
        result.unwrap();
    }
    set.unwrap();
    let patched = fixture.provider.endpoint(&fixture.caller, "app", &endpoint.id).await.unwrap();
    assert_eq!(
        (patched.url.as_str(), patched.description.as_str(), patched.headers.len()),
        ("https://example.org/", "d", 1)
    );
    assert_eq!((patched.channels, patched.old_secrets.len()), (Some(vec!["c".to_owned()]), 1));
    let secret = fixture.provider.endpoint_secret(&fixture.caller, "app", &endpoint.id).await.unwrap();
    assert_eq!(secret, rotated.unwrap());
}

#[tokio::test]
async fn header_values_are_sealed_at_rest_and_returned_in_plain_text() {
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
