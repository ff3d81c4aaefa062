//! Consumer applications.

use provider_core::ids;
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW};

#[tokio::test]
async fn an_application_is_created_with_its_name_alone() {
    let fixture = Fixture::new().await;
    let created = fixture.post("/app/", r#"{"name":"Hammer & Sons"}"#).await;
    let id = created.field("id");
    assert!(ids::is_id(&id, "app_"), "{id}");
    let whole = json!({"name": "Hammer & Sons", "uid": null, "throttleRate": null, "rateLimit": null, "id": id, "createdAt": NOW,
        "updatedAt": NOW, "metadata": {}});
    created.expect(201, &whole);
    fixture.get(&format!("/app/{id}")).await.expect(200, &whole);
    fixture.get(&format!("/app/{id}/")).await.expect(200, &whole);
}

#[tokio::test]
async fn an_application_has_all_given_fields_and_is_found_by_its_uid() {
    let fixture = Fixture::new().await;
    let given = json!({"name": "n", "uid": "house-1", "throttleRate": 7, "metadata": {"a": "b"}, "later": true});
    let created = fixture.post("/app", &given).await;
    let whole = json!({"uid": "house-1", "name": "n", "throttleRate": 7, "rateLimit": 7, "id": created.field("id"), "createdAt": NOW,
        "updatedAt": NOW, "metadata": {"a": "b"}});
    created.expect(201, &whole);
    fixture.get("/app/house-1").await.expect(200, &whole);
}

#[tokio::test]
async fn a_taken_uid_is_a_conflict_without_get_if_exists() {
    let fixture = Fixture::new().await;
    let id = fixture.application("house").await;
    let again = json!({"name": "other", "uid": "house"});
    let refused = fixture.post("/app", &again).await;
    refused.expect(409, &json!({"code": "conflict", "detail": "another one has this uid already"}));
    let existing = fixture.post("/app?get_if_exists=true", &again).await;
    assert_eq!((existing.status, existing.field("id"), existing.field("name")), (200, id, "house".into()));
    let new = fixture.post("/app/?get_if_exists=true", json!({"name": "new", "uid": "new"})).await;
    assert_eq!(new.status, 201);
}

#[tokio::test]
async fn an_application_is_replaced_or_created_and_deleted() {
    let fixture = Fixture::new().await;
    let id = fixture.application("house").await;
    let updated = fixture.put("/app/house", json!({"name": "New name"})).await;
    let whole = json!({"name": "New name", "uid": null, "throttleRate": null, "rateLimit": null, "id": id, "createdAt": NOW,
        "updatedAt": NOW, "metadata": {}});
    updated.expect(200, &whole);
    let created = fixture.put("/app/unknown", json!({"name": "Made"})).await;
    assert_eq!((created.status, &created.json()["uid"]), (201, &Value::Null));
    assert_ne!(created.field("id"), id);
    for status in [204, 404] {
        assert_eq!(fixture.delete(&format!("/app/{id}/")).await.status, status);
    }
    fixture.get(&format!("/app/{id}")).await.expect(404, &json!({"code": "not_found", "detail": "not found"}));
}

#[tokio::test]
async fn applications_are_listed_oldest_first_in_pages() {
    let fixture = Fixture::new().await;
    fixture.get("/app").await.expect(200, &json!({"data": [], "iterator": null, "prevIterator": null, "done": true}));
    let mut ids = Vec::new();
    for uid in ["a", "b", "c"] {
        ids.push(fixture.application(uid).await);
    }
    let page = async |query: &str| {
        let page = fixture.get(&format!("/app/?{query}")).await.json();
        let uids: String = page["data"].as_array().unwrap().iter().map(|row| row["uid"].as_str().unwrap()).collect();
        (uids, page["iterator"].clone(), page["prevIterator"].clone(), page["done"].as_bool().unwrap())
    };
    let row = |index: usize| json!(ids[index]);
    let back = |index: usize| json!(format!("-{}", ids[index]));
    assert_eq!(page("limit=2").await, ("ab".into(), row(1), back(0), false));
    assert_eq!(page(&format!("limit=2&iterator={}", ids[1])).await, ("c".into(), row(2), back(2), true));
    assert_eq!(page(&format!("limit=2&iterator=-{}", ids[2])).await, ("ab".into(), row(1), back(0), true));
    assert_eq!(page("order=descending").await, ("cba".into(), row(0), back(2), true));
    assert_eq!(page("limit=0").await.0, "");
}

#[tokio::test]
async fn the_same_idempotency_key_returns_the_same_response_and_refuses_another_body() {
    let fixture = Fixture::new().await;
    let key = [("idempotency-key", "auto_1")];
    let post = async |path, body| fixture.call_as(Some(&fixture.key), "POST", path, &key, body).await;
    let first = post("/app", r#"{"name":"once"}"#).await;
    let second = post("/app/", r#"{"name":"once"}"#).await;
    assert_eq!((first.status, second.status, &first.text), (201, 201, &second.text));
    post("/app", r#"{"name":"twice"}"#).await.expect(
        422,
        &json!({"detail": [{"loc": ["header", "idempotency-key"],
            "msg": "this idempotency key was used before, for another request", "type": "value_error"}]}),
    );
    assert_eq!(fixture.get("/app").await.json()["data"].as_array().unwrap().len(), 1);
    let refused =
        fixture.call_as(Some(&fixture.key), "POST", "/app", &[("idempotency-key", "")], r#"{"name":"x"}"#).await;
    assert_eq!((refused.status, refused.field("code")), (400, "invalid_idempotency_key".into()));
}

#[tokio::test]
async fn a_name_has_one_line_and_a_description_may_have_several() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    for sign in ["\n", "\t", "\u{7f}", "\u{85}", "\u{2028}", "\0"] {
        let refused = fixture.post("/app", json!({"name": format!("a{sign}b")})).await;
        assert_eq!((refused.status, &refused.json()["detail"][0]["loc"]), (422, &json!(["body", "name"])), "{sign:?}");
    }
    let endpoint = |description: &str| json!({"url": "https://example.com/", "description": description});
    assert_eq!(fixture.post("/app/app/endpoint", endpoint("two\r\nlines\tand")).await.status, 201);
    for sign in ["\u{1b}[2J", "\u{7f}", "\0"] {
        let refused = fixture.post("/app/app/endpoint", endpoint(sign)).await;
        assert_eq!((refused.status, &refused.json()["detail"][0]["loc"][1]), (422, &json!("description")), "{sign:?}");
    }
}
