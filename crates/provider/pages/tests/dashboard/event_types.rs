//! Event types: the ready ones, the editor, the archive, and the import.

use provider_core::model::Role;
use provider_core::{Archived, EndpointInput, PageRequest};
use serde_json::json;

use crate::workplace::{HOSTILE, Workplace, at};

#[tokio::test]
async fn ready_event_types_are_added_with_one_click() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Member).await;
    ann.get("/event-types").await.is(200).shows("Event types of the auction platform").shows("No event types yet");
    let page = ann.submit("/ready-event-types", &[]).await;
    page.is(200).shows("The event types were added").shows("ITEM_STATUS_CHANGE").hides("of the auction platform");
    let added = place.provider.event_type(&place.account, "ITEM_STATUS_CHANGE").await.unwrap();
    let schema = &added.schemas.unwrap()["1"];
    assert_eq!(schema["properties"]["itemUuid"]["type"], "string", "STRING was not stored as string");
    let page = ann.get("/event-types/ITEM_STATUS_CHANGE").await;
    page.is(200)
        .shows("Item status changed")
        .shows("<span class=\"code-text\">&#34;SOLD&#34;</span>")
        .shows("<code>itemUuid</code>");
    place.user(Role::Viewer).await.post("/ready-event-types", &[]).await.is(403);
}

#[tokio::test]
async fn a_table_of_fields_creates_the_schema_of_an_event_type() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Member).await;
    ann.get("/new-event-type").await.is(200).shows("name=\"propertyName\"").shows("id=\"schema-table\" checked");
    let form = [
        ("name", "AUCTION_STATUS_CHANGE"),
        ("description", "Event triggered when an auction status changes"),
        ("schema", "table"),
        ("version", "1"),
        ("title", "Auction status changed"),
        ("propertyName", "auctionUuid"),
        ("propertyType", "string"),
        ("propertyDescription", "UUID of the auction"),
        ("propertyName", "status"),
        ("propertyType", "string"),
        ("propertyDescription", ""),
        ("propertyName", ""),
        ("propertyType", "string"),
        ("propertyDescription", ""),
        ("propertyRequired", "0"),
        ("propertyRequired", "1"),
    ];
    let checked = ann.post("/new-event-type", &[&form[..], &[("action", "check")]].concat()).await;
    checked.is(200).shows("The schema is valid").shows("An example of the payload").shows("auctionUuid");
    assert!(
        place.provider.event_type(&place.account, "AUCTION_STATUS_CHANGE").await.is_err(),
        "the check saved the event type"
    );
    let page = ann.submit("/new-event-type", &form).await;
    page.is(200).shows("The event type was created");
    let made = place.provider.event_type(&place.account, "AUCTION_STATUS_CHANGE").await.unwrap();
    let schemas = json!({"1": {"description": "Event triggered when an auction status changes",
        "title": "Auction status changed", "type": "object",
        "properties": {"auctionUuid": {"description": "UUID of the auction", "type": "string"}, "status": {"type": "string"}},
        "required": ["auctionUuid", "status"]}});
    assert_eq!(made.schemas, Some(schemas));
    let taken = ann.post("/new-event-type", &form).await;
    taken.is(409).shows("id=\"name-fault\"").shows("value=\"auctionUuid\"");
}

#[tokio::test]
async fn the_editor_names_all_errors_at_once_with_links_to_their_fields() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Member).await;
    let form = [("name", "two words"), ("groupName", "a b"), ("schema", "json"), ("version", "1"), ("json", "{")];
    let page = ann.post("/new-event-type", &form).await;
    for field in ["name", "groupName", "json"] {
        page.is(422).shows(&format!("id=\"{field}-fault\"")).shows(&format!("<li><a href=\"#{field}\">"));
    }
    let form = [("name", "A"), ("schema", "table"), ("version", "")];
    ann.post("/new-event-type", &form).await.is(422).shows("<li><a href=\"#schema-table\">Schema: The version key");
}

#[tokio::test]
async fn the_editor_names_the_line_of_an_error_and_accepts_type_names_in_upper_case() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Member).await;
    let form = |json: &'static str| [("name", "A"), ("schema", "json"), ("version", "1"), ("json", json)];
    let page = ann.post("/new-event-type", &form("{\n \"type\": \"object\",\n \"properties\" {}\n}")).await;
    page.is(422).shows("id=\"json-fault\"").shows("Line 3, column").shows("id=\"schema-json\" checked");
    let page = ann.post("/new-event-type", &form("{\n \"properties\": {\n  \"a\": {\"type\": \"strnig\"}}}")).await;
    page.is(422).shows("Line 3: the schema is not a JSON Schema").shows("strnig");
    let good = form("{\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"STRING\", \"format\": \"uuid\"}}}");
    ann.submit("/new-event-type", &good).await.is(200).shows("&#34;string&#34;").hides("STRING");

    let editor = ann.get("/event-types/A/edit").await;
    editor.shows("id=\"schema-json\" checked").shows("keywords that the table can't show").hides("name=\"name\"");
    let second = [("description", "Second"), ("schema", "json"), ("version", "2"), ("json", "{\"type\": \"object\"}")];
    ann.submit("/event-types/A/edit", &second).await.shows("Version 2, newest").shows("Version 1").shows("Second");
    let rows = ann.post("/event-types/A/edit", &[("action", "rows"), ("propertyName", HOSTILE)]).await;
    rows.is(200).hides("<script>alert").shows("value=\"&#34;&#62;&#60;script");
    ann.submit("/event-types/A/edit", &[("schema", "none")]).await.shows("The event type has no schema");
}

#[tokio::test]
async fn archiving_and_deleting_name_the_endpoints_that_choose_the_event_type() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Member).await;
    place.event_type("invoice.paid").await;
    let app = place.application("Hammer & Sons").await;
    let chosen = EndpointInput { filter_types: Some(vec!["invoice.paid".into()]), ..at("https://chooses.example/") };
    place.endpoint(&app.id, chosen).await;
    place.endpoint(&app.id, at("https://all.example/")).await;
    for page in ["/archive", "/delete"] {
        let page = ann.get(&format!("/event-types/invoice.paid{page}")).await;
        page.is(200).shows("https://chooses.example/").shows("Hammer &#38; Sons").hides("https://all.example/");
    }
    ann.submit("/event-types/invoice.paid/archive", &[]).await.shows("was archived").shows("Restore event type");
    ann.get("/event-types").await.hides("invoice.paid");
    ann.get("/event-types?archived=yes").await.shows("invoice.paid").shows("Archived");
    ann.submit("/event-types/invoice.paid/restore", &[]).await.shows("listed again");
    ann.submit("/event-types/invoice.paid/delete", &[]).await.shows("The event type was deleted.");
    ann.get("/event-types/invoice.paid").await.is(404);
}

#[tokio::test]
async fn an_import_shows_what_it_changes_and_saves_all_of_it_once() {
    let place = Workplace::open().await;
    let mut ann = place.user(Role::Member).await;
    let webhook = |description: &str| {
        json!({"post": {"description": description, "requestBody": {"content":
        {"application/json": {"schema": {"type": "object", "properties": {"id": {"type": "string"}}}}}}}})
    };
    let first = json!({"openapi": "3.1.0", "webhooks": {"a": webhook("One"), "b": webhook("Two")}}).to_string();
    ann.submit("/import-event-types", &[("document", &first), ("action", "save")]).await.shows("were imported");
    let second = json!({"webhooks": {"b": webhook("Changed"), "c": webhook("New")}}).to_string();
    let form = [("document", second.as_str()), ("unlisted", "archive"), ("action", "preview")];
    let page = ann.post("/import-event-types", &form).await;
    page.is(200).shows("1 added, 1 overwritten, 0 the same, 1 archived").shows("Nothing is saved yet");
    page.shows("Description: <del>Two</del> <ins>Changed</ins>").shows("Description: <ins>New</ins>");
    page.hides("Schema of b").shows("aria-label=\"Schema of c after the import\"").hides("stay as they are");
    let other = json!({"webhooks": {"b": {"post": {"requestBody": {"content": {"application/json": {"schema": {
        "type": "object", "properties": {"number": {"type": "integer"}}}}}}}}}})
    .to_string();
    let page = ann.post("/import-event-types", &[("document", &other), ("action", "preview")]).await;
    page.is(200).shows("0 added, 1 overwritten").shows("Schema before and after").shows("&#34;string&#34;");
    page.shows("&#34;integer&#34;")
        .shows("1 event type that the document does not have stays as it is")
        .shows("<code>a</code>");
    let names = async |archived| {
        let list = place.provider.list_event_types(&place.account, &PageRequest::default(), archived).await.unwrap();
        list.data.into_iter().map(|event_type| event_type.name).collect::<Vec<_>>().concat()
    };
    assert_eq!(names(Archived::Hidden).await, "ab", "the preview saved event types");
    let form = [("document", second.as_str()), ("unlisted", "archive"), ("action", "save")];
    ann.submit("/import-event-types", &form).await.is(200);
    assert_eq!((names(Archived::Hidden).await, names(Archived::Shown).await), ("bc".into(), "abc".into()));
    for (document, fault) in [
        ("{\"openapi\": ", "Is neither JSON nor YAML"),
        ("openapi: 3.1.0", "An OpenAPI document with webhooks"),
        ("{\"webhooks\": {\"two words\": {\"post\": {}}}}", "two words"),
    ] {
        let page = ann.post("/import-event-types", &[("document", document)]).await;
        page.shows("Nothing was imported").shows("href=\"#document\"");
        page.is(422).shows("id=\"document-fault\"").shows(fault);
    }
}
