//! Erases persons from the register: what stands against it, what goes at once, and what is kept for invoices.

use std::time::Duration;

use contract::ItemStatus;
use contract::models::AddressModel;
use platform_core::bidders::{NewRegistration, PartyInput, PartyKind, RegistrationDecision, RegistrationPatch};
use platform_core::bidding::bids::NewBid;
use platform_core::port::{Page, Party, PartyDetails, Registration, RegistrationStatus};
use platform_core::sales::item_ends::ItemEndWorker;
use platform_core::sales::new_item::NewItem;
use platform_core::{Caller, PlatformConfig, PlatformError, Role};
use platform_rules::Item;
use uuid::Uuid;

use crate::fixture::TestPlatform;

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

struct Sale {
    fixture: TestPlatform,
    items: Vec<Item>,
}

impl Sale {
    /// A sale of two lots; the second one is of this consignor.
    async fn new(kept_days: u32, consignor: Option<Uuid>) -> Self {
        let config = PlatformConfig { purchases_kept_days: kept_days, ..PlatformConfig::default() };
        let mut sale = Self { fixture: TestPlatform::with(config).await, items: Vec::new() };
        sale.open(consignor).await;
        sale
    }

    async fn open(&mut self, consignor: Option<Uuid>) {
        let lot = |number: &str, vendor| NewItem {
            opening_bid: 100,
            fixed_increment: Some(10),
            vendor,
            ..NewItem::new(number, "A table")
        };
        let lots = vec![lot("1", None), lot("2", consignor)];
        self.items = self.fixture.create(&self.fixture.timed(HOUR, lots)).await.items;
    }

    async fn add(&self, name: &str) -> Party {
        let address = AddressModel { city: Some("York".into()), ..AddressModel::default() };
        let details = PartyDetails {
            name: name.into(),
            is_bidder: true,
            reference: Some(format!("B-{name}")),
            email: Some(format!("{name}@example.com")),
            vat_number: Some("GB 1".into()),
            addresses: vec![address],
            note: Some("calls at night".into()),
            ..PartyDetails::default()
        };
        let input = PartyInput { details, document: Some("passport".into()) };
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
            note: Some("sits in front".into()),
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

    async fn end(&self) {
        self.fixture.clock.advance(HOUR * 2);
        let now = self.fixture.platform.now();
        ItemEndWorker::new(self.fixture.platform.clone()).run_once(now).await.unwrap();
    }

    async fn erase(&self, party: Uuid) -> Result<Party, PlatformError> {
        self.fixture.platform.erase_party(&self.fixture.caller, party, None).await
    }

    async fn refusal(&self, party: Uuid) -> &'static str {
        let refused = self.erase(party).await.unwrap_err();
        let plan = self.fixture.platform.erasure_plan(&self.fixture.caller, party).await.unwrap();
        assert_eq!(plan.refusal.map(|refusal| refusal.code()), Some(refused.code()));
        refused.code()
    }

    async fn read(&self, registration: &Registration) -> Registration {
        let ids = (registration.auction, registration.uuid);
        self.fixture.platform.registration(&self.fixture.caller, ids).await.unwrap()
    }

    async fn found(&self, text: &str) -> u64 {
        let (platform, caller) = (&self.fixture.platform, &self.fixture.caller);
        let page = Page { after: None, limit: 10 };
        let found = platform.find_parties(caller, self.fixture.customer.uuid, (PartyKind::All, text), page).await;
        found.unwrap().count
    }

    async fn assert_verified(&self) {
        let verified = self.fixture.platform.verify_all(&[], &|_| ()).await.unwrap();
        assert_eq!(verified.broken, []);
    }
}

#[tokio::test]
async fn an_erased_bidder_is_gone_from_the_register_and_the_registrations() {
    let sale = Sale::new(3_650, None).await;
    let party = sale.add("Ada").await;
    let registered = sale.register("12", party.uuid).await.unwrap();
    let (platform, caller) = (&sale.fixture.platform, &sale.fixture.caller);
    platform.block_party(caller, party.uuid, "shouted at the clerk", None).await.unwrap();
    platform.unblock_party(caller, party.uuid, None).await.unwrap();
    let ids = (registered.auction, registered.uuid);
    let approve = RegistrationDecision { to: RegistrationStatus::Approved, reason: None };
    platform.change_registration_status(caller, ids, &approve, None, None).await.unwrap();
    let plan = platform.erasure_plan(caller, party.uuid).await.unwrap();
    assert_eq!((plan.registrations, plan.open_registrations, plan.kept_until), (1, 1, None));
    assert!(plan.refusal.is_none());

    let erased = sale.erase(party.uuid).await.unwrap();
    assert_eq!(erased.details, PartyDetails::default());
    assert_eq!((&erased.identity, &erased.block), (&None, &None));
    let erasure = erased.erasure.as_ref().unwrap();
    assert_eq!((erasure.actor.as_str(), erasure.kept_until), ("command-line", None));
    let now = sale.read(&registered).await;
    assert_eq!((now.name, now.email, now.note), (None, None, None));
    assert_eq!((now.status, now.party), (RegistrationStatus::Suspended, Some(party.uuid)));
    assert_eq!(sale.bid(0, "12", 500).await, Some("bidder_suspended"));
    for text in ["", "Ada", "B-Ada", "12", "ada@example.com"] {
        assert_eq!(sale.found(text).await, 0, "{text}");
    }
    sale.assert_verified().await;

    // Nothing brings the person back.
    let input = PartyInput { details: party.details.clone(), document: None };
    let codes = [
        platform.change_party(caller, party.uuid, &input, None).await.unwrap_err().code(),
        platform.block_party(caller, party.uuid, "again", None).await.unwrap_err().code(),
        platform.change_registration_status(caller, ids, &approve, None, None).await.unwrap_err().code(),
        platform.change_registration(caller, ids, &named("Ada"), None).await.unwrap_err().code(),
        sale.register("13", party.uuid).await.unwrap_err().code(),
    ];
    assert_eq!(codes, ["person_erased"; 5]);
    // Erased again, nothing changes.
    assert_eq!(sale.erase(party.uuid).await.unwrap(), erased);
    // The reference is free, and the person can be added as someone new.
    sale.add("Ada").await;
    sale.assert_verified().await;
}

fn named(name: &str) -> RegistrationPatch {
    RegistrationPatch { name: Some(name.into()), ..RegistrationPatch::default() }
}

#[tokio::test]
async fn a_leading_bidder_and_the_consignor_of_an_open_lot_are_not_erased() {
    let mut sale = Sale::new(0, None).await;
    let (ada, vera) = (sale.add("Ada").await, sale.add("Vera").await);
    sale.open(Some(vera.uuid)).await;
    let registered = sale.register("12", ada.uuid).await.unwrap();
    assert_eq!(sale.bid(0, "12", 500).await, None);
    assert_eq!(sale.refusal(ada.uuid).await, "person_leads");
    assert_eq!(sale.refusal(vera.uuid).await, "person_consigns");
    assert_eq!(sale.read(&registered).await.status, RegistrationStatus::Approved);
    sale.end().await;
    // The lot is unsold, and the house keeps nothing for invoices.
    assert_eq!(sale.erase(vera.uuid).await.unwrap().details, PartyDetails::default());
    assert_eq!(sale.erase(ada.uuid).await.unwrap().details, PartyDetails::default());
    sale.assert_verified().await;
}

#[tokio::test]
async fn what_invoices_need_is_kept_until_the_period_after_the_last_purchase_is_over() {
    let mut sale = Sale::new(30, None).await;
    let (ada, vera) = (sale.add("Ada").await, sale.add("Vera").await);
    sale.open(Some(vera.uuid)).await;
    let registered = sale.register("12", ada.uuid).await.unwrap();
    assert_eq!(sale.bid(1, "12", 500).await, None);
    sale.end().await;
    let sold = sale.fixture.platform.item(&sale.fixture.caller, sale.items[1].uuid).await.unwrap().0;
    assert_eq!(sold.status, ItemStatus::Sold);
    sale.fixture.clock.advance(DAY * 10);
    for party in [&ada, &vera] {
        let plan = sale.fixture.platform.erasure_plan(&sale.fixture.caller, party.uuid).await.unwrap();
        let erased = sale.erase(party.uuid).await.unwrap();
        let kept_until = erased.erasure.as_ref().unwrap().kept_until.unwrap();
        assert_eq!(plan.kept_until, Some(kept_until));
        let days = kept_until.duration_since(sale.fixture.platform.now()).as_hours() / 24;
        assert_eq!(days, 20, "{kept_until}");
        let kept = &erased.details;
        assert_eq!((&kept.name, &kept.vat_number), (&party.details.name, &party.details.vat_number));
        assert_eq!(kept.addresses.len(), 1);
        assert_eq!((&kept.email, &kept.note, &kept.reference, &erased.identity), (&None, &None, &None, &None));
        assert_eq!(sale.found(&party.details.name).await, 0);
    }
    assert_eq!(sale.read(&registered).await.name, None);
    sale.assert_verified().await;

    sale.fixture.clock.advance(DAY * 19);
    assert_eq!(sale.fixture.platform.remove_kept_details().await.unwrap(), 0);
    sale.fixture.clock.advance(DAY * 2);
    assert_eq!(sale.fixture.platform.remove_kept_details().await.unwrap(), 2);
    assert_eq!(sale.fixture.platform.remove_kept_details().await.unwrap(), 0);
    let gone = sale.fixture.platform.party(&sale.fixture.caller, ada.uuid).await.unwrap();
    assert_eq!(gone.details, PartyDetails::default());
    let erasure = gone.erasure.unwrap();
    assert_eq!((erasure.actor.as_str(), erasure.kept_until), ("command-line", None));
    // The purchase stays.
    let page = Page { after: None, limit: 10 };
    let sales = sale.fixture.platform.sales_of_party(&sale.fixture.caller, ada.uuid, page).await.unwrap();
    assert_eq!(sales[0].purchases.len(), 1);
    sale.assert_verified().await;
}

#[tokio::test]
async fn an_export_has_everything_that_is_held_about_a_person() {
    let mut sale = Sale::new(0, None).await;
    let ada = sale.add("Ada").await;
    sale.open(Some(ada.uuid)).await;
    sale.register("12", ada.uuid).await.unwrap();
    assert_eq!(sale.bid(0, "12", 500).await, None);
    sale.register("13", sale.add("Bo").await.uuid).await.unwrap();
    assert_eq!(sale.bid(0, "13", 600).await, None);
    assert_eq!(sale.bid(0, "12", 900).await, None);
    sale.end().await;
    let (platform, caller) = (&sale.fixture.platform, &sale.fixture.caller);
    let support = Caller { scopes: Role::Support.scopes(), role: Some(Role::Support), ..caller.clone() };
    assert_eq!(platform.export_party(&support, ada.uuid).await.unwrap_err().code(), "forbidden");
    platform.party(&support, ada.uuid).await.unwrap();
    let export = serde_json::to_value(platform.export_party(caller, ada.uuid).await.unwrap()).unwrap();
    assert_eq!(export["person"]["details"]["email"], "Ada@example.com");
    assert_eq!(export["person"]["identity"]["document"], "passport");
    let registration = &export["registrations"][0];
    assert_eq!(registration["registration"]["note"], "sits in front");
    let bids = registration["bids"].as_array().unwrap();
    assert_eq!(bids.iter().map(|bid| bid["maximum"].as_i64().unwrap()).collect::<Vec<_>>(), [500, 900]);
    let bought = &registration["purchases"][0];
    assert_eq!(
        (&bought["lotNumber"], &bought["currency"], &bought["isUnpaid"]),
        (&"1".into(), &"GBP".into(), &false.into())
    );
    assert_eq!(export["consignedLots"][0]["lotNumber"], "2");
    // The logs have the values that they conceal.
    assert_eq!(export["changes"][0]["change"]["state"]["details"]["name"], "Ada");
    assert_eq!(registration["changes"][0]["change"]["state"]["email"], "Ada@example.com");
    let log = export["accessLog"].as_array().unwrap();
    let events: Vec<_> = log.iter().map(|entry| entry["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["partyExported", "partyViewed"]);
    let text = export.to_string();
    assert!(!text.contains("Bo@example.com") && !text.contains("\"13\"") && !text.contains("concealed:"), "{text}");

    // Of an erased person, the export has what is left.
    sale.erase(ada.uuid).await.unwrap();
    let export = serde_json::to_string(&platform.export_party(caller, ada.uuid).await.unwrap()).unwrap();
    assert!(
        !export.contains("Ada") && export.contains("concealed:") && export.contains("\"lotNumber\":\"1\""),
        "{export}"
    );
}

#[tokio::test]
async fn only_administrators_erase() {
    let sale = Sale::new(0, None).await;
    let party = sale.add("Ada").await;
    let platform = &sale.fixture.platform;
    for role in Role::ALL {
        let caller = Caller {
            actor: format!("user:{}", Uuid::from_u128(7)),
            scopes: role.scopes(),
            role: Some(role),
            ..sale.fixture.caller.clone()
        };
        let refused = platform.erase_party(&caller, party.uuid, Some(99)).await.unwrap_err().code();
        let wanted = if role == Role::Administrator { "precondition_failed" } else { "forbidden" };
        assert_eq!(refused, wanted, "{role:?}");
    }
    let key = Caller { actor: format!("key:{}", Uuid::from_u128(7)), ..sale.fixture.caller.clone() };
    assert_eq!(platform.erase_party(&key, party.uuid, None).await.unwrap_err().code(), "forbidden");
}
