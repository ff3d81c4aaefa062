//! Who may use the desk, and requests that are refused.

use std::time::Duration;

use http::Method;
use platform_core::sales::auctions::NewAuction;
use platform_core::users::UserPatch;
use platform_core::{Caller, Role};
use platform_rules::AuctionKind;
use serde_json::json;

use crate::fixture::{Fixture, HOSTILE, named};

#[tokio::test]
async fn a_desk_is_for_people_who_may_clerk_this_webcast() {
    let fixture = Fixture::new().await;
    let path = format!("/webcasts/{}/desk", fixture.webcast);
    let signed_out = fixture.send(Method::GET, &format!("/admin{path}"), &[], "").await;
    assert_eq!(signed_out.status, 303);
    let viewer = fixture.user("viewer", Role::Viewer).await.1;
    assert_eq!(fixture.get(&viewer, &path).await.status, 403);
    assert_eq!(fixture.get(&viewer, &format!("{path}/state")).await.status, 403);
    let (user, clerk) = fixture.user("clerk", Role::Clerk).await;
    assert_eq!(fixture.get(&clerk, &format!("{path}/state")).await.json()["code"], "clerk_not_assigned");
    let page = fixture.get(&clerk, &path).await;
    assert!(page.status == 403 && page.text.contains("You are not a clerk of this webcast"), "{}", page.text);
    fixture.platform.assign_clerk(&Caller::command_line(), fixture.webcast, user).await.unwrap();
    assert_eq!(fixture.get(&clerk, &path).await.status, 200);
    assert_eq!(fixture.get(&clerk, &format!("{path}/state")).await.status, 200);
    assert_eq!(fixture.get(&clerk, &format!("{path}/lots")).await.status, 200);
}

#[tokio::test]
async fn the_page_shows_hostile_text_as_text_and_loads_only_its_own_files() {
    let fixture = Fixture::new().await;
    let desk = fixture.desk("one").await;
    let page = fixture.get(&desk.token, &desk.path()).await;
    assert_eq!(page.status, 200);
    assert!(!page.text.contains(HOSTILE) && page.text.contains("alert("), "{}", page.text);
    assert!(!page.text.contains("style=") && !page.text.contains("<script>"), "{}", page.text);
    assert!(page.text.contains("The desk needs JavaScript") && page.text.contains("Show the sale"));
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
    for file in ["desk.", "style.", "admin."] {
        let start = page.text.find(&format!("/admin/static/{file}")).unwrap();
        let name = page.text[start..].split('"').next().unwrap();
        let answer = fixture.send(Method::GET, name, &[], "").await;
        assert_eq!(answer.status, 200, "{name}");
        assert!(answer.headers["cache-control"].to_str().unwrap().contains("immutable"));
    }
}

#[tokio::test]
async fn a_command_of_another_site_or_without_its_headers_is_refused() {
    let fixture = Fixture::new().await;
    let desk = fixture.desk("one").await;
    let path = format!("/admin{}/commands", desk.path());
    let cookie = format!("lotwire_admin={}", desk.token);
    let body = named("send").to_string();
    let other = [("cookie", cookie.as_str()), ("sec-fetch-site", "cross-site")];
    assert_eq!(fixture.send(Method::POST, &path, &other, &body).await.status, 403);
    let own = [("cookie", cookie.as_str()), ("sec-fetch-site", "same-origin"), ("content-type", "application/json")];
    let answer = fixture.send(Method::POST, &path, &own, &body).await;
    assert_eq!((answer.status, answer.json()["message"].as_str().unwrap()), (400, "If-Match is missing."));
    let with_tag = [&own[..], &[("if-match", "\"1.0\"")]].concat();
    assert_eq!(fixture.send(Method::POST, &path, &with_tag, &body).await.status, 400);
    assert_eq!(desk.refused(400, json!({ "command": "destroy" })).await["code"], "malformed");
    assert_eq!(desk.refused(400, json!({ "command": "send", "items": [] })).await["code"], "malformed");
    let ended = fixture.send(Method::POST, &path, &[("cookie", "lotwire_admin=lws_x"), own[1]], &body).await;
    assert_eq!(ended.status, 401);
}

#[tokio::test]
async fn a_timed_auction_has_no_desk() {
    let fixture = Fixture::new().await;
    let desk = fixture.desk("one").await;
    let new = NewAuction::new(fixture.auctioneer, AuctionKind::Timed, "Timed", "GBP", "UTC");
    let timed = fixture.platform.create_auction(&Caller::command_line(), &new, None).await.unwrap().fresh().unwrap();
    let page = fixture.get(&desk.token, &format!("/webcasts/{}/desk", timed.auction.uuid)).await;
    assert_eq!(page.status, 404);
    assert!(page.text.contains("This sale has no desk"), "{}", page.text);
}

#[tokio::test]
async fn streams_of_the_desk_and_the_speaker_are_for_assigned_clerks() {
    let fixture = Fixture::new().await;
    let (user, clerk) = fixture.user("clerk", Role::Clerk).await;
    let cookie = format!("lotwire_admin={clerk}");
    let streams = ["desk/live", "speaker/live"].map(|stream| format!("/webcasts/{}/{stream}", fixture.webcast));
    for path in &streams {
        let status = fixture.send(Method::GET, &format!("/admin{path}"), &[("cookie", &cookie)], "").await.status;
        assert_eq!(status, 403, "{path}");
    }
    for path in &streams {
        let staff = Caller::command_line();
        fixture.platform.assign_clerk(&staff, fixture.webcast, user).await.unwrap();
        let unassign = async || {
            fixture.platform.unassign_clerk(&staff, fixture.webcast, user).await.unwrap();
            fixture.clock.advance(Duration::from_secs(5));
        };
        let seen = fixture.events_until(&clerk, path, &["event: ended"], unassign).await;
        assert!(seen.trim_end().ends_with("event: ended\ndata: {}"), "{seen}");
    }
}

#[tokio::test]
async fn streams_end_within_five_seconds_of_their_session() {
    let fixture = Fixture::new().await;
    let staff = Caller::command_line();
    for (number, stream) in ["desk/live", "speaker/live", "room/live"].into_iter().enumerate() {
        let path = format!("/webcasts/{}/{stream}", fixture.webcast);
        for end in ["signed out", "disabled", "new password"] {
            let (user, token) = fixture.user(&format!("{end}{number}").replace(' ', ""), Role::Operator).await;
            let act = async || {
                match end {
                    "signed out" => drop(fixture.platform.end_sessions_of(&staff, user).await.unwrap()),
                    "disabled" => {
                        let patch = UserPatch { disabled: Some(true), ..UserPatch::default() };
                        fixture.platform.change_user(&staff, user, None, patch).await.unwrap();
                    }
                    _ => drop(fixture.platform.require_new_password(&staff, user).await.unwrap()),
                }
                fixture.clock.advance(Duration::from_secs(5));
            };
            let seen = fixture.events_until(&token, &path, &["event: ended"], act).await;
            assert!(seen.trim_end().ends_with("event: ended\ndata: {}"), "{stream}, {end}: {seen}");
        }
    }
}
