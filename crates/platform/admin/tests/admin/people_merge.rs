//! Likely duplicates of the register: the warning before a record is added, the list, and the merge of two records.

use contract::AuctionStatus;
use platform_core::Role;
use platform_core::bidders::PartyInput;
use platform_core::port::PartyDetails;

use crate::sale_fixture::{Sale, staff};

/// Adds a record, and returns its UUID.
async fn add(sale: &mut Sale, fields: &[(&str, &str)]) -> String {
    let fields = [fields, &[("role", "bidder")]].concat();
    let page = sale.operator.post("/people/new", &fields).await;
    let page = if page.status == 200 {
        let sure = page.shows("Nothing was added yet.").between("name=\"sure\" value=\"", "\"");
        sale.operator.submit("/people/new", &[&fields[..], &[("sure", sure.as_str())]].concat()).await
    } else {
        let to = page.is(303).location.clone().unwrap();
        sale.operator.get(&to).await
    };
    page.is(200).shows("The record was added").between("/people/", "/block")
}

#[tokio::test]
async fn a_likely_duplicate_is_a_warning_before_it_is_added() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A spoon"]).await;
    let ada = [("role", "bidder"), ("name", "Ada <King>"), ("email", "ada@example.com"), ("phone", "020 7946 0018")];
    sale.operator.submit("/people/new", &ada).await.is(200).shows("The record was added");
    let again = [("role", "bidder"), ("name", "A. King"), ("email", "ADA@example.com"), ("phone", "+44 20 7946 0018")];
    let page = sale.operator.post("/people/new", &again).await;
    page.is(200).shows("Nothing was added yet.").shows("Ada &#60;King&#62;</a>: Same e-mail, same telephone");
    page.shows("value=\"A. King\"").shows("Add as a new record");
    sale.operator.get("/people").await.is(200).shows("1 record");
    // A stale answer to the question is asked again.
    let other = [&again[..], &[("sure", "something else")]].concat();
    sale.operator.post("/people/new", &other).await.is(200).shows("Nothing was added yet.");
    let sure = page.between("name=\"sure\" value=\"", "\"");
    sale.operator.submit("/people/new", &[&again[..], &[("sure", sure.as_str())]].concat()).await.is(200);
    sale.operator.get("/people").await.is(200).shows("2 records").shows("Likely duplicates");
}

#[tokio::test]
async fn two_records_are_compared_kept_apart_or_merged() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A spoon", "A fork"]).await;
    let ada = [
        ("name", "Ada <King>"),
        ("reference", "B-1"),
        ("email", "ada@example.com"),
        ("currency", "GBP"),
        ("deposit", "500"),
        ("limit", "9,000"),
    ];
    let ada = add(&mut sale, &ada).await;
    let king = [
        ("name", "King, A."),
        ("reference", "B-2"),
        ("email", "Ada@example.com"),
        ("phone", "020 7946 0018"),
        ("currency", "GBP"),
        ("deposit", "200"),
        ("limit", "4,000"),
    ];
    let king = add(&mut sale, &king).await;
    let cousin = add(&mut sale, &[("name", "Cousin"), ("email", "ada@example.com")]).await;
    let new = format!("/auctions/{}/registrations/new", sale.auction);
    sale.operator.post(&new, &[("party", ada.as_str()), ("paddle", "12")]).await.is(303);
    sale.operator.post(&new, &[("party", king.as_str()), ("paddle", "15")]).await.is(303);

    let list = sale.operator.get("/people/duplicates").await;
    list.is(200).shows("Same e-mail").shows("King, A. (B-2)").shows("Not the same person");
    let apart = [("one", king.as_str()), ("other", cousin.as_str())];
    sale.operator.submit("/people/apart", &apart).await.is(200).shows("are not proposed again");
    let apart = [("one", ada.as_str()), ("other", cousin.as_str())];
    sale.operator.submit("/people/apart", &apart).await.is(200);
    let list = sale.operator.get("/people/duplicates").await;
    list.is(200).shows(&format!("/people/{ada}/merge?with={king}")).hides("Cousin");
    let record = sale.operator.get(&format!("/people/{ada}")).await;
    record.is(200).shows("Likely duplicates").shows("King, A. (B-2)").hides("Cousin");
    sale.operator.get(&format!("/people/{ada}/merge")).await.is(200).shows("King, A. (B-2)").hides("Cousin");
    sale.operator.get(&format!("/people/{ada}/merge?text=cousin")).await.is(200).shows("Cousin");

    let path = format!("/people/{ada}/merge");
    let page = sale.operator.get(&format!("{path}?with={king}")).await;
    page.is(200).shows("Stays: Ada &#60;King&#62; (B-1)").shows("Is merged: King, A. (B-2)");
    page.shows("1 registration, 0 purchases and 0 consigned lots").shows("both paddles remain").shows("£700.00");
    page.shows("A merge can’t be undone.").shows("name=\"limit\" value=\"merged\" checked");
    page.shows("name=\"deposit\" value=\"kept\" checked").hides("name=\"phone\"");
    let (version, other) =
        (page.between("name=\"version\" value=\"", "\""), page.between("name=\"other\" value=\"", "\""));
    let fields = |version: &str| {
        let fields = [("with", king.as_str()), ("version", version), ("other", other.as_str()), ("deposit", "both")];
        fields.map(|(name, value)| (name, value.to_owned()))
    };
    let outdated = fields("7");
    let outdated = outdated.each_ref().map(|(name, value)| (*name, value.as_str()));
    let refused = sale.operator.post(&path, &outdated).await;
    refused.is(409).shows("Someone else changed a record").shows("name=\"deposit\" value=\"both\" checked");
    let right = fields(&version);
    let right = right.each_ref().map(|(name, value)| (*name, value.as_str()));
    let merged = sale.operator.submit(&path, &right).await;
    merged.is(200).shows("The records were merged").shows("£700.00").shows("£4,000.00").shows("020 7946 0018");
    merged.shows("Merged record:").shows("King, A. (B-2)").shows(">12 ").shows(">15 ").hides("Likely duplicates");

    // The merged record leads to the one that stayed.
    for page in ["", "/edit", "/block", "/merge"] {
        let to = sale.operator.get(&format!("/people/{king}{page}")).await;
        assert!(to.is(303).location.as_deref().unwrap().contains(if page.is_empty() || page == "/merge" {
            &ada
        } else {
            &king
        }));
    }
    let refused = sale.operator.get(&format!("{path}?with={king}")).await;
    assert!(refused.is(303).location.as_deref().unwrap().ends_with(&format!("/people/{ada}")));
    sale.operator.get("/people").await.is(200).shows("2 records");
    sale.operator.get("/people?text=B-2").await.is(200).shows("1 record").shows("Ada &#60;King&#62;");

    let mut support = sale.fixture.signed_in(Role::Support).await;
    let seen = support.get("/people/duplicates").await;
    seen.is(200).shows("No likely duplicates");
    support.get(&format!("/people/{ada}")).await.is(200).hides("Merge with another record");
    support.get(&format!("{path}?with={cousin}")).await.is(403);
    support.post("/people/apart", &apart).await.is(403);
}

#[tokio::test]
async fn a_merge_that_is_not_possible_says_why_and_has_no_button() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A spoon"]).await;
    let ada = add(&mut sale, &[("name", "Ada")]).await;
    let bell = add(&mut sale, &[("name", "Bell")]).await;
    let new = format!("/auctions/{}/registrations/new", sale.auction);
    sale.operator.post(&new, &[("party", ada.as_str()), ("paddle", "12")]).await.is(303);
    let edit = [("vendor", bell.as_str()), ("lotNumber", "9"), ("title", "A cup"), ("openingBid", "10")];
    sale.operator.post(&sale.path("/lots/new"), &edit).await;
    let page = sale.operator.get(&format!("/people/{ada}/merge?with={ada}")).await;
    page.is(409);
    let unknown = sale.operator.get(&format!("/people/{ada}/merge?with={}", uuid::Uuid::from_u128(7))).await;
    unknown.is(404);
}

#[tokio::test]
async fn likely_duplicates_have_a_total_and_pages() {
    let mut sale = Sale::new(AuctionStatus::Preview, &["A spoon"]).await;
    let (platform, caller) = (sale.fixture.platform.clone(), staff());
    let customer = platform.auction(&caller, sale.auction).await.unwrap().customer;
    for number in 0..53 {
        let email = Some("ada@example.com".to_owned());
        let details = PartyDetails { name: format!("Ada {number}"), is_bidder: true, email, ..PartyDetails::default() };
        platform.create_party(&caller, customer, &PartyInput { details, document: None }).await.unwrap();
        if number == 2 {
            sale.operator.get("/people/duplicates").await.is(200).shows("<b>2 pairs.</b>").hides("rel=\"next\"");
        }
    }
    let first = sale.operator.get("/people/duplicates").await;
    first.is(200).shows("<b>More than 50 pairs.</b>").shows("rel=\"next\"").shows("Ada 3<").hides("Ada 1<");
    let next = first.between("rel=\"next\" href=\"/admin", "\"");
    let second = sale.operator.get(&next.replace("&amp;", "&").replace("&#38;", "&")).await;
    second
        .is(200)
        .shows("Ada 0<")
        .shows("Ada 1<")
        .shows("Ada 2<")
        .hides("Ada 3<")
        .hides("rel=\"next\"")
        .shows("rel=\"prev\"");
}
