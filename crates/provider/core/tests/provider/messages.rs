//! Accepting and reading messages.

use provider_core::page::{CursorKey, PageQuery};
use provider_core::{
    ApplicationInput, Archived, EndpointInput, EventTypeInput, IfExists, MessageInput, PageRequest, ProviderError,
};

use crate::fixture::{Fixture, PAYLOAD, message, payload, quick, store};

#[tokio::test]
async fn a_message_is_read_back_by_id_and_event_id_as_it_was_sent() {
    let fixture = Fixture::without_workers(store(), quick()).await;
    let input = MessageInput { event_id: Some("item.1".into()), ..message() };
    let sent = fixture.try_send(input, None).await.unwrap();
    for id in [&*sent.id, "item.1"] {
        let read = fixture.provider.message(&fixture.caller, "app", id).await.unwrap();
        assert_eq!(read, sent);
        assert_eq!(read.payload.unwrap().text(), PAYLOAD.as_bytes());
    }
    let unknown = fixture.provider.message(&fixture.caller, "app", "item.2").await;
    assert!(matches!(unknown, Err(ProviderError::NotFound)));
}

#[tokio::test]
async fn a_refusal_names_every_invalid_field() {
    let fixture = Fixture::without_workers(store(), quick()).await;
    let input = MessageInput {
        event_type: "two words".into(),
        event_id: Some("msg_x".into()),
        channels: Some((0..6).map(|n| n.to_string()).collect()),
        payload_retention_days: Some(91),
        ..message()
    };
    let Err(ProviderError::Validation(faults)) = fixture.try_send(input, None).await else { panic!() };
    let fields: Vec<_> = faults.iter().map(|fault| fault.loc.join(".")).collect();
    assert_eq!(fields, ["body.eventType", "body.eventId", "body.channels", "body.payloadRetentionPeriod"]);
    let retention = |days| MessageInput { payload_retention_days: Some(days), payload: payload("{}"), ..message() };
    let sent = fixture.try_send(retention(5), None).await.unwrap();
    assert_eq!(sent.payload_expires_at.duration_since(sent.created_at).as_hours(), 120);
    assert!(fixture.try_send(retention(4), None).await.is_err());
}

#[tokio::test]
async fn a_message_can_create_its_application() {
    let fixture = Fixture::without_workers(store(), quick()).await;
    let inline = ApplicationInput { name: "New".into(), uid: Some("new".into()), ..ApplicationInput::default() };
    let input = || MessageInput { application: Some(inline.clone()), ..message() };
    let sent = fixture.provider.create_message(&fixture.caller, "new", input(), None).await.unwrap();
    let application = fixture.provider.application(&fixture.caller, "new").await.unwrap();
    assert_eq!((&*application.name, &application.id), ("New", &sent.application));
    let second = fixture.provider.create_message(&fixture.caller, "new", input(), None).await.unwrap();
    assert_eq!(second.application, application.id);
    let uid_mismatch = fixture.provider.create_message(&fixture.caller, "other", input(), None).await;
    assert!(matches!(uid_mismatch, Err(ProviderError::Validation(_))));
    let unknown = fixture.provider.create_message(&fixture.caller, "unknown", message(), None).await;
    assert!(matches!(unknown, Err(ProviderError::NotFound)));
}

#[tokio::test]
async fn page_cursors_cover_all_messages_in_both_directions() {
    let fixture = Fixture::without_workers(store(), quick()).await;
    let mut sent = Vec::new();
    for _ in 0..7 {
        sent.push(fixture.send().await.id);
    }
    sent.reverse();
    let page = async |iterator: Option<&str>| {
        let query = PageQuery { limit: Some("3"), iterator, order: None };
        let request = PageRequest::parse(query, CursorKey::Id("msg_")).unwrap();
        fixture.provider.list_messages(&fixture.caller, "app", &request).await.unwrap().map(|message| message.id)
    };
    let first = page(None).await;
    let second = page(first.iterator.as_deref()).await;
    let third = page(second.iterator.as_deref()).await;
    assert_eq!([&first.data[..], &second.data, &third.data].concat(), sent);
    assert_eq!([first.done, second.done, third.done], [false, false, true]);
    assert_eq!(page(third.prev_iterator.as_deref()).await.data, second.data);
    assert_eq!(page(second.prev_iterator.as_deref()).await.data, first.data);
}

#[tokio::test]
async fn the_futures_of_use_cases_are_send() {
    fn assert_send<T: Send>(_: T) {}
    let fixture = Fixture::without_workers(store(), quick()).await;
    let provider = &fixture.provider;
    let caller = &fixture.caller;
    let page = PageRequest::default();
    let text = |_: &_| String::new();
    assert_send(provider.create_application(caller, ApplicationInput::default(), IfExists::Refuse, None, text));
    assert_send(provider.put_application(caller, "app", ApplicationInput::default()));
    assert_send(provider.create_event_type(caller, "A", EventTypeInput::default(), None, |_| String::new()));
    assert_send(provider.list_event_types(caller, &page, Archived::Hidden));
    assert_send(provider.create_endpoint(caller, "app", EndpointInput::default(), None, |_| String::new()));
    assert_send(provider.put_endpoint(caller, "app", "ep", EndpointInput::default()));
    assert_send(provider.rotate_endpoint_secret(caller, "app", "ep", None, None, None));
    assert_send(provider.create_message(caller, "app", message(), None));
}
