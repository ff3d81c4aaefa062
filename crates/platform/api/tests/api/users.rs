//! Users: sign-in, second factor, sessions, and the scopes of their roles.

use std::time::Duration;

use http::Method;
use kit_http::client_ip::Peer;
use kit_runtime::vault::Secret;
use platform_core::config::IdentityConfig;
use platform_core::users::NewUser;
use platform_core::{Caller, PlatformConfig, Role, Scopes};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::fixture::{Answer, Fixture};

const PASSWORD: &str = "correct horse battery";

struct UsersFixture {
    fixture: Fixture,
}

impl UsersFixture {
    async fn new() -> Self {
        Self::with(IdentityConfig::default()).await
    }

    /// A platform with the administrator Ada.
    async fn with(identity: IdentityConfig) -> Self {
        let users = UsersFixture { fixture: Fixture::with(PlatformConfig { identity, ..PlatformConfig::default() }) };
        users.user("ada@example.com", Role::Administrator).await;
        users
    }

    async fn user(&self, email: &str, role: Role) -> String {
        let new = NewUser {
            name: None,
            email: email.into(),
            role,
            password: Some(Secret::new(PASSWORD.as_bytes().to_vec())),
            must_change_password: false,
        };
        let made =
            self.fixture.platform.create_user(&Caller::command_line(), new, None).await.unwrap().fresh().unwrap();
        made.user.id.to_string()
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

    async fn call(&self, method: Method, path: &str, token: &str, body: Value) -> Answer {
        self.fixture.call(&method, &format!("/api/v1{path}"), token, &body).await
    }

    async fn get(&self, path: &str, token: &str) -> Answer {
        self.call(Method::GET, path, token, Value::Null).await
    }

    async fn patch(&self, path: &str, token: &str, body: Value) -> Answer {
        let tag = self.get(path, token).await.header("etag").unwrap().to_owned();
        let bearer = format!("Bearer {token}");
        let headers =
            [("authorization", bearer.as_str()), ("if-match", tag.as_str()), ("content-type", "application/json")];
        self.fixture.send(&Method::PATCH, &format!("/api/v1{path}"), &headers, &body.to_string()).await
    }

    /// The code that an authenticator shows in `later` seconds.
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

fn problem(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[tokio::test]
async fn a_user_signs_in_acts_within_the_role_and_signs_out() {
    let users = UsersFixture::new().await;
    let uuid = users.user("Otto@example.com", Role::Operator).await;
    let signed_in = users.try_sign_in(&json!({ "email": " otto@EXAMPLE.com", "password": PASSWORD })).await;
    assert_eq!(signed_in.status, 201, "{}", signed_in.text);
    let signed_in = signed_in.json();
    let token = signed_in["token"].as_str().unwrap();
    assert!(token.starts_with("lws_") && token.len() == 37, "{token}");
    assert_eq!((&signed_in["user"]["role"], &signed_in["user"]["uuid"]), (&json!("operator"), &json!(uuid)));
    assert!(signed_in["scopes"].as_array().unwrap().contains(&json!("auctions:write")));

    let customer = users.fixture.customer("Hartley").await;
    let key = users.fixture.key(None, Scopes::all()).await;
    let auctioneer = json!({ "name": "Hartley & Sons", "customer": customer });
    let auctioneer = users.fixture.make("/api/v1/auctioneers", &key, auctioneer).await;
    let (auction, _) = users.fixture.sale(token, auctioneer["uuid"].as_str().unwrap()).await;
    let history = users.get(&format!("/auctions/{auction}/history"), token).await.json();
    assert_eq!(history["data"][0]["actor"], format!("user:{uuid}"), "the log does not name the user");

    for (method, path, body) in [
        (Method::POST, "/customers", json!({ "name": "Mine" })),
        (Method::GET, "/users", Value::Null),
        (Method::POST, "/users", json!({ "email": "x@example.com", "role": "viewer" })),
        (Method::GET, "/api-keys", Value::Null),
    ] {
        let refused = users.call(method, path, token, body).await;
        assert_eq!(refusal(&refused), problem(403, "forbidden"), "{path}: {}", refused.text);
    }

    let me = users.get("/me", token).await.json();
    assert_eq!((&me["user"]["email"], &me["session"]["current"]), (&json!("otto@example.com"), &json!(true)));
    assert_eq!(me["session"]["uuid"], signed_in["uuid"]);
    let listed = users.get("/sessions", token).await;
    assert!(!listed.text.contains(token) && !listed.text.contains("hash"), "{}", listed.text);
    let path = format!("/sessions/{}", signed_in["uuid"].as_str().unwrap());
    assert_eq!(users.call(Method::DELETE, &path, token, Value::Null).await.status, 204);
    assert_eq!(refusal(&users.get("/me", token).await), problem(401, "unauthenticated"));
}

#[tokio::test]
async fn a_refused_sign_in_does_not_disclose_users_and_repeated_attempts_are_throttled() {
    let users = UsersFixture::new().await;
    let disabled = users.user("dora@example.com", Role::Viewer).await;
    let ada = users.sign_in("ada@example.com").await;
    let off = users.patch(&format!("/users/{disabled}"), &ada, json!({ "disabled": true })).await;
    assert_eq!(off.status, 200, "{}", off.text);
    let refused = async |email: &str, password: &str| {
        let mut answer = users.try_sign_in(&json!({ "email": email, "password": password })).await.json();
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
        let waits = users.try_sign_in(&json!({ "email": "ada@example.com", "password": password })).await;
        assert_eq!(refusal(&waits), problem(429, "too_many_attempts"));
        assert_eq!(waits.header("retry-after"), Some("90"));
    }
    assert_eq!(users.get("/me", &ada).await.status, 200, "refused attempts ended an existing session");
    // Another node has the same store, as this one has after a restart.
    users.fixture.clock.advance(Duration::from_secs(90));
    users.sign_in("ada@example.com").await;
    for _ in 0..10 {
        assert_eq!(refused("ada@example.com", "wrong horse battery").await["status"], 401);
    }
}

#[tokio::test]
async fn wrong_passwords_from_other_devices_do_not_delay_a_known_device() {
    let users = UsersFixture::new().await;
    users.user("bob@example.com", Role::Viewer).await;
    let attempt = async |email: &str, password: &str, device: Option<&str>| {
        users.try_sign_in(&json!({ "email": email, "password": password, "deviceToken": device })).await
    };
    let device_of = |answer: &Answer| answer.json()["deviceToken"].as_str().unwrap().to_owned();
    let device = device_of(&attempt("ada@example.com", PASSWORD, None).await);
    let other_device = device_of(&attempt("ada@example.com", PASSWORD, None).await);
    let device_of_bob = device_of(&attempt("bob@example.com", PASSWORD, None).await);
    assert!(device.starts_with("lwd_") && device != other_device, "{device}");

    for _ in 0..10 {
        assert_eq!(attempt("ada@example.com", "wrong horse battery", None).await.status, 401);
    }
    for unknown in [None, Some("lwd_a.00"), Some(device_of_bob.as_str())] {
        let waits = attempt("ada@example.com", PASSWORD, unknown).await;
        assert_eq!(refusal(&waits), problem(429, "too_many_attempts"), "{unknown:?}");
    }
    let known = attempt("Ada@example.com", PASSWORD, Some(&device)).await;
    assert_eq!(known.status, 201, "{}", known.text);
    assert_eq!(device_of(&known), device, "a known device got a new token");
    let waits = attempt("ada@example.com", PASSWORD, None).await;
    assert_eq!(
        refusal(&waits),
        problem(429, "too_many_attempts"),
        "the sign-in of a known device ended the limit of the account"
    );

    for _ in 0..10 {
        assert_eq!(attempt("ada@example.com", "wrong horse battery", Some(&device)).await.status, 401);
    }
    let waits = attempt("ada@example.com", PASSWORD, Some(&device)).await;
    assert_eq!(refusal(&waits), problem(429, "too_many_attempts"), "a known device has no limit");
    assert_eq!(attempt("ada@example.com", PASSWORD, Some(&other_device)).await.status, 201);
}

#[tokio::test]
async fn sign_ins_are_throttled_by_ip_address() {
    let users = UsersFixture::with(IdentityConfig { attempts_max: 3, ..IdentityConfig::default() }).await;
    let attempt = async |from: &str, number: usize| {
        let body = json!({ "email": format!("{number}@example.com"), "password": "short" }).to_string();
        let request = http::Request::post("/api/v1/sessions").extension(Peer(from.parse().unwrap()));
        let request = request.body(axum::body::Body::from(body)).unwrap();
        users.fixture.surface.clone().oneshot(request).await.unwrap().status().as_u16()
    };
    for number in 0..15 {
        assert_eq!(attempt("192.0.2.1", number).await, 401);
    }
    assert_eq!(attempt("192.0.2.1", 15).await, 429);
    assert_eq!(attempt("192.0.2.2", 15).await, 401);
}

#[tokio::test]
async fn a_session_ends_at_its_expiry_and_when_idle() {
    let users = UsersFixture::new().await;
    let minutes = |count: u64| users.fixture.clock.advance(Duration::from_secs(60 * count));
    let idle = users.sign_in("ada@example.com").await;
    let used = users.sign_in("ada@example.com").await;
    for _ in 0..23 {
        minutes(30);
        assert_eq!(users.get("/me", &used).await.status, 200);
    }
    assert_eq!(refusal(&users.get("/me", &idle).await), problem(401, "unauthenticated"));
    assert_eq!(users.get("/sessions", &used).await.json()["data"].as_array().unwrap().len(), 1);
    minutes(31);
    assert_eq!(
        refusal(&users.get("/me", &used).await),
        problem(401, "unauthenticated"),
        "a session works after twelve hours"
    );
    assert_eq!(users.fixture.platform.delete_expired_sessions().await.unwrap(), 2);
}

#[tokio::test]
async fn a_repeated_sign_in_starts_one_session_and_its_answer_is_sealed() {
    let users = UsersFixture::new().await;
    let call = async |password: &str, code: Option<&str>| {
        let body = json!({ "email": "ada@example.com", "password": password, "code": code }).to_string();
        users.fixture.send(&Method::POST, "/api/v1/sessions", &[("idempotency-key", "once")], &body).await
    };
    let first = call(PASSWORD, None).await;
    let replayed = call(PASSWORD, None).await;
    assert_eq!((first.status, replayed.status, &first.text), (201, 201, &replayed.text));
    assert_eq!(replayed.header("idempotent-replayed"), Some("true"));
    assert_eq!(
        refusal(&call("wrong horse battery", None).await),
        problem(401, "sign_in_refused"),
        "the stored answer was returned without the right password"
    );
    assert_eq!(refusal(&call(PASSWORD, Some("123456")).await), problem(422, "idempotency_mismatch"));
    let user = first.json()["user"]["uuid"].as_str().unwrap().parse().unwrap();
    let kept = users.fixture.store.idempotent_answer(user, "once").await.unwrap().unwrap();
    assert!(!kept.body.contains("lws_") && !kept.body.contains("ada"), "{}", kept.body);
}

#[tokio::test]
async fn a_confirmed_second_factor_is_required_and_no_code_works_twice() {
    let users = UsersFixture::new().await;
    let token = users.sign_in("ada@example.com").await;
    let post = async |path: &str, body: Value| users.call(Method::POST, path, &token, body).await;
    let wrong = post("/me/second-factor", json!({ "password": "wrong horse battery" })).await;
    assert_eq!(refusal(&wrong), problem(403, "password_refused"));
    assert_eq!(
        refusal(&post("/me/second-factor/confirm", json!({ "code": "123456" })).await),
        problem(409, "second_factor_off")
    );
    let enrolled = post("/me/second-factor", json!({ "password": PASSWORD })).await;
    assert_eq!(enrolled.status, 201, "{}", enrolled.text);
    let enrolled = enrolled.json();
    let secret = enrolled["secret"].as_str().unwrap();
    assert!(enrolled["url"].as_str().unwrap().contains(&format!("secret={secret}&issuer=Lotwire")));
    users.sign_in("ada@example.com").await;

    let code = users.code(secret, 0);
    let wrong = post("/me/second-factor/confirm", json!({ "code": users.code(secret, 3_000) })).await;
    assert_eq!(refusal(&wrong), problem(403, "code_refused"));
    let codes = post("/me/second-factor/confirm", json!({ "code": code })).await.json();
    let codes: Vec<&str> =
        codes["recoveryCodes"].as_array().unwrap().iter().map(|code| code.as_str().unwrap()).collect();
    assert_eq!(codes.len(), 10);
    assert_eq!(
        refusal(&post("/me/second-factor", json!({ "password": PASSWORD })).await),
        problem(409, "second_factor_on")
    );
    assert_eq!(
        users.get("/sessions", &token).await.json()["data"].as_array().unwrap().len(),
        1,
        "other sessions did not end"
    );

    let sign_in = async |code: Option<&str>| {
        users.try_sign_in(&json!({ "email": "ada@example.com", "password": PASSWORD, "code": code })).await
    };
    assert_eq!(refusal(&sign_in(None).await), problem(401, "code_required"));
    assert_eq!(
        refusal(&sign_in(Some(&code)).await),
        problem(401, "code_refused"),
        "the code of the confirmation was accepted again"
    );
    let next = users.code(secret, 30);
    let body = json!({ "email": "ada@example.com", "password": PASSWORD, "code": next }).to_string();
    let once = async || users.fixture.send(&Method::POST, "/api/v1/sessions", &[("idempotency-key", "1")], &body).await;
    assert_eq!(once().await.status, 201);
    assert_eq!(refusal(&once().await), problem(401, "code_refused"), "the stored answer was returned for a used code");
    assert_eq!(sign_in(Some(&codes[3].to_uppercase())).await.status, 201);
    assert_eq!(refusal(&sign_in(Some(codes[3])).await), problem(401, "code_refused"));
    let me = users.get("/me", &token).await.json();
    assert_eq!((&me["recoveryCodesLeft"], &me["user"]["secondFactor"]), (&json!(9), &json!(true)));
    let kept = users.fixture.store.user(me["user"]["uuid"].as_str().unwrap().parse().unwrap()).await.unwrap().unwrap();
    assert!(!format!("{kept:?}").contains(secret), "the secret of the second factor is stored in plain text");

    users.fixture.clock.advance(Duration::from_secs(60));
    let off = post("/me/second-factor/off", json!({ "code": users.code(secret, 0) })).await;
    assert_eq!((off.status, &off.json()["secondFactor"]), (200, &json!(false)), "{}", off.text);
    assert_eq!(sign_in(None).await.status, 201);
}

#[tokio::test]
async fn an_administrator_turns_off_a_lost_second_factor() {
    let users = UsersFixture::new().await;
    let uuid = users.user("otto@example.com", Role::Operator).await;
    let otto = users.sign_in("otto@example.com").await;
    let enrolled = users.call(Method::POST, "/me/second-factor", &otto, json!({ "password": PASSWORD })).await.json();
    let code = users.code(enrolled["secret"].as_str().unwrap(), 0);
    users.call(Method::POST, "/me/second-factor/confirm", &otto, json!({ "code": code })).await;
    let ada = users.sign_in("ada@example.com").await;
    let path = format!("/users/{uuid}/second-factor/off");
    assert_eq!(users.call(Method::POST, &path, &otto, json!({})).await.status, 403);
    assert_eq!(users.call(Method::POST, &path, &ada, json!({})).await.status, 200);
    assert_eq!(refusal(&users.call(Method::POST, &path, &ada, json!({})).await), problem(409, "second_factor_off"));
    users.sign_in("otto@example.com").await;
}

#[tokio::test]
async fn a_change_of_a_users_access_ends_their_sessions() {
    let users = UsersFixture::new().await;
    let ada = users.sign_in("ada@example.com").await;
    let uuid = users.user("otto@example.com", Role::Operator).await;
    let path = format!("/users/{uuid}");
    let sign_in = async || users.sign_in("otto@example.com").await;
    let is_over = async |token: &str| users.get("/me", token).await.status == 401;

    let otto = sign_in().await;
    assert_eq!(users.patch(&path, &ada, json!({ "role": "operator" })).await.status, 200);
    assert!(!is_over(&otto).await, "an unchanged role ended the session");
    let changed = users.patch(&path, &ada, json!({ "role": "clerk" })).await;
    assert_eq!((changed.status, &changed.json()["role"]), (200, &json!("clerk")));
    assert!(is_over(&otto).await);

    let otto = sign_in().await;
    users.patch(&path, &ada, json!({ "disabled": true })).await;
    assert!(is_over(&otto).await);
    users.patch(&path, &ada, json!({ "disabled": false })).await;

    let otto = sign_in().await;
    let reset = users.call(Method::POST, &format!("{path}/password"), &ada, json!({})).await.json();
    assert!(is_over(&otto).await);
    let made = reset["password"].as_str().unwrap();
    let signed_in = users.try_sign_in(&json!({ "email": "otto@example.com", "password": made })).await.json();
    let otto = signed_in["token"].as_str().unwrap();
    let other = json!({ "email": "otto@example.com", "password": made });
    let other = users.try_sign_in(&other).await.json()["token"].as_str().unwrap().to_owned();
    let change =
        async |old: &str| users.call(Method::POST, "/me/password", otto, json!({ "old": old, "new": PASSWORD })).await;
    assert_eq!(refusal(&change("wrong horse battery").await), problem(403, "password_refused"));
    assert_eq!(change(made).await.status, 200);
    assert!(is_over(&other).await && !is_over(otto).await, "only the other sessions should end");

    let sessions = users.get(&format!("{path}/sessions"), &ada).await.json();
    assert_eq!(sessions["data"].as_array().unwrap().len(), 1);
    assert_eq!(users.call(Method::DELETE, &format!("{path}/sessions"), &ada, Value::Null).await.status, 204);
    assert!(is_over(otto).await);

    let (first, second) = (sign_in().await, sign_in().await);
    let ada_session = users.get("/me", &ada).await.json()["session"]["uuid"].as_str().unwrap().to_owned();
    let foreign = users.call(Method::DELETE, &format!("/sessions/{ada_session}"), &first, Value::Null).await;
    assert_eq!(refusal(&foreign), problem(404, "not_found"), "a clerk can't end the sessions of others");
    assert_eq!(users.call(Method::DELETE, "/sessions", &first, Value::Null).await.status, 204);
    assert!(is_over(&first).await && is_over(&second).await);
}

#[tokio::test]
async fn the_last_administrator_can_not_be_removed() {
    let users = UsersFixture::new().await;
    let ada = users.sign_in("ada@example.com").await;
    let own = users.get("/me", &ada).await.json()["user"]["uuid"].as_str().unwrap().to_owned();
    let path = format!("/users/{own}");
    for body in [json!({ "role": "viewer" }), json!({ "disabled": true })] {
        assert_eq!(refusal(&users.patch(&path, &ada, body).await), problem(409, "last_administrator"));
    }
    let deleted = users.call(Method::DELETE, &path, &ada, Value::Null).await;
    assert_eq!(refusal(&deleted), problem(409, "has_signed_in"));
    let made =
        users.call(Method::POST, "/users", &ada, json!({ "email": "b@example.com", "role": "administrator" })).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let other = format!("/users/{}", made.json()["uuid"].as_str().unwrap());
    assert_eq!(users.call(Method::DELETE, &other, &ada, Value::Null).await.status, 204, "mistyped");
    users.user("c@example.com", Role::Administrator).await;
    let without = users.call(Method::PATCH, &path, &ada, json!({ "role": "viewer" })).await;
    assert_eq!(refusal(&without), problem(428, "precondition_required"));
    assert_eq!(users.patch(&path, &ada, json!({ "role": "viewer" })).await.status, 200);
    assert_eq!(users.get("/me", &ada).await.status, 401);
}

#[tokio::test]
async fn a_user_who_must_choose_a_password_is_refused_everything_else() {
    let users = UsersFixture::new().await;
    let ada = users.sign_in("ada@example.com").await;
    let bob = json!({ "email": "bob@example.com", "role": "administrator", "password": PASSWORD, "requireNewPassword": true });
    let bob = users.call(Method::POST, "/users", &ada, bob).await;
    assert_eq!(bob.status, 201, "{}", bob.text);
    let bob = bob.json()["uuid"].as_str().unwrap().to_owned();
    let token = users.sign_in("bob@example.com").await;
    let everything = async |token: &str, refused: bool| {
        for (method, path, body) in [
            (Method::GET, "/me", Value::Null),
            (Method::GET, "/sessions", Value::Null),
            (Method::GET, "/users", Value::Null),
            (Method::GET, "/auctions", Value::Null),
            (Method::POST, "/customers", json!({ "name": "Mine" })),
            (Method::POST, "/me/second-factor", json!({ "password": "a guess of a password" })),
        ] {
            let answer = users.call(method, path, token, body).await;
            let is_refused = refusal(&answer) == problem(403, "new_password_required");
            assert_eq!(is_refused, refused, "{path}: {}", answer.text);
        }
    };
    everything(&token, true).await;
    let change = async |old: &str, new: &str| {
        users.call(Method::POST, "/me/password", &token, json!({ "old": old, "new": new })).await
    };
    assert_eq!(
        refusal(&change("wrong horse battery", "another horse battery").await),
        problem(403, "password_refused")
    );
    for common in [PASSWORD, "123456789012", "aaaaaaaaaaaaaa", "Bob@Example.com"] {
        assert_eq!(change(PASSWORD, common).await.status, 422, "{common}");
    }
    assert_eq!(change(PASSWORD, "another horse battery").await.status, 200);
    everything(&token, false).await;

    // An administrator requires it of a user who is signed in.
    let path = format!("/users/{bob}/password");
    let reset = json!({ "password": "a third horse battery", "requireNewPassword": true });
    assert_eq!(users.call(Method::POST, &path, &ada, reset).await.status, 200);
    let again = users.try_sign_in(&json!({ "email": "bob@example.com", "password": "a third horse battery" })).await;
    everything(again.json()["token"].as_str().unwrap(), true).await;
    assert_eq!(users.get("/me", &users.sign_in("ada@example.com").await).await.status, 200);
}

/// An attacker with a stolen session and the password must not be able to try an unlimited number of codes.
#[tokio::test]
async fn a_right_password_does_not_restore_the_attempts_at_a_code() {
    let users = UsersFixture::new().await;
    let ada = users.sign_in("ada@example.com").await;
    let enrolled = users.call(Method::POST, "/me/second-factor", &ada, json!({ "password": PASSWORD })).await.json();
    let code = users.code(enrolled["secret"].as_str().unwrap(), 0);
    let on = users.call(Method::POST, "/me/second-factor/confirm", &ada, json!({ "code": code })).await;
    assert_eq!(on.status, 200, "{}", on.text);
    let mut tried = 0;
    for guess in 0..60 {
        users.call(Method::POST, "/me/second-factor", &ada, json!({ "password": PASSWORD })).await;
        let guess = json!({ "code": format!("{guess:06}") });
        let answer = users.call(Method::POST, "/me/second-factor/off", &ada, guess).await;
        tried += usize::from(refusal(&answer) == problem(403, "code_refused"));
    }
    assert!(tried <= 10, "{tried} codes were tried");
}
