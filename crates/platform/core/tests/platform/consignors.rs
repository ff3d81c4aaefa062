//! The consignors of a house: found by what staff type, barred from their own lots, and the lots that each consigned.

use std::time::Duration;

use contract::ItemStatus;
use platform_core::bidders::{ConsignorFault, NewRegistration, PartyInput};
use platform_core::bidding::bids::NewBid;
use platform_core::catalogue::{CatalogueImport, ImportMode, ImportReport};
use platform_core::port::{Page, PartyDetails, RegistrationStatus};
use platform_core::sales::new_item::NewItem;
use platform_core::{Caller, Scope};
use platform_rules::item::ItemEdit;
use uuid::Uuid;

use crate::fixture::TestPlatform;

const HOUR: Duration = Duration::from_secs(3_600);

async fn add(fixture: &TestPlatform, name: &str, reference: Option<&str>, is_consignor: bool) -> Uuid {
    let (name, reference) = (name.to_owned(), reference.map(str::to_owned));
    let details = PartyDetails { name, reference, is_consignor, is_bidder: !is_consignor, ..PartyDetails::default() };
    let input = PartyInput { details, document: None };
    fixture.platform.create_party(&fixture.caller, fixture.customer.uuid, &input).await.unwrap().uuid
}

#[tokio::test]
async fn a_consignor_is_named_by_reference_name_label_or_uuid() {
    let fixture = TestPlatform::new().await;
    let bell = add(&fixture, "Anna Bell (Estate)", Some("C-7"), true).await;
    let mary = add(&fixture, "Märy Short", None, true).await;
    add(&fixture, "Ben Bidder", Some("B-1"), false).await;
    // The name of one is the reference of another.
    let named = add(&fixture, "Roe", Some("X"), true).await;
    let referred = add(&fixture, "Doe", Some("ROE"), true).await;
    let called = async |caller: &Caller, text: &str| {
        fixture.platform.consignor_called(caller, fixture.customer.uuid, text).await.unwrap()
    };
    let caller = &fixture.caller;
    let own = Uuid::from_u128(7);
    for (text, expected) in [
        ("C-7", bell),
        (" c-7 ", bell),
        ("anna bell (estate)", bell),
        ("Anna Bell (Estate) (C-7)", bell),
        ("MARY SHORT", mary),
        ("Roe (X)", named),
        ("ROE", referred),
        (&own.to_string(), own),
    ] {
        assert_eq!(called(caller, text).await, Ok(expected), "{text}");
    }
    let other = ConsignorFault::OtherRole { text: "B-1".into(), name: "Ben Bidder".into() };
    assert_eq!(called(caller, "B-1").await, Err(other));
    for unknown in ["Ben Bidder", "Anna", "C-70", "Bell (C-7)", ""] {
        assert_eq!(called(caller, unknown).await, Err(ConsignorFault::Unknown(unknown.into())), "{unknown}");
    }
    add(&fixture, "mary short", Some("C-8"), true).await;
    let both = ConsignorFault::Ambiguous { text: "Mary Short".into(), references: vec!["C-8".into()] };
    assert_eq!(called(caller, "Mary Short").await, Err(both));
    // A caller who may not read the register learns nothing about it.
    let scopes = [Scope::AuctionsRead, Scope::AuctionsWrite].into_iter().collect();
    let key = Caller { scopes, ..fixture.caller.clone() };
    assert_eq!(called(&key, "C-7").await, Err(ConsignorFault::Hidden("C-7".into())));
    assert_eq!(called(&key, &bell.to_string()).await, Ok(bell));
    let labels = fixture.platform.party_labels(&key, fixture.customer.uuid, &[bell].into()).await.unwrap();
    assert!(labels.is_empty());
    let labels = fixture.platform.party_labels(caller, fixture.customer.uuid, &[bell, own].into()).await.unwrap();
    assert_eq!(labels.into_iter().collect::<Vec<_>>(), [(bell, "Anna Bell (Estate) (C-7)".to_owned())]);
}

#[tokio::test]
async fn a_consignor_who_registers_as_a_bidder_is_barred_from_the_own_lots() {
    let fixture = TestPlatform::new().await;
    let party = add(&fixture, "Anna Bell", Some("C-7"), true).await;
    let lot = |number: &str, vendor| NewItem {
        opening_bid: 100,
        fixed_increment: Some(10),
        vendor,
        ..NewItem::new(number, "A table")
    };
    let lots = vec![lot("1", Some(party)), lot("2", None), lot("3", Some(Uuid::from_u128(7)))];
    let sale = fixture.create(&fixture.timed(HOUR, lots)).await;
    let entry = NewRegistration {
        paddle: Some("12".into()),
        party: Some(party),
        name: None,
        email: None,
        limit: None,
        note: None,
        status: RegistrationStatus::Approved,
    };
    fixture.platform.register_bidder(&fixture.caller, sale.auction.uuid, &entry, None).await.unwrap();
    let bid = async |lot: usize| {
        let new = NewBid { bidder: "12".into(), amount: 500 };
        let placed = fixture.platform.place_bid(&fixture.caller, sale.items[lot].uuid, &new, None, None).await;
        placed.err().map(|refusal| refusal.code())
    };
    assert_eq!(bid(0).await, Some("vendor_barred"));
    assert_eq!(bid(1).await, None);
    // The consignor of a lot that is named later is barred from then on.
    let edit = ItemEdit { vendor: Some(Some(party)), ..ItemEdit::default() };
    fixture.platform.change_item(&fixture.caller, sale.items[2].uuid, &edit, None).await.unwrap();
    assert_eq!(bid(2).await, Some("vendor_barred"));

    let page = Page { after: None, limit: 10 };
    let consigned = fixture.platform.consigned_sales(&fixture.caller, party, page).await.unwrap();
    let numbers: Vec<&str> =
        consigned.sales.iter().flat_map(|sale| &sale.items).map(|item| item.lot_number.as_str()).collect();
    assert_eq!((numbers, consigned.next), (vec!["1", "3"], None));
    assert_eq!(consigned.sales[0].auction.uuid, sale.auction.uuid);
}

#[tokio::test]
async fn another_house_with_the_same_vendor_does_not_show_in_the_record() {
    let fixture = TestPlatform::new().await;
    let party = add(&fixture, "Anna Bell", None, true).await;
    let other = fixture.platform.create_customer(&fixture.caller, "Other", None).await.unwrap().fresh().unwrap();
    let auctioneer = fixture.platform.create_auctioneer(&fixture.caller, other.uuid, "Other", None).await.unwrap();
    let lot = NewItem { vendor: Some(party), ..NewItem::new("1", "A table") };
    let mut sale = fixture.timed(HOUR, vec![lot]);
    sale.auctioneer = auctioneer.fresh().unwrap().uuid;
    fixture.create(&sale).await;
    let page = Page { after: None, limit: 10 };
    let consigned = fixture.platform.consigned_sales(&fixture.caller, party, page).await.unwrap();
    assert_eq!(consigned.sales, []);
    // The label of a record is for its own house.
    let labels = fixture.platform.party_labels(&fixture.caller, other.uuid, &[party].into()).await.unwrap();
    assert!(labels.is_empty());
}

#[tokio::test]
async fn a_strict_import_takes_a_consignor_by_reference_or_name_too() {
    let fixture = TestPlatform::new().await;
    let auction = fixture.draft().await.uuid;
    let bell = add(&fixture, "Anna Bell", Some("C-7"), true).await;
    let mary = add(&fixture, "Mary Short", Some("C-8"), true).await;
    add(&fixture, "Mary Short", Some("C-9"), true).await;
    add(&fixture, "Ben Bidder", Some("B-1"), false).await;
    let import = async |caller: &Caller, mode, file: &str| -> ImportReport {
        let import = CatalogueImport { auction, mode, status: ItemStatus::Draft, expected_version: None };
        let source = std::io::Cursor::new(file.as_bytes().to_vec());
        fixture.platform.import_catalogue(caller, import, source, None).await.unwrap().fresh().unwrap()
    };
    // Mistakes of every row are listed with those of the file itself, in its order.
    let file = "lot_number,title,vendor\n1,A chair,C-7\n2,A table,Mary Short\n3,,nobody\n4,A lamp,B-1\n5,A rug,\n";
    let report = import(&fixture.caller, ImportMode::Import, file).await;
    let errors = report.errors.iter().map(|error| (error.line, error.column.as_deref().unwrap_or_default()));
    let wanted = [(3, "vendor"), (4, "title"), (4, "vendor"), (5, "vendor")];
    assert_eq!((errors.collect::<Vec<_>>(), report.error_count), (wanted.to_vec(), 4));
    let text = |place: usize| report.errors[place].message.as_str();
    assert_eq!(text(0), "several consignors are called “Mary Short”: write the reference (C-8, C-9)");
    assert!(text(2).starts_with("no consignor has the name or reference “nobody”"), "{}", text(2));
    assert!(text(3).starts_with("“B-1” is Ben Bidder, who is not a consignor"), "{}", text(3));
    assert_eq!(fixture.platform.item_counts(&fixture.caller, auction).await.unwrap().total, 0);

    let own = Uuid::from_u128(7);
    let file = format!(
        "lot_number,title,vendor\n1,A chair,c-7\n2,A table,C-8\n3,A lamp,anna bell\n4,A rug,{own}\n5,A clock,\n"
    );
    let scopes = [Scope::AuctionsRead, Scope::AuctionsWrite].into_iter().collect();
    let key = Caller { scopes, ..fixture.caller.clone() };
    let report = import(&key, ImportMode::DryRun, &file).await;
    assert_eq!(report.error_count, 3);
    assert!(report.errors[0].message.contains("needs the scope parties:read"), "{:?}", report.errors);
    let report = import(&fixture.caller, ImportMode::Import, &file).await;
    assert_eq!((report.items, report.errors), (5, Vec::new()));
    let items = fixture.store.items(auction, Page { after: None, limit: 9 }).await.unwrap();
    let vendors: Vec<Option<Uuid>> = items.into_iter().map(|item| item.vendor).collect();
    assert_eq!(vendors, [Some(bell), Some(mary), Some(bell), Some(own), None]);
}
