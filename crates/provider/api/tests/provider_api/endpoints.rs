//! Endpoints and their secrets.

use provider_core::ids;
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW};

const URL: &str = "https://example.com/hook";
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

#[tokio::test]
async fn an_endpoint_is_created_with_its_url_alone() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let created = fixture.post("/app/app/endpoint/", json!({"url": URL})).await;
    let id = created.field("id");
    assert!(ids::is_id(&id, "ep_"), "{id}");
    let whole = json!({"id": id, "metadata": {}, "description": "", "url": URL, "disabled": false, "version": 1,
        "uid": null, "throttleRate": null, "rateLimit": null, "eventTypes": null, "filterTypes": null, "channels": null,
        "createdAt": NOW, "updatedAt": NOW});
    created.expect(201, &whole);
    fixture.get(&format!("/app/app/endpoint/{id}/")).await.expect(200, &whole);
}

#[tokio::test]
async fn an_endpoint_has_all_given_fields_and_never_shows_its_secret_or_headers() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    fixture.put("/event-type/a.b", json!({"description": ""})).await;
    let given = json!({"url": URL, "uid": "hook", "description": "d", "disabled": true, "eventTypes": ["a.b"],
        "channels": ["c1", "c2"], "throttleRate": 9, "metadata": {"k": "v"}, "headers": {"X-Key": "hidden"}, "secret": SECRET});
    let created = fixture.post("/app/app/endpoint", &given).await;
    let mut whole = given;
    for hidden in ["headers", "secret"] {
        whole.as_object_mut().unwrap().remove(hidden);
    }
    for (name, value) in [
        ("id", json!(created.field("id"))),
        ("createdAt", json!(NOW)),
        ("updatedAt", json!(NOW)),
        // The former names of older clients.
        ("version", json!(1)),
        ("rateLimit", json!(9)),
        ("filterTypes", json!(["a.b"])),
    ] {
        whole[name] = value;
    }
    created.expect(201, &whole);
    fixture.get("/app/app/endpoint/hook").await.expect(200, &whole);
    fixture.get("/app/app/endpoint/hook/secret").await.expect(200, &json!({"key": SECRET}));
}

#[tokio::test]
async fn an_endpoint_is_replaced_with_its_secret_or_created_and_deleted() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let id = fixture.endpoint().await;
    let path = format!("/app/app/endpoint/{id}");
    let secret = fixture.get(&format!("{path}/secret")).await.text;
    let updated = fixture.put(&path, json!({"url": "https://example.org/"})).await;
    assert_eq!((updated.status, updated.field("url")), (200, "https://example.org/".into()));
    assert_eq!(fixture.get(&format!("{path}/secret")).await.text, secret);
    let created = fixture.put("/app/app/endpoint/unknown", json!({"url": URL})).await;
    assert_eq!(created.status, 201);
    let listed = fixture.get("/app/app/endpoint").await.json();
    let ids: Vec<&str> = listed["data"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [created.field("id"), id], "newest first");
    for status in [204, 404] {
        assert_eq!(fixture.delete(&path).await.status, status);
    }
}

#[tokio::test]
async fn a_put_of_an_existing_endpoint_refuses_another_secret() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    for path in ["/app/app/endpoint/e", "/operational-webhook/endpoint/e"] {
        let body = |secret: &str| json!({"url": URL, "uid": "e", "secret": secret});
        assert_eq!(fixture.put(path, body(SECRET)).await.status, 201);
        assert_eq!(
            fixture.put(path, body(SECRET)).await.status,
            200,
            "the PUT with the endpoint's own secret was refused"
        );
        let refused = fixture.put(path, body("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")).await;
        assert_eq!((refused.status, &refused.json()["detail"][0]["loc"]), (422, &json!(["body", "secret"])));
        assert!(refused.text.contains("secret/rotate"), "{}", refused.text);
        fixture.get(&format!("{path}/secret")).await.expect(200, &json!({"key": SECRET}));
    }
}

#[tokio::test]
async fn two_names_of_one_field_must_have_the_same_value() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    fixture.put("/event-type/a.b", json!({"description": ""})).await;
    fixture.put("/event-type/c.d", json!({"description": ""})).await;
    let endpoint = format!("/app/app/endpoint/{}", fixture.endpoint().await);
    let access = "/auth/app-portal-access/app";
    let (rates, types) = (["throttleRate", "rateLimit"], ["eventTypes", "filterTypes"]);
    let put = |object: &Value, names: [&str; 2], values: [Value; 2]| {
        let mut body = object.clone();
        names.into_iter().zip(values).for_each(|(name, value)| body[name] = value);
        body
    };
    let own = json!({"url": URL});
    for (method, path, object, names, within) in [
        ("POST", "/app", json!({"name": "n"}), rates, vec![]),
        ("PUT", "/app/app", json!({"name": "n", "uid": "app"}), rates, vec![]),
        ("PATCH", "/app/app", json!({}), rates, vec![]),
        ("POST", "/app/app/msg", json!({"name": "n", "uid": "app"}), rates, vec!["application"]),
        ("POST", access, json!({"name": "n", "uid": "app"}), rates, vec!["application"]),
        ("POST", "/app/app/endpoint", own.clone(), rates, vec![]),
        ("POST", "/app/app/endpoint", own.clone(), types, vec![]),
        ("PUT", &endpoint, own.clone(), rates, vec![]),
        ("PUT", &endpoint, own.clone(), types, vec![]),
        ("PATCH", &endpoint, json!({}), rates, vec![]),
        ("PATCH", &endpoint, json!({}), types, vec![]),
        ("POST", "/operational-webhook/endpoint", own.clone(), rates, vec![]),
        ("POST", "/operational-webhook/endpoint", own.clone(), types, vec![]),
        ("PUT", "/operational-webhook/endpoint/e", own, rates, vec![]),
    ] {
        let [one, other] = match names {
            names if names == rates => [json!(5), json!(6)],
            _ if path.starts_with("/operational") => [json!(["endpoint.created"]), json!(["endpoint.deleted"])],
            _ => [json!(["a.b"]), json!(["c.d"])],
        };
        let around = |object: Value| match within.first() {
            Some(field) if path == access => json!({*field: object}),
            Some(field) => json!({"eventType": "a", "payload": {}, *field: object}),
            None => object,
        };
        let body = around(put(&object, names, [one.clone(), other]));
        let refused = fixture.call(method, path, &body.to_string()).await;
        let loc = [&["body"], &within[..], &[names[1]]].concat();
        assert_eq!(
            (refused.status, &refused.json()["detail"][0]["loc"]),
            (422, &json!(loc)),
            "{body}: {}",
            refused.text
        );
        assert!(refused.text.contains(names[0]), "{}", refused.text);
        let same = around(put(&object, names, [one.clone(), one]));
        let taken = fixture.call(method, path, &same.to_string()).await;
        assert!((200..300).contains(&taken.status), "{method} {path} {same}: {}", taken.text);
    }
}

#[tokio::test]
async fn a_returned_endpoint_can_be_put_back() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    fixture.put("/event-type/a.b", json!({"description": ""})).await;
    let given = json!({"url": URL, "uid": "e", "eventTypes": ["a.b"], "throttleRate": 5, "ordering": "key"});
    assert_eq!(fixture.post("/app/app/endpoint", &given).await.status, 201);
    let read = fixture.get("/app/app/endpoint/e").await.json();
    fixture.put("/app/app/endpoint/e", &read).await.expect(200, &read);
}

#[tokio::test]
async fn a_patch_with_a_secret_is_refused_and_names_the_operation_that_rotates_it() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let path = format!("/app/app/endpoint/{}", fixture.endpoint().await);
    let secret = fixture.get(&format!("{path}/secret")).await.text;
    let refused = fixture.call("PATCH", &path, &json!({"description": "new", "secret": SECRET}).to_string()).await;
    assert_eq!((refused.status, &refused.json()["detail"][0]["loc"]), (422, &json!(["body", "secret"])));
    assert!(refused.text.contains("secret/rotate"), "{}", refused.text);
    let left = fixture.call("PATCH", &path, &json!({"description": "new", "secret": null}).to_string()).await;
    assert_eq!((left.status, left.field("description")), (200, "new".into()));
    assert_eq!(fixture.get(&format!("{path}/secret")).await.text, secret);
}

#[tokio::test]
async fn event_types_of_an_endpoint_must_exist_and_not_be_empty() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let unknown = fixture.post("/app/app/endpoint", json!({"url": URL, "eventTypes": ["no.such"]})).await;
    unknown.expect(
        422,
        &json!({"detail": [{"loc": ["body", "eventTypes", "0"], "msg": "there is no event type no.such",
            "type": "value_error"}]}),
    );
    let none = fixture.post("/app/app/endpoint", json!({"url": URL, "eventTypes": []})).await;
    assert_eq!((none.status, &none.json()["detail"][0]["loc"]), (422, &json!(["body", "eventTypes"])));
}

/// Clients before version 1 increment the version with each change.
#[tokio::test]
async fn the_version_of_an_endpoint_is_what_its_owner_set() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let created = fixture.post("/app/app/endpoint", json!({"url": URL, "version": 17})).await;
    assert_eq!((created.status, &created.json()["version"]), (201, &json!(17)), "{}", created.text);
    let path = format!("/app/app/endpoint/{}", created.field("id"));
    for (method, body, version) in [
        ("PUT", json!({"url": URL}), 17),
        ("PUT", json!({"url": URL, "version": 18}), 18),
        ("PATCH", json!({"version": 65_535}), 65_535),
        ("PATCH", json!({"description": "d"}), 65_535),
    ] {
        let changed = fixture.call(method, &path, &body.to_string()).await;
        assert_eq!((changed.status, &changed.json()["version"]), (200, &json!(version)), "{method} {body}");
        assert_eq!(fixture.get(&path).await.json()["version"], version);
    }
    for version in [json!(0), json!(65_536), json!("1")] {
        assert_eq!(fixture.patch(&path, json!({"version": version})).await.status, 422, "{version}");
    }
}

#[tokio::test]
async fn a_channel_that_is_given_twice_counts_once() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let twice: Vec<String> = (0..20).map(|number| format!("c{}", number % 2)).collect();
    let created = fixture.post("/app/app/endpoint", json!({"url": URL, "channels": twice})).await;
    assert_eq!((created.status, &created.json()["channels"]), (201, &json!(["c0", "c1"])), "{}", created.text);
    let message = fixture.post("/app/app/msg", json!({"eventType": "a", "payload": {}, "channels": twice})).await;
    assert_eq!((message.status, &message.json()["channels"]), (202, &json!(["c0", "c1"])), "{}", message.text);
    let active =
        fixture.post("/app/app/msg/precheck/active", json!({"eventType": "a", "channels": ["c1", "c1"]})).await;
    active.expect(200, &json!({"active": true}));
}

#[tokio::test]
async fn the_fragment_of_an_address_is_kept() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let created = fixture.post("/app/app/endpoint", json!({"url": "https://example.com/hook#part"})).await;
    assert_eq!((created.status, created.field("url")), (201, "https://example.com/hook#part".into()));
}

#[tokio::test]
async fn an_error_has_the_field_name_that_the_caller_used() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let endpoint = format!("/app/app/endpoint/{}", fixture.endpoint().await);
    for (field, value, loc) in [
        ("eventTypes", json!([]), json!(["body", "eventTypes"])),
        ("filterTypes", json!([]), json!(["body", "filterTypes"])),
        ("filterTypes", json!(["no.such"]), json!(["body", "filterTypes", "0"])),
        ("throttleRate", json!(0), json!(["body", "throttleRate"])),
        ("rateLimit", json!(0), json!(["body", "rateLimit"])),
    ] {
        let body = json!({"url": URL, field: value});
        let refused = [
            fixture.post("/app/app/endpoint", &body).await,
            fixture.put(&endpoint, &body).await,
            fixture.patch(&endpoint, &body).await,
        ];
        for refused in refused {
            assert_eq!((refused.status, &refused.json()["detail"][0]["loc"]), (422, &loc), "{body}: {}", refused.text);
        }
    }
    for field in ["eventTypes", "filterTypes"] {
        let refused = fixture.post("/operational-webhook/endpoint", json!({"url": URL, field: ["no.such"]})).await;
        assert_eq!(refused.json()["detail"][0]["loc"][1], field, "{}", refused.text);
    }
}

#[tokio::test]
async fn a_host_that_is_no_valid_domain_name_is_refused() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    for (label, status) in [("a".repeat(63), 201), ("a".repeat(64), 422)] {
        let answer = fixture.post("/app/app/endpoint", json!({"url": format!("https://{label}.example.com/")})).await;
        assert_eq!(answer.status, status, "{}", answer.text);
    }
}
