//! Clerks command only the webcasts that they are assigned to.

use http::Method;
use kit_runtime::vault::Secret;
use platform_core::users::{Client, NewUser, SignIn};
use platform_core::{Caller, Role, Scope, Scopes};
use serde_json::{Value, json};

use crate::fixture::{Answer, Fixture};

struct ClerkFixture {
    fixture: Fixture,
    /// A key of the platform's own staff.
    key: String,
    auctioneer: String,
    /// Webcasts, each with an item.
    first: (String, String),
    second: (String, String),
}

impl ClerkFixture {
    async fn new() -> Self {
        let fixture = Fixture::new();
        let customer = fixture.customer("Hartley").await;
        let key = fixture.key(None, Scopes::all()).await;
        let auctioneer = json!({ "name": "Hartley & Sons", "customer": customer });
        let auctioneer = fixture.make("/api/v1/auctioneers", &key, auctioneer).await;
        let auctioneer = auctioneer["uuid"].as_str().unwrap().to_owned();
        let first = fixture.sale(&key, &auctioneer).await;
        let second = fixture.sale(&key, &auctioneer).await;
        ClerkFixture { fixture, key, auctioneer, first, second }
    }

    /// A user's UUID and the token of their session.
    async fn user(&self, name: &str, role: Role) -> (String, String) {
        let email = format!("{name}@example.com");
        let password = Secret::new(b"correct horse battery".to_vec());
        let new = NewUser {
            email: email.clone(),
            name: None,
            role,
            password: Some(password.clone()),
            must_change_password: false,
        };
        let platform = &self.fixture.platform;
        platform.create_user(&Caller::command_line(), new, None).await.unwrap();
        let sign_in = SignIn { email, password, code: None, client: Client::default() };
        let signed_in = platform.sign_in(&sign_in, None).await.unwrap().fresh().unwrap();
        (signed_in.user.id.to_string(), signed_in.token.expose_str().unwrap().to_owned())
    }

    async fn call(&self, method: Method, path: &str, token: &str) -> Answer {
        self.fixture.call(&method, &format!("/api/v1{path}"), token, &Value::Null).await
    }

    async fn assign(&self, token: &str, webcast: &str, user: &str) -> Answer {
        self.call(Method::PUT, &format!("/auctions/{webcast}/clerks/{user}"), token).await
    }

    /// A command on the present state of the ring.
    async fn command(&self, fixture: &Fixture, token: &str, webcast: &str, (command, key): (&str, &str)) -> Answer {
        let ring = self.call(Method::GET, &format!("/auctions/{webcast}/ring"), &self.key).await;
        let bearer = format!("Bearer {token}");
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("if-match", ring.header("etag").unwrap()),
            ("idempotency-key", key),
        ];
        fixture.send(&Method::POST, &format!("/api/v1/auctions/{webcast}/ring/{command}"), &headers, "{}").await
    }

    /// All operations that only the clerks of a webcast may call.
    async fn behind_the_desk(&self, token: &str, webcast: &(String, String)) -> Vec<(String, Answer)> {
        let (auction, item) = webcast;
        let registration = json!({ "name": "B. Idder", "status": "approved" });
        let path = format!("/api/v1/auctions/{auction}/registrations");
        let registration = self.fixture.make(&path, &self.key, registration).await;
        let registration = registration["uuid"].as_str().unwrap();
        let mut answers = Vec::new();
        for path in [
            format!("/auctions/{auction}/ring"),
            format!("/auctions/{auction}/registrations"),
            format!("/auctions/{auction}/registrations?status=approved"),
            format!("/auctions/{auction}/registrations?paddle=1"),
            format!("/auctions/{auction}/registrations/{registration}"),
            format!("/items/{item}/record"),
        ] {
            answers.push((path.clone(), self.call(Method::GET, &path, token).await));
        }
        answers
    }
}

fn refusal(answer: &Answer) -> (u16, String) {
    (answer.status, answer.code())
}

fn not_assigned() -> (u16, String) {
    (403, "clerk_not_assigned".to_owned())
}

#[tokio::test]
async fn a_clerk_commands_only_the_webcasts_that_they_are_assigned_to() {
    let room = ClerkFixture::new().await;
    let (otto, operator) = room.user("otto", Role::Operator).await;
    let (cleo, clerk) = room.user("cleo", Role::Clerk).await;
    let (webcast, other) = (&room.first.0, &room.second.0);
    for (what, answer) in room.behind_the_desk(&clerk, &room.first).await {
        assert_eq!(refusal(&answer), not_assigned(), "{what}: {}", answer.text);
        assert!(answer.text.contains("administrator or an operator"), "{}", answer.text);
    }
    assert_eq!(refusal(&room.command(&room.fixture, &clerk, webcast, ("send", "1")).await), not_assigned());
    for command in ["send", "pass"] {
        let done = room.command(&room.fixture, &room.key, other, (command, command)).await;
        assert_eq!(done.status, 200, "{}", done.text);
    }
    let tag = room.call(Method::GET, &format!("/items/{}", room.second.1), &clerk).await;
    let bearer = format!("Bearer {clerk}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("if-match", tag.header("etag").unwrap()),
        ("content-type", "application/json"),
    ];
    let body = json!({ "status": "LIVE", "reason": "misheard" }).to_string();
    let path = format!("/api/v1/items/{}/status", room.second.1);
    let corrected = room.fixture.send(&Method::POST, &path, &headers, &body).await;
    assert_eq!(refusal(&corrected), not_assigned(), "a hammer that fell: {}", corrected.text);
    for path in [format!("/auctions/{webcast}"), format!("/items/{}", room.first.1), "/me/webcasts".to_owned()] {
        assert_eq!(
            room.call(Method::GET, &path, &clerk).await.status,
            200,
            "a clerk can't read what a viewer can read: {path}"
        );
    }

    let chosen = room.call(Method::GET, "/clerks", &operator).await.json();
    assert_eq!(chosen["data"], json!([{ "uuid": cleo, "email": "cleo@example.com", "name": null }]));
    let assigned = room.assign(&operator, webcast, &cleo).await;
    assert_eq!(assigned.status, 200, "{}", assigned.text);
    assert_eq!(assigned.json()["assignedBy"], format!("user:{otto}"));
    room.fixture.clock.advance(std::time::Duration::from_secs(9));
    assert_eq!(
        room.assign(&room.key, webcast, &cleo).await.json(),
        assigned.json(),
        "a repeated assignment changed the first one"
    );
    let listed = room.call(Method::GET, &format!("/auctions/{webcast}/clerks"), &operator).await.json();
    assert_eq!(listed["data"], json!([assigned.json()]));
    let own = room.call(Method::GET, "/me/webcasts", &clerk).await.json();
    assert_eq!((own["data"].as_array().unwrap().len(), &own["data"][0]["uuid"]), (1, &json!(webcast)));

    for (what, answer) in room.behind_the_desk(&clerk, &room.first).await {
        assert_eq!(answer.status, 200, "{what}: {}", answer.text);
    }
    let ring = room.call(Method::GET, &format!("/auctions/{webcast}/ring"), &clerk).await;
    assert!(ring.json()["desk"].is_object(), "{}", ring.text);
    assert_eq!(room.command(&room.fixture, &clerk, webcast, ("send", "1")).await.status, 200);
    assert_eq!(refusal(&room.command(&room.fixture, &clerk, other, ("send", "2")).await), not_assigned());
}

#[tokio::test]
async fn a_removed_clerk_is_refused_on_every_node() {
    let room = ClerkFixture::new().await;
    let (cleo, clerk) = room.user("cleo", Role::Clerk).await;
    let webcast = &room.first.0;
    let other_node = room.fixture.another_node();
    room.assign(&room.key, webcast, &cleo).await;
    let sent = room.command(&other_node, &clerk, webcast, ("send", "1")).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    let path = format!("/auctions/{webcast}/clerks/{cleo}");
    for _ in 0..2 {
        assert_eq!(room.call(Method::DELETE, &path, &room.key).await.status, 204);
    }
    for node in [&other_node, &room.fixture] {
        let refused = room.command(node, &clerk, webcast, ("send", "2")).await;
        assert_eq!(refusal(&refused), not_assigned());
        let again = room.command(node, &clerk, webcast, ("send", "1")).await;
        assert_eq!(refusal(&again), not_assigned(), "a removed clerk received the stored answer");
    }
}

#[tokio::test]
async fn only_users_with_the_role_clerk_are_assigned() {
    let room = ClerkFixture::new().await;
    let (webcast, _) = &room.first;
    for (name, role) in [("ada", Role::Administrator), ("otto", Role::Operator)] {
        let (uuid, token) = room.user(name, role).await;
        let ring = room.call(Method::GET, &format!("/auctions/{webcast}/ring"), &token).await;
        assert!(ring.json()["desk"].is_object(), "{name}: {}", ring.text);
        assert_eq!(refusal(&room.assign(&room.key, webcast, &uuid).await), (409, "not_a_clerk".to_owned()));
    }
    let key = room.fixture.key(None, [Scope::RingWrite].into_iter().collect()).await;
    assert_eq!(
        room.command(&room.fixture, &key, webcast, ("send", "1")).await.status,
        200,
        "a change of assignments affected a key"
    );

    // A user who becomes a clerk again has no assignments.
    let (cleo, clerk) = room.user("cleo", Role::Clerk).await;
    room.assign(&room.key, webcast, &cleo).await;
    let path = format!("/api/v1/users/{cleo}");
    for role in ["support", "clerk"] {
        let tag = room.call(Method::GET, &format!("/users/{cleo}"), &room.key).await;
        let bearer = format!("Bearer {}", room.key);
        let headers = [
            ("authorization", bearer.as_str()),
            ("if-match", tag.header("etag").unwrap()),
            ("content-type", "application/json"),
        ];
        let changed = room.fixture.send(&Method::PATCH, &path, &headers, &json!({ "role": role }).to_string()).await;
        assert_eq!(changed.status, 200, "{}", changed.text);
    }
    let listed = room.call(Method::GET, &format!("/auctions/{webcast}/clerks"), &room.key).await.json();
    assert_eq!(listed["data"], json!([]));
    assert_eq!(room.call(Method::GET, "/me", &clerk).await.status, 401);
}

#[tokio::test]
async fn assigning_clerks_needs_the_scope_and_a_webcast() {
    let room = ClerkFixture::new().await;
    let (webcast, _) = &room.first;
    let (cleo, clerk) = room.user("cleo", Role::Clerk).await;
    for (name, role) in [("vera", Role::Viewer), ("sue", Role::Support)] {
        let (_, token) = room.user(name, role).await;
        assert_eq!(refusal(&room.assign(&token, webcast, &cleo).await), (403, "forbidden".to_owned()));
    }
    assert_eq!(
        refusal(&room.assign(&clerk, webcast, &cleo).await),
        (403, "forbidden".to_owned()),
        "a clerk assigned themselves"
    );
    let customer = room.call(Method::GET, &format!("/auctions/{webcast}"), &room.key).await.json();
    let customer = customer["customer"].as_str().unwrap().parse().unwrap();
    let theirs = room.fixture.key(Some(customer), Scopes::all()).await;
    for path in [format!("/auctions/{webcast}/clerks"), "/clerks".to_owned()] {
        let refused = room.call(Method::GET, &path, &theirs).await;
        assert_eq!(refusal(&refused), (403, "forbidden".to_owned()), "a customer's key lists users of the platform");
    }
    assert_eq!(refusal(&room.assign(&theirs, webcast, &cleo).await), (403, "forbidden".to_owned()));
    let unknown_id = "019a0000-0000-7000-8000-000000000000";
    for (auction, user) in [(webcast.as_str(), unknown_id), (unknown_id, cleo.as_str())] {
        assert_eq!(refusal(&room.assign(&room.key, auction, user).await), (404, "not_found".to_owned()));
    }
    let timed = json!({ "auctioneer": room.auctioneer, "kind": "timed", "currency": "GBP", "timeZone": "UTC" });
    let timed = room.fixture.make("/api/v1/auctions", &room.key, timed).await;
    let timed = timed["uuid"].as_str().unwrap();
    assert_eq!(refusal(&room.assign(&room.key, timed, &cleo).await), (409, "wrong_auction_kind".to_owned()));
    let bidders = room.call(Method::GET, &format!("/auctions/{timed}/registrations"), &clerk).await;
    assert_eq!(refusal(&bidders), (403, "forbidden".to_owned()), "{}", bidders.text);

    room.assign(&room.key, webcast, &cleo).await;
    let copy = room.fixture.make(&format!("/api/v1/auctions/{webcast}/clone"), &room.key, json!({})).await;
    let copy = copy["uuid"].as_str().unwrap();
    let listed = room.call(Method::GET, &format!("/auctions/{copy}/clerks"), &room.key).await.json();
    assert_eq!(listed["data"], json!([]), "a copy has the clerks of the original");
}
