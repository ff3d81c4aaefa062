//! Users who left: the invitations and links of screens that they made end with their access, and no room goes dark.

use std::time::Duration;

use platform_core::{Caller, PlatformError, Role};

use crate::fixture::Fixture;
use crate::screen_links::{follow, link, post, shown};

/// The values of the boxes named `end`.
fn boxes(page: &str) -> Vec<(String, String)> {
    let parts = page.split("name=\"end\" value=\"").skip(1);
    parts.map(|part| (part[..36].to_owned(), part.split("</label>").next().unwrap().to_owned())).collect()
}

fn new_link(page: &str) -> String {
    let start = page.find("http://sale.example/admin/screens#key=lwv_").expect("a new link");
    page[start..].split('<').next().unwrap().split_once("#key=").unwrap().1.to_owned()
}

#[tokio::test]
async fn links_of_a_disabled_user_are_listed_and_replaced_or_ended() {
    let fixture = Fixture::new().await;
    let ada = fixture.user("ada", Role::Administrator).await.1;
    let (max, token) = fixture.user("max", Role::Administrator).await;
    let invited = post(&fixture, Some(&token), "/users/invite", "email=eve@example.com&role=administrator").await;
    let start = invited.text.find("#key=lwi_").expect("an invitation");
    let code = invited.text[start + 5..].split('<').next().unwrap().to_owned();
    let room = follow(&fixture, &link(&fixture, &token, "room", "24h").await, "room").await;
    let speaker = follow(&fixture, &link(&fixture, &token, "speaker", "24h").await, "speaker").await;

    let path = format!("/users/{max}/disable");
    let page = fixture.get(&ada, &path).await;
    for text in [
        "Their invitation of eve@example.com (role Administrator) is withdrawn.",
        "for at most an hour",
        "no room goes dark",
    ] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    let listed = boxes(&page.text);
    assert_eq!(listed.len(), 2, "{}", page.text);
    let (ends, _) = listed.iter().find(|(_, label)| label.contains("Speaker")).unwrap();
    fixture.platform.invitation(&code).await.unwrap();
    for page in ["room", "speaker"] {
        assert_eq!(shown(&fixture, if page == "room" { &room } else { &speaker }, page).await.status, 200);
    }

    let done = post(&fixture, Some(&ada), &path, &format!("end={ends}")).await;
    assert_eq!(done.status, 200, "{}", done.text);
    assert!(done.text.contains("Room screen of") && !done.text.contains("Speaker"), "{}", done.text);
    assert_eq!(done.text.matches("<svg class=\"qr\"").count(), 1, "a code beside each new link: {}", done.text);
    let new = new_link(&done.text);
    let refused = fixture.platform.invitation(&code).await;
    assert!(matches!(refused, Err(PlatformError::Identity(_))), "{refused:?}");
    assert_eq!(shown(&fixture, &speaker, "speaker").await.status, 401, "it was ended");
    fixture.clock.advance(Duration::from_secs(3_599));
    assert_eq!(shown(&fixture, &room, "room").await.status, 200, "no room goes dark");
    let opened = follow(&fixture, &new, "room").await;
    assert_eq!(shown(&fixture, &opened, "room").await.status, 200);
    assert_eq!(shown(&fixture, &room, "room").await.status, 401, "the new link was opened");
    let listed = fixture.platform.screen_links(&Caller::command_line(), fixture.webcast).await.unwrap();
    assert_eq!(listed.len(), 1);
    let log = fixture.get(&ada, "/audit").await;
    assert_eq!(log.status, 200);
}

#[tokio::test]
async fn a_replaced_link_ends_after_an_hour_and_a_demotion_asks_first() {
    let fixture = Fixture::new().await;
    let ada = fixture.user("ada", Role::Administrator).await.1;
    let (otto, _) = fixture.user("otto", Role::Operator).await;
    let path = format!("/users/{otto}/role");
    // Another role that takes nothing away asks nothing.
    assert_eq!(post(&fixture, Some(&ada), &path, "role=administrator").await.status, 303);
    assert_eq!(post(&fixture, Some(&ada), &path, "role=operator").await.status, 303, "nothing was made");
    let token = fixture.sign_in("otto").await.1;
    let room = follow(&fixture, &link(&fixture, &token, "room", "24h").await, "room").await;
    let page = post(&fixture, Some(&ada), &path, "role=viewer").await;
    assert!(page.status == 200 && page.text.contains("name=\"confirmed\" value=\"yes\""), "{}", page.text);
    assert_eq!(fixture.platform.user(&Caller::command_line(), otto).await.unwrap().profile.role, "operator");
    let done = post(&fixture, Some(&ada), &path, "role=viewer&confirmed=yes").await;
    assert_eq!(done.status, 200, "{}", done.text);
    assert_eq!(fixture.platform.user(&Caller::command_line(), otto).await.unwrap().profile.role, "viewer");
    assert_eq!(shown(&fixture, &room, "room").await.status, 200);
    fixture.clock.advance(Duration::from_secs(3_600));
    assert_eq!(shown(&fixture, &room, "room").await.status, 401);
    let opened = follow(&fixture, &new_link(&done.text), "room").await;
    assert_eq!(shown(&fixture, &opened, "room").await.status, 200);
}
