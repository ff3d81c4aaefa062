//! The grid's columns, which each user chooses in a browser, and amounts by a formula.

use contract::AuctionStatus;
use platform_core::Role;
use platform_rules::Hidden;
use testkit::web::Answer;

use crate::fixture::PASSWORD;
use crate::sale_fixture::Sale;

/// The headings of the grid after the lot number.
fn headings(page: &Answer) -> Vec<String> {
    let head = page.between("<thead>", "</thead>");
    let cells =
        head.split("<th ").skip(1).map(|cell| cell.split_once('>').unwrap().1.split('<').next().unwrap().to_owned());
    cells.skip_while(|heading| heading != "Lot").skip(1).collect()
}

#[tokio::test]
async fn a_user_chooses_columns_and_another_user_of_the_browser_has_others() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["A jug"]).await;
    let lots = sale.path("/lots");
    let usual = headings(&sale.operator.get(&lots).await);
    assert_eq!(usual[..6], ["Title", "Low est.", "High est.", "Opening", "Reserve", "Status"]);
    let fields = [("column", "description"), ("column", "vendor"), ("column", "ends"), ("back", "q=jug&")];
    sale.operator.post(&sale.path("/lots/columns"), &fields).await.leads_to(&sale.path("/lots?q=jug&"));
    let chosen = headings(&sale.operator.get(&lots).await);
    assert_eq!(chosen[..3], ["Title", "Description", "Consignor"]);
    assert!(chosen[3].starts_with("Ends (") && chosen.len() == 4, "{chosen:?}");

    // A saved cell has the chosen columns too, and a description opens as an area.
    let open = sale.operator.get(&sale.path("/lots?edit=0.description")).await;
    open.is(200).shows("<textarea name=\"value\"").hides("data-c=\"reserve\"");

    // Another user in the same browser.
    sale.fixture.user("viewer@example.com", Role::Viewer).await;
    sale.operator.post("/sign-out", &[]).await;
    sale.operator.post("/sign-in", &[("email", "viewer@example.com"), ("password", PASSWORD)]).await.is(303);
    assert_eq!(headings(&sale.operator.get(&lots).await), usual);
    // A viewer sees no consignors.
    let fields = [("column", "vendor"), ("column", "bids")];
    sale.operator.post(&sale.path("/lots/columns"), &fields).await.is(303);
    assert_eq!(headings(&sale.operator.get(&lots).await), ["Title", "Bids"]);
    sale.operator.get(&lots).await.hides("name=\"column\" value=\"vendor\"").shows("name=\"column\" value=\"bids\"");
    sale.operator.post("/sign-out", &[]).await;
    sale.operator.post("/sign-in", &[("email", "operator@example.com"), ("password", PASSWORD)]).await.is(303);
    assert_eq!(headings(&sale.operator.get(&lots).await), chosen, "the first user's choice is kept");
}

/// The values of the lots in a form.
fn lots(page: &Answer) -> Vec<String> {
    let values = page.text.split("name=\"lot\" value=\"").skip(1);
    values.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_formula_is_shown_applied_and_undone() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A jug", "A bowl", "A spoon", "A fork"]).await;
    sale.bid(2, "7", 2_000).await;
    let removed = platform_rules::item::ItemEdit { low_estimate: Some(None), ..Default::default() };
    let staff = crate::sale_fixture::staff();
    sale.fixture.platform.change_item(&staff, sale.items[3].uuid, &removed, None).await.unwrap();
    let form = sale.operator.post(&sale.path("/lots/bulk"), &[("action", "FORMULA"), ("range", "1-4")]).await;
    form.is(200).shows("Set an amount of 4 lots by a formula").hides("id=\"result\"");
    let selected = lots(&form);
    let formula = |percent: &'static str| {
        let terms = [("do", "show"), ("target", "reserve"), ("source", "lowEstimate"), ("percent", percent)];
        let mut fields = terms.to_vec();
        fields.extend([("step", "5"), ("rounding", "down")]);
        fields
    };
    let with = |fields: &[(&'static str, &'static str)], lots: &[String]| -> Vec<(&'static str, String)> {
        let fields = fields.iter().map(|(name, value)| (*name, (*value).to_owned()));
        fields.chain(lots.iter().map(|lot| ("lot", lot.clone()))).collect()
    };
    async fn send(sale: &mut Sale, page: &str, fields: Vec<(&'static str, String)>) -> Answer {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let path = sale.path(page);
        sale.operator.post(&path, &fields).await
    }
    let wrong = send(&mut sale, "/lots/formula", with(&formula("much"), &selected)).await;
    wrong.is(422).shows("Write a percentage from 0.01 to 1000").shows("value=\"much\"");
    let preview = send(&mut sale, "/lots/formula", with(&formula("95"), &selected)).await;
    preview.is(200).shows("Reserve = 95\u{a0}% of the low estimate, rounded down to multiples of £5.");
    preview.shows("3 lots change").shows("<b>£55</b>").shows("the result is no amount: 4.");
    assert_eq!(sale.item(0).await.reserve.map(Hidden::reveal), Some(5_000), "a preview changes nothing");

    // The lot with a bid keeps its reserve.
    let values = preview.between("/formula/apply\">", "</form>");
    let values: Vec<String> =
        values.split("name=\"lot\" value=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
    let done = send(&mut sale, "/lots/formula/apply", with(&[], &values)).await;
    done.is(200).shows("2 lots were changed.").shows("<b>3</b>").shows("Undo for 2 lots");
    let reserve = async |sale: &Sale, place| sale.item(place).await.reserve.map(Hidden::reveal);
    assert_eq!((reserve(&sale, 0).await, reserve(&sale, 2).await), (Some(5_500), Some(5_000)));
    let undone = send(&mut sale, "/lots/formula/apply", with(&[("action", "undo")], &lots(&done))).await;
    undone.is(200).shows("2 lots were changed.").hides("Undo for");
    assert_eq!((reserve(&sale, 0).await, reserve(&sale, 1).await), (Some(5_000), Some(5_000)));
    // What someone else changed since the preview stays.
    let stale = send(&mut sale, "/lots/formula/apply", with(&[], &values)).await;
    stale.is(200).shows("0 lots were changed.");
    assert_eq!(reserve(&sale, 0).await, Some(5_000));
}
