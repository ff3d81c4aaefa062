//! The access log: sign-ins and changes of access, without secrets.

use http::Method;
use kit_runtime::vault::Secret;
use platform_core::users::NewUser;
use platform_core::{Caller, Role, Scopes};
use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture};

const PASSWORD: &str = "correct horse battery";

async fn user(fixture: &Fixture, name: &str, role: Role) -> String {
    let password = Some(Secret::new(PASSWORD.as_bytes().to_vec()));
    let new = NewUser { email: format!("{name}@example.com"), name: None, role, password, must_change_password: false };
    let generated_password =
        fixture.platform.create_user(&Caller::command_line(), new, None).await.unwrap().fresh().unwrap();
    generated_password.user.id.to_string()
}

async fn sign_in(fixture: &Fixture, name: &str, password: &str) -> Answer {
    let body = json!({ "email": format!("{name}@example.com"), "password": password }).to_string();
    let request =
        http::Request::post("/api/v1/sessions").extension(kit_http::client_ip::Peer("192.0.2.7".parse().unwrap()));
    Answer::read(fixture.surface.answer(request.body(axum::body::Body::from(body)).unwrap()).await).await
}

async fn call(fixture: &Fixture, method: Method, path: &str, token: &str, body: Value) -> Answer {
    fixture.call(&method, &format!("/api/v1{path}"), token, &body).await
}

async fn log(fixture: &Fixture, token: &str, query: &str) -> Value {
    let answer = call(fixture, Method::GET, &format!("/access-log{query}"), token, Value::Null).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

fn events(list: &Value) -> Vec<&str> {
    list["data"].as_array().unwrap().iter().map(|entry| entry["event"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn administrators_read_sign_ins_and_changes_of_access() {
    let fixture = Fixture::new();
    let ada = user(&fixture, "ada", Role::Administrator).await;
    let signed_in = sign_in(&fixture, "ada", PASSWORD).await.json();
    let token = signed_in["token"].as_str().unwrap();
    let customer = fixture.customer("Hartley").await;
    let post = async |path: &str, body: Value| call(&fixture, Method::POST, path, token, body).await;
    let otto = post("/users", json!({ "email": "otto@example.com", "role": "operator" })).await.json();
    let uuid = otto["uuid"].as_str().unwrap();
    let generated_password = otto["password"].as_str().unwrap();
    let reset = post(&format!("/users/{uuid}/password"), json!({ "password": "another horse" })).await;
    assert_eq!(reset.status, 200, "{}", reset.text);
    let bearer = format!("Bearer {token}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("if-match", reset.header("etag").unwrap()),
        ("content-type", "application/json"),
    ];
    let path = format!("/api/v1/users/{uuid}");
    let changed = fixture.send(&Method::PATCH, &path, &headers, &json!({ "disabled": true }).to_string()).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_eq!(sign_in(&fixture, "otto", "another horse").await.status, 401);
    let key = post("/api-keys", json!({ "name": "site", "scopes": ["events:read"] })).await.json();
    let path = format!("/api-keys/{}", key["uuid"].as_str().unwrap());
    for _ in 0..2 {
        assert_eq!(call(&fixture, Method::DELETE, &path, token, Value::Null).await.status, 204);
    }
    let path = format!("/customers/{customer}/consumer");
    let entered = json!({ "apiKey": "testsk_provider_secret" });
    assert_eq!(call(&fixture, Method::PUT, &path, token, entered).await.status, 200);
    assert_eq!(call(&fixture, Method::DELETE, &path, token, Value::Null).await.status, 200);

    let listed = log(&fixture, token, "").await;
    let wanted = [
        "connectionEnded",
        "connectionEntered",
        "keyRevoked",
        "keyCreated",
        "signInRefused",
        "userChanged",
        "passwordReset",
        "userCreated",
        "signedIn",
        "userCreated",
    ];
    assert_eq!(events(&listed), wanted, "the entries are not listed latest first: {listed}");
    let entry = |place: usize| &listed["data"][place];
    assert_eq!(entry(8)["actor"], format!("user:{ada}"));
    assert_eq!((&entry(8)["address"], &entry(8)["session"]), (&json!("192.0.2.7"), &signed_in["uuid"]));
    assert_eq!((&entry(7)["actor"], &entry(7)["session"]), (&entry(8)["actor"], &signed_in["uuid"]));
    assert_eq!(entry(4)["details"], json!({ "user": uuid, "reason": "disabled" }));
    let disabled = json!({ "user": uuid, "roleBefore": "operator", "role": "operator", "disabled": true });
    assert_eq!((&entry(5)["details"], &entry(9)["actor"]), (&disabled, &json!("command-line")));
    assert_eq!((&entry(1)["details"]["apiKeyEntered"], &entry(9)["number"]), (&json!(true), &json!(1)));

    let kept: String =
        fixture.store.latest_access_entries(None, 99).await.unwrap().into_iter().map(|entry| entry.content).collect();
    let shown = key["key"].as_str().unwrap();
    for secret in [PASSWORD, "another horse", generated_password, token, shown, "testsk_provider_secret", "argon2"] {
        assert!(!kept.contains(secret), "{secret}");
    }

    let first = log(&fixture, token, "?limit=4").await;
    let rest = log(&fixture, token, &format!("?limit=9&after={}", first["next"].as_str().unwrap())).await;
    assert_eq!([events(&first), events(&rest)].concat(), wanted);
    assert_eq!(rest["next"], Value::Null);
    let verified = fixture.platform.verify_all(&[], &|_| ()).await.unwrap();
    assert_eq!((verified.access_entries, verified.broken.len()), (10, 0), "{verified:?}");
}

#[tokio::test]
async fn failed_sign_ins_are_counted_and_do_not_fill_the_log() {
    let fixture = Fixture::new();
    user(&fixture, "ada", Role::Administrator).await;
    let counts = async || {
        let rows = fixture.store.latest_access_entries(None, 99).await.unwrap();
        let refused = rows.into_iter().filter(|entry| entry.content.contains("signInsRefused"));
        refused
            .map(|entry| serde_json::from_str::<Value>(&entry.content).unwrap()["details"]["count"].clone())
            .collect::<Vec<_>>()
    };
    for number in 0..7 {
        assert_eq!(sign_in(&fixture, &format!("nobody{number}"), PASSWORD).await.status, 401);
    }
    assert_eq!(sign_in(&fixture, "ada", "wrong horse battery").await.status, 401);
    assert_eq!(counts().await, Vec::<Value>::new());
    fixture.platform.note_refused_sign_ins().await.unwrap();
    assert_eq!(counts().await, [json!(8)]);
    sign_in(&fixture, "nobody", PASSWORD).await;
    fixture.platform.note_refused_sign_ins().await.unwrap();
    assert_eq!(counts().await.len(), 1, "refused sign-ins were recorded twice within an hour");
    fixture.clock.advance(std::time::Duration::from_secs(3_600));
    for _ in 0..2 {
        fixture.platform.note_refused_sign_ins().await.unwrap();
    }
    assert_eq!(counts().await, [json!(1), json!(8)]);
}

#[tokio::test]
async fn the_access_log_needs_the_scope_users_read() {
    let fixture = Fixture::new();
    for (name, role) in [("otto", Role::Operator), ("cleo", Role::Clerk), ("sue", Role::Support), ("vic", Role::Viewer)]
    {
        user(&fixture, name, role).await;
        let token = sign_in(&fixture, name, PASSWORD).await.json()["token"].as_str().unwrap().to_owned();
        let refused = call(&fixture, Method::GET, "/access-log", &token, Value::Null).await;
        assert_eq!((refused.status, refused.code().as_str()), (403, "forbidden"), "{name}");
    }
    let customer = fixture.customer("Hartley").await;
    let theirs = fixture.key(Some(customer), Scopes::all()).await;
    let refused = call(&fixture, Method::GET, "/access-log", &theirs, Value::Null).await;
    assert_eq!((refused.status, refused.code().as_str()), (403, "forbidden"));
}
