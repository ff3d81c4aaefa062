//! People over HTTP: they sign in, do what their role may, and are refused what it may not.

use std::time::Duration;

use http::Method;
use kit_http::client_ip::Peer;
use kit_runtime::vault::Secret;
use platform_core::people::{NewUser, PeopleConfig};
use platform_core::{Caller, PlatformConfig, Role, Scopes};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::fixture::{Answer, Fixture};

const PASSWORD: &str = "correct horse battery";

struct PeopleFixture {
    fixture: Fixture,
}

impl PeopleFixture {
    async fn new() -> Self {
        Self::with(PeopleConfig::default()).await
    }

    /// With Ada, who administers.
    async fn with(people: PeopleConfig) -> Self {
        let house = PeopleFixture { fixture: Fixture::with(PlatformConfig { people, ..PlatformConfig::default() }) };
        house.user("ada@example.com", Role::Administrator).await;
        house
    }

    async fn user(&self, email: &str, role: Role) -> String {
        let new = NewUser { email: email.into(), role, password: Some(Secret::new(PASSWORD.as_bytes().to_vec())) };
        let made =
            self.fixture.platform.create_user(&Caller::command_line(), new, None).await.unwrap().fresh().unwrap();
        made.user.uuid.to_string()
    }

    async fn try_sign_in(&self, body: &Value) -> Answer {
        self.fixture.send(&Method::POST, "/api/v1/sessions", &[], &body.to_string()).await
    }

    /// The token.
    async fn sign_in(&self, email: &str) -> String {
        let answer = self.try_sign_in(&json!({ "email": email, "password": PASSWORD })).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        answer.json()["token"].as_str().unwrap().to_owned()
    }

    async fn ask(&self, method: Method, path: &str, token: &str, body: Value) -> Answer {
        self.fixture.ask(&method, &format!("/api/v1{path}"), token, &body).await
    }

    async fn get(&self, path: &str, token: &str) -> Answer {
        self.ask(Method::GET, path, token, Value::Null).await
    }

    async fn patch(&self, path: &str, token: &str, body: Value) -> Answer {
        let tag = self.get(path, token).await.header("etag").unwrap().to_owned();
        let bearer = format!("Bearer {token}");
        let headers =
            [("authorization", bearer.as_str()), ("if-match", tag.as_str()), ("content-type", "application/json")];
        self.fixture.send(&Method::PATCH, &format!("/api/v1{path}"), &headers, &body.to_string()).await
    }

    /// The code that an authenticator shows `later` seconds from now.
    fn code(&self, secret: &str, later: i64) -> String {
        let secret = data_encoding::BASE32_NOPAD.decode(secret.as_bytes()).unwrap();
        let step = (self.fixture.platform.now().as_second() + later) / 30;
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &secret);
        let tag = ring::hmac::sign(&key, &step.to_be_bytes());
        let offset = usize::from(tag.as_ref()[19] & 15);
        let taken: [u8; 4] = tag.as_ref()[offset..offset + 4].try_into().unwrap();
        format!("{:06}", (u32::from_be_bytes(taken) & 0x7fff_ffff) % 1_000_000)
    }
}

fn refusal(answer: &Answer) -> (u16, String) {
    (answer.status, answer.code())
}

fn told(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[tokio::test]
async fn a_person_signs_in_does_what_the_role_may_and_signs_out() {
    let house = PeopleFixture::new().await;
    let uuid = house.user("Otto@example.com", Role::Operator).await;
    let signed_in = house.try_sign_in(&json!({ "email": " otto@EXAMPLE.com", "password": PASSWORD })).await;
    assert_eq!(signed_in.status, 201, "{}", signed_in.text);
    let signed_in = signed_in.json();
    let token = signed_in["token"].as_str().unwrap();
    assert!(token.starts_with("lws_") && token.len() == 37, "{token}");
    assert_eq!((&signed_in["user"]["role"], &signed_in["user"]["uuid"]), (&json!("operator"), &json!(uuid)));
    assert!(signed_in["scopes"].as_array().unwrap().contains(&json!("auctions:write")));

    let customer = house.fixture.customer("Hartley").await;
    let key = house.fixture.key(None, Scopes::all()).await;
    let auctioneer = json!({ "name": "Hartley & Sons", "customer": customer });
    let auctioneer = house.fixture.make("/api/v1/auctioneers", &key, auctioneer).await;
    let (auction, _) = house.fixture.sale(token, auctioneer["uuid"].as_str().unwrap()).await;
    let history = house.get(&format!("/auctions/{auction}/history"), token).await.json();
    assert_eq!(history["data"][0]["actor"], format!("user:{uuid}"), "the log names the person");

    for (method, path, body) in [
        (Method::POST, "/customers", json!({ "name": "Mine" })),
        (Method::GET, "/users", Value::Null),
        (Method::POST, "/users", json!({ "email": "x@example.com", "role": "viewer" })),
        (Method::GET, "/api-keys", Value::Null),
    ] {
        let refused = house.ask(method, path, token, body).await;
        assert_eq!(refusal(&refused), told(403, "forbidden"), "{path}: {}", refused.text);
    }

    let me = house.get("/me", token).await.json();
    assert_eq!((&me["user"]["email"], &me["session"]["current"]), (&json!("otto@example.com"), &json!(true)));
    assert_eq!(me["session"]["uuid"], signed_in["uuid"]);
    let listed = house.get("/sessions", token).await;
    assert!(!listed.text.contains(token) && !listed.text.contains("hash"), "{}", listed.text);
    let path = format!("/sessions/{}", signed_in["uuid"].as_str().unwrap());
    assert_eq!(house.ask(Method::DELETE, &path, token, Value::Null).await.status, 204);
    assert_eq!(refusal(&house.get("/me", token).await), told(401, "unauthenticated"));
}

#[tokio::test]
async fn nobody_learns_who_there_is_and_who_tries_too_often_waits() {
    let house = PeopleFixture::new().await;
    let disabled = house.user("dora@example.com", Role::Viewer).await;
    let ada = house.sign_in("ada@example.com").await;
    let off = house.patch(&format!("/users/{disabled}"), &ada, json!({ "disabled": true })).await;
    assert_eq!(off.status, 200, "{}", off.text);
    let refused = async |email: &str, password: &str| {
        let mut answer = house.try_sign_in(&json!({ "email": email, "password": password })).await.json();
        answer["requestId"] = Value::Null;
        answer
    };
    let unknown = refused("nobody@example.com", PASSWORD).await;
    assert_eq!((&unknown["status"], &unknown["code"]), (&json!(401), &json!("sign_in_refused")));
    assert_eq!(unknown, refused("ada@example.com", "wrong horse battery").await);
    assert_eq!(unknown, refused("dora@example.com", PASSWORD).await);

    for _ in 0..9 {
        assert_eq!(refused("ada@example.com", "wrong horse battery").await["status"], 401);
    }
    for password in ["wrong horse battery", PASSWORD] {
        let waits = house.try_sign_in(&json!({ "email": "ada@example.com", "password": password })).await;
        assert_eq!(refusal(&waits), told(429, "too_many_attempts"));
        assert_eq!(waits.header("retry-after"), Some("90"));
    }
    assert_eq!(house.get("/me", &ada).await.status, 200, "who is signed in stays so");
    // Another node, or this one after a restart, has the same store.
    house.fixture.clock.advance(Duration::from_secs(90));
    house.sign_in("ada@example.com").await;
    for _ in 0..10 {
        assert_eq!(refused("ada@example.com", "wrong horse battery").await["status"], 401);
    }
}

#[tokio::test]
async fn an_address_from_which_many_are_tried_waits_and_others_do_not() {
    let house = PeopleFixture::with(PeopleConfig { attempts_max: 3, ..PeopleConfig::default() }).await;
    let attempt = async |from: &str, number: usize| {
        let body = json!({ "email": format!("{number}@example.com"), "password": "short" }).to_string();
        let request = http::Request::post("/api/v1/sessions").extension(Peer(from.parse().unwrap()));
        let request = request.body(axum::body::Body::from(body)).unwrap();
        house.fixture.surface.clone().oneshot(request).await.unwrap().status().as_u16()
    };
    for number in 0..15 {
        assert_eq!(attempt("192.0.2.1", number).await, 401);
    }
    assert_eq!(attempt("192.0.2.1", 15).await, 429);
    assert_eq!(attempt("192.0.2.2", 15).await, 401);
}

#[tokio::test]
async fn a_session_ends_at_its_time_and_when_nobody_uses_it() {
    let house = PeopleFixture::new().await;
    let minutes = |count: u64| house.fixture.clock.advance(Duration::from_secs(60 * count));
    let idle = house.sign_in("ada@example.com").await;
    let used = house.sign_in("ada@example.com").await;
    for _ in 0..23 {
        minutes(30);
        assert_eq!(house.get("/me", &used).await.status, 200);
    }
    assert_eq!(refusal(&house.get("/me", &idle).await), told(401, "unauthenticated"));
    assert_eq!(house.get("/sessions", &used).await.json()["data"].as_array().unwrap().len(), 1);
    minutes(31);
    assert_eq!(refusal(&house.get("/me", &used).await), told(401, "unauthenticated"), "after twelve hours");
    assert_eq!(house.fixture.platform.delete_expired_sessions().await.unwrap(), 2);
}

#[tokio::test]
async fn a_session_that_is_asked_for_twice_is_begun_once_and_kept_sealed() {
    let house = PeopleFixture::new().await;
    let ask = async |password: &str, code: Option<&str>| {
        let body = json!({ "email": "ada@example.com", "password": password, "code": code }).to_string();
        house.fixture.send(&Method::POST, "/api/v1/sessions", &[("idempotency-key", "once")], &body).await
    };
    let (first, again) = (ask(PASSWORD, None).await, ask(PASSWORD, None).await);
    assert_eq!((first.status, again.status, &first.text), (201, 201, &again.text));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(
        refusal(&ask("wrong horse battery", None).await),
        told(401, "sign_in_refused"),
        "it is shown to nobody else"
    );
    assert_eq!(refusal(&ask(PASSWORD, Some("123456")).await), told(422, "idempotency_mismatch"));
    let user = first.json()["user"]["uuid"].as_str().unwrap().parse().unwrap();
    let kept = house.fixture.store.idempotent_answer(user, "once").await.unwrap().unwrap();
    assert!(!kept.body.contains("lws_") && !kept.body.contains("ada"), "{}", kept.body);
}

#[tokio::test]
async fn a_second_factor_is_asked_for_once_it_is_confirmed_and_no_code_works_twice() {
    let house = PeopleFixture::new().await;
    let token = house.sign_in("ada@example.com").await;
    let post = async |path: &str, body: Value| house.ask(Method::POST, path, &token, body).await;
    let wrong = post("/me/second-factor", json!({ "password": "wrong horse battery" })).await;
    assert_eq!(refusal(&wrong), told(403, "password_refused"));
    assert_eq!(
        refusal(&post("/me/second-factor/confirm", json!({ "code": "123456" })).await),
        told(409, "second_factor_off")
    );
    let enrolled = post("/me/second-factor", json!({ "password": PASSWORD })).await;
    assert_eq!(enrolled.status, 201, "{}", enrolled.text);
    let enrolled = enrolled.json();
    let secret = enrolled["secret"].as_str().unwrap();
    assert!(enrolled["url"].as_str().unwrap().contains(&format!("secret={secret}&issuer=Lotwire")));
    house.sign_in("ada@example.com").await;

    let code = house.code(secret, 0);
    let wrong = post("/me/second-factor/confirm", json!({ "code": house.code(secret, 3_000) })).await;
    assert_eq!(refusal(&wrong), told(403, "code_refused"));
    let codes = post("/me/second-factor/confirm", json!({ "code": code })).await.json();
    let codes: Vec<&str> =
        codes["recoveryCodes"].as_array().unwrap().iter().map(|code| code.as_str().unwrap()).collect();
    assert_eq!(codes.len(), 10);
    assert_eq!(
        refusal(&post("/me/second-factor", json!({ "password": PASSWORD })).await),
        told(409, "second_factor_on")
    );
    assert_eq!(house.get("/sessions", &token).await.json()["data"].as_array().unwrap().len(), 1, "others have ended");

    let sign_in = async |code: Option<&str>| {
        house.try_sign_in(&json!({ "email": "ada@example.com", "password": PASSWORD, "code": code })).await
    };
    assert_eq!(refusal(&sign_in(None).await), told(401, "code_required"));
    assert_eq!(refusal(&sign_in(Some(&code)).await), told(401, "code_refused"), "confirming used it");
    let next = house.code(secret, 30);
    let body = json!({ "email": "ada@example.com", "password": PASSWORD, "code": next }).to_string();
    let once = async || house.fixture.send(&Method::POST, "/api/v1/sessions", &[("idempotency-key", "1")], &body).await;
    assert_eq!(once().await.status, 201);
    assert_eq!(refusal(&once().await), told(401, "code_refused"), "no idempotency key stands in for a code");
    assert_eq!(sign_in(Some(&codes[3].to_uppercase())).await.status, 201);
    assert_eq!(refusal(&sign_in(Some(codes[3])).await), told(401, "code_refused"));
    let me = house.get("/me", &token).await.json();
    assert_eq!((&me["recoveryCodesLeft"], &me["user"]["secondFactor"]), (&json!(9), &json!(true)));
    let kept = house.fixture.store.user(me["user"]["uuid"].as_str().unwrap().parse().unwrap()).await.unwrap().unwrap();
    assert!(!format!("{kept:?}").contains(secret), "it is sealed");

    house.fixture.clock.advance(Duration::from_secs(60));
    let off = post("/me/second-factor/off", json!({ "code": house.code(secret, 0) })).await;
    assert_eq!((off.status, &off.json()["secondFactor"]), (200, &json!(false)), "{}", off.text);
    assert_eq!(sign_in(None).await.status, 201);
}

#[tokio::test]
async fn an_administrator_turns_off_the_second_factor_of_who_has_lost_it() {
    let house = PeopleFixture::new().await;
    let uuid = house.user("otto@example.com", Role::Operator).await;
    let otto = house.sign_in("otto@example.com").await;
    let enrolled = house.ask(Method::POST, "/me/second-factor", &otto, json!({ "password": PASSWORD })).await.json();
    let code = house.code(enrolled["secret"].as_str().unwrap(), 0);
    house.ask(Method::POST, "/me/second-factor/confirm", &otto, json!({ "code": code })).await;
    let ada = house.sign_in("ada@example.com").await;
    let path = format!("/users/{uuid}/second-factor/off");
    assert_eq!(house.ask(Method::POST, &path, &otto, json!({})).await.status, 403);
    assert_eq!(house.ask(Method::POST, &path, &ada, json!({})).await.status, 200);
    assert_eq!(refusal(&house.ask(Method::POST, &path, &ada, json!({})).await), told(409, "second_factor_off"));
    house.sign_in("otto@example.com").await;
}

#[tokio::test]
async fn whatever_changes_what_a_person_may_do_ends_their_sessions() {
    let house = PeopleFixture::new().await;
    let ada = house.sign_in("ada@example.com").await;
    let uuid = house.user("otto@example.com", Role::Operator).await;
    let path = format!("/users/{uuid}");
    let sign_in = async || house.sign_in("otto@example.com").await;
    let is_over = async |token: &str| house.get("/me", token).await.status == 401;

    let otto = sign_in().await;
    assert_eq!(house.patch(&path, &ada, json!({ "role": "operator" })).await.status, 200);
    assert!(!is_over(&otto).await, "nothing has changed");
    let changed = house.patch(&path, &ada, json!({ "role": "clerk" })).await;
    assert_eq!((changed.status, &changed.json()["role"]), (200, &json!("clerk")));
    assert!(is_over(&otto).await);

    let otto = sign_in().await;
    house.patch(&path, &ada, json!({ "disabled": true })).await;
    assert!(is_over(&otto).await);
    house.patch(&path, &ada, json!({ "disabled": false })).await;

    let otto = sign_in().await;
    let reset = house.ask(Method::POST, &format!("{path}/password"), &ada, json!({})).await.json();
    assert!(is_over(&otto).await);
    let made = reset["password"].as_str().unwrap();
    let signed_in = house.try_sign_in(&json!({ "email": "otto@example.com", "password": made })).await.json();
    let (otto, other) =
        (signed_in["token"].as_str().unwrap(), json!({ "email": "otto@example.com", "password": made }));
    let other = house.try_sign_in(&other).await.json()["token"].as_str().unwrap().to_owned();
    let change =
        async |old: &str| house.ask(Method::POST, "/me/password", otto, json!({ "old": old, "new": PASSWORD })).await;
    assert_eq!(refusal(&change("wrong horse battery").await), told(403, "password_refused"));
    assert_eq!(change(made).await.status, 200);
    assert!(is_over(&other).await && !is_over(otto).await, "the one that asked goes on");

    let sessions = house.get(&format!("{path}/sessions"), &ada).await.json();
    assert_eq!(sessions["data"].as_array().unwrap().len(), 1);
    assert_eq!(house.ask(Method::DELETE, &format!("{path}/sessions"), &ada, Value::Null).await.status, 204);
    assert!(is_over(otto).await);

    let (first, second) = (sign_in().await, sign_in().await);
    let ada_session = house.get("/me", &ada).await.json()["session"]["uuid"].as_str().unwrap().to_owned();
    let foreign = house.ask(Method::DELETE, &format!("/sessions/{ada_session}"), &first, Value::Null).await;
    assert_eq!(refusal(&foreign), told(404, "not_found"), "others' sessions are not there for a clerk");
    assert_eq!(house.ask(Method::DELETE, "/sessions", &first, Value::Null).await.status, 204);
    assert!(is_over(&first).await && is_over(&second).await);
}

#[tokio::test]
async fn there_is_always_an_administrator() {
    let house = PeopleFixture::new().await;
    let ada = house.sign_in("ada@example.com").await;
    let own = house.get("/me", &ada).await.json()["user"]["uuid"].as_str().unwrap().to_owned();
    let path = format!("/users/{own}");
    for body in [json!({ "role": "viewer" }), json!({ "disabled": true })] {
        assert_eq!(refusal(&house.patch(&path, &ada, body).await), told(409, "last_administrator"));
    }
    let deleted = house.ask(Method::DELETE, &path, &ada, Value::Null).await;
    assert_eq!(refusal(&deleted), told(409, "has_signed_in"));
    let made =
        house.ask(Method::POST, "/users", &ada, json!({ "email": "b@example.com", "role": "administrator" })).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let other = format!("/users/{}", made.json()["uuid"].as_str().unwrap());
    assert_eq!(house.ask(Method::DELETE, &other, &ada, Value::Null).await.status, 204, "mistyped");
    house.user("c@example.com", Role::Administrator).await;
    let without = house.ask(Method::PATCH, &path, &ada, json!({ "role": "viewer" })).await;
    assert_eq!(refusal(&without), told(428, "precondition_required"));
    assert_eq!(house.patch(&path, &ada, json!({ "role": "viewer" })).await.status, 200);
    assert_eq!(house.get("/me", &ada).await.status, 401);
}
