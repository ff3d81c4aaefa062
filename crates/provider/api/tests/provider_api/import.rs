//! Event types from an OpenAPI document.

use serde_json::{Value, json};

use crate::fixture::Fixture;

const PATH: &str = "/event-type/import/openapi";

/// A document as in the manual of the official clients, in YAML.
const YAML: &str = r##"
openapi: 3.1.0
info: {title: Auctions, version: 1.0.0}
webhooks:
  "item.sold":
    post:
      summary: An item was sold
      x-svix-group-name: item
      requestBody:
        content:
          application/json:
            schema:
              $ref: "#/components/schemas/Item"
            example: {id: 1, name: Clock}
      responses:
        200:
          description: Taken
components:
  schemas:
    Item:
      required: [id, owner]
      properties:
        id: {type: integer}
        name: {type: string, nullable: true}
        owner: {$ref: "#/components/schemas/User"}
    User:
      type: object
      properties:
        friend: {$ref: "#/components/schemas/User"}
"##;

fn document(webhooks: Value) -> Value {
    json!({"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "webhooks": webhooks})
}

fn webhook(description: &str) -> Value {
    let schema = json!({"type": "object", "title": description});
    json!({"post": {"description": description, "requestBody": {"content": {"application/json": {"schema": schema}}}}})
}

#[tokio::test]
async fn a_document_in_yaml_becomes_complete_event_types() {
    let fixture = Fixture::new().await;
    let schema = json!({
        "required": ["id", "owner"],
        "properties": {"id": {"type": "integer"}, "name": {"type": ["string", "null"]},
            "owner": {"$ref": "#/$defs/User"}},
        "examples": [{"id": 1, "name": "Clock"}],
        "$defs": {"User": {"type": "object", "properties": {"friend": {"$ref": "#/$defs/User"}}}},
    });
    let expected = json!({"name": "item.sold", "description": "An item was sold", "deprecated": false,
        "groupName": "item", "schemas": {"1": schema}});
    let dry = fixture.post(PATH, json!({"specRaw": YAML, "dryRun": true})).await;
    dry.expect(200, &json!({"data": {"modified": [], "to_modify": [expected]}}));
    assert_eq!(fixture.get("/event-type/item.sold").await.status, 404);

    let done = fixture.post(&format!("{PATH}/"), json!({"specRaw": YAML})).await;
    done.expect(200, &json!({"data": {"modified": ["item.sold"]}}));
    let kept = fixture.get("/event-type/item.sold").await.json();
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&kept[name], value, "{name}");
    }
    let again = fixture.post(PATH, json!({"specRaw": YAML})).await;
    again.expect(200, &json!({"data": {"modified": []}}));
}

#[tokio::test]
async fn an_import_updates_and_restores_event_types_and_archives_the_others_on_request_only() {
    let fixture = Fixture::new().await;
    for name in ["kept", "changed", "other", "gone"] {
        let body = json!({"name": name, "description": name, "featureFlags": ["f"]});
        assert_eq!(fixture.post("/event-type", body).await.status, 201);
    }
    fixture.delete("/event-type/changed").await;
    fixture.delete("/event-type/gone").await;
    let spec = document(json!({"changed": webhook("New"), "fresh": webhook("Fresh"),
        "kept": {"post": {"description": "kept"}}}));
    let done = fixture.post(PATH, json!({"spec": spec})).await;
    done.expect(200, &json!({"data": {"modified": ["changed", "fresh"]}}));
    let changed = fixture.get("/event-type/changed").await.json();
    assert_eq!((&changed["description"], &changed["archived"]), (&json!("New"), &json!(false)));
    assert_eq!(changed["featureFlags"], json!(["f"]), "the import removed a field that the document does not contain");
    let names = async || {
        let list = fixture.get("/event-type").await.json();
        list["data"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names().await, ["changed", "fresh", "kept", "other"]);
    let done = fixture.post(PATH, json!({"spec": spec, "replaceAll": true})).await;
    done.expect(200, &json!({"data": {"modified": ["other"]}}));
    assert_eq!(names().await, ["changed", "fresh", "kept"]);
}

#[tokio::test]
async fn the_older_section_and_flags_are_read() {
    let fixture = Fixture::new().await;
    let mut post = webhook("Old")["post"].clone();
    post["x-svix-feature-flags"] = json!(["b", "a"]);
    post["deprecated"] = json!(true);
    let spec = json!({"openapi": "3.0.2", "x-webhooks": {"old": {"post": post}}});
    assert_eq!(fixture.post(PATH, json!({"spec": spec})).await.status, 200);
    let kept = fixture.get("/event-type/old").await.json();
    assert_eq!((&kept["featureFlags"], &kept["deprecated"]), (&json!(["a", "b"]), &json!(true)));
}

#[tokio::test]
async fn an_invalid_document_is_refused_as_a_whole() {
    let fixture = Fixture::new().await;
    for body in [json!({}), json!({"spec": {}, "specRaw": "{}"}), json!({"dryRun": true})] {
        let refused = fixture.post(PATH, &body).await;
        assert_eq!((refused.status, refused.field("code")), (400, "invalid_spec".into()), "{body}");
    }
    let missing = json!({"post": {"requestBody": {"content": {"application/json":
        {"schema": {"$ref": "#/components/schemas/None"}}}}}});
    let remote = json!({"post": {"requestBody": {"content": {"application/json":
        {"schema": {"$ref": "http://127.0.0.1:1/schema.json"}}}}}});
    for (body, place) in [
        (json!({"specRaw": "a: [b"}), json!(["body", "specRaw"])),
        (json!({"specRaw": "{"}), json!(["body", "specRaw"])),
        (json!({"spec": {"openapi": "3.1.0"}}), json!(["body", "spec"])),
        (json!({"spec": document(json!({}))}), json!(["body", "spec", "webhooks"])),
        (json!({"spec": document(json!({"a": {}}))}), json!(["body", "spec", "webhooks", "a"])),
        (
            json!({"spec": document(json!({"two words": webhook("")}))}),
            json!(["body", "spec", "webhooks", "two words", "name"]),
        ),
        (json!({"spec": document(json!({"a": missing, "b": webhook("")}))}), json!(["body", "spec", "webhooks", "a"])),
        (
            json!({"spec": document(json!({"b": webhook(""), "c": remote}))}),
            json!(["body", "spec", "webhooks", "c", "schemas", "1"]),
        ),
    ] {
        let refused = fixture.post(PATH, &body).await;
        assert_eq!((refused.status, &refused.json()["detail"][0]["loc"]), (422, &place), "{body} {}", refused.text);
    }
    let bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n\
        c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\n\
        e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]\n\
        g: [*f, *f, *f, *f, *f, *f, *f, *f, *f, *f]\n";
    assert_eq!(fixture.post(PATH, json!({"specRaw": bomb})).await.status, 422);
    assert_eq!(fixture.get("/event-type").await.json()["data"], json!([]));
}

#[tokio::test]
async fn the_same_key_imports_once() {
    let fixture = Fixture::new().await;
    let body = json!({"spec": document(json!({"a": webhook("A")}))}).to_string();
    let key = [("idempotency-key", "auto_1")];
    let import = async || fixture.call_as(Some(&fixture.key), "POST", PATH, &key, &body).await;
    let first = import().await;
    fixture.delete("/event-type/a?expunge=true").await;
    let second = import().await;
    assert_eq!((first.status, &first.text), (200, &second.text));
    assert_eq!(fixture.get("/event-type/a").await.status, 404);
}
