//! A house's own catalogue: uploaded, mapped, checked, imported, and imported again.

use contract::AuctionStatus;
use platform_core::Role;
use platform_core::port::Page;

use crate::sale_fixture::{Sale, staff};

const CATALOGUE: &[u8] = b"Lot No;Lead;Low Est;High Est;Start Bid;Shelf\r\n\
    1;Caf\xe9 clock;\xa325.00;40,00;10;A3\r\n\
    2;<i>Pot</i>;1.200,00;1.500,00;;B1\r\n";

#[tokio::test]
async fn a_catalogue_is_uploaded_checked_and_imported_and_updates_the_second_time() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    sale.operator.get(&sale.path("/lots/import")).await.is(200).shows("with any column names");
    let uploaded = sale.operator.upload(&sale.path("/lots/import"), "house.csv", CATALOGUE).await;
    let check = uploaded.is(303).location.clone().unwrap().trim_start_matches("/admin").to_owned();
    let page = sale.operator.get(&check).await;
    page.is(200).shows("house.csv").shows("Café clock · &#60;i&#62;Pot").hides("<i>Pot").shows("Import 2 lots");
    page.shows("<option value=\"low_estimate\" selected>Low estimate</option>");
    let items = sale.fixture.platform.items(&staff(), sale.auction, Page { after: None, limit: 9 }).await.unwrap();
    assert!(items.is_empty(), "a check changes nothing");

    let mapping =
        [("mapped", "yes"), ("c0", "lot_number"), ("c1", "title"), ("c2", "low_estimate"), ("c3", "high_estimate")];
    let lots = sale.operator.submit(&check, &mapping).await;
    lots.shows("The catalogue was imported.").shows("Café clock").shows("£25").shows("£1,200");
    let items = sale.fixture.platform.items(&staff(), sale.auction, Page { after: None, limit: 9 }).await.unwrap();
    assert_eq!((items[0].low_estimate, items[0].opening_bid, items[1].high_estimate), (Some(2_500), 0, Some(150_000)));
    // The same file with the remembered mapping changes nothing; a column more changes the lot that has a value in it.
    sale.operator.get(&check).await.is(200).shows("<dt>Unchanged</dt><dd>2</dd>").hides("Import 1 lot");
    let page = sale.operator.get(&format!("{check}?mapped=yes&c0=lot_number&c4=opening_bid")).await;
    page.shows("Import 1 lot").shows("Opening bid");
    // An error stands beside its line and column, and nothing can be imported.
    let wrong = b"Lot,Title,Low Est\n1,Clock,cheap\n,No number,5\n";
    let uploaded = sale.operator.upload(&sale.path("/lots/import"), "wrong.csv", wrong).await;
    let check = uploaded.is(303).location.clone().unwrap().trim_start_matches("/admin").to_owned();
    let page = sale.operator.get(&check).await;
    page.is(200).shows("<b>Low Est</b>").shows("cheap").hides("Import 1 lot").shows("Nothing is imported while");
    // Without its column the same file is fine in that line.
    let page = sale.operator.get(&format!("{check}?mapped=yes&c0=lot_number&c1=title&c2=")).await;
    page.is(200).hides("<b>Low Est</b>");
}

#[tokio::test]
async fn a_file_that_is_no_catalogue_is_refused_and_another_user_does_not_see_an_upload() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    let path = sale.path("/lots/import");
    sale.operator.upload(&path, "empty.csv", b"").await.is(422).shows("Choose a file that is not empty.");
    sale.operator.upload(&path, "lots.xlsx", b"PK\x03\x04...").await.is(422).shows("save it as CSV");
    let uploaded = sale.operator.upload(&path, "house.csv", CATALOGUE).await;
    let check = uploaded.location.clone().unwrap().trim_start_matches("/admin").to_owned();
    let mut other = sale.fixture.signed_in(Role::Administrator).await;
    other.get(&check).await.is(410).shows("Upload the file again.");
    let mut viewer = sale.fixture.signed_in(Role::Viewer).await;
    viewer.get(&path).await.is(403);
    viewer.upload(&path, "house.csv", CATALOGUE).await.is(403);
    sale.operator.origin = Some("http://evil.test");
    sale.operator.upload(&path, "house.csv", CATALOGUE).await.is(403);
}
