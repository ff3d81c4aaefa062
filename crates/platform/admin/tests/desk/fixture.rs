//! A platform with a webcast of four lots, and people who are signed in.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use contract::{AuctionStatus, ItemStatus};
use http::{Method, Request};
use http_body_util::BodyExt as _;
use kit_http::Surface;
use kit_runtime::clock::TestClock;
use kit_runtime::random::SeededRandom;
use kit_runtime::vault::{Key, KeyId, Secret, Vault};
use platform_admin::AdminConfig;
use platform_core::bidding::absentee_bids::NewAbsenteeBid;
use platform_core::provider_access::ProviderAccess;
use platform_core::ring::NewInternetBid;
use platform_core::sales::auctions::NewAuction;
use platform_core::sales::new_item::NewItem;
use platform_core::users::{Client, NewUser, SignIn};
use platform_core::{Caller, Platform, PlatformConfig, PlatformParts, Role};
use platform_rules::AuctionKind;
use serde_json::{Value, json};
use testkit::web::{self, Answer};
use uuid::Uuid;

/// Title of the second lot, which contains a script element.
pub(crate) const HOSTILE: &str = "<script>alert('lot')</script>";
const PASSWORD: &[u8] = b"correct horse battery";

pub(crate) struct Fixture {
    pub(crate) platform: Platform,
    pub(crate) webcast: Uuid,
    pub(crate) auctioneer: Uuid,
    pub(crate) lots: Vec<Uuid>,
    pub(crate) clock: TestClock,
    surface: Surface,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::with_more_lots(0).await
    }

    /// The webcast with this number of lots more than the four.
    pub(crate) async fn with_more_lots(more: usize) -> Self {
        let clock = TestClock::new("2026-11-21T10:00:00.000Z".parse().unwrap());
        let vault = Vault::new(vec![(KeyId::new("k1").unwrap(), Key::generate(&SeededRandom::new(9)))]).unwrap();
        let platform = Platform::new(PlatformParts {
            store: platform_store::sqlite::open_temporary().unwrap(),
            clock: Arc::new(clock.clone()),
            random: Arc::new(SeededRandom::new(1)),
            vault: Arc::new(vault),
            providers: ProviderAccess::unfiltered(),
            config: PlatformConfig::default(),
        });
        let config = AdminConfig { public_url: "http://sale.example".into(), ..AdminConfig::default() };
        let surface = kit_http::finish(Router::new());
        let surface = platform_admin::add_to(surface, platform.clone(), Arc::new(clock.clone()), config);
        let staff = Caller::command_line();
        let customer = platform.create_customer(&staff, "Hartley", None).await.unwrap().fresh().unwrap().uuid;
        let auctioneer = platform.create_auctioneer(&staff, customer, "Hartley & Sons", None).await.unwrap();
        let auctioneer = auctioneer.fresh().unwrap().uuid;
        let item = |number: &str, title: &str| NewItem {
            opening_bid: 10_000,
            fixed_increment: Some(1_000),
            status: ItemStatus::Live,
            ..NewItem::new(number, title)
        };
        let mut items = vec![
            NewItem { reserve: Some(12_345), low_estimate: Some(15_000), ..item("1", "A bureau") },
            item("2", HOSTILE),
            item("3", "A runner"),
            item("4", "A chest"),
        ];
        items.extend((0..more).map(|number| item(&(number + 5).to_string(), "A chair")));
        let new = NewAuction::new(auctioneer, AuctionKind::Webcast, HOSTILE, "GBP", "Europe/London");
        let starts_at = Some("2026-11-21T10:00:00.000Z".parse().unwrap());
        let new = NewAuction { starts_at, status: AuctionStatus::Live, items, ..new };
        let created = platform.create_auction(&staff, &new, None).await.unwrap().fresh().unwrap();
        let lots = created.items.iter().map(|item| item.uuid).collect();
        Self { platform, webcast: created.auction.uuid, auctioneer, lots, clock, surface }
    }

    /// The session token of a user with this role.
    pub(crate) async fn user(&self, name: &str, role: Role) -> (Uuid, String) {
        let (email, password) = (format!("{name}@example.com"), Some(Secret::new(PASSWORD.to_vec())));
        let new = NewUser { email, name: None, role, password, must_change_password: false };
        self.platform.create_user(&Caller::command_line(), new, None).await.unwrap();
        self.sign_in(name).await
    }

    /// The session token of a user who exists.
    pub(crate) async fn sign_in(&self, name: &str) -> (Uuid, String) {
        let (email, password) = (format!("{name}@example.com"), Secret::new(PASSWORD.to_vec()));
        let sign_in = SignIn { email, password, code: None, client: Client::default() };
        let signed_in = self.platform.sign_in(&sign_in, None).await.unwrap().fresh().unwrap();
        (signed_in.user.id, signed_in.token.expose_str().unwrap().to_owned())
    }

    /// A desk of an operator.
    pub(crate) async fn desk(&self, name: &str) -> Desk<'_> {
        let token = self.user(name, Role::Operator).await.1;
        let desk =
            Desk { fixture: self, token, state: Value::Null, keys: std::cell::Cell::new(0), name: name.to_owned() };
        desk.loaded().await
    }

    pub(crate) async fn absentee(&self, lot: usize, bidder: &str, maximum: i64) {
        let new = NewAbsenteeBid { bidder: bidder.into(), maximum, unusual_amount: true };
        self.platform.place_absentee_bid(&Caller::command_line(), self.lots[lot], &new, None, None).await.unwrap();
    }

    pub(crate) async fn web_bid(&self, lot: usize, bidder: &str, amount: i64) -> Uuid {
        let new = NewInternetBid { bidder: bidder.into(), amount };
        let placed = self.platform.bid_in_ring(&Caller::command_line(), self.lots[lot], &new, None, None).await;
        placed.unwrap().fresh().unwrap().uuid
    }

    /// A web bid that the platform refuses.
    pub(crate) async fn refused_web_bid(&self, lot: usize, bidder: &str, amount: i64) {
        let new = NewInternetBid { bidder: bidder.into(), amount };
        let placed = self.platform.bid_in_ring(&Caller::command_line(), self.lots[lot], &new, None, None).await;
        assert!(placed.is_err(), "{placed:?}");
    }

    /// Passes the lots and moves the sale on to this status.
    pub(crate) async fn end_sale(&self, status: AuctionStatus) {
        let staff = Caller::command_line();
        for lot in &self.lots {
            let version = self.platform.item(&staff, *lot).await.unwrap().0.version;
            let to = ItemStatus::Withdrawn;
            self.platform.change_item_status(&staff, *lot, to, None, Some(version), None).await.unwrap();
        }
        let version = self.platform.auction(&staff, self.webcast).await.unwrap().version;
        self.platform.change_auction_status(&staff, self.webcast, status, Some(version), None).await.unwrap();
    }

    pub(crate) async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        web::send(&self.surface, &method, path, headers, body).await
    }

    /// A timed auction that is still a draft.
    pub(crate) async fn timed_auction(&self) -> Uuid {
        let new = NewAuction::new(self.auctioneer, AuctionKind::Timed, "Timed", "GBP", "UTC");
        let created = self.platform.create_auction(&Caller::command_line(), &new, None).await.unwrap();
        created.fresh().unwrap().auction.uuid
    }

    /// A page with the session of a user.
    pub(crate) async fn get(&self, token: &str, path: &str) -> Answer {
        self.send(Method::GET, &format!("/admin{path}"), &[("cookie", &format!("lotwire_admin={token}"))], "").await
    }

    /// The first events of a stream, until they contain each of the texts.
    pub(crate) async fn events_until(
        &self,
        token: &str,
        path: &str,
        texts: &[&str],
        act: impl AsyncFnOnce(),
    ) -> String {
        self.events_of(&format!("lotwire_admin={token}"), path, texts, act).await
    }

    /// As [`Fixture::events_until`], with a cookie.
    pub(crate) async fn events_of(&self, cookie: &str, path: &str, texts: &[&str], act: impl AsyncFnOnce()) -> String {
        let request = Request::get(format!("/admin{path}")).header("cookie", cookie).body(Body::empty()).unwrap();
        let mut body = self.surface.answer(request).await.into_body();
        let mut seen = String::new();
        let mut act = Some(act);
        while !texts.iter().all(|text| seen.contains(text)) {
            let frame = body.frame().await.expect("the stream goes on").unwrap();
            seen.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
            // The first event is a snapshot: from then on the listener receives everything.
            if seen.contains("changed")
                && let Some(act) = act.take()
            {
                act().await;
            }
        }
        seen
    }
}

/// A clerk's desk: the state that it saw last, and its commands.
pub(crate) struct Desk<'a> {
    pub(crate) fixture: &'a Fixture,
    pub(crate) token: String,
    pub(crate) state: Value,
    name: String,
    keys: std::cell::Cell<u32>,
}

impl Desk<'_> {
    pub(crate) fn path(&self) -> String {
        format!("/webcasts/{}/desk", self.fixture.webcast)
    }

    async fn loaded(mut self) -> Self {
        self.load().await;
        self
    }

    pub(crate) async fn load(&mut self) {
        let answer = self.fixture.get(&self.token, &format!("{}/state", self.path())).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        self.state = answer.json();
    }

    pub(crate) fn at(&self, pointer: &str) -> &Value {
        self.state.pointer(pointer).unwrap_or(&Value::Null)
    }

    /// Sends a command with a new key on the state that the desk saw.
    pub(crate) async fn command(&self, command: &Value) -> Answer {
        self.keys.set(self.keys.get() + 1);
        self.request("commands", &format!("{}-{}", self.name, self.keys.get()), command).await
    }

    pub(crate) async fn request(&self, path: &str, key: &str, command: &Value) -> Answer {
        let tag = format!("\"{}\"", self.state["tag"].as_str().unwrap());
        let headers = [
            ("cookie", format!("lotwire_admin={}", self.token)),
            ("sec-fetch-site", "same-origin".to_owned()),
            ("content-type", "application/json".to_owned()),
            ("if-match", tag),
            ("idempotency-key", key.to_owned()),
        ];
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let path = format!("/admin{}/{path}", self.path());
        self.fixture.send(Method::POST, &path, &headers, &command.to_string()).await
    }

    /// Gives a command that succeeds, and takes over the state.
    pub(crate) async fn give(&mut self, command: Value) -> &mut Self {
        let answer = self.command(&command).await;
        assert_eq!(answer.status, 200, "{command}: {}", answer.text);
        self.state = answer.json()["state"].clone();
        self
    }

    /// Gives a command that is refused with this status.
    pub(crate) async fn refused(&self, status: u16, command: Value) -> Value {
        let answer = self.command(&command).await;
        assert_eq!(answer.status, status, "{command}: {}", answer.text);
        answer.json()
    }
}

pub(crate) fn named(command: &str) -> Value {
    json!({ "command": command })
}
