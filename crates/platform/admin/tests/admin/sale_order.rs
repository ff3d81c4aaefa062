//! The running order of lots and their numbers: shown before it changes, refused with the lot that locks it, undone.

use contract::AuctionStatus;
use platform_core::Role;
use platform_core::port::Page;

use crate::sale_fixture::{Sale, staff};
use testkit::web::Answer;

/// Lot numbers and titles in running order.
async fn order(sale: &Sale) -> String {
    let page = Page { after: None, limit: 50 };
    let items = sale.fixture.platform.items(&staff(), sale.auction, page).await.unwrap();
    let positions: Vec<i64> = items.iter().map(|item| item.position).collect();
    assert_eq!(positions, (0..items.len() as i64).collect::<Vec<_>>());
    items.iter().map(|item| format!("{} {}", item.lot_number, item.title)).collect::<Vec<_>>().join(", ")
}

/// The values of a form's lots after a mark.
fn lots(page: &Answer, mark: &str) -> Vec<String> {
    let form = page.text.split_once(mark).unwrap_or_else(|| panic!("{mark:?} is not in:\n{}", page.text)).1;
    let form = form.split_once("</form>").unwrap().0;
    form.split("name=\"lot\" value=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

async fn send(sale: &mut Sale, page: &str, fields: &[(&str, &str)], lots: &[String]) -> Answer {
    let mut fields = fields.to_vec();
    fields.extend(lots.iter().map(|lot| ("lot", lot.as_str())));
    sale.operator.post(&sale.path(page), &fields).await
}

#[tokio::test]
async fn selected_lots_move_before_another_after_the_result_was_shown_and_move_back() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["Jug", "Bowl", "Spoon", "Ring"]).await;
    let form = send(&mut sale, "/lots/bulk", &[("action", "MOVE"), ("range", "3-4, 9")], &[]).await;
    form.is(200).shows("Move 2 lots").shows("No lot has these numbers: 9").hides("Result");
    let chosen = lots(&form, "/lots/order\"");
    let wrong = send(&mut sale, "/lots/order", &[("action", "MOVE"), ("do", "show"), ("before", "77")], &chosen).await;
    wrong.is(422).shows("No lot has the number 77.");
    let own = send(&mut sale, "/lots/order", &[("action", "MOVE"), ("do", "show"), ("before", "3")], &chosen).await;
    own.is(422).shows("one of the lots that move");
    let shown = send(&mut sale, "/lots/order", &[("action", "MOVE"), ("do", "show"), ("before", "2")], &chosen).await;
    shown.is(200).shows("3 lots change").shows("Move lots");
    assert_eq!(order(&sale).await, "1 Jug, 2 Bowl, 3 Spoon, 4 Ring", "nothing changes before it is applied");
    let values = lots(&shown, "/lots/order/apply\"");
    let done = send(&mut sale, "/lots/order/apply", &[], &values).await;
    done.is(200).shows("3 lots have another place or number.").shows("Renumber these lots");
    assert_eq!(order(&sale).await, "1 Jug, 3 Spoon, 4 Ring, 2 Bowl");
    // The same form again: the lots have changed since.
    send(&mut sale, "/lots/order/apply", &[], &values).await.is(409).shows("No lot was changed");
    let undo = lots(&done, "/lots/order/apply\"");
    send(&mut sale, "/lots/order/apply", &[("action", "undo")], &undo).await.is(200).shows("Undone");
    assert_eq!(order(&sale).await, "1 Jug, 2 Bowl, 3 Spoon, 4 Ring");
    let verified = sale.fixture.platform.verify_auction(sale.auction, &|_| {}).await.unwrap();
    assert!(verified.broken.is_empty(), "{:?}", verified.broken);
}

#[tokio::test]
async fn lots_exchange_numbers_and_a_lot_with_bids_names_itself() {
    let mut sale = Sale::new(AuctionStatus::Live, &["Jug", "Bowl", "Spoon"]).await;
    let show = |start: &'static str, range: &'static str| {
        [("action", "RENUMBER"), ("do", "show"), ("start", start), ("step", "1"), ("range", range)]
    };
    let shown = send(&mut sale, "/lots/order", &show("2", "1-3"), &[]).await;
    let values = lots(&shown, "/lots/order/apply\"");
    send(&mut sale, "/lots/order/apply", &[], &values).await.is(200).shows("3 lots have");
    assert_eq!(order(&sale).await, "2 Jug, 3 Bowl, 4 Spoon");
    // A number of a lot that keeps its own is refused, and so is one that is not a number.
    let taken = send(&mut sale, "/lots/order", &show("3", "2"), &[]).await;
    taken.is(200).shows("The number 3 belongs to a lot that is not selected: “Bowl”.").hides("/lots/order/apply");
    send(&mut sale, "/lots/order", &show("A", "2-4"), &[]).await.is(422).shows("Write a whole number.");
    sale.bid(0, "7", 2_000).await;
    let locked = send(&mut sale, "/lots/order", &show("10", "2-4"), &[]).await;
    locked.is(200).shows("<b>2</b> The item has bids, which were made under these terms.").hides("order/apply");
    // A lot on sale keeps its place, because its end follows it.
    let fields = [("action", "MOVE"), ("do", "show"), ("range", "4"), ("before", "3")];
    send(&mut sale, "/lots/order", &fields, &[]).await.is(200).shows("its end follows its place").hides("order/apply");
}

#[tokio::test]
async fn a_dragged_lot_moves_at_once_and_the_notice_undoes_it() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["Jug", "Bowl", "Spoon"]).await;
    let (first, last) = (sale.items[0].uuid.to_string(), sale.items[2].uuid.to_string());
    let drop = [("lot", first.as_str()), ("side", "after"), ("beside", last.as_str())];
    let notice = sale.operator.post(&sale.path("/lots/order/drop"), &drop).await;
    notice.is(200).shows("The lot was moved.").shows("data-undo");
    assert_eq!(order(&sale).await, "2 Bowl, 3 Spoon, 1 Jug");
    let undo = lots(&notice, "data-undo");
    send(&mut sale, "/lots/order/apply", &[("action", "undo")], &undo).await.is(200);
    let drop = [("lot", last.as_str()), ("side", "before"), ("beside", first.as_str())];
    sale.operator.post(&sale.path("/lots/order/drop"), &drop).await.is(200);
    assert_eq!(order(&sale).await, "3 Spoon, 1 Jug, 2 Bowl");
    // Where it is already.
    sale.operator.post(&sale.path("/lots/order/drop"), &drop).await.is(200).hides("data-undo");
    let mut viewer = sale.fixture.signed_in(Role::Viewer).await;
    viewer.post(&sale.path("/lots/order/drop"), &drop).await.is(403);
    viewer.get(&sale.path("/lots")).await.is(200).hides("data-order");
}

#[tokio::test]
async fn planned_ends_follow_the_running_order_of_drafts() {
    use jiff::SignedDuration;
    use platform_core::sales::auctions::move_ends::{MoveEnds, NewEnds};
    use platform_rules::edit::Plan;
    let mut sale = Sale::new(AuctionStatus::Draft, &["Jug", "Bowl"]).await;
    let ends_at = crate::sale_fixture::ENDS_AT.parse().unwrap();
    let plan = Plan { ends_at, stagger: Some(platform_rules::Stagger { seconds: 60, items: 1 }) };
    let wanted = MoveEnds { ends: NewEnds::Plan(plan), items: None, reason: None };
    sale.fixture.platform.move_ends(&staff(), sale.auction, &wanted, None, None).await.unwrap();
    let (first, last) = (sale.items[0].uuid.to_string(), sale.items[1].uuid.to_string());
    let shown =
        send(&mut sale, "/lots/order", &[("action", "MOVE"), ("do", "show"), ("before", "1"), ("range", "2")], &[])
            .await;
    shown.is(200).shows("New end").shows("19:01");
    let drop = [("lot", last.as_str()), ("side", "before"), ("beside", first.as_str())];
    sale.operator.post(&sale.path("/lots/order/drop"), &drop).await.is(200);
    assert_eq!(sale.item(1).await.end_time, Some(ends_at));
    assert_eq!(sale.item(0).await.end_time, Some(ends_at + SignedDuration::from_secs(60)));
}

#[tokio::test]
async fn the_rows_of_a_page_are_loaded_by_themselves() {
    let titles: Vec<String> = (1..=70).map(|number| format!("Lot {number}")).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let mut sale = Sale::new(AuctionStatus::Draft, &titles).await;
    let page = sale.operator.get(&sale.path("/lots")).await;
    page.is(200).shows("data-next=\"after=63\"").shows("rel=\"next\"").shows("data-order");
    let rows = sale.operator.get_fragment(&sale.path("/lots?after=63"), "rows").await;
    rows.is(200).shows("<table><tbody data-query=\"after=63&#38;\" data-previous=\"\">").hides("<html").shows("Lot 70");
    assert_eq!(rows.text.matches("<tr").count(), 6);
    // A filtered list is not the running order.
    sale.operator.get(&sale.path("/lots?q=Lot")).await.is(200).hides("data-order");
}
