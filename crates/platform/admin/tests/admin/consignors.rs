//! Consignors in the pages of lots: chosen in the form and in a cell, named in the grid and on paper, added by an import.

use contract::AuctionStatus;
use platform_core::Role;
use platform_rules::item::ItemEdit;
use uuid::Uuid;

use crate::sale_fixture::{Sale, staff};

/// Adds a consignor of the house, and returns its UUID.
async fn consignor(sale: &mut Sale, name: &str, reference: &str) -> Uuid {
    let email = format!("{}{reference}@example.com", name.replace([' ', '<', '>'], ""));
    let fields = [("role", "consignor"), ("name", name), ("reference", reference), ("email", &email)];
    sale.operator.submit("/people/new", &fields).await.is(200).between("/people/", "/block").parse().unwrap()
}

const BELL: &str = "Anna &#60;Bell&#62;";

#[tokio::test]
async fn a_consignor_is_chosen_in_the_form_of_a_lot() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["A jug", "A bowl"]).await;
    let bell = consignor(&mut sale, "Anna <Bell>", "C-7").await;
    let may = consignor(&mut sale, "Annabel May", "").await;
    let edit = sale.lot(0, "/edit");
    let form = sale.operator.get(&edit).await;
    form.is(200).shows(&format!("<option value=\"{BELL} (C-7)\">")).shows("<option value=\"Annabel May\">");
    let version = form.between("name=\"version\" value=\"", "\"");
    let fields = |vendor: &'static str, found: &str| {
        let fields = [("version", version.as_str()), ("lotNumber", "1"), ("title", "A jug"), ("openingBid", "10")];
        let own = [("vendor", vendor), ("vendorMatch", found)];
        fields.into_iter().chain(own).map(|(name, value)| (name, value.to_owned())).collect::<Vec<_>>()
    };
    let pairs = |fields: &[(&'static str, String)]| {
        fields.iter().map(|(name, value)| (*name, value.clone())).collect::<Vec<_>>()
    };
    let refused = fields("anna", "");
    let refused: Vec<(&str, &str)> = refused.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let page = sale.operator.post(&edit, &refused).await;
    page.is(422).shows("No consignor has the name or reference “anna”").shows("value=\"anna\"");
    page.shows("Consignors that match").shows(&format!("<option value=\"{bell}\">{BELL} (C-7)</option>"));
    page.shows(&format!("<option value=\"{may}\">Annabel May</option>"));
    let chosen = pairs(&fields("anna", &may.to_string()));
    let chosen: Vec<(&str, &str)> = chosen.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let lot = sale.operator.submit(&edit, &chosen).await;
    lot.is(200).shows(&format!("/people/{may}\">Annabel May</a></dd>"));
    assert_eq!(sale.item(0).await.vendor, Some(may));
    // The label that the form shows stays the same consignor, also when another one has the name.
    consignor(&mut sale, "Annabel May", "C-9").await;
    let form = sale.operator.get(&edit).await;
    let version = form.is(200).between("name=\"version\" value=\"", "\"");
    let same = [("version", version.as_str()), ("lotNumber", "1"), ("title", "A ewer"), ("vendor", "Annabel May")];
    sale.operator.post(&edit, &same).await.is(303);
    assert_eq!((sale.item(0).await.vendor, sale.item(0).await.title.as_str()), (Some(may), "A ewer"));

    let new = [("lotNumber", "3"), ("title", "A cup"), ("vendor", "c-7")];
    let lot = sale.operator.submit(&sale.path("/lots/new"), &new).await;
    lot.is(200).shows(&format!("/people/{bell}\">{BELL} (C-7)</a>"));
    let new = [("lotNumber", "4"), ("title", "A cup"), ("vendor", "nobody")];
    sale.operator.post(&sale.path("/lots/new"), &new).await.is(422).shows("“nobody”").hides("Consignors that match");

    // The record lists what was consigned; other roles see no consignor on the page of a lot.
    let record = sale.operator.get(&format!("/people/{bell}")).await;
    record.is(200).shows("Consigned lots").shows("Lot 3: A cup").shows("December silver").shows("1 lot");
    for role in [Role::Viewer, Role::Support] {
        let mut other = sale.fixture.signed_in(role).await;
        other.get(&sale.lot(0, "")).await.is(200).hides("Annabel May").hides("Consignor");
        other.get(&sale.path("/lots/consignors?text=an")).await.is(403);
    }
}

#[tokio::test]
async fn a_consignor_is_typed_in_a_cell_and_shown_by_name() {
    let mut sale = Sale::new(AuctionStatus::Draft, &["A jug", "A bowl"]).await;
    let bell = consignor(&mut sale, "Anna <Bell>", "C-7").await;
    consignor(&mut sale, "Anna <Bell>", "C-8").await;
    let own = Uuid::from_u128(7);
    let edit = ItemEdit { vendor: Some(Some(own)), ..ItemEdit::default() };
    sale.fixture.platform.change_item(&staff(), sale.items[1].uuid, &edit, None).await.unwrap();
    sale.operator.get(&sale.path("/lots")).await.is(200).hides("id=\"consignors\"");
    sale.operator.post(&sale.path("/lots/columns"), &[("column", "vendor")]).await.is(303);
    let grid = sale.operator.get(&sale.path("/lots")).await;
    grid.is(200).shows(&own.to_string()).shows("<datalist id=\"consignors\">");
    grid.shows(&format!("<option value=\"{BELL} (C-7)\">")).hides("data-suggest");
    let open = sale.operator.get(&sale.path("/lots?edit=0.vendor")).await;
    open.is(200).shows("list=\"consignors\"");
    let version = sale.item(0).await.version.to_string();
    let cell = sale.lot(0, "/cell");
    let fields =
        |value: &'static str| [("field", "vendor"), ("value", value), ("version", version.as_str()), ("back", "")];
    let refused = sale.operator.post(&cell, &fields("anna <bell>")).await;
    refused.is(422).shows("write the reference (C-7, C-8)");
    sale.operator.post(&cell, &fields("nobody")).await.is(422).shows("“nobody”");
    sale.operator.submit(&cell, &fields("C-7")).await.is(200).shows(&format!("{BELL} (C-7)"));
    assert_eq!(sale.item(0).await.vendor, Some(bell));
    let found = sale.operator.get(&sale.path("/lots/consignors?text=c-8")).await;
    found.is(200).shows(&format!("<option value=\"{BELL} (C-8)\"></option>")).hides("C-7");

    // On papers of the staff, and on no other.
    sale.operator
        .get(&sale.path("/print/clerking"))
        .await
        .is(200)
        .shows(&format!("{BELL} (C-7)"))
        .shows(&own.to_string());
    for page in ["/print/catalogue", "/print/results", "/print/paddles", "/print/book"] {
        sale.operator.get(&sale.path(page)).await.hides("Bell");
    }
    let mut viewer = sale.fixture.signed_in(Role::Viewer).await;
    viewer.get(&sale.path("/print/clerking")).await.hides("Bell").hides("Consignor");
    viewer.get(&sale.path("/lots")).await.is(200).hides("Bell");
    viewer.get(&sale.path("/lots/catalogue.csv")).await.is(200).hides("Bell").hides(&bell.to_string());
}

#[tokio::test]
async fn an_import_reports_unknown_consignors_and_adds_them_when_a_person_wants_it() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    let bell = consignor(&mut sale, "Anna <Bell>", "C-7").await;
    let file = b"Lot,Title,Consignor\n1,A jug,C-7\n2,A bowl,Carl May\n";
    let uploaded = sale.operator.upload(&sale.path("/lots/import"), "house.csv", file).await;
    let check = uploaded.is(303).location.clone().unwrap();
    let page = sale.operator.get(&check).await;
    page.is(200).shows("<option value=\"vendor\" selected>Consignor</option>").shows(&format!("{BELL} (C-7)"));
    page.shows("No consignor has the name or reference “Carl May”").shows("1 consignor is not in the register");
    page.hides("Import 2 lots");
    let mapping = [("mapped", "yes"), ("c0", "lot_number"), ("c1", "title"), ("c2", "vendor")];
    let wanted = [&mapping[..], &[("newConsignors", "name"), ("action", "check")]].concat();
    let page = sale.operator.post(&check, &wanted).await;
    page.is(200).shows("Import 2 lots").shows("<b>Carl May</b>").hides("No consignor has");
    let wanted = [&mapping[..], &[("newConsignors", "name"), ("action", "import")]].concat();
    sale.operator.submit(&check, &wanted).await.is(200).shows("The catalogue was imported.");
    sale.operator.get("/people?kind=consignors").await.is(200).shows("2 records").shows("Carl May");
    let lots = sale.operator.get(&format!("/people/{bell}")).await;
    lots.is(200).shows("Lot 1: A jug").hides("Lot 2");
}
