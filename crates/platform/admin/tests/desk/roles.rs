//! What each role may open, over every page of the administration. The table is written here from the description of the
//! roles, and not read from the pages' own lists.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use platform_core::Role::{self, Administrator, Clerk, Operator, Support, Viewer};
use platform_core::access::NewApiKey;
use platform_core::bidders::{NewRegistration, PartyInput};
use platform_core::port::{PartyDetails, RegistrationStatus};
use platform_core::{Caller, Scope};
use uuid::Uuid;

use crate::fixture::Fixture;

const ALL: &[Role] = &[Administrator, Operator, Clerk, Support, Viewer];
/// Runs auctions.
const SALES: &[Role] = &[Administrator, Operator];
/// Clerks a webcast, and sees its bidders.
const RING: &[Role] = &[Administrator, Operator, Clerk];
/// Reads announced events, and customers.
const OUTSIDE_THE_RING: &[Role] = &[Administrator, Operator, Support, Viewer];
/// Reads the register of bidders and consignors.
const REGISTER: &[Role] = &[Administrator, Operator, Support];
/// Looks after customers, their provider credentials, and API keys.
const SUPPORT: &[Role] = &[Administrator, Support];
/// Sends events and mails again.
const SENDERS: &[Role] = &[Administrator, Operator, Support];
/// Users and the access log.
const ADMINISTRATORS: &[Role] = &[Administrator];

/// Method, path, roles that may open it.
const TABLE: &[(&str, &str, &[Role])] = &[
    ("GET", "/", ALL),
    ("GET", "/account", ALL),
    ("GET", "/account/name", ALL),
    ("POST", "/account/name", ALL),
    ("GET", "/account/password", ALL),
    ("POST", "/account/password", ALL),
    ("GET", "/account/second-factor", ALL),
    ("POST", "/account/second-factor", ALL),
    ("POST", "/account/second-factor/confirm", ALL),
    ("GET", "/account/second-factor/off", ALL),
    ("POST", "/account/second-factor/off", ALL),
    ("POST", "/account/sessions/{session}/end", ALL),
    ("POST", "/account/sessions/end", ALL),
    ("POST", "/sign-out", ALL),
    ("GET", "/system", ALL),
    ("GET", "/auctions", ALL),
    ("GET", "/auctions/{auction}", ALL),
    ("GET", "/auctions/{auction}/lots", ALL),
    ("GET", "/auctions/{auction}/lots/catalogue.csv", ALL),
    ("GET", "/auctions/{auction}/lots/results.csv", ALL),
    ("GET", "/auctions/{auction}/lots/{lot}", ALL),
    ("GET", "/auctions/{auction}/ends", ALL),
    ("GET", "/auctions/{auction}/results", ALL),
    ("GET", "/auctions/{auction}/results/totals", ALL),
    ("GET", "/auctions/{auction}/print", ALL),
    ("GET", "/auctions/{auction}/print/catalogue", ALL),
    ("GET", "/auctions/{auction}/print/clerking", ALL),
    ("GET", "/auctions/{auction}/print/results", ALL),
    ("GET", "/auctions/{auction}/print/paddles", RING),
    ("GET", "/auctions/{auction}/print/book", RING),
    ("GET", "/audit/record", ALL),
    ("GET", "/webcasts/{webcast}/room", ALL),
    ("GET", "/webcasts/{webcast}/room/fragment", ALL),
    ("GET", "/webcasts/{webcast}/room/live", ALL),
    ("POST", "/auctions/{auction}/lots/columns", ALL),
    ("POST", "/auctions/{auction}/lots/formula", SALES),
    ("POST", "/auctions/{auction}/lots/formula/apply", SALES),
    ("GET", "/auctions/new", SALES),
    ("POST", "/auctions/new", SALES),
    ("GET", "/auctions/{auction}/edit", SALES),
    ("POST", "/auctions/{auction}/edit", SALES),
    ("GET", "/auctions/{auction}/copy", SALES),
    ("POST", "/auctions/{auction}/copy", SALES),
    ("GET", "/auctions/{auction}/status", SALES),
    ("POST", "/auctions/{auction}/status", SALES),
    ("GET", "/auctions/{auction}/lots/new", SALES),
    ("POST", "/auctions/{auction}/lots/new", SALES),
    ("GET", "/auctions/{auction}/lots/consignors", SALES),
    ("GET", "/auctions/{auction}/lots/import", SALES),
    ("POST", "/auctions/{auction}/lots/import", SALES),
    ("GET", "/auctions/{auction}/lots/import/{upload}", SALES),
    ("POST", "/auctions/{auction}/lots/import/{upload}", SALES),
    ("GET", "/missing-fields", SALES),
    ("GET", "/auctions/{auction}/images", SALES),
    ("POST", "/auctions/{auction}/images", SALES),
    ("POST", "/auctions/{auction}/images/match", SALES),
    ("POST", "/auctions/{auction}/images/one", SALES),
    ("POST", "/auctions/{auction}/images/archive", SALES),
    ("POST", "/auctions/{auction}/lots/{lot}/images", SALES),
    ("GET", "/auctions/{auction}/lots/{lot}/images/{image}/remove", SALES),
    ("POST", "/auctions/{auction}/lots/{lot}/images/{image}/remove", SALES),
    ("POST", "/auctions/{auction}/lots/{lot}/images/{image}/first", SALES),
    ("POST", "/auctions/{auction}/lots/order", SALES),
    ("POST", "/auctions/{auction}/lots/order/apply", SALES),
    ("POST", "/auctions/{auction}/lots/order/drop", SALES),
    ("GET", "/auctions/{auction}/ends/pause", SALES),
    ("POST", "/auctions/{auction}/ends/pause", SALES),
    ("POST", "/auctions/{auction}/lots/bulk", SALES),
    ("POST", "/auctions/{auction}/lots/bulk/apply", SALES),
    ("POST", "/auctions/{auction}/lots/{lot}/cell", SALES),
    ("GET", "/auctions/{auction}/lots/{lot}/edit", SALES),
    ("POST", "/auctions/{auction}/lots/{lot}/edit", SALES),
    ("GET", "/auctions/{auction}/lots/{lot}/status", SALES),
    ("POST", "/auctions/{auction}/lots/{lot}/status", SALES),
    ("GET", "/auctions/{auction}/lots/{lot}/offer", SALES),
    ("POST", "/auctions/{auction}/lots/{lot}/offer", SALES),
    ("GET", "/auctions/{auction}/lots/{lot}/bidder-offer", SALES),
    ("POST", "/auctions/{auction}/lots/{lot}/bidder-offer", SALES),
    ("GET", "/auctions/{auction}/lots/{lot}/bidder-offer/{offer}/withdraw", SALES),
    ("POST", "/auctions/{auction}/lots/{lot}/bidder-offer/{offer}/withdraw", SALES),
    ("GET", "/auctions/{auction}/lots/{lot}/hammer-price", SALES),
    ("POST", "/auctions/{auction}/lots/{lot}/hammer-price", SALES),
    ("GET", "/auctions/{auction}/lots/{lot}/buyer", SALES),
    ("POST", "/auctions/{auction}/lots/{lot}/buyer", SALES),
    ("GET", "/auctions/{auction}/lots/{lot}/bids/{bid}/cancel", SALES),
    ("POST", "/auctions/{auction}/lots/{lot}/bids/{bid}/cancel", SALES),
    ("POST", "/auctions/{auction}/lots/{lot}/deliveries", SENDERS),
    ("POST", "/auctions/{auction}/ends", SALES),
    ("POST", "/auctions/{auction}/registrations/approve", SALES),
    ("GET", "/auctions/{auction}/registrations/new", SALES),
    ("POST", "/auctions/{auction}/registrations/new", SALES),
    ("GET", "/auctions/{auction}/registrations/{registration}/edit", SALES),
    ("POST", "/auctions/{auction}/registrations/{registration}/edit", SALES),
    ("GET", "/auctions/{auction}/message", RING),
    ("POST", "/auctions/{auction}/message", RING),
    ("GET", "/auctions/{auction}/registrations/shared", SALES),
    ("GET", "/auctions/{auction}/registrations/{registration}", SALES),
    ("GET", "/auctions/{auction}/registrations/{registration}/limit", SALES),
    ("POST", "/auctions/{auction}/registrations/{registration}/limit", SALES),
    ("GET", "/auctions/{auction}/registrations/{registration}/limit/decline", SALES),
    ("POST", "/auctions/{auction}/registrations/{registration}/limit/decline", SALES),
    ("GET", "/auctions/{auction}/registrations/{registration}/decide", SALES),
    ("POST", "/auctions/{auction}/registrations/{registration}/decide", SALES),
    ("POST", "/webcasts/{webcast}/book/telephone", RING),
    ("POST", "/webcasts/{webcast}/book/telephone/withdraw", RING),
    ("POST", "/auctions/{auction}/clerks", SALES),
    ("GET", "/auctions/{auction}/results/unpaid", SALES),
    ("POST", "/auctions/{auction}/results/unpaid", SALES),
    ("GET", "/auctions/{auction}/results/relist", SALES),
    ("POST", "/auctions/{auction}/results/relist", SALES),
    ("GET", "/webcasts/{webcast}/rehearsal", SALES),
    ("POST", "/webcasts/{webcast}/rehearsal", SALES),
    ("GET", "/test-clock", SALES),
    ("POST", "/test-clock/{auction}", SALES),
    ("GET", "/auctions/{auction}/registrations", RING),
    ("GET", "/auctions/{auction}/late-bids", RING),
    ("GET", "/people", REGISTER),
    ("GET", "/people/duplicates", REGISTER),
    ("POST", "/people/apart", SALES),
    ("GET", "/people/{party}", REGISTER),
    ("GET", "/people/import", SALES),
    ("POST", "/people/import", SALES),
    ("GET", "/people/import/{upload}", SALES),
    ("POST", "/people/import/{upload}", SALES),
    ("GET", "/people/register.csv", SALES),
    ("GET", "/people/new", SALES),
    ("POST", "/people/new", SALES),
    ("GET", "/people/{party}/edit", SALES),
    ("POST", "/people/{party}/edit", SALES),
    ("GET", "/people/{party}/block", SALES),
    ("POST", "/people/{party}/block", SALES),
    ("POST", "/people/{party}/unblock", SALES),
    ("GET", "/people/{party}/merge", SALES),
    ("POST", "/people/{party}/merge", SALES),
    ("GET", "/people/{party}/export.json", SALES),
    ("GET", "/people/{party}/erase", ADMINISTRATORS),
    ("POST", "/people/{party}/erase", ADMINISTRATORS),
    ("GET", "/webcasts/{webcast}/desk", RING),
    ("GET", "/webcasts/{webcast}/desk/state", RING),
    ("GET", "/webcasts/{webcast}/desk/live", RING),
    ("POST", "/webcasts/{webcast}/desk/held", RING),
    ("GET", "/webcasts/{webcast}/desk/lots", RING),
    ("POST", "/webcasts/{webcast}/desk/commands", RING),
    ("POST", "/webcasts/{webcast}/desk/outcome", RING),
    ("POST", "/webcasts/{webcast}/desk/message", RING),
    ("GET", "/webcasts/{webcast}/speaker", RING),
    ("GET", "/webcasts/{webcast}/speaker/fragment", RING),
    ("GET", "/webcasts/{webcast}/speaker/live", RING),
    ("GET", "/webcasts/{webcast}/book", RING),
    ("POST", "/webcasts/{webcast}/book", RING),
    ("POST", "/webcasts/{webcast}/book/withdraw", RING),
    ("GET", "/webcasts/{webcast}/screens", RING),
    ("POST", "/webcasts/{webcast}/screens/links", RING),
    ("POST", "/webcasts/{webcast}/screens/links/revoke", RING),
    ("POST", "/webcasts/{webcast}/screens/rates", RING),
    ("POST", "/webcasts/{webcast}/screens/rates/remove", RING),
    ("GET", "/auctions/{auction}/timeline", OUTSIDE_THE_RING),
    ("GET", "/auctions/{auction}/lots/{lot}/deliveries", OUTSIDE_THE_RING),
    ("GET", "/customers", OUTSIDE_THE_RING),
    ("GET", "/customers/{customer}", OUTSIDE_THE_RING),
    ("GET", "/auctioneers", OUTSIDE_THE_RING),
    ("GET", "/customers/new", SUPPORT),
    ("POST", "/customers/new", SUPPORT),
    ("GET", "/customers/{customer}/rename", SUPPORT),
    ("POST", "/customers/{customer}/rename", SUPPORT),
    ("GET", "/customers/{customer}/connection", SUPPORT),
    ("POST", "/customers/{customer}/connection", SUPPORT),
    ("GET", "/customers/{customer}/house", SUPPORT),
    ("POST", "/customers/{customer}/house", SUPPORT),
    ("GET", "/customers/{customer}/saleroom", SUPPORT),
    ("POST", "/customers/{customer}/saleroom", SUPPORT),
    ("GET", "/customers/{customer}/domain", SUPPORT),
    ("POST", "/customers/{customer}/domain", SUPPORT),
    ("POST", "/customers/{customer}/domain/check", SUPPORT),
    ("GET", "/customers/{customer}/sites", SUPPORT),
    ("POST", "/customers/{customer}/sites", SUPPORT),
    ("GET", "/customers/{customer}/logo/{logo}", ALL),
    ("GET", "/customers/{customer}/conditions", OUTSIDE_THE_RING),
    ("POST", "/customers/{customer}/conditions", SUPPORT),
    ("GET", "/customers/{customer}/conditions/{number}", ALL),
    ("GET", "/customers/{customer}/mails", REGISTER),
    ("POST", "/customers/{customer}/mails/test", SENDERS),
    ("GET", "/customers/{customer}/mails/texts", SUPPORT),
    ("POST", "/customers/{customer}/mails/texts", SUPPORT),
    ("GET", "/customers/{customer}/mails/{mail}", REGISTER),
    ("POST", "/customers/{customer}/mails/{mail}/again", SENDERS),
    ("POST", "/customers/{customer}/mails/{mail}/now", SENDERS),
    ("GET", "/auctions/{auction}/remind", SALES),
    ("POST", "/auctions/{auction}/remind", SALES),
    ("POST", "/customers/{customer}/test", SUPPORT),
    ("POST", "/customers/{customer}/event-types", SUPPORT),
    ("POST", "/customers/{customer}/portal-link", SUPPORT),
    ("POST", "/customers/{customer}/connect", SUPPORT),
    ("GET", "/customers/{customer}/disconnect", SUPPORT),
    ("POST", "/customers/{customer}/disconnect", SUPPORT),
    ("POST", "/customers/{customer}/quarantine/send", SUPPORT),
    ("GET", "/customers/{customer}/quarantine/drop", SUPPORT),
    ("POST", "/customers/{customer}/quarantine/drop", SUPPORT),
    ("GET", "/customers/{customer}/quarantine/out-of-order", SUPPORT),
    ("GET", "/auctioneers/new", SUPPORT),
    ("POST", "/auctioneers/new", SUPPORT),
    ("GET", "/auctioneers/{auctioneer}", SUPPORT),
    ("POST", "/auctioneers/{auctioneer}", SUPPORT),
    ("GET", "/api-keys", SUPPORT),
    ("GET", "/api-keys/new", SUPPORT),
    ("POST", "/api-keys/new", SUPPORT),
    ("GET", "/api-keys/{key}/revoke", SUPPORT),
    ("POST", "/api-keys/{key}/revoke", SUPPORT),
    ("GET", "/users", ADMINISTRATORS),
    ("GET", "/users/new", ADMINISTRATORS),
    ("POST", "/users/new", ADMINISTRATORS),
    ("GET", "/users/invite", ADMINISTRATORS),
    ("POST", "/users/invite", ADMINISTRATORS),
    ("POST", "/users/invitations/{invitation}/withdraw", ADMINISTRATORS),
    ("POST", "/users/{user}/require-password", ADMINISTRATORS),
    ("GET", "/users/{user}/unlink", ADMINISTRATORS),
    ("POST", "/users/{user}/unlink", ADMINISTRATORS),
    ("GET", "/users/{user}", ADMINISTRATORS),
    ("GET", "/users/{user}/name", ADMINISTRATORS),
    ("POST", "/users/{user}/name", ADMINISTRATORS),
    ("POST", "/users/{user}/role", ADMINISTRATORS),
    ("GET", "/users/{user}/disable", ADMINISTRATORS),
    ("POST", "/users/{user}/disable", ADMINISTRATORS),
    ("POST", "/users/{user}/enable", ADMINISTRATORS),
    ("GET", "/users/{user}/password", ADMINISTRATORS),
    ("POST", "/users/{user}/password", ADMINISTRATORS),
    ("GET", "/users/{user}/second-factor-off", ADMINISTRATORS),
    ("POST", "/users/{user}/second-factor-off", ADMINISTRATORS),
    ("POST", "/users/{user}/webcasts", ADMINISTRATORS),
    ("POST", "/users/{user}/end-sessions", ADMINISTRATORS),
    ("GET", "/users/{user}/remove", ADMINISTRATORS),
    ("POST", "/users/{user}/remove", ADMINISTRATORS),
    ("GET", "/audit", ADMINISTRATORS),
];

/// Pages that a role may open and that have nothing to show in this sale: their status.
const NOTHING_TO_SHOW: &[(&str, u16)] = &[
    // The upload has expired, the lot has no image and no event, the customer is not connected and has no logo, no conditions and no mail, and the user has signed in.
    ("/auctions/{auction}/lots/import/{upload}", 410),
    ("/people/import/{upload}", 410),
    ("/auctions/{auction}/lots/{lot}/images/{image}/remove", 404),
    ("/auctions/{auction}/lots/{lot}/deliveries", 404),
    // The bidder asks for no higher limit.
    ("/auctions/{auction}/registrations/{registration}/limit", 404),
    ("/auctions/{auction}/registrations/{registration}/limit/decline", 404),
    ("/customers/{customer}/disconnect", 404),
    ("/customers/{customer}/logo/{logo}", 404),
    ("/customers/{customer}/conditions/{number}", 404),
    // The house offers the lot to no bidder.
    ("/auctions/{auction}/lots/{lot}/bidder-offer/{offer}/withdraw", 404),
    ("/customers/{customer}/mails/{mail}", 404),
    ("/users/{user}/remove", 409),
];

/// A form that ends the session of the one who sends it comes last.
const ENDS_THE_SESSION: [&str; 2] = ["/account/sessions/end", "/sign-out"];

/// The path with the ids of the fixture, and a query where a page needs one.
struct Ids {
    values: BTreeMap<&'static str, Uuid>,
    timed: Uuid,
}

impl Ids {
    async fn new(fixture: &Fixture) -> Self {
        let (platform, staff) = (&fixture.platform, Caller::command_line());
        let new = NewRegistration {
            paddle: None,
            party: None,
            name: Some("Bea Bidder".into()),
            email: None,
            limit: None,
            note: None,
            status: RegistrationStatus::Pending,
        };
        let registration =
            platform.register_bidder(&staff, fixture.webcast, &new, None).await.unwrap().fresh().unwrap();
        let key = NewApiKey {
            name: "site".into(),
            customer: None,
            scopes: [Scope::AuctionsRead].into_iter().collect(),
            expires_at: None,
        };
        let key = platform.create_api_key(&staff, &key).await.unwrap();
        let (user, _) = fixture.user("target", Viewer).await;
        let customer = platform.auction(&staff, fixture.webcast).await.unwrap().customer;
        let details = PartyDetails { name: "Cora Consignor".into(), is_consignor: true, ..PartyDetails::default() };
        let input = PartyInput { details, document: None };
        let party = platform.create_party(&staff, customer, &input).await.unwrap();
        let values = [
            ("{auction}", fixture.webcast),
            ("{webcast}", fixture.webcast),
            ("{lot}", fixture.lots[0]),
            ("{registration}", registration.uuid),
            ("{customer}", customer),
            ("{party}", party.uuid),
            ("{auctioneer}", fixture.auctioneer),
            ("{user}", user),
            ("{key}", key.record.uuid),
            ("{upload}", Uuid::from_u128(1)),
            ("{bid}", Uuid::from_u128(2)),
            ("{session}", Uuid::from_u128(3)),
            ("{invitation}", Uuid::from_u128(4)),
            ("{image}", Uuid::from_u128(5)),
            ("{logo}", Uuid::from_u128(6)),
            ("{mail}", Uuid::from_u128(7)),
        ];
        Self { values: values.into_iter().collect(), timed: fixture.timed_auction().await }
    }

    fn fill(&self, pattern: &str) -> String {
        let mut path = pattern.to_owned();
        if pattern.contains("/ends") {
            path = path.replace("{auction}", &self.timed.to_string());
        }
        for (name, id) in &self.values {
            path = path.replace(name, &id.to_string());
        }
        let query = match pattern {
            "/audit/record" => format!("?lot={}", self.values["{lot}"]),
            "/auctions/{auction}/status" => "?to=RECONCILIATION".to_owned(),
            "/auctions/{auction}/lots/{lot}/status" => "?to=SUSPENDED".to_owned(),
            "/auctions/{auction}/registrations/{registration}/decide" => "?to=approved".to_owned(),
            "/auctions/{auction}/lots/{lot}/deliveries" => "?sequence=1".to_owned(),
            _ if pattern.contains("/quarantine/") => "?cursor=1".to_owned(),
            _ => String::new(),
        };
        path + &query
    }
}

#[tokio::test]
async fn each_role_may_open_its_pages_and_no_others() {
    let listed: BTreeSet<_> = platform_admin::listed_pages().collect();
    let table: BTreeSet<_> = TABLE.iter().map(|(method, path, _)| (*method, *path)).collect();
    assert_eq!(table, listed, "the table has every page that requires a session");

    let fixture = Fixture::new().await;
    let ids = Ids::new(&fixture).await;
    let mut rows = TABLE.to_vec();
    // Pages first, then forms, which change things; those that end the session last.
    rows.sort_by_key(|(method, path, _)| (*method, ENDS_THE_SESSION.contains(path)));
    let mut wrong = Vec::new();
    for role in [Viewer, Support, Clerk, Operator, Administrator] {
        let (user, token) = fixture.user(role.name(), role).await;
        if role == Clerk {
            fixture.platform.assign_clerk(&Caller::command_line(), fixture.webcast, user).await.unwrap();
        }
        for (method, pattern, roles) in &rows {
            let cookie = format!("lotwire_admin={token}");
            let headers = [
                ("cookie", cookie.as_str()),
                ("sec-fetch-site", "same-origin"),
                ("content-type", "application/x-www-form-urlencoded"),
            ];
            let path = format!("/admin{}", ids.fill(pattern));
            let status = fixture.send(Method::from_bytes(method.as_bytes()).unwrap(), &path, &headers, "").await.status;
            let nothing = NOTHING_TO_SHOW.iter().find(|(path, _)| path == pattern).map(|(_, status)| *status);
            let is_right = match (roles.contains(&role), *method) {
                (false, _) => status == 403,
                // The record of a lot that is for sale in a webcast is for those who may clerk it.
                (true, "GET") if *pattern == "/audit/record" => status == if RING.contains(&role) { 200 } else { 409 },
                (true, "GET") => status == nothing.unwrap_or(200),
                // An empty form is refused for what is missing in it, or does what it does.
                (true, _) => status < 500 && ![401, 403, 405].contains(&status),
            };
            if !is_right {
                wrong.push(format!("{} {method} {pattern}: {status}", role.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn the_navigation_has_what_a_role_may_open() {
    let fixture = Fixture::new().await;
    let places = [
        ("/auctions", ALL),
        ("/system", ALL),
        ("/customers", OUTSIDE_THE_RING),
        ("/auctioneers", OUTSIDE_THE_RING),
        ("/test-clock", SALES),
        ("/api-keys", SUPPORT),
        ("/users", ADMINISTRATORS),
        ("/audit", ADMINISTRATORS),
    ];
    for role in ALL {
        let token = fixture.user(role.name(), *role).await.1;
        let page = fixture.get(&token, "/account").await;
        for (path, roles) in places {
            let is_shown = page.text.contains(&format!("href=\"/admin{path}\""));
            assert_eq!(is_shown, roles.contains(role), "{} {path}: {}", role.name(), page.text);
        }
    }
}
