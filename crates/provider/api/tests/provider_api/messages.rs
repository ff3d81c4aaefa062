//! Messages.

use provider_core::ids;
use provider_core::payload::PAYLOAD_BYTES_MAX;
use serde_json::json;

use crate::fixture::{Fixture, NOW};

#[tokio::test]
async fn an_accepted_message_can_be_read() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let given = json!({"eventType": "ITEM_STATUS_CHANGE", "eventId": "i.1", "channels": ["c"], "tags": ["t"],
        "payload": {"status": "SOLD"}, "payloadRetentionPeriod": 5});
    let created = fixture.post("/app/app/msg/", &given).await;
    let id = created.field("id");
    assert!(ids::is_id(&id, "msg_"), "{id}");
    let whole = json!({"eventId": "i.1", "eventType": "ITEM_STATUS_CHANGE", "payload": {"status": "SOLD"},
        "channels": ["c"], "tags": ["t"], "id": id, "timestamp": NOW, "deliverAt": null});
    created.expect(202, &whole);
    for message in [&id, "i.1"] {
        fixture.get(&format!("/app/app/msg/{message}")).await.expect(200, &whole);
    }
    let page = json!({"data": [whole], "iterator": id, "prevIterator": format!("-{id}"), "done": true});
    fixture.get("/app/app/msg").await.expect(200, &page);
}

#[tokio::test]
async fn a_payload_is_returned_as_the_bytes_that_were_sent() {
    let fixture = Fixture::new().await;
    let application = fixture.application("app").await;
    let payload = r#"{ "b" : 1.0, "a":"\u00e9\/", "n": 12345678901234567890.10,  "b":2 }"#;
    let created = fixture.post("/app/app/msg", format!(r#"{{"payload":{payload},"eventType":"a"}}"#)).await;
    assert!(created.text.contains(&format!(r#""payload":{payload},"#)), "{}", created.text);
    let kept = fixture.store.message(&application, &created.field("id")).await.unwrap().unwrap();
    assert_eq!(kept.payload.unwrap().text(), payload.as_bytes());
}

#[tokio::test]
async fn a_raw_payload_is_shown_with_its_media_type() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    for (params, payload, content_type) in [
        (
            json!({"rawPayload": "<a/>", "headers": {"Content-Type": "text/xml"}}),
            json!({"rawPayload": "<a/>"}),
            "text/xml",
        ),
        (json!({"rawPayload": "{\"a\":1}", "headers": {"content-type": "a/b+json"}}), json!({"a": 1}), "a/b+json"),
        (json!({"headers": {"content-type": "a/b; c=\"d\""}}), json!({"x": 1}), "a/b; c=\"d\""),
    ] {
        let body = json!({"eventType": "a", "payload": {"x": 1}, "transformationsParams": params});
        let created = fixture.post("/app/app/msg", body).await;
        assert_eq!((&created.json()["payload"], &created.json()["contentType"]), (&payload, &json!(content_type)));
        let path = format!("/app/app/msg/{}", created.field("id"));
        assert_eq!(fixture.get(&path).await.text, created.text);
        assert_eq!(fixture.get("/app/app/msg?limit=1").await.json()["data"][0], created.json());
        for path in [format!("{path}?with_content=false"), "/app/app/msg?limit=1&with_content=false".to_owned()] {
            assert!(!fixture.get(&path).await.text.contains("contentType"));
        }
        assert_eq!(fixture.delete(&format!("{path}/content")).await.status, 204);
        let expunged = fixture.get(&path).await.json();
        assert_eq!((&expunged["payload"], &expunged["contentType"]), (&json!({"expired": true}), &json!(null)));
    }
    for params in
        [json!({"rawPayload": "[1]", "headers": {"content-type": "application/json"}}), json!({"headers": null})]
    {
        let body = json!({"eventType": "a", "payload": {}, "transformationsParams": params});
        assert_eq!(fixture.post("/app/app/msg", body).await.json()["contentType"], json!(null));
    }
}

#[tokio::test]
async fn headers_other_than_the_content_type_are_refused() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    for (headers, name, says) in [
        (json!({"x-lot": "1"}), "x-lot", "only content-type"),
        (json!({"content-type": "text/xml", "x-lot": "v\r\nz: 1"}), "x-lot", "only content-type"),
        (json!({"content-type": "xml"}), "content-type", "media type"),
        (json!({"content-type": ""}), "content-type", "media type"),
        (json!({"content-type": "text/xml\r\nx-lot: 1"}), "content-type", "media type"),
        (json!({"content-type": format!("text/{}", "x".repeat(251))}), "content-type", "255"),
        (json!({"Content-Type": "text/xml", "content-type": "text/xml"}), "content-type", "twice"),
        (json!({"content-type": 1}), "content-type", "string"),
    ] {
        let params = json!({"rawPayload": "<a/>", "headers": headers});
        let refused = fixture
            .post("/app/app/msg", json!({"eventType": "a", "payload": {}, "transformationsParams": params}))
            .await;
        let loc = json!(["body", "transformationsParams", "headers", name]);
        assert_eq!((refused.status, &refused.json()["detail"][0]["loc"]), (422, &loc), "{}", refused.text);
        assert!(refused.text.contains(says), "{}", refused.text);
    }
    assert_eq!(fixture.get("/app/app/msg").await.json()["data"], json!([]));
}

#[tokio::test]
async fn with_content_false_leaves_out_payloads() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let body = r#"{"eventType":"a","payload":{"x":1}}"#;
    let created = fixture.post("/app/app/msg?with_content=false", body).await;
    assert_eq!((created.status, &created.json()["payload"]), (202, &json!({})));
    let path = format!("/app/app/msg/{}", created.field("id"));
    assert_eq!(fixture.get(&path).await.json()["payload"], json!({"x": 1}));
    assert_eq!(fixture.get(&format!("{path}?with_content=false")).await.json()["payload"], json!({}));
    assert_eq!(fixture.get("/app/app/msg?with_content=false").await.json()["data"][0]["payload"], json!({}));
}

#[tokio::test]
async fn an_event_id_is_accepted_once() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let body = json!({"eventType": "a", "payload": {}, "eventId": "i.1"});
    assert_eq!(fixture.post("/app/app/msg", &body).await.status, 202);
    let again = fixture.post("/app/app/msg", &body).await;
    again.expect(409, &json!({"code": "conflict", "detail": "a message with this eventId was accepted before"}));
}

#[tokio::test]
async fn the_same_idempotency_key_and_body_return_the_same_message() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let key = [("idempotency-key", "k")];
    let body = r#"{"eventType":"a","payload":{ "x":1},"eventId":"i.1"}"#;
    let post = async |path, body| fixture.call_as(Some(&fixture.key), "POST", path, &key, body).await;
    let first = post("/app/app/msg", body).await;
    let second = post("/app/app/msg/", body).await;
    assert_eq!((first.status, second.status, &first.text), (202, 202, &second.text));
    assert_eq!(post("/app/app/msg", r#"{"eventType":"b","payload":{}}"#).await.status, 422);
}

#[tokio::test]
async fn an_application_in_a_message_is_created() {
    let fixture = Fixture::new().await;
    let body = json!({"eventType": "a", "payload": {}, "application": {"name": "Made", "uid": "made"}});
    assert_eq!(fixture.post("/app/made/msg", &body).await.status, 202);
    assert_eq!(fixture.post("/app/made/msg", &body).await.status, 202, "again");
    assert_eq!(fixture.get("/app/made").await.field("name"), "Made");
    for uid in ["made", "other"] {
        for application in [json!({"name": "n", "uid": "another"}), json!({"name": "n"})] {
            let body = json!({"eventType": "a", "payload": {}, "application": application});
            let refused = fixture.post(&format!("/app/{uid}/msg"), body).await;
            assert_eq!(refused.status, 422, "{}", refused.text);
            assert_eq!(refused.json()["detail"][0]["loc"], json!(["body", "application", "uid"]));
        }
    }
    assert_eq!(fixture.get("/app/other").await.status, 404);
}

#[tokio::test]
async fn a_payload_is_an_object_of_bounded_size() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    for payload in ["[]", "1", "\"{}\"", "null"] {
        let refused = fixture.post("/app/app/msg", format!(r#"{{"eventType":"a","payload":{payload}}}"#)).await;
        let fault = json!({"loc": ["body", "payload"], "msg": "must be an object", "type": "value_error"});
        refused.expect(422, &json!({"detail": [fault]}));
    }
    let sized = |bytes: usize| format!(r#"{{"eventType":"a","payload":{{"x":"{}"}}}}"#, "y".repeat(bytes - 8));
    let post = async |bytes| fixture.post("/app/app/msg?with_content=false", sized(bytes)).await;
    assert_eq!(post(1024 * 1024).await.status, 202);
    assert_eq!(post(PAYLOAD_BYTES_MAX).await.status, 202);
    for bytes in [PAYLOAD_BYTES_MAX + 1, 3 * 1024 * 1024] {
        let refused = post(bytes).await;
        assert_eq!((refused.status, refused.field("code")), (413, "payload_too_large".into()), "{bytes}");
    }
}
