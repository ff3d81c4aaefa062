//! Commands, conflicts, and repeated commands.

use platform_core::Caller;
use platform_core::bidders::NewRegistration;
use platform_core::port::RegistrationStatus;
use serde_json::{Value, json};

use crate::fixture::{Fixture, named};

#[tokio::test]
async fn a_lot_is_sold_from_the_desk() {
    let fixture = Fixture::new().await;
    fixture.absentee(0, "88", 20_000).await;
    let mut desk = fixture.desk("one").await;
    assert_eq!((desk.at("/lot"), desk.at("/commands")), (&Value::Null, &json!(["begin", "send"])));
    assert_eq!((desk.at("/next/0/lotNumber"), desk.at("/sale/total")), (&json!("1"), &json!(4)));

    desk.give(named("send")).await;
    assert_eq!(desk.at("/offer/askingPrice/text"), "£100");
    assert_eq!(desk.at("/lot/estimate"), "£150");
    assert_eq!(
        desk.at("/lot/reserve"),
        &json!({ "amount": { "minor": 12_345, "text": "£123.45" }, "isMet": false, "short": null })
    );
    assert_eq!(desk.at("/commissions/0/maximum/text"), "£200");

    desk.give(json!({ "command": "bid", "bidder": "117" })).await;
    assert_eq!(desk.at("/offer/standing/bidder"), "117");
    assert_eq!(desk.at("/lot/reserve/short/text"), "£23.45");
    assert_eq!((desk.at("/bookBid/bidder"), desk.at("/bookBid/amount/text")), (&json!("88"), &json!("£123.45")));
    desk.give(json!({ "command": "commission-bid" })).await;
    assert_eq!(desk.at("/offer/standing/amount/text"), "£123.45", "the book reaches the reserve");
    let bid = fixture.web_bid(0, "W-214", 14_000).await;
    desk.load().await;
    assert_eq!((desk.at("/pending/0/uuid"), desk.at("/pending/0/bidder")), (&json!(bid), &json!("W-214")));
    desk.give(json!({ "command": "accept", "bid": bid })).await;
    assert_eq!(desk.at("/offer/standing/source"), "internet");
    assert_eq!((desk.at("/lot/reserve/isMet"), desk.at("/bids/1/reachesReserve")), (&json!(true), &json!(true)));
    let sources: Vec<&Value> = desk.at("/bids").as_array().unwrap().iter().map(|bid| &bid["source"]).collect();
    assert_eq!(sources, ["internet", "commission", "room"], "absentee bids are in the book");

    desk.give(named("fair-warning")).await.give(named("pause")).await.give(named("resume")).await;
    assert_eq!(desk.at("/offer/warnings"), 1);
    desk.give(json!({ "command": "sell", "overWaitingBid": true })).await;
    assert_eq!((desk.at("/lot"), desk.at("/done/0/isLast")), (&Value::Null, &json!(true)));
    let done = desk.at("/done/0");
    let shown = [&done["lotNumber"], &done["status"], &done["price"]["text"], &done["buyer"], &done["event"]];
    assert_eq!(shown, [&json!("1"), &json!("SOLD"), &json!("£140"), &json!("W-214"), &json!(2)]);
}

#[tokio::test]
async fn lots_are_passed_offered_again_and_reopened() {
    let fixture = Fixture::new().await;
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await.give(named("pass")).await;
    assert_eq!((desk.at("/done/0/status"), desk.at("/last/lotNumber")), (&json!("PASSED"), &json!("1")));
    let problem = desk.refused(422, json!({ "command": "reopen", "reason": " " })).await;
    assert_eq!(problem["message"], "Give a reason.");
    desk.give(json!({ "command": "reopen", "reason": "A bid came as the hammer fell" })).await;
    assert_eq!((desk.at("/lot/lotNumber"), desk.at("/done")), (&json!("1"), &json!([])));
    desk.give(named("pass")).await.give(named("send")).await;
    assert_eq!(desk.at("/offer/unconfirmedMax/text"), "£200");
    let far = json!({ "command": "bid", "bidder": "7", "amount": 50_000 });
    let problem = desk.refused(409, far).await;
    assert_eq!(problem["message"], "This is far above the asking price. Up to £200 needs no confirmation.");
    desk.give(json!({ "command": "bid", "bidder": "7", "amount": 50_000, "largeJump": true })).await;
    let problem = desk.refused(409, json!({ "command": "asking-price", "amount": 20_000 })).await;
    assert_eq!(problem["code"], "cancels_bids");
    desk.give(json!({ "command": "asking-price", "amount": 20_000, "belowStandingBid": true })).await;
    assert_eq!(desk.at("/offer/cancelled/amount/text"), "£500");
    desk.give(json!({ "command": "undo", "reason": "wrong" })).await;
    assert_eq!((desk.at("/offer/standing/amount/text"), desk.at("/offer/cancelled")), (&json!("£500"), &Value::Null));
    desk.give(json!({ "command": "asking-price", "amount": 20_000, "belowStandingBid": true })).await;
    assert_eq!((desk.at("/offer/standing"), desk.at("/bids/0/struck")), (&Value::Null, &json!("lowered")));
    desk.give(json!({ "command": "asking-price", "amount": 51_000, "largeJump": true })).await;
    assert_eq!(desk.at("/offer/standing/amount/text"), "£500");
    desk.give(json!({ "command": "undo", "reason": "wrong" })).await;
    desk.give(named("remove")).await;
    desk.give(json!({ "command": "offer-again", "item": fixture.lots[0] })).await;
    assert_eq!(desk.at("/sale/passed"), 0);

    let lots = fixture.get(&desk.token, &format!("{}/lots?status=waiting", desk.path())).await.json();
    let numbers: Vec<&Value> = lots["lots"].as_array().unwrap().iter().map(|lot| &lot["lotNumber"]).collect();
    assert_eq!(numbers, ["1", "2", "3", "4"]);
    let lots = fixture.get(&desk.token, &format!("{}/lots?number=2", desk.path())).await.json();
    assert_eq!((lots["lots"].as_array().unwrap().len(), &lots["next"]), (1, &Value::Null));
}

#[tokio::test]
async fn of_two_desks_the_slower_one_gets_the_present_state_and_nothing_is_sold_twice() {
    let fixture = Fixture::new().await;
    let mut first = fixture.desk("one").await;
    let mut second = fixture.desk("two").await;
    first.give(named("send")).await;
    second.load().await;
    first.give(json!({ "command": "bid", "bidder": "7", "amount": 13_000 })).await;
    second.load().await;
    first.give(named("sell")).await;
    let problem = second.refused(412, named("sell")).await;
    assert_eq!(problem["code"], "precondition_failed");
    assert_eq!((&problem["state"]["lot"], &problem["state"]["done"][0]["status"]), (&Value::Null, &json!("SOLD")));
    second.state = problem["state"].clone();
    assert_eq!(second.state["tag"], first.state["tag"]);
    assert_eq!(second.refused(409, named("sell")).await["code"], "not_in_ring");

    // A web bid that a desk has not seen keeps it from selling.
    first.give(named("send")).await.give(json!({ "command": "bid", "bidder": "7" })).await;
    fixture.web_bid(1, "W-1", 11_000).await;
    let problem = first.refused(412, named("sell")).await;
    assert_eq!(problem["state"]["pending"][0]["bidder"], "W-1");
}

#[tokio::test]
async fn a_command_that_is_sent_twice_is_done_once_and_its_outcome_can_be_looked_up() {
    let fixture = Fixture::new().await;
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await;
    let bid = json!({ "command": "bid", "bidder": "7" });
    let outcome = desk.request("outcome", "k-1", &bid).await.json();
    assert_eq!((&outcome["isDone"], &outcome["state"]["offer"]["standing"]), (&json!(false), &Value::Null));

    let first = desk.request("commands", "k-1", &bid).await;
    assert_eq!(first.status, 200, "{}", first.text);
    // The desk did not get the answer: it still names the versions that it saw.
    let outcome = desk.request("outcome", "k-1", &bid).await.json();
    assert_eq!((&outcome["isDone"], &outcome["state"]["bids"].as_array().unwrap().len()), (&json!(true), &1));
    let again = desk.request("commands", "k-1", &bid).await.json();
    assert_eq!(again["state"]["bids"].as_array().unwrap().len(), 1, "{again}");
    let other = desk.request("commands", "k-1", &named("sell")).await;
    assert_eq!((other.status, &other.json()["code"]), (422, &json!("idempotency_mismatch")));
}

#[tokio::test]
async fn the_stream_says_that_the_ring_changed() {
    let fixture = Fixture::new().await;
    let mut desk = fixture.desk("one").await;
    let (token, path) = (desk.token.clone(), format!("{}/live", desk.path()));
    let lot = format!("\"item\":\"{}\"", fixture.lots[0]);
    let events = fixture
        .events_until(&token, &path, &[&lot, "event: beat\n"], async || {
            desk.give(named("send")).await;
        })
        .await;
    assert!(events.contains("event: changed\ndata: {}\n\n"), "{events}");
    assert!(!events.contains("askingPrice"), "{events}");
}

#[tokio::test]
async fn buyers_are_open_of_all_lots_and_not_of_the_last_ones_only() {
    let fixture = Fixture::with_more_lots(20).await;
    let mut desk = fixture.desk("one").await;
    for _ in 0..23 {
        desk.give(named("send")).await.give(json!({ "command": "bid", "amount": 20_000 })).await;
        desk.give(named("sell")).await;
    }
    desk.give(named("send")).await.give(json!({ "command": "bid", "bidder": "117" })).await.give(named("sell")).await;
    assert_eq!(desk.at("/openBuyers"), &json!(23));
    desk.load().await;
    assert_eq!(desk.at("/openBuyers"), &json!(23));
}

#[tokio::test]
async fn the_hammer_does_not_wait_for_the_paddle_and_a_wrong_buyer_is_changed() {
    let fixture = Fixture::new().await;
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await.give(json!({ "command": "bid", "amount": 13_000 })).await;
    assert_eq!((desk.at("/offer/standing/bidder"), desk.at("/offer/standing/source")), (&Value::Null, &json!("room")));
    desk.give(named("sell")).await;
    let done = desk.at("/done/0").clone();
    assert_eq!((&done["isBuyerOpen"], desk.at("/openBuyers")), (&json!(true), &json!(1)));

    let paddle = |bidder: &str, version: &Value| json!({ "command": "change-buyer", "item": done["uuid"], "version": version, "bidder": bidder, "reason": "entered", "notApproved": true });
    desk.give(paddle("117", &done["version"])).await;
    assert_eq!((desk.at("/done/0/buyer"), desk.at("/done/0/isBuyerOpen")), (&json!("117"), &json!(false)));
    assert_eq!(desk.at("/done/0/price/text"), "£130");
    let problem = desk.refused(412, paddle("118", &done["version"])).await;
    assert_eq!(problem["state"]["done"][0]["buyer"], "117", "another desk named the buyer meanwhile");
    let version = desk.at("/done/0/version").clone();
    desk.give(paddle("118", &version)).await;
    assert_eq!((desk.at("/done/0/buyer"), desk.at("/done/0/event")), (&json!("118"), &json!(2)));
}

#[tokio::test]
async fn a_paddle_that_looks_like_a_registered_one_proposes_it() {
    let fixture = Fixture::new().await;
    let registered = NewRegistration {
        paddle: Some("A7".into()),
        party: None,
        name: Some("Jane Smith".into()),
        email: None,
        limit: None,
        note: None,
        status: RegistrationStatus::Approved,
    };
    fixture.platform.register_bidder(&Caller::command_line(), fixture.webcast, &registered, None).await.unwrap();
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await.give(json!({ "command": "bid", "amount": 13_000 })).await.give(named("sell")).await;
    let done = desk.at("/done/0").clone();
    let paddle = |bidder: &str| json!({ "command": "change-buyer", "item": done["uuid"], "version": done["version"], "bidder": bidder, "reason": "entered" });

    // The auction is open: an unknown paddle asks all the same.
    let problem = desk.refused(409, paddle("300")).await;
    assert_eq!((&problem["code"], &problem["registers"]), (&json!("bidder_not_approved"), &json!(true)));
    assert_eq!((&problem["message"], &problem["similar"]), (&json!("Paddle 300 is not registered."), &Value::Null));
    for slip in ["a7", "0A7", "00a7"] {
        let problem = desk.refused(409, paddle(slip)).await;
        let proposal = "Paddle A7 (Jane Smith) is registered. Did you mean it?";
        assert_eq!((&problem["similar"], &problem["message"]), (&json!("A7"), &json!(proposal)), "{slip}");
    }
    let cookie = format!("lotwire_admin={}", desk.token);
    let form = [
        ("cookie", cookie.as_str()),
        ("sec-fetch-site", "same-origin"),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    let path = format!("/admin/auctions/{}/lots/{}/buyer", fixture.webcast, fixture.lots[0]);
    let body = format!("version={}&buyer=a7", done["version"]);
    let refused = fixture.send(http::Method::POST, &path, &form, &body).await;
    assert!(refused.status == 422 && refused.text.contains("Did you mean it?"), "{}", refused.text);

    // The commission book refuses the line.
    let path = format!("/admin/webcasts/{}/book", fixture.webcast);
    let refused = fixture.send(http::Method::POST, &path, &form, "list=2,a7,150").await;
    assert!(refused.status == 422 && refused.text.contains("Write A7, or register a7"), "{}", refused.text);
    desk.give(paddle("A7")).await;
    assert_eq!(desk.at("/done/0/buyer"), &json!("A7"));
}

#[tokio::test]
async fn a_buyer_above_a_limit_is_confirmed_on_the_page_of_the_lot_too() {
    let fixture = Fixture::new().await;
    let limited = NewRegistration {
        paddle: Some("117".into()),
        party: None,
        name: Some("Ada".into()),
        email: None,
        limit: Some(5_000),
        note: None,
        status: RegistrationStatus::Approved,
    };
    let staff = Caller::command_line();
    fixture.platform.register_bidder(&staff, fixture.webcast, &limited, None).await.unwrap();
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await.give(json!({ "command": "bid", "amount": 13_000 })).await.give(named("sell")).await;
    let (version, path) =
        (desk.at("/done/0/version").clone(), format!("/auctions/{}/lots/{}/buyer", fixture.webcast, fixture.lots[0]));
    let cookie = format!("lotwire_admin={}", desk.token);
    let form = [
        ("cookie", cookie.as_str()),
        ("sec-fetch-site", "same-origin"),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    let submit = async |more: &str| {
        let body = format!("version={version}&buyer=117{more}");
        fixture.send(http::Method::POST, &format!("/admin{path}"), &form, &body).await
    };
    let refused = submit("").await;
    assert!(refused.status == 422 && refused.text.contains("£130.00 for this lot, limit £50.00"), "{}", refused.text);
    let refused = submit("&overLimit=yes").await;
    assert!(refused.status == 422 && refused.text.contains("Give a reason."), "{}", refused.text);
    assert_eq!(submit("&overLimit=yes&reason=Allowed").await.status, 303);
    desk.load().await;
    assert_eq!((desk.at("/done/0/buyer"), desk.at("/names/117")), (&json!("117"), &json!("Ada")));
}

#[tokio::test]
async fn refusals_are_in_words_of_the_room() {
    let fixture = Fixture::new().await;
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await.give(json!({ "command": "bid", "amount": 21_000, "largeJump": true })).await;
    let problem = desk.refused(409, json!({ "command": "bid", "amount": 21_050 })).await;
    assert_eq!((&problem["code"], &problem["message"]), (&json!("bid_too_low"), &json!("Bid at least £220.")));
    desk.give(json!({ "command": "sell" })).await;
    for _ in 0..3 {
        desk.give(named("send")).await.give(named("pass")).await;
    }
    let problem = desk.refused(404, named("send")).await;
    assert_eq!(problem["message"], "No lot waits.");
    assert_eq!(desk.at("/end/text"), "All done: 3 passed, 1 buyer open, nothing skipped.");
}

#[tokio::test]
async fn a_sale_below_the_reserve_is_confirmed() {
    let fixture = Fixture::new().await;
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await.give(json!({ "command": "bid", "bidder": "7" })).await;
    assert_eq!(desk.refused(409, named("sell")).await["code"], "reserve_not_met");
    desk.give(json!({ "command": "sell", "belowReserve": true })).await;
    assert_eq!(desk.at("/done/0/status"), "SOLD");
}

#[tokio::test]
async fn a_sale_and_a_pass_over_a_higher_waiting_bid_are_confirmed_and_the_lost_bid_is_listed() {
    let fixture = Fixture::new().await;
    fixture.absentee(1, "A-1", 30_000).await;
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await.give(json!({ "command": "bid", "bidder": "7", "amount": 10_000 })).await;
    assert_eq!(desk.at("/waiting"), &Value::Null);
    let bid = fixture.web_bid(0, "W-1", 50_000).await;
    desk.load().await;
    let waiting = desk.at("/waiting").clone();
    assert_eq!((&waiting["bid"], &waiting["place"]), (&json!(bid), &json!("on the internet")));
    assert_eq!(waiting["amount"]["text"], "£500");
    assert_eq!(desk.refused(409, named("sell")).await["code"], "higher_bid_waits");
    assert_eq!(desk.refused(409, named("pass")).await["code"], "higher_bid_waits");
    let below = json!({ "command": "sell", "belowReserve": true });
    assert_eq!(desk.refused(409, below).await["code"], "higher_bid_waits");
    let over = json!({ "command": "sell", "overWaitingBid": true });
    assert_eq!(desk.refused(409, over).await["code"], "reserve_not_met");
    desk.give(json!({ "command": "sell", "belowReserve": true, "overWaitingBid": true })).await;
    assert_eq!((desk.at("/done/0/status"), desk.at("/done/0/price/text")), (&json!("SOLD"), &json!("£100")));
    assert_eq!((desk.at("/lost/0/bidder"), desk.at("/lost/0/amount/text")), (&json!("W-1"), &json!("£500")));
    assert_eq!(desk.at("/lost/0/text"), "Lot 1: not taken before the hammer");

    desk.give(named("send")).await;
    assert_eq!(desk.at("/waiting/place"), "in the book");
    assert_eq!(desk.refused(409, named("pass")).await["code"], "higher_bid_waits");
    desk.give(json!({ "command": "pass", "overWaitingBid": true })).await;
    assert_eq!(desk.at("/done/0/status"), "PASSED");
}

#[tokio::test]
async fn a_web_bid_that_was_refused_or_came_after_the_hammer_is_shown() {
    let fixture = Fixture::new().await;
    let mut desk = fixture.desk("one").await;
    desk.give(named("send")).await.give(json!({ "command": "bid", "bidder": "7", "amount": 13_000 })).await;
    fixture.refused_web_bid(0, "W-1", 12_000).await;
    desk.load().await;
    let late = |desk: &crate::fixture::Desk<'_>| desk.at("/late/0").clone();
    assert_eq!((&late(&desk)["bidder"], &late(&desk)["text"]), (&json!("W-1"), &json!("below the asking price")));
    desk.give(named("sell")).await;
    fixture.refused_web_bid(0, "W-2", 14_000).await;
    desk.load().await;
    assert_eq!(late(&desk)["amount"]["text"], "£140");
    assert!(late(&desk)["text"].as_str().unwrap().ends_with("s after the hammer"), "{}", late(&desk));
}

#[tokio::test]
async fn a_rehearsal_is_a_copy_with_a_desk_of_its_own() {
    let fixture = Fixture::new().await;
    let desk = fixture.desk("one").await;
    let path = format!("/webcasts/{}/rehearsal", fixture.webcast);
    let page = fixture.get(&desk.token, &path).await;
    assert!(page.text.contains("Nothing is sent") && page.text.contains("4 lots"), "{}", page.text);
    let headers = [("cookie", format!("lotwire_admin={}", desk.token)), ("sec-fetch-site", "same-origin".to_owned())];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let started = fixture.send(http::Method::POST, &format!("/admin{path}"), &headers, "").await;
    assert_eq!(started.status, 303, "{}", started.text);
    let opened = started.headers["location"].to_str().unwrap().strip_prefix("/admin").unwrap().to_owned();
    let shown = fixture.get(&desk.token, &opened).await;
    assert!(shown.text.contains("Rehearsal: nothing is sent"), "{}", shown.text);
    let state = fixture.get(&desk.token, &format!("{opened}/state")).await.json();
    assert_eq!((&state["sale"]["total"], &state["sale"]["status"]), (&json!(4), &json!("LIVE")));
}
