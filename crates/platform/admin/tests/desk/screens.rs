//! The room screen and the speaker's view.

use platform_core::bidders::NewRegistration;
use platform_core::port::RegistrationStatus;
use platform_core::sales::items::post_sale::PostSaleOffer;
use platform_core::{Caller, Role};
use serde_json::json;

use crate::fixture::{Fixture, HOSTILE, named};

#[tokio::test]
async fn the_room_sees_the_lot_and_no_secret() {
    let fixture = Fixture::new().await;
    fixture.absentee(0, "88", 76_543).await;
    let mut desk = fixture.desk("one").await;
    let viewer = fixture.user("viewer", Role::Viewer).await.1;
    let room = format!("/webcasts/{}/room", fixture.webcast);
    let shown = fixture.get(&viewer, &room).await;
    assert!(
        shown.text.contains("The sale begins soon") && shown.text.contains("http-equiv=\"refresh\""),
        "{}",
        shown.text
    );
    assert!(!shown.text.contains(HOSTILE), "{}", shown.text);

    desk.give(named("send")).await.give(json!({ "command": "bid", "bidder": "117" })).await;
    let shown = fixture.get(&viewer, &format!("{room}/fragment")).await;
    for text in ["Lot 1", "A bureau", "£100", "£110", "Paddle 117", "Bidding"] {
        assert!(shown.text.contains(text), "{text}: {}", shown.text);
    }
    for secret in ["123.45", "765.43", "88"] {
        assert!(!shown.text.contains(secret), "{secret}: {}", shown.text);
    }
    desk.give(named("fair-warning")).await;
    assert!(fixture.get(&viewer, &room).await.text.contains("Fair warning"));
    desk.give(named("pause")).await;
    assert!(fixture.get(&viewer, &room).await.text.contains("Paused"));
    desk.give(named("resume")).await.give(json!({ "command": "pass", "overWaitingBid": true })).await;
    assert!(fixture.get(&viewer, &room).await.text.contains("Passed"));
}

#[tokio::test]
async fn the_speaker_sees_who_calls_the_reserve_and_the_book() {
    let fixture = Fixture::new().await;
    fixture.absentee(0, "88", 76_543).await;
    let mut desk = fixture.desk("one").await;
    let speaker = format!("/webcasts/{}/speaker", fixture.webcast);
    desk.give(named("send")).await.give(json!({ "command": "bid", "bidder": "117" })).await;
    fixture.web_bid(0, "W-214", 11_000).await;
    let shown = fixture.get(&desk.token, &speaker).await;
    for text in ["not met", "Book", "Web £110", "W-214", "Next"] {
        assert!(shown.text.contains(text), "{text}: {}", shown.text);
    }
    for figure in ["£123.45", "£765.43", "paddle 88", "Book £123.45"] {
        assert!(shown.text.contains(figure), "{figure}: {}", shown.text);
    }
    let viewer = fixture.user("viewer", Role::Viewer).await.1;
    assert_eq!(fixture.get(&viewer, &speaker).await.status, 403);
}

#[tokio::test]
async fn no_screen_shows_an_offer_that_was_accepted_after_the_pass() {
    let fixture = Fixture::new().await;
    let registered = NewRegistration {
        paddle: Some("117".into()),
        party: None,
        name: None,
        email: None,
        limit: None,
        note: None,
        status: RegistrationStatus::Approved,
    };
    let staff = Caller::command_line();
    fixture.platform.register_bidder(&staff, fixture.webcast, &registered, None).await.unwrap();
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await.give(json!({ "command": "pass" })).await;
    let offer = PostSaleOffer {
        buyer: "117".into(),
        amount: 9_900,
        reason: "Agreed after the lot".into(),
        unusual_amount: false,
    };
    fixture.platform.accept_offer(&staff, fixture.lots[0], &offer, None, None).await.unwrap();
    for screen in ["room", "speaker"] {
        let shown = fixture.get(&desk.token, &format!("/webcasts/{}/{screen}/fragment", fixture.webcast)).await;
        assert!(shown.text.contains("Passed"), "{}", shown.text);
        assert!(!shown.text.contains("£99") && !shown.text.contains("117"), "{}", shown.text);
    }
}
