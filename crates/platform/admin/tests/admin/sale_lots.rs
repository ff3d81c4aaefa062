//! Lots: the grid with its filters, cells that save with a version, bulk actions with undo, one lot with its bids.

use contract::{AuctionStatus, ItemStatus};
use platform_core::Role;

use crate::sale_fixture::Sale;

#[tokio::test]
async fn a_cell_opens_as_a_form_saves_and_names_a_conflict() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["A jug", "<script>alert(1)</script>"]).await;
    let grid = sale.operator.get(&sale.path("/lots")).await;
    grid.is(200).shows("£60").shows("£50").shows("&#60;script&#62;").hides("<script>alert");
    assert!(grid.text.len() < 100_000);
    let open = sale.operator.get(&sale.path("/lots?q=jug&edit=0.lowEstimate")).await;
    open.shows("aria-label=\"Low estimate of lot 1\"").shows("value=\"60\"");

    let version = sale.items[0].version.to_string();
    let fields = |value: &'static str| {
        [("field", "lowEstimate"), ("value", value), ("version", version.as_str()), ("back", "q=jug&")]
            .map(|(name, value)| (name, value.to_owned()))
    };
    let form = fields("£65,50");
    let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let saved = sale.operator.post(&sale.lot(0, "/cell"), &form).await;
    saved.leads_to(&sale.path("/lots?q=jug&done=saved#lot-0"));
    assert_eq!(sale.item(0).await.low_estimate, Some(6_550));

    // The same version again: someone else has changed the lot.
    let conflict = sale.operator.post(&sale.lot(0, "/cell"), &form).await;
    conflict.is(422).shows("Someone else changed this lot. The field is “£65.50” now.").shows("value=\"£65,50\"");
    // A mistake is shown in its cell.
    let version = sale.item(0).await.version.to_string();
    let form = [("field", "lowEstimate"), ("value", "cheap"), ("version", version.as_str()), ("back", "")];
    sale.operator.post(&sale.lot(0, "/cell"), &form).await.is(422).shows("“cheap” is not one amount");
    let form = [("field", "lowEstimate"), ("value", "1000"), ("version", version.as_str()), ("back", "")];
    sale.operator.post(&sale.lot(0, "/cell"), &form).await.is(422).shows("below the low estimate");
}

#[tokio::test]
async fn the_grid_is_filtered_by_status_text_and_what_is_missing_and_sorted() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["Zinc box", "Silver jug", "Amber ring"]).await;
    sale.operator.get(&sale.path("/lots?q=silver")).await.shows("Silver jug").hides("Zinc box");
    sale.operator.get(&sale.path("/lots?missing=image&status=DRAFT")).await.shows("Zinc box");
    sale.operator.get(&sale.path("/lots?missing=reserve")).await.shows("No matching lots").hides("Zinc box");
    sale.operator.get(&sale.path("/lots?status=SOLD")).await.shows("No matching lots");
    let sorted = sale.operator.get(&sale.path("/lots?sort=title")).await;
    let at = |text: &str| sorted.text.find(text).unwrap();
    assert!(at("Amber ring") < at("Silver jug") && at("Silver jug") < at("Zinc box"));
}

#[tokio::test]
async fn lots_are_suspended_in_bulk_with_a_reason_and_it_is_undone() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A jug", "A bowl", "A spoon"]).await;
    sale.bid(0, "7", 2_000).await;
    let chosen = sale.items[2].uuid.to_string();
    let fields = [("action", "SUSPENDED"), ("range", "1-2, 99"), ("lot", chosen.as_str())];
    let confirm = sale.operator.post(&sale.path("/lots/bulk"), &fields).await;
    confirm.is(200).shows("Suspend: 3 lots").shows("No lot has these numbers: 99").shows("it takes no bids");
    let lots: Vec<String> = confirm
        .text
        .split("name=\"lot\" value=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect();
    assert_eq!(lots.len(), 3);
    let mut fields = vec![("action", "SUSPENDED"), ("reason", "The catalogue is wrong")];
    fields.extend(lots.iter().map(|lot| ("lot", lot.as_str())));
    let done = sale.operator.post(&sale.path("/lots/bulk/apply"), &fields).await;
    done.is(200).shows("3 lots were changed.").shows("Undo for 3 lots");
    assert_eq!(sale.item(1).await.status, ItemStatus::Suspended);
    let lots: Vec<String> = done
        .text
        .split("name=\"lot\" value=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect();
    let mut fields = vec![("action", "undo")];
    fields.extend(lots.iter().map(|lot| ("lot", lot.as_str())));
    sale.operator.post(&sale.path("/lots/bulk/apply"), &fields).await.is(200).shows("3 lots were changed.");
    for place in 0..3 {
        assert_eq!(sale.item(place).await.status, ItemStatus::Live);
    }
    // Returning to draft is refused for the lot with a bid only.
    let fields = [("action", "DRAFT"), ("range", "1-2")];
    sale.operator
        .post(&sale.path("/lots/bulk"), &fields)
        .await
        .is(200)
        .shows("Return to draft: 1 lot")
        .shows("Not possible for these");
}

#[tokio::test]
async fn a_lot_shows_its_bids_and_a_bid_is_cancelled_with_a_reason() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A jug"]).await;
    sale.bid(0, "7", 2_000).await;
    sale.bid(0, "8", 8_765).await;
    let page = sale.operator.get(&sale.lot(0, "")).await;
    page.is(200).shows("Lot 1: A jug").shows("Paddle 8").shows("Met").shows("Cancel bid");
    // The maximum of the leading bidder is secret.
    page.hides("£87");
    let link = page.text.split("/bids/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let confirm = sale.operator.get(&sale.lot(0, &format!("/bids/{link}"))).await;
    let version = confirm.is(200).shows("It leads now").between("name=\"version\" value=\"", "\"");
    sale.operator.post(&sale.lot(0, &format!("/bids/{link}")), &[("version", &version)]).await.is(409);
    let fields = [("version", version.as_str()), ("reason", "Typed twice")];
    let after = sale.operator.submit(&sale.lot(0, &format!("/bids/{link}")), &fields).await;
    after.shows("The bid was cancelled").shows("Cancelled: Typed twice").shows("Paddle 7");
    // A viewer sees whether the reserve is met, and neither the reserve nor a way to cancel.
    let mut viewer = sale.fixture.signed_in(Role::Viewer).await;
    viewer.get(&sale.lot(0, "")).await.is(200).shows("Not met").hides("Reserve</dt><dd>£").hides("Cancel bid");
}

#[tokio::test]
async fn a_lot_is_added_edited_and_withdrawn() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["A jug"]).await;
    sale.operator.get(&sale.path("/lots/new")).await.is(200).shows("value=\"2\"");
    let fields = [("lotNumber", "1"), ("title", "A bowl")];
    sale.operator
        .post(&sale.path("/lots/new"), &fields)
        .await
        .is(422)
        .shows("Is taken already")
        .shows("value=\"A bowl\"");
    let fields = [("lotNumber", "2"), ("title", "A bowl"), ("reserve", "1,200"), ("openingBid", "100")];
    let page = sale.operator.submit(&sale.path("/lots/new"), &fields).await;
    page.shows("The lot was added").shows("£1,200").shows("Lot 1");
    let form = sale.operator.get(&sale.lot(0, "/edit")).await;
    let version = form.is(200).between("name=\"version\" value=\"", "\"");
    let fields = [
        ("version", version.as_str()),
        ("lotNumber", "1"),
        ("title", "A silver jug"),
        ("lowEstimate", "60"),
        ("highEstimate", "50"),
    ];
    sale.operator.post(&sale.lot(0, "/edit"), &fields).await.is(422).shows("below the low estimate");
    let fields = [
        ("version", version.as_str()),
        ("lotNumber", "1A"),
        ("title", "A silver jug"),
        ("description", "By a hand\r\nunknown"),
    ];
    sale.operator
        .submit(&sale.lot(0, "/edit"), &fields)
        .await
        .shows("Lot 1A: A silver jug")
        .shows("By a hand\nunknown");
    let confirm = sale.operator.get(&sale.lot(0, "/status?to=WITHDRAWN")).await;
    let version =
        confirm.is(200).shows("No event is sent: no status of this lot").between("name=\"version\" value=\"", "\"");
    let fields = [("to", "WITHDRAWN"), ("version", version.as_str())];
    sale.operator.submit(&sale.lot(0, "/status"), &fields).await.shows("Withdrawn").shows("Reinstate lot");
    let csv = sale.operator.get(&sale.path("/lots/catalogue.csv")).await;
    csv.is(200).shows("lot_number,title").shows("attachments,reserve,vendor\r\n").shows("1A,A silver jug");
    // A lot of another auction is not on this auction's pages.
    let copy = [("title", "Another"), ("shiftDays", "7"), ("items", "none")];
    let other = sale.operator.submit(&sale.path("/copy"), &copy).await.between("<code id=\"auction-id\">", "<");
    sale.operator.get(&format!("/auctions/{other}/lots/{}", sale.items[0].uuid)).await.is(404);
}
