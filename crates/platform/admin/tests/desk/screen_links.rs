//! Links that open the room screen and the speaker's view on a device without a session, and prices in other currencies.

use std::time::Duration;

use contract::AuctionStatus;
use http::Method;
use platform_core::users::Refusal;
use platform_core::{Caller, PlatformError, Role};
use serde_json::json;

use testkit::web::Answer;

use crate::fixture::{Fixture, named};

/// Sends a form with the session of a user; none for a device that has no session.
pub(crate) async fn post(fixture: &Fixture, token: Option<&str>, path: &str, fields: &str) -> Answer {
    let cookie = token.map(|token| format!("lotwire_admin={token}")).unwrap_or_default();
    let headers = [
        ("cookie", cookie.as_str()),
        ("sec-fetch-site", "same-origin"),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    fixture.send(Method::POST, &format!("/admin{path}"), &headers, fields).await
}

/// Creates a link, and returns its token.
pub(crate) async fn link(fixture: &Fixture, token: &str, kind: &str, valid: &str) -> String {
    let path = format!("/webcasts/{}/screens/links", fixture.webcast);
    let created = post(fixture, Some(token), &path, &format!("kind={kind}&valid={valid}")).await;
    assert_eq!(created.status, 200, "{}", created.text);
    assert!(created.text.contains("<svg class=\"qr\"") && created.text.contains("data-copy=\"link\""));
    let start = created.text.find("http://sale.example/admin/screens#key=lwv_").expect("a link");
    let url = created.text[start..].split('<').next().unwrap();
    url.split_once("#key=").unwrap().1.to_owned()
}

/// Follows a link; the cookie that the device gets.
pub(crate) async fn follow(fixture: &Fixture, token: &str, kind: &str) -> String {
    let opened = post(fixture, None, "/screens", &format!("key=http://sale.example/admin/screens%23key={token}")).await;
    let path = format!("/admin/screens/{}/{kind}", fixture.webcast);
    assert_eq!((opened.status, opened.headers["location"].to_str().unwrap()), (303, path.as_str()));
    let cookie = opened.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.contains(&format!("Path={path};")) && cookie.contains("HttpOnly"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

pub(crate) async fn shown(fixture: &Fixture, cookie: &str, page: &str) -> Answer {
    let path = format!("/admin/screens/{}/{page}", fixture.webcast);
    fixture.send(Method::GET, &path, &[("cookie", cookie)], "").await
}

#[tokio::test]
async fn a_link_opens_its_screen_on_a_device_without_a_session_until_it_is_revoked() {
    let fixture = Fixture::new().await;
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await.give(json!({ "command": "bid", "bidder": "117" })).await;
    let set_up = format!("/webcasts/{}/screens", fixture.webcast);
    assert!(fixture.get(&desk.token, &set_up).await.text.contains("No link opens this screen."));

    let token = link(&fixture, &desk.token, "room", "12h").await;
    let cookie = follow(&fixture, &token, "room").await;
    let room = shown(&fixture, &cookie, "room").await;
    assert!(room.status == 200 && room.text.contains("Lot 1") && room.text.contains("£100"), "{}", room.text);
    assert!(!room.text.contains(&token), "the token is in no page");
    assert_eq!(shown(&fixture, &cookie, "room/fragment").await.status, 200);
    // The link opens one screen of one sale, and nothing else.
    assert_eq!(shown(&fixture, &cookie, "speaker").await.status, 401);
    let page = fixture.get(&token, &format!("/webcasts/{}/room", fixture.webcast)).await;
    assert_eq!(page.status, 401, "a token of a link is no session");
    let listed = fixture.get(&desk.token, &set_up).await;
    assert!(listed.text.contains("Last used") && listed.text.contains("one@example.com"), "{}", listed.text);
    assert!(!listed.text.contains(&token), "shown once");

    let revoked = post(&fixture, Some(&desk.token), &format!("{set_up}/links/revoke"), "kind=room").await;
    assert_eq!(revoked.status, 303);
    let room = shown(&fixture, &cookie, "room").await;
    assert!(room.status == 401 && room.text.contains("This link was revoked or replaced"), "{}", room.text);
    assert_eq!(shown(&fixture, &cookie, "room/fragment").await.status, 401);
    let again = post(&fixture, None, "/screens", &format!("key={token}")).await;
    assert!(again.status == 422 && again.text.contains("it was revoked"), "{}", again.text);
    let (staff, latest) = (Caller::command_line(), platform_core::port::Page { after: None, limit: 9 });
    let log = format!("{:?}", fixture.platform.access_log(&staff, latest).await.unwrap());
    assert!(log.contains("ScreenLinkCreated") && log.contains("ScreenLinkRevoked") && !log.contains(&token), "{log}");
}

#[tokio::test]
async fn a_new_link_replaces_the_one_before_and_a_speaker_gives_no_command() {
    let fixture = Fixture::new().await;
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await;
    let first = follow(&fixture, &link(&fixture, &desk.token, "speaker", "3d").await, "speaker").await;
    let speaker = shown(&fixture, &first, "speaker").await;
    assert!(speaker.status == 200 && speaker.text.contains("not met"), "{}", speaker.text);
    let second = follow(&fixture, &link(&fixture, &desk.token, "speaker", "sale").await, "speaker").await;
    assert_eq!(shown(&fixture, &first, "speaker").await.status, 401);
    assert_eq!(shown(&fixture, &second, "speaker").await.status, 200);
    let command = format!("/admin/webcasts/{}/desk/commands", fixture.webcast);
    let headers = [("cookie", second.as_str()), ("sec-fetch-site", "same-origin"), ("if-match", "\"1.0\"")];
    assert_eq!(fixture.send(Method::POST, &command, &headers, "{}").await.status, 401);
}

#[tokio::test]
async fn a_link_shows_reserve_and_book_only_if_that_was_chosen_for_it() {
    let fixture = Fixture::new().await;
    fixture.absentee(0, "88", 76_543).await;
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await.give(json!({ "command": "bid", "bidder": "117" })).await;
    let set_up = format!("/webcasts/{}/screens", fixture.webcast);
    let figures = ["123.45", "765.43", "paddle 88"];

    let plain = follow(&fixture, &link(&fixture, &desk.token, "speaker", "24h").await, "speaker").await;
    let shown_plain = shown(&fixture, &plain, "speaker").await;
    assert!(shown_plain.text.contains("not met") && shown_plain.text.contains("Book bids"), "{}", shown_plain.text);
    for figure in figures {
        assert!(!shown_plain.text.contains(figure), "{figure}: {}", shown_plain.text);
    }
    assert!(!fixture.get(&desk.token, &set_up).await.text.contains("A link exists, with the reserve"));

    let chosen = link(&fixture, &desk.token, "speaker", "24h&reserve=yes").await;
    let chosen = follow(&fixture, &chosen, "speaker").await;
    for page in ["speaker", "speaker/fragment"] {
        let shown = shown(&fixture, &chosen, page).await;
        for figure in figures {
            assert!(shown.text.contains(figure), "{page}, {figure}: {}", shown.text);
        }
    }
    let listed = fixture.get(&desk.token, &set_up).await;
    assert!(listed.text.contains("A link exists, with the reserve and the commission book."), "{}", listed.text);
    // The room screen never shows them.
    let room = link(&fixture, &desk.token, "room", "24h&reserve=yes").await;
    let room = shown(&fixture, &follow(&fixture, &room, "room").await, "room").await;
    for figure in figures {
        assert!(!room.text.contains(figure), "{figure}: {}", room.text);
    }
    let (staff, latest) = (Caller::command_line(), platform_core::port::Page { after: None, limit: 1 });
    let log = format!("{:?}", fixture.platform.access_log(&staff, latest).await.unwrap());
    assert!(!log.contains("shows_reserve: true"), "{log}");
}

#[tokio::test]
async fn a_screen_says_that_its_link_has_expired_or_its_sale_has_ended() {
    let fixture = Fixture::new().await;
    let desk = fixture.desk("one").await;
    let room = follow(&fixture, &link(&fixture, &desk.token, "room", "12h").await, "room").await;
    let speaker = follow(&fixture, &link(&fixture, &desk.token, "speaker", "3d").await, "speaker").await;
    fixture.clock.advance(Duration::from_secs(12 * 3_600 + 1));
    let shown_room = shown(&fixture, &room, "room").await;
    assert!(shown_room.status == 401 && shown_room.text.contains("This link has expired"), "{}", shown_room.text);
    assert_eq!(shown(&fixture, &speaker, "speaker").await.status, 200);
    fixture.end_sale(AuctionStatus::Reconciliation).await;
    let ended = shown(&fixture, &speaker, "speaker").await;
    assert!(ended.status == 401 && ended.text.contains("The sale has ended"), "{}", ended.text);
    let desk = fixture.desk("two").await;
    let path = format!("/webcasts/{}/screens/links", fixture.webcast);
    assert_eq!(post(&fixture, Some(&desk.token), &path, "kind=room&valid=12h").await.status, 409);
}

#[tokio::test]
async fn the_stream_of_a_screen_ends_when_its_link_is_revoked() {
    let fixture = Fixture::new().await;
    let desk = fixture.desk("one").await;
    let cookie = follow(&fixture, &link(&fixture, &desk.token, "room", "24h").await, "room").await;
    let live = format!("/screens/{}/room/live", fixture.webcast);
    let revoke = format!("/webcasts/{}/screens/links/revoke", fixture.webcast);
    let seen = fixture
        .events_of(&cookie, &live, &["event: ended"], async || {
            post(&fixture, Some(&desk.token), &revoke, "kind=room").await;
            fixture.clock.advance(Duration::from_secs(2));
        })
        .await;
    assert!(seen.trim_end().ends_with("event: ended\ndata: {}"), "{seen}");
}

#[tokio::test]
async fn guesses_at_links_are_throttled_and_clerks_of_other_sales_make_none() {
    let fixture = Fixture::new().await;
    let from = Some("192.0.2.7".parse().unwrap());
    let mut tries = 0;
    let refused = loop {
        tries += 1;
        match fixture.platform.follow_screen_link("lwv_guess", from).await {
            Ok(opened) => assert!(opened.is_err() && tries < 1_000),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, PlatformError::Identity(Refusal::TooManyAttempts { .. })), "{refused}");
    assert_eq!(tries, 51, "five times the attempts of an account");
    let (user, clerk) = fixture.user("clerk", Role::Clerk).await;
    let set_up = format!("/webcasts/{}/screens", fixture.webcast);
    assert_eq!(fixture.get(&clerk, &set_up).await.status, 403);
    assert_eq!(post(&fixture, Some(&clerk), &format!("{set_up}/links"), "kind=room&valid=12h").await.status, 403);
    fixture.platform.assign_clerk(&Caller::command_line(), fixture.webcast, user).await.unwrap();
    assert_eq!(fixture.get(&clerk, &set_up).await.status, 200);
    let viewer = fixture.user("viewer", Role::Viewer).await.1;
    assert_eq!(fixture.get(&viewer, &set_up).await.status, 403);
}

#[tokio::test]
async fn the_room_screen_shows_the_price_in_other_currencies_as_a_guide() {
    let fixture = Fixture::new().await;
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await.give(json!({ "command": "bid", "bidder": "117" })).await;
    let set_up = format!("/webcasts/{}/screens", fixture.webcast);
    let put = async |fields: &str| post(&fixture, Some(&desk.token), &format!("{set_up}/rates"), fields).await;
    for (fields, fault) in [
        ("currency=GBP&rate=1&date=2026-11-20", "is the currency of the sale"),
        ("currency=XQX&rate=1&date=2026-11-20", "is not a currency of ISO 4217"),
        ("currency=USD&rate=1%2C27&date=2026-11-20", "is not a rate"),
        ("currency=USD&rate=0&date=2026-11-20", "is not a rate"),
        ("currency=USD&rate=1.27&date=yesterday", "is not a day"),
    ] {
        let refused = put(fields).await;
        assert!(refused.status == 422 && refused.text.contains(fault), "{fields}: {}", refused.text);
    }
    assert_eq!(put("currency=usd&rate=1.2734&date=2026-11-20").await.status, 303);
    assert_eq!(put("currency=JPY&rate=190.53&date=2026-11-19").await.status, 303);
    let room = fixture.get(&desk.token, &format!("/webcasts/{}/room", fixture.webcast)).await;
    for text in ["US$127", "rates of 20 Nov 2026", "JPY\u{a0}19,053", "rates of 19 Nov 2026", "as a guide"] {
        assert!(room.text.contains(text), "{text}: {}", room.text);
    }
    let speaker = fixture.get(&desk.token, &format!("/webcasts/{}/speaker", fixture.webcast)).await;
    assert!(!speaker.text.contains("as a guide"), "{}", speaker.text);
    for currency in ["EUR", "CHF", "CAD", "AUD", "NOK", "SEK"] {
        assert_eq!(put(&format!("currency={currency}&rate=1.5&date=2026-11-20")).await.status, 303, "{currency}");
    }
    let ninth = put("currency=DKK&rate=1.5&date=2026-11-20").await;
    assert!(ninth.status == 422 && ninth.text.contains("at most 8 rates"), "{}", ninth.text);
    let removed = post(&fixture, Some(&desk.token), &format!("{set_up}/rates/remove"), "currency=JPY").await;
    assert_eq!(removed.status, 303);
    let room = fixture.get(&desk.token, &format!("/webcasts/{}/room", fixture.webcast)).await;
    assert!(!room.text.contains("JPY"), "{}", room.text);
}
