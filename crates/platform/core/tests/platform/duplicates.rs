//! Likely duplicates of the register, and the merge of two records of one person.

use std::io::Cursor;
use std::time::Duration;

use contract::models::AddressModel;
use platform_core::bidders::{
    Combine, MergeChoices, NewRegistration, PartyInput, PartyKind, RecordPair, RegistrationPatch, Side,
};
use platform_core::bidding::bids::NewBid;
use platform_core::catalogue::ImportMode;
use platform_core::port::{MatchReason, Page, Party, PartyDetails, Registration, RegistrationStatus};
use platform_core::register_files::{LikelyOther, RegisterImport, WithoutReference};
use platform_core::sales::item_ends::ItemEndWorker;
use platform_core::sales::new_item::NewItem;
use platform_core::{Caller, PlatformError, Role};
use platform_rules::Item;
use uuid::Uuid;

use crate::fixture::TestPlatform;

const HOUR: Duration = Duration::from_secs(3_600);

struct House {
    fixture: TestPlatform,
    items: Vec<Item>,
}

impl House {
    async fn new() -> Self {
        Self { fixture: TestPlatform::new().await, items: Vec::new() }
    }

    /// A sale with one lot for each consignor.
    async fn open(&mut self, consignors: &[Option<Uuid>]) {
        let lot = |(place, vendor): (usize, &Option<Uuid>)| NewItem {
            opening_bid: 100,
            fixed_increment: Some(10),
            vendor: *vendor,
            ..NewItem::new((place + 1).to_string(), "A table")
        };
        let lots = consignors.iter().enumerate().map(lot).collect();
        self.items = self.fixture.create(&self.fixture.timed(HOUR, lots)).await.items;
    }

    async fn add(&self, name: &str, change: impl FnOnce(&mut PartyDetails)) -> Party {
        let mut details = PartyDetails {
            name: name.into(),
            is_bidder: true,
            is_consignor: true,
            reference: Some(format!("C-{name}")),
            ..PartyDetails::default()
        };
        change(&mut details);
        let input = PartyInput { details, document: None };
        let house = self.fixture.customer.uuid;
        self.fixture.platform.create_party(&self.fixture.caller, house, &input).await.unwrap()
    }

    async fn register(&self, paddle: &str, party: Uuid) -> Result<Registration, PlatformError> {
        let entry = NewRegistration {
            paddle: Some(paddle.into()),
            party: Some(party),
            name: None,
            email: None,
            limit: None,
            note: None,
            status: RegistrationStatus::Approved,
        };
        let auction = self.items[0].auction;
        self.fixture.platform.register_bidder(&self.fixture.caller, auction, &entry, None).await?.fresh()
    }

    async fn bid(&self, lot: usize, paddle: &str, amount: i64) -> Option<&'static str> {
        let new = NewBid { bidder: paddle.into(), amount };
        let item = self.items[lot].uuid;
        let placed = self.fixture.platform.place_bid(&self.fixture.caller, item, &new, None, None).await;
        placed.err().map(|refusal| refusal.code())
    }

    async fn read(&self, registration: &Registration) -> Registration {
        let ids = (registration.auction, registration.uuid);
        self.fixture.platform.registration(&self.fixture.caller, ids).await.unwrap()
    }

    async fn merge(&self, kept: Uuid, merged: Uuid) -> Result<Party, PlatformError> {
        let pair = RecordPair { kept, merged, versions: None };
        self.fixture.platform.merge_parties(&self.fixture.caller, pair, &MergeChoices::default()).await
    }

    async fn refusal(&self, kept: Uuid, merged: Uuid) -> &'static str {
        self.merge(kept, merged).await.unwrap_err().code()
    }

    async fn pairs(&self) -> Vec<(String, String, Vec<MatchReason>)> {
        let (platform, caller) = (&self.fixture.platform, &self.fixture.caller);
        let found = platform.likely_pairs(caller, self.fixture.customer.uuid, None).await.unwrap();
        found.pairs.into_iter().map(|pair| (pair.older.details.name, pair.newer.details.name, pair.reasons)).collect()
    }

    async fn found(&self, text: &str) -> Vec<Uuid> {
        let (platform, caller) = (&self.fixture.platform, &self.fixture.caller);
        let page = Page { after: None, limit: 10 };
        let found = platform.find_parties(caller, self.fixture.customer.uuid, (PartyKind::All, text), page).await;
        found.unwrap().parties.into_iter().map(|party| party.uuid).collect()
    }

    async fn assert_verified(&self) {
        let verified = self.fixture.platform.verify_all(&[], &|_| ()).await.unwrap();
        assert_eq!(verified.broken, []);
    }
}

fn email(text: &str) -> impl FnOnce(&mut PartyDetails) + use<> {
    let text = text.to_owned();
    move |details| details.email = Some(text)
}

#[tokio::test]
async fn a_bid_that_was_placed_during_a_merge_is_listed_to_be_cancelled() {
    let mut house = House::new().await;
    let (bidder, consignor) = (house.add("Ada", |_| ()).await, house.add("A. King", |_| ()).await);
    let other = house.add("Bo", |_| ()).await;
    house.open(&[Some(consignor.uuid), Some(consignor.uuid), None]).await;
    house.register("12", bidder.uuid).await.unwrap();
    house.register("13", other.uuid).await.unwrap();
    assert_eq!(house.bid(2, "12", 100).await, None);

    // The merge has found no bid on an own lot, and is not committed yet.
    let held = house.fixture.faults.hold_merges().await;
    let (merged, bids) = tokio::join!(house.merge(bidder.uuid, consignor.uuid), async {
        while house.fixture.faults.merges_begun() == 0 {
            tokio::task::yield_now().await;
        }
        let bids = [house.bid(0, "12", 100).await, house.bid(1, "12", 100).await, house.bid(1, "13", 110).await];
        drop(held);
        bids
    });
    assert_eq!((merged.is_ok(), bids), (true, [None; 3]));
    assert!(house.bid(0, "12", 120).await.is_some(), "after the merge, the own lots are barred");

    // Both bids on own lots are listed, also the one that another bidder has outbid.
    let (platform, caller) = (&house.fixture.platform, &house.fixture.caller);
    let standing = platform.standing_lots(caller, bidder.uuid).await.unwrap();
    let mut shown: Vec<(String, bool)> = standing.iter().map(|lot| (lot.item.lot_number.clone(), lot.is_own)).collect();
    shown.sort();
    assert_eq!(shown, [("1".into(), true), ("2".into(), true), ("3".into(), false)]);
    house.assert_verified().await;
}

#[tokio::test]
async fn likely_duplicates_are_listed_in_pages() {
    let house = House::new().await;
    for number in 0..52 {
        house.add(&format!("Ada {number}"), email("ada@example.com")).await;
    }
    let (platform, caller, customer) = (&house.fixture.platform, &house.fixture.caller, house.fixture.customer.uuid);
    let first = platform.likely_pairs(caller, customer, None).await.unwrap();
    assert_eq!((first.pairs.len(), first.next.is_some()), (50, true));
    let second = platform.likely_pairs(caller, customer, first.next).await.unwrap();
    assert_eq!((second.pairs.len(), second.next), (1, None));
    let last = first.pairs.last().unwrap();
    assert_eq!(second.pairs[0].newer.uuid, last.older.uuid, "the pair after the last one of the page before");
}

#[tokio::test]
async fn likely_duplicates_are_proposed_until_they_are_kept_apart_or_merged() {
    let house = House::new().await;
    let (platform, caller) = (&house.fixture.platform, &house.fixture.caller);
    let ada = house.add("Ada", email("ada@example.com")).await;
    let address = AddressModel { postcode: "BA1 1AA".into(), ..AddressModel::default() };
    let bo = house
        .add("Bo Lee", |details| {
            details.email = Some("ADA@example.com".into());
            details.addresses = vec![address.clone()];
        })
        .await;
    let lee = house.add("LEE, Bo", |details| details.addresses = vec![address.clone()]).await;
    let named = |one: &str, two: &str, reasons: Vec<MatchReason>| (one.to_owned(), two.to_owned(), reasons);
    let (by_email, by_name) = (vec![MatchReason::Email], vec![MatchReason::NameAndPostcode]);
    let wanted = [named("Bo Lee", "LEE, Bo", by_name.clone()), named("Ada", "Bo Lee", by_email.clone())];
    assert_eq!(house.pairs().await, wanted);
    let of_bo = platform.likely_duplicates(caller, bo.uuid).await.unwrap();
    assert_eq!(of_bo.iter().map(|found| found.party.uuid).collect::<Vec<_>>(), [ada.uuid, lee.uuid]);

    // A warning before another one is added.
    let details = PartyDetails { name: "Someone".into(), email: Some("ada@example.com".into()), ..Default::default() };
    let warned = platform.likely_duplicates_of(caller, house.fixture.customer.uuid, &details).await.unwrap();
    assert_eq!(warned.iter().map(|found| found.party.uuid).collect::<Vec<_>>(), [ada.uuid, bo.uuid]);

    let pair = RecordPair { kept: bo.uuid, merged: ada.uuid, versions: None };
    platform.keep_parties_apart(caller, pair).await.unwrap();
    assert_eq!(house.pairs().await, [named("Bo Lee", "LEE, Bo", by_name)]);
    assert_eq!(platform.likely_duplicates(caller, ada.uuid).await.unwrap(), []);
    house.merge(bo.uuid, lee.uuid).await.unwrap();
    assert_eq!(house.pairs().await, []);
    assert_eq!(house.found("LEE").await, [bo.uuid]);

    let viewer = Caller { scopes: Role::Support.scopes(), role: Some(Role::Support), ..caller.clone() };
    let refused = platform.keep_parties_apart(&viewer, pair).await.unwrap_err();
    assert_eq!(refused.code(), "forbidden");
    let refused = platform.merge_parties(&viewer, pair, &MergeChoices::default()).await.unwrap_err();
    assert_eq!(refused.code(), "forbidden");
    assert!(platform.likely_pairs(&viewer, house.fixture.customer.uuid, None).await.is_ok());
    house.assert_verified().await;
}

#[tokio::test]
async fn a_merged_person_has_the_paddles_purchases_and_lots_of_both_records() {
    let mut house = House::new().await;
    let (ada, bell) = (house.add("Ada", email("ada@example.com")).await, house.add("Bell", |_| ()).await);
    house.open(&[None, Some(bell.uuid), Some(ada.uuid), None]).await;
    let twelve = house.register("12", ada.uuid).await.unwrap();
    let fifteen = house.register("15", bell.uuid).await.unwrap();
    house.register("20", house.add("Cy", |_| ()).await.uuid).await.unwrap();
    assert_eq!(house.bid(0, "12", 100).await, None);
    assert_eq!(house.bid(3, "15", 100).await, None);
    // The other record's lot is not the person's own one yet. This node caches the registrations.
    assert_eq!(house.bid(1, "12", 100).await, None);
    assert_eq!(house.refusal(ada.uuid, bell.uuid).await, "vendor_has_bid");
    let (platform, caller) = (&house.fixture.platform, &house.fixture.caller);
    let (item, bids) = platform.bids(caller, house.items[1].uuid, Page { after: None, limit: 5 }).await.unwrap();
    platform.cancel_bid(caller, (item.uuid, bids[0].uuid), "own lot", None, None).await.unwrap();

    let plan = platform.merge_plan(caller, RecordPair { kept: ada.uuid, merged: bell.uuid, versions: None }).await;
    let plan = plan.unwrap();
    assert_eq!((plan.registrations, plan.purchases, plan.consigned_lots), (1, 0, 1));
    assert_eq!(plan.shared_sales.len(), 1);
    assert_eq!(plan.shared_sales[0].paddles.len(), 2);
    assert!(plan.refusal.is_none());
    let kept = house.merge(ada.uuid, bell.uuid).await.unwrap();
    assert_eq!((kept.version, kept.details.reference.as_deref()), (2, Some("C-Ada")));

    // Neither paddle can bid on a lot of either record; both can bid on others.
    for paddle in ["12", "15"] {
        for lot in [1, 2] {
            assert_eq!(house.bid(lot, paddle, 200).await, Some("vendor_barred"), "{paddle} on {lot}");
        }
    }
    assert_eq!(house.bid(1, "20", 200).await, None);
    // Both paddles remain, and each registration of an open sale has the merge in its log.
    let (twelve, fifteen) = (house.read(&twelve).await, house.read(&fifteen).await);
    assert_eq!((twelve.version, twelve.party), (2, Some(ada.uuid)));
    assert_eq!((fifteen.version, fifteen.party), (2, Some(bell.uuid)));
    // A third paddle of the person is refused under either record.
    for record in [ada.uuid, bell.uuid] {
        assert_eq!(house.register("30", record).await.unwrap_err().code(), "taken");
    }
    assert_eq!(house.found("15").await, [ada.uuid]);

    house.fixture.clock.advance(HOUR * 2);
    let now = platform.now();
    ItemEndWorker::new(platform.clone()).run_once(now).await.unwrap();
    let page = Page { after: None, limit: 10 };
    let sales = platform.sales_of_party(caller, ada.uuid, page).await.unwrap();
    let bought = sales.iter().flat_map(|sale| &sale.purchases).map(|purchase| purchase.item.lot_number.as_str());
    let mut bought: Vec<&str> = bought.collect();
    bought.sort_unstable();
    assert_eq!(bought, ["1", "4"]);
    let consigned = platform.consigned_sales(caller, ada.uuid, page).await.unwrap();
    assert_eq!(consigned.sales[0].items.len(), 2);
    let labels = platform.party_labels(caller, house.fixture.customer.uuid, &[bell.uuid].into()).await.unwrap();
    assert_eq!(labels.into_values().collect::<Vec<_>>(), ["Ada (C-Ada)"]);
    for text in ["C-Bell", "bell", "C-Ada", &bell.uuid.to_string()] {
        let found = platform.consignor_called(caller, house.fixture.customer.uuid, text).await.unwrap();
        assert_eq!(found, Ok(ada.uuid), "{text}");
    }

    // The export of the person has both records.
    let export = platform.export_party(caller, ada.uuid).await.unwrap();
    assert_eq!((export.registrations.len(), export.consigned_lots.len(), export.merged_records.len()), (2, 2, 1));
    assert_eq!(export.merged_records[0].record.details.name, "Bell");
    let of_merged = platform.export_party(caller, bell.uuid).await.unwrap();
    assert_eq!((of_merged.person.uuid, of_merged.registrations.len()), (ada.uuid, 2));
    house.assert_verified().await;
}

#[tokio::test]
async fn registrations_of_the_merged_record_name_the_one_that_stayed() {
    let mut house = House::new().await;
    let (ada, bell, cy) =
        (house.add("Ada", |_| ()).await, house.add("Bell", |_| ()).await, house.add("Cy", |_| ()).await);
    house.open(&[None]).await;
    let registered = house.register("15", bell.uuid).await.unwrap();
    house.merge(ada.uuid, bell.uuid).await.unwrap();
    assert_eq!(house.read(&registered).await.party, Some(ada.uuid));
    // A later merge of the record that stayed takes both with it.
    house.merge(cy.uuid, ada.uuid).await.unwrap();
    assert_eq!(house.read(&registered).await.party, Some(cy.uuid));
    let (platform, caller) = (house.fixture.platform.clone(), &Caller::command_line());
    assert_eq!(platform.party(caller, bell.uuid).await.unwrap().record(), cy.uuid);
    // An input that names an earlier record means the one that stayed.
    house.open(&[None]).await;
    let again = house.register("15", bell.uuid).await.unwrap();
    assert_eq!((again.party, again.name.as_deref()), (Some(cy.uuid), Some("Cy")));
    let patch = RegistrationPatch { party: Some(Some(ada.uuid)), ..RegistrationPatch::default() };
    let changed = platform.change_registration(caller, (again.auction, again.uuid), &patch, None).await.unwrap();
    assert_eq!(changed.party, Some(cy.uuid));
    house.assert_verified().await;
}

#[tokio::test]
async fn a_block_of_either_record_stays_and_blocks_both() {
    let mut house = House::new().await;
    let (ada, bell) = (house.add("Ada", |_| ()).await, house.add("Bell", |_| ()).await);
    house.open(&[None]).await;
    let twelve = house.register("12", ada.uuid).await.unwrap();
    let (platform, caller) = (&house.fixture.platform, &house.fixture.caller);
    platform.block_party(caller, bell.uuid, "did not pay", None).await.unwrap();
    assert_eq!(house.bid(0, "12", 100).await, None);
    let pair = RecordPair { kept: ada.uuid, merged: bell.uuid, versions: None };
    assert_eq!(platform.merge_plan(caller, pair).await.unwrap().suspended, 1);
    let kept = house.merge(ada.uuid, bell.uuid).await.unwrap();
    assert_eq!(kept.block.map(|block| block.reason), Some("did not pay".to_owned()));
    let now = house.read(&twelve).await;
    let wanted = (RegistrationStatus::Suspended, Some("blocked in the register"));
    assert_eq!((now.status, now.reason.as_deref()), wanted);
    assert_eq!(house.bid(0, "12", 300).await, Some("bidder_suspended"));
    house.open(&[None]).await;
    assert_eq!(house.register("12", bell.uuid).await.unwrap_err().code(), "bidder_blocked");
    house.assert_verified().await;
}

#[tokio::test]
async fn an_erasure_of_the_person_erases_both_records() {
    let mut house = House::new().await;
    let ada = house.add("Ada", email("ada@example.com")).await;
    let bell = house.add("Bell", email("bell@example.com")).await;
    house.open(&[None]).await;
    house.register("15", bell.uuid).await.unwrap();
    house.merge(ada.uuid, bell.uuid).await.unwrap();
    let (platform, caller) = (&house.fixture.platform, &house.fixture.caller);
    let refused = platform.erase_party(caller, bell.uuid, None).await.unwrap_err();
    assert_eq!(refused.code(), "record_merged");
    assert_eq!(platform.erasure_plan(caller, ada.uuid).await.unwrap().registrations, 1);
    platform.erase_party(caller, ada.uuid, None).await.unwrap();
    for record in [ada.uuid, bell.uuid] {
        let erased = platform.party(caller, record).await.unwrap();
        assert!(erased.erasure.is_some());
        assert_eq!(erased.details, PartyDetails::default());
    }
    for text in ["ada", "bell", "bell@example.com", "15"] {
        assert_eq!(house.found(text).await, <[Uuid; 0]>::default(), "{text}");
    }
    let export = serde_json::to_string(&platform.export_party(caller, ada.uuid).await.unwrap()).unwrap();
    assert!(!export.contains("ell@example"), "{export}");
    house.assert_verified().await;
}

#[tokio::test]
async fn what_cannot_be_merged_is_refused_with_a_code() {
    let house = House::new().await;
    let (ada, bell, cy) =
        (house.add("Ada", |_| ()).await, house.add("Bell", |_| ()).await, house.add("Cy", |_| ()).await);
    let (platform, caller) = (&house.fixture.platform, &house.fixture.caller);
    assert_eq!(house.refusal(ada.uuid, ada.uuid).await, "same_record");
    assert_eq!(house.refusal(ada.uuid, Uuid::from_u128(9)).await, "not_found");
    let second = platform.create_customer(caller, "Second house", None).await.unwrap().fresh().unwrap();
    let input = PartyInput {
        details: PartyDetails { name: "Dee".into(), is_bidder: true, ..PartyDetails::default() },
        document: None,
    };
    let dee = platform.create_party(caller, second.uuid, &input).await.unwrap();
    assert_eq!(house.refusal(ada.uuid, dee.uuid).await, "other_house");
    let only_first = Caller { customer: Some(house.fixture.customer.uuid), ..caller.clone() };
    let pair = RecordPair { kept: ada.uuid, merged: dee.uuid, versions: None };
    let refused = platform.merge_parties(&only_first, pair, &MergeChoices::default()).await.unwrap_err();
    assert_eq!(refused.code(), "not_found");

    let seen = RecordPair { kept: ada.uuid, merged: bell.uuid, versions: Some((ada.version, bell.version + 1)) };
    let refused = platform.merge_parties(caller, seen, &MergeChoices::default()).await.unwrap_err();
    assert_eq!(refused.code(), "precondition_failed");
    house.merge(ada.uuid, bell.uuid).await.unwrap();
    // Neither direction, no cycle, and no change of the merged record.
    for (kept, merged) in [(ada.uuid, bell.uuid), (bell.uuid, ada.uuid), (cy.uuid, bell.uuid), (bell.uuid, cy.uuid)] {
        assert_eq!(house.refusal(kept, merged).await, "record_merged");
    }
    let refused = platform.change_party(caller, bell.uuid, &input, None).await.unwrap_err();
    assert_eq!(refused.code(), "record_merged");
    let refused = platform.block_party(caller, bell.uuid, "no", None).await.unwrap_err();
    assert_eq!(refused.code(), "record_merged");
    platform.erase_party(caller, cy.uuid, None).await.unwrap();
    assert_eq!(house.refusal(ada.uuid, cy.uuid).await, "person_erased");
    assert_eq!(house.refusal(cy.uuid, ada.uuid).await, "person_erased");
    house.assert_verified().await;
}

#[tokio::test]
async fn of_concurrent_merges_one_is_made() {
    let house = House::new().await;
    let (ada, bell, cy) =
        (house.add("Ada", |_| ()).await, house.add("Bell", |_| ()).await, house.add("Cy", |_| ()).await);
    let (one, two, three) = tokio::join!(
        house.merge(ada.uuid, bell.uuid),
        house.merge(bell.uuid, ada.uuid),
        house.merge(cy.uuid, bell.uuid)
    );
    let refused = [one, two, three].into_iter().filter_map(Result::err).map(|refusal| refusal.code());
    let refused: Vec<&str> = refused.collect();
    // A chain of two merges is possible, a cycle is not.
    assert!((1..=2).contains(&refused.len()) && refused.iter().all(|code| *code == "record_merged"), "{refused:?}");
    for record in [&ada, &bell, &cy] {
        let found = house.fixture.platform.party(&house.fixture.caller, record.uuid).await.unwrap();
        let stayed = house.fixture.platform.party(&house.fixture.caller, found.record()).await.unwrap();
        assert!(stayed.merged.is_none());
    }
    house.assert_verified().await;
}

#[tokio::test]
async fn a_person_chooses_what_stays_and_wrong_results_are_refused() {
    let house = House::new().await;
    let note = |text: &str| {
        let text = text.repeat(1_500);
        move |details: &mut PartyDetails| details.note = Some(text)
    };
    let (ada, bell) = (house.add("Ada", note("a")).await, house.add("Bell", note("b")).await);
    let (platform, caller) = (&house.fixture.platform, &house.fixture.caller);
    let pair = RecordPair { kept: ada.uuid, merged: bell.uuid, versions: Some((1, 1)) };
    let both = MergeChoices { note: Combine::Both, ..MergeChoices::default() };
    let refused = platform.merge_parties(caller, pair, &both).await.unwrap_err();
    assert!(matches!(&refused, PlatformError::Invalid(problems) if problems[0].pointer == "/note"), "{refused:?}");
    assert_eq!(MergeChoices::usual(&ada, &bell).note, Combine::Kept);
    // Two notes that fit stay together, and the usual choices can be saved.
    let short = |text: &'static str| move |details: &mut PartyDetails| details.note = Some(text.into());
    let (one, two) = (house.add("One", short("Pays late.")).await, house.add("Two", short("Gate 12")).await);
    let usual = MergeChoices::usual(&one, &two);
    let notes = RecordPair { kept: one.uuid, merged: two.uuid, versions: None };
    let kept = platform.merge_parties(caller, notes, &usual).await.unwrap();
    assert_eq!(kept.details.note.as_deref(), Some("Pays late. · Gate 12"));
    let choices = MergeChoices { name: Side::Merged, reference: Side::Merged, ..MergeChoices::default() };
    let kept = platform.merge_parties(caller, pair, &choices).await.unwrap();
    assert_eq!((kept.uuid, kept.label().as_str()), (ada.uuid, "Bell (C-Bell)"));
    let merged = platform.party(caller, bell.uuid).await.unwrap();
    assert_eq!(merged.details.reference.as_deref(), Some("C-Ada"));
    house.assert_verified().await;
}

#[tokio::test]
async fn an_import_warns_of_likely_duplicates_and_finds_merged_records() {
    let house = House::new().await;
    let ada = house.add("Ada", email("ada@example.com")).await;
    let bell = house.add("Bell", |_| ()).await;
    house.merge(ada.uuid, bell.uuid).await.unwrap();
    let import = async |mode, file: &str| {
        let wanted = RegisterImport {
            customer: house.fixture.customer.uuid,
            mode,
            mapping: None,
            without_reference: WithoutReference::New,
            currency: None,
            is_bidder: true,
            is_consignor: false,
        };
        let source = Cursor::new(file.as_bytes().to_vec());
        house.fixture.platform.import_register(&house.fixture.caller, &wanted, source).await.unwrap()
    };
    let file = "name,reference,email,phone\n\
        Ada L.,,ada@example.com,\n\
        Dee,,dee@example.com,020 7946 0958\n\
        D.,,,+44 20 7946 0958\n";
    let report = import(ImportMode::DryRun, file).await;
    assert_eq!((report.new, report.likely_count), (3, 2));
    let first = &report.likely[0];
    let wanted = LikelyOther::Record(ada.uuid, "Ada (C-Ada)".to_owned());
    assert_eq!((first.line, &first.other, first.reasons.as_slice()), (2, &wanted, [MatchReason::Email].as_slice()));
    let second = &report.likely[1];
    assert_eq!((second.line, &second.other), (4, &LikelyOther::Line(3)));

    // The reference and the identifier of the merged record update the one that stayed.
    let report = import(ImportMode::Import, "name,reference,phone\nAda,C-Bell,020 7946 0000\n").await;
    assert_eq!((report.new, report.changed, report.error_count), (0, 1, 0), "{report:?}");
    let kept = house.fixture.platform.party(&house.fixture.caller, ada.uuid).await.unwrap();
    assert_eq!(kept.details.reference.as_deref(), Some("C-Ada"));
    assert_eq!(kept.details.phone.as_deref(), Some("020 7946 0000"));
    let file = format!("record,name,note\n{},Ada,Pays cash\n", bell.uuid);
    let report = import(ImportMode::Import, &file).await;
    assert_eq!((report.changed, report.error_count), (1, 0), "{report:?}");
    house.assert_verified().await;
}
