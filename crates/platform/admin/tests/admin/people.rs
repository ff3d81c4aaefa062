//! The register of a house: records, search, registrations from it, blocks.

use contract::AuctionStatus;
use platform_core::Role;

use crate::sale_fixture::Sale;

const ADA: [(&str, &str); 9] = [
    ("role", "bidder"),
    ("name", "Ada <King> & Co"),
    ("reference", "B-17"),
    ("email", "ada@example.com"),
    ("phone", "+44 20 7946 0018"),
    ("line1", "12 Cooper Street"),
    ("city", "Bath"),
    ("postcode", "BA1 1AA"),
    ("note", "pays by transfer"),
];

#[tokio::test]
async fn a_bidder_is_entered_found_and_registered_for_a_sale() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A spoon"]).await;
    let operator = &mut sale.operator;
    operator.get("/people").await.is(200).shows("No bidders or consignors yet").shows("Add person or firm");
    let amounts = [("currency", "gbp"), ("deposit", "1,000"), ("limit", "250.50"), ("document", "passport")];
    let page = operator.submit("/people/new", &[&ADA[..], &amounts].concat()).await;
    page.is(200).shows("The record was added").shows("Ada &#60;King&#62; &#38; Co").shows("£1,000.00").shows("£250.50");
    page.shows("12 Cooper Street, Bath BA1 1AA, UK").shows("passport, seen by operator@example.com");
    operator.post("/people/new", &ADA).await.is(409).shows("already taken").shows("value=\"ada@example.com\"");
    let wrong =
        [("name", ""), ("currency", "pounds"), ("limit", "12"), ("email", "nothing"), ("line1", "1 High Street")];
    let refused = operator.post("/people/new", &wrong).await;
    refused.is(422).shows("choose at least one").shows("three letters").shows("is not an e-mail address");
    refused.shows("an address has it");

    for text in ["king", "ADA@example", "020 7946", "7946 0018", "b-17"] {
        operator.get(&format!("/people?text={}", text.replace(' ', "+"))).await.is(200).shows("1 record").shows("Bath");
    }
    operator.get("/people?text=king&kind=consignors").await.is(200).shows("Nothing found");

    let new = format!("/auctions/{}/registrations/new", sale.auction);
    let found = operator.get(&format!("{new}?person=king")).await;
    let party = found.is(200).between("?party=", "\"");
    let form = operator.get(&format!("{new}?party={party}")).await;
    form.is(200).shows("From the register").shows("value=\"250.50\"").hides("Add to the bidders of the house");
    let fields = [("party", party.as_str()), ("paddle", "117"), ("limit", "250.50"), ("shown", "yes")];
    let list = operator.submit(&new, &fields).await;
    list.is(200)
        .shows("Paddle 117, Ada &#60;King&#62; &#38; Co, was registered.")
        .shows(&format!("/people/{party}\">Ada &#60;King&#62;"));
    let twice = operator.post(&new, &[("party", party.as_str()), ("paddle", "118")]).await;
    twice.is(422).shows("From the register");
    operator.get("/people?text=117").await.is(200).shows("1 record");
    operator.get(&format!("/people/{party}")).await.is(200).shows("December silver").shows("117").shows("Approved");
}

#[tokio::test]
async fn a_new_bidder_of_a_sale_is_added_to_the_register_once() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A spoon"]).await;
    let new = format!("/auctions/{}/registrations/new", sale.auction);
    let operator = &mut sale.operator;
    operator.get(&new).await.is(200).shows("Add to the bidders of the house");
    let fields = [("paddle", "12"), ("name", "Bo Diddley"), ("email", "bo@example.com"), ("keep", "yes")];
    operator.submit(&new, &fields).await.is(200).shows("was registered.");
    // The paddle is taken: the record is added, and the form keeps it for the next try.
    let refused = operator.post(&new, &[("paddle", "12"), ("name", "Cy Twombly"), ("keep", "yes")]).await;
    let party = refused.is(422).shows("Is taken already").between("name=\"party\" value=\"", "\"");
    let again = [("paddle", "13"), ("name", "Cy Twombly"), ("keep", "yes"), ("party", party.as_str())];
    operator.submit(&new, &again).await.is(200).shows("was registered.");
    operator.post(&new, &[("paddle", "14"), ("name", "Only here")]).await.is(303);
    let list = operator.get("/people").await;
    list.is(200).shows("2 records").shows("Bo Diddley").shows("Cy Twombly").hides("Only here");
}

#[tokio::test]
async fn a_new_bidder_of_a_sale_who_is_likely_in_the_register_is_asked_about() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A spoon"]).await;
    let page = sale.operator.submit("/people/new", &ADA).await;
    let ada = page.between("/people/", "/block");
    let new = format!("/auctions/{}/registrations/new", sale.auction);
    let fields = [("paddle", "12"), ("name", "A. King"), ("email", "ADA@example.com"), ("keep", "yes")];
    let asked = sale.operator.post(&new, &fields).await;
    asked.is(422).shows("Nothing was saved yet").shows("Same e-mail").shows(&format!("?party={ada}"));
    let sure = asked.between("name=\"sure\" value=\"", "\"");
    assert_eq!(sure, ada);
    sale.operator.get("/people").await.is(200).shows("1 record");
    let confirmed = [&fields[..], &[("sure", sure.as_str())]].concat();
    sale.operator.submit(&new, &confirmed).await.is(200).shows("was registered.");
    sale.operator.get("/people").await.is(200).shows("2 records").shows("A. King");
}

#[tokio::test]
async fn a_blocked_bidder_is_suspended_and_its_lots_are_listed() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A spoon", "A fork"]).await;
    let page = sale.operator.submit("/people/new", &ADA).await;
    let party = page.between("/people/", "/block");
    let new = format!("/auctions/{}/registrations/new", sale.auction);
    sale.operator.post(&new, &[("party", party.as_str()), ("paddle", "12")]).await.is(303);
    sale.bid(0, "12", 4_000).await;
    let path = format!("/people/{party}");
    let confirm = sale.operator.get(&format!("{path}/block")).await;
    let version = confirm.is(200).shows("is suspended now").between("name=\"version\" value=\"", "\"");
    sale.operator.post(&format!("{path}/block"), &[("version", &version)]).await.is(422).shows("Give a reason");
    let fields = [("version", version.as_str()), ("reason", "did not pay twice")];
    let page = sale.operator.submit(&format!("{path}/block"), &fields).await;
    page.is(200)
        .shows("The bidder is blocked.")
        .shows("did not pay twice")
        .shows("Leads now")
        .shows("Lot 1: A spoon")
        .shows("data-of=\"Sale\"");
    page.shows("Suspended").hides("A fork");
    sale.operator.get("/people?kind=blocked").await.is(200).shows("1 record").shows("Blocked");
    let found = sale.operator.get(&format!("{new}?person=ada")).await;
    found.is(200).shows("Blocked").hides("?party=");
    let page = sale.operator.submit(&format!("{path}/unblock"), &[("version", "2")]).await;
    page.is(200).shows("The block has ended.").hides("May not bid");
}

#[tokio::test]
async fn the_register_is_closed_to_clerks_and_viewers() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A spoon"]).await;
    let page = sale.operator.submit("/people/new", &ADA).await;
    let path = format!("/people/{}", page.between("/people/", "/block"));
    let mut support = sale.fixture.signed_in(Role::Support).await;
    support.get("/people").await.is(200).shows("Ada").hides("Add person or firm");
    support.get(&path).await.is(200).shows("ada@example.com").hides("Block bidder");
    support.get(&format!("{path}/edit")).await.is(403);
    for role in [Role::Clerk, Role::Viewer] {
        let mut other = sale.fixture.signed_in(role).await;
        other.get("/people").await.is(403).hides("Ada");
        other.get(&path).await.is(403).hides("Ada");
        other.get("/").await.is(200).hides("Bidders and consignors");
    }
    let mut administrator = sale.fixture.signed_in(Role::Administrator).await;
    let log = administrator.get("/audit").await;
    log.is(200).shows("Party viewed").shows("Register listed").hides("ada@example.com");
}

#[tokio::test]
async fn an_administrator_erases_a_person_after_reading_what_goes() {
    let mut sale = Sale::new(AuctionStatus::Live, &["A spoon", "A fork"]).await;
    let page = sale.operator.submit("/people/new", &[&ADA[..], &[("document", "passport")]].concat()).await;
    let party = page.hides("Erase person").between("/people/", "/block");
    let (path, new) = (format!("/people/{party}"), format!("/auctions/{}/registrations/new", sale.auction));
    sale.operator.post(&new, &[("party", party.as_str()), ("paddle", "12")]).await.is(303);
    sale.operator.get(&format!("{path}/erase")).await.is(403);
    sale.bid(0, "12", 4_000).await;
    let mut administrator = sale.fixture.signed_in(Role::Administrator).await;
    let refused = administrator.get(&format!("{path}/erase")).await;
    refused
        .is(200)
        .shows("Not possible now: in “December silver”, the person leads on lot 1 with paddle 12")
        .hides("<button class=\"danger\">");
    sale.bid(0, "13", 9_000).await;

    administrator.get(&path).await.is(200).shows("Erase person").shows("Export data (JSON)");
    let file = administrator.get(&format!("{path}/export.json")).await;
    file.is(200).shows("\"format\": \"lotwire.person.1\"").shows("pays by transfer").shows("\"paddle\": \"12\"");
    let confirm = administrator.get(&format!("{path}/erase")).await;
    confirm.is(200).shows("Deleted as well: name, addresses and VAT number.").shows("Deleted from 1 registration");
    let version = confirm.shows("is not over: 1 registration.").between("name=\"version\" value=\"", "\"");
    // A form that was read before a change, and one that was not read, erase nothing.
    for stale in [&[("version", "7")][..], &[]] {
        administrator.post(&format!("{path}/erase"), stale).await.is(422).shows("Someone else changed the record");
    }
    let page = administrator.submit(&format!("{path}/erase"), &[("version", version.as_str())]).await;
    page.is(200)
        .shows("The person was erased.")
        .shows("Erased person")
        .shows("Nothing is kept.")
        .shows("December silver");
    page.hides("King").hides("ada@example.com").hides("passport").hides("Edit record").hides("/erase");
    administrator.get(&format!("{path}/erase")).await.is(303);
    sale.operator.get("/people").await.is(200).hides("King");
    sale.operator.get(&format!("{path}/edit")).await.is(303);
    let found = sale.operator.get(&format!("{new}?person=king")).await;
    found.is(200).hides("?party=");
    sale.operator
        .get(&format!("/auctions/{}/registrations", sale.auction))
        .await
        .is(200)
        .shows("Suspended")
        .hides("King");
    let log = administrator.get("/audit").await;
    log.is(200).shows("Party exported");
}

const FILE: &[u8] = b"Client;Ref;E-Mail;Shelf\nAda <King>;B-1;ada@example.com;A\nBo;B-2;;B\n";

#[tokio::test]
async fn people_are_imported_after_a_check_and_exported() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    let operator = &mut sale.operator;
    operator.get("/people").await.is(200).shows("Import people").hides("Export CSV");
    operator.get("/people/import").await.is(200).shows("At most 10,000 rows");
    operator.upload("/people/import", "empty.csv", b"").await.is(422).shows("Choose a file that is not empty.");
    let uploaded = operator.upload("/people/import", "house.csv", FILE).await;
    let check = uploaded.is(303).location.clone().unwrap();
    let page = operator.get(&check).await;
    page.is(200).shows("house.csv").shows("Ada &#60;King&#62; (B-1)").shows("Import 2 records").hides("<King>");
    page.shows("<option value=\"reference\" selected>Reference</option>").shows("Bidders and consignors");
    let house = page.between("name=\"house\" value=\"", "\"");
    let checked = page.between("name=\"checked\" value=\"", "\"");
    let (path, _) = check.split_once('?').unwrap();
    let fields = |checked: &'static str, action: &'static str, email: &'static str| {
        let columns = [("mapped", "yes"), ("c0", "name"), ("c1", "reference"), ("c2", email), ("role", "both")];
        [&columns[..], &[("checked", checked), ("action", action)]].concat()
    };
    let with_house = |fields: Vec<(&'static str, &'static str)>| {
        let mut all: Vec<(&str, String)> = fields.into_iter().map(|(name, value)| (name, value.to_owned())).collect();
        all.push(("house", house.clone()));
        all
    };
    let post = async |operator: &mut testkit::web::Browser, fields: Vec<(&'static str, &'static str)>| {
        let fields = with_house(fields);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        operator.post(path, &fields).await
    };
    // What was not checked is checked before it is imported.
    let page = post(operator, fields("something else", "import", "email")).await;
    page.is(200).shows("You changed columns after the last check");
    operator.get("/people").await.shows("No bidders or consignors yet");
    assert!(checked.starts_with("email bidder "), "{checked}");
    let page = post(operator, fields("", "check", "phone")).await;
    page.is(200).shows("Import 2 records");
    let imported = post(operator, fields("", "import", "email")).await.is(303).location.clone().unwrap();
    let counts = format!("/people?house={house}&done=people-imported&rows=2&new=2&changed=0&same=0&record=");
    assert!(imported.starts_with(&counts), "{imported}");
    let page = operator.get(&imported).await;
    page.shows("The people were imported. 2 rows read: 2 new, 0 changed, 0 unchanged, none refused.")
        .shows("2 records");
    let record = imported.rsplit_once("&record=").unwrap().1;
    page.shows(&format!("/people/{record}\">")).hides("and others");
    operator.get("/people?done=people-imported").await.shows("The people were imported.").shows("2 records");
    operator.get("/people?kind=consignors&text=ada").await.shows("1 record").shows("Bidder and consignor");
    operator.get(&check).await.is(200).shows("<dt>Unchanged</dt><dd>2</dd>").hides("Import 2 records");

    let csv = operator.get("/people/register.csv").await;
    csv.is(200).shows("record,name,role,reference").shows(",Ada <King>,bidder and consignor,B-1,ada@example.com");
    let uploaded = operator.upload("/people/import", "again.csv", csv.text.as_bytes()).await;
    let again = uploaded.is(303).location.clone().unwrap();
    operator.get(&again).await.is(200).shows("<dt>Unchanged</dt><dd>2</dd>").shows("has these values already");
    let wrong = b"Name,Reference,E-mail\nCy,B-1,nothing\n";
    let uploaded = operator.upload("/people/import", "wrong.csv", wrong).await;
    let page = operator.get(&uploaded.is(303).location.clone().unwrap()).await;
    page.is(200).shows("<b>E-mail</b>").shows("Is not an e-mail address").hides("Import 1 record");
    let mut other = sale.fixture.signed_in(Role::Administrator).await;
    other.get(&check).await.is(410).shows("Upload the file again.");
    other.get("/audit").await.shows("Register exported");
    let mut support = sale.fixture.signed_in(Role::Support).await;
    support.get("/people/import").await.is(403);
    support.get("/people/register.csv").await.is(403).hides("ada@example.com");
    support.get("/people").await.is(200).hides("Export CSV");
}

#[tokio::test]
async fn a_record_has_up_to_five_addresses() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    let operator = &mut sale.operator;
    let form = operator.get("/people/new").await;
    form.is(200).shows("Address 1").hides("Address 2").hides("Remove address").shows("Add address");
    let first = [("role", "bidder"), ("name", "Ada"), ("line1", "1 High Street"), ("postcode", "A1")];
    // A button adds an address, and nothing is saved.
    let more = operator.post("/people/new", &[&first[..], &[("addresses", "1"), ("address", "add")]].concat()).await;
    more.is(200).shows("name=\"line1-2\"").shows("value=\"1 High Street\"").shows("name=\"addresses\" value=\"2\"");
    let second = [("addresses", "3"), ("line1-2", "2 Low Street"), ("city-2", "Bath")];
    let refused = operator.post("/people/new", &[&first[..], &second].concat()).await;
    refused.is(422).shows("href=\"#postcode-2\"").shows("an address has it");
    let fields =
        [&first[..], &second, &[("postcode-2", "B2"), ("line1-3", "3 Mid Street"), ("postcode-3", "C3")]].concat();
    let page = operator.submit("/people/new", &fields).await;
    page.is(200).shows("1 High Street, A1, UK").shows("2 Low Street, Bath B2, UK").shows("3 Mid Street, C3, UK");
    let edit = format!("/people/{}/edit", page.between("/people/", "/block"));
    let form = operator.get(&edit).await;
    let version = form.is(200).shows("name=\"from-3\" value=\"2\"").between("name=\"version\" value=\"", "\"");
    let base = [("version", version.as_str()), ("role", "bidder"), ("name", "Ada"), ("addresses", "3"), ("from", "0")];
    let rest = [("line1", "1 High Street"), ("postcode", "A1"), ("from-2", "1"), ("from-3", "2")];
    let lines = [("line1-2", "2 Low Street"), ("postcode-2", "B2"), ("line1-3", "3 Mid Street"), ("postcode-3", "C3")];
    let all = [&base[..], &rest, &lines].concat();
    let without = operator.post(&edit, &[&all[..], &[("address", "remove-1")]].concat()).await;
    without.is(200).hides("2 Low Street").shows("name=\"from-2\" value=\"2\"").shows("name=\"addresses\" value=\"2\"");
    let full = operator.post("/people/new", &[("addresses", "5"), ("address", "add")]).await;
    full.is(200).shows("name=\"line1-5\"").hides("name=\"line1-6\"").hides("value=\"add\"");
}
