//! Bidders with accounts at a house: whom a session belongs to, what a registration needs, and what a bid depends on.

use std::net::IpAddr;
use std::time::Duration;

use contract::AuctionStatus;
use contract::models::AddressModel;
use kit_identity::token_hash;
use kit_runtime::vault::Secret;
use platform_core::bidders::{MergeChoices, PartyInput, RecordPair, RegistrationDecision};
use platform_core::port::{
    BidderLink, HouseSaleroom, Language, OutageEnds, Page, PartyDetails, Registration, RegistrationRule,
    RegistrationStatus,
};
use platform_core::saleroom::{AccountInput, BidForm, BidderDetails, Saleroom, SaleroomBid, SignedInBidder};
use platform_core::sales::auctions::edit::AuctionPatch;
use platform_core::sales::facts::SaleFactsInput;
use platform_core::sales::new_item::NewItem;
use platform_core::users::{Client, SignIn};
use platform_core::{PlatformConfig, PlatformError, PlatformResult};
use platform_rules::{AuctionEdit, Charges, Item};
use uuid::Uuid;

use crate::fixture::TestPlatform;

const HOUR: Duration = Duration::from_secs(3_600);
pub const PASSWORD: &str = "three green lamps";

pub fn code<T>(outcome: Result<T, PlatformError>) -> Option<&'static str> {
    outcome.err().map(|error| error.code())
}

/// The form of a bid whose bidder saw no totals.
pub fn form(key: &str) -> BidForm<'_> {
    BidForm { key, rates: None }
}

pub fn secret(text: &str) -> Secret {
    Secret::new(text.as_bytes().to_vec())
}

/// A house with an open saleroom and a LIVE timed auction of two lots, and another house without anything.
pub struct House {
    pub fixture: TestPlatform,
    pub saleroom: Saleroom,
    pub other: Saleroom,
    pub items: Vec<Item>,
}

impl House {
    pub async fn open(rule: RegistrationRule) -> Self {
        Self::open_with(rule, PlatformConfig::default()).await
    }

    pub async fn open_with(rule: RegistrationRule, config: PlatformConfig) -> Self {
        let fixture = TestPlatform::with(config).await;
        let lot = |number: &str| NewItem {
            opening_bid: 100,
            fixed_increment: Some(10),
            buy_now: Some(900),
            ..NewItem::new(number, "A table")
        };
        let items = fixture.create(&fixture.timed(HOUR, vec![lot("1"), lot("2")])).await.items;
        let open = async |customer: Uuid, address: &str| {
            let saleroom = HouseSaleroom {
                address: Some(address.into()),
                is_open: true,
                registration: rule,
                outage_ends: Some(OutageEnds::AtTheirTime),
                ..HouseSaleroom::default()
            };
            fixture.platform.change_saleroom(&fixture.caller, customer, saleroom, None).await.unwrap();
            fixture.platform.saleroom(address).await.unwrap()
        };
        let other = fixture.platform.create_customer(&fixture.caller, "Other", None).await.unwrap().fresh().unwrap();
        let saleroom = open(fixture.customer.uuid, "hartley").await;
        let other = open(other.uuid, "other").await;
        Self { saleroom, other, items, fixture }
    }

    pub async fn link(&self, saleroom: &Saleroom, email: &str) -> String {
        let code = format!("lwl_{}", self.fixture.platform.new_form_key());
        let expires_at = self.fixture.platform.now() + HOUR;
        let (customer, hash) = (saleroom.house.customer, token_hash(&code));
        let link = BidderLink { customer, email: email.into(), hash, expires_at };
        self.fixture.store.put_bidder_link(link).await.unwrap();
        code
    }

    pub async fn open_account(&self, saleroom: &Saleroom, email: &str) -> (SignedInBidder, String) {
        let code = self.link(saleroom, email).await;
        let details =
            BidderDetails { name: format!("Name of {}", email.replace('@', " at ")), ..BidderDetails::default() };
        let input = AccountInput { details, password: secret(PASSWORD) };
        let platform = &self.fixture.platform;
        let signed_in = platform.use_bidder_link(saleroom, &code, input, &Client::default()).await.unwrap();
        let token = signed_in.token.expose_str().unwrap().to_owned();
        (platform.signed_in_bidder(saleroom, &token).await.unwrap().unwrap(), token)
    }

    pub async fn registered(&self, email: &str) -> (SignedInBidder, Registration) {
        let (bidder, token) = self.open_account(&self.saleroom, email).await;
        let registration = self.register(&bidder, None).await.unwrap();
        (self.fixture.platform.signed_in_bidder(&self.saleroom, &token).await.unwrap().unwrap(), registration)
    }

    async fn register(&self, bidder: &SignedInBidder, accepted: Option<u32>) -> PlatformResult<Registration> {
        let auction = self.items[0].auction;
        self.fixture.platform.register_for_sale(&self.saleroom, bidder, auction, accepted).await
    }

    /// Whether the bidder leads then, and the price; or the code of the refusal.
    pub async fn bid(
        &self,
        bidder: &SignedInBidder,
        lot: usize,
        bid: SaleroomBid,
    ) -> Result<(bool, i64), &'static str> {
        self.bid_with_key(bidder, lot, bid, &self.fixture.platform.new_form_key()).await
    }

    async fn bid_with_key(
        &self,
        bidder: &SignedInBidder,
        lot: usize,
        bid: SaleroomBid,
        key: &str,
    ) -> Result<(bool, i64), &'static str> {
        let lot = (self.items[lot].auction, self.items[lot].uuid);
        let placed = self.fixture.platform.bid_in_saleroom(&self.saleroom, bidder, lot, bid, form(key)).await;
        placed.map(|placed| (placed.own.leads, placed.sale.price.unwrap())).map_err(|error| error.code())
    }
}

#[tokio::test]
async fn a_session_belongs_to_one_house() {
    let house = House::open(RegistrationRule::AtOnce).await;
    let platform = &house.fixture.platform;
    let (ann, token) = house.open_account(&house.saleroom, "ann@example.com").await;
    assert!(platform.signed_in_bidder(&house.other, &token).await.unwrap().is_none());
    let sign_in = |email: &str, password: &str| SignIn {
        email: email.into(),
        password: secret(password),
        code: None,
        client: Client { from: Some(IpAddr::from([192, 0, 2, 1])), ..Client::default() },
    };
    let right = sign_in(" ANN@example.com", PASSWORD);
    assert_eq!(code(platform.sign_in_bidder(&house.other, &right).await), Some("sign_in_refused"));
    assert!(platform.sign_in_bidder(&house.saleroom, &right).await.is_ok());
    assert_eq!(
        code(platform.sign_in_bidder(&house.saleroom, &sign_in("ann@example.com", "x")).await),
        Some("sign_in_refused")
    );
    // A link of one house opens nothing at another.
    let code_of_other = house.link(&house.other, "ann@example.com").await;
    assert_eq!(code(platform.open_bidder_link(&house.saleroom, &code_of_other, None).await), Some("link_void"));
    // A bidder's token is no key of the API, and a session of a user is none of a bidder.
    assert_eq!(code(platform.authenticate(&token).await), Some("unauthenticated"));
    // A sale of another house takes no registration, nor do its lots take a bid.
    let auction = house.items[0].auction;
    let elsewhere = platform.register_for_sale(&house.other, &ann, auction, None).await;
    assert_eq!(code(elsewhere), Some("not_found"));

    let closed = HouseSaleroom { registration: RegistrationRule::Closed, ..house.saleroom.house.saleroom.clone() };
    platform.change_saleroom(&house.fixture.caller, house.fixture.customer.uuid, closed, None).await.unwrap();
    let saleroom = platform.saleroom("hartley").await.unwrap();
    assert!(platform.signed_in_bidder(&saleroom, &token).await.unwrap().is_none());
    assert_eq!(code(platform.sign_in_bidder(&saleroom, &right).await), Some("accounts_closed"));
}

#[tokio::test]
async fn guesses_at_a_bidders_password_delay_no_user_and_no_other_bidder() {
    let house = House::open(RegistrationRule::AtOnce).await;
    let platform = &house.fixture.platform;
    for email in ["ann@example.com", "bo@example.com"] {
        house.open_account(&house.saleroom, email).await;
    }
    let from = Some(IpAddr::from([192, 0, 2, 1]));
    let sign_in = async |email: &str, password: &str| {
        let client = Client { from, ..Client::default() };
        let sign_in = SignIn { email: email.into(), password: secret(password), code: None, client };
        code(platform.sign_in_bidder(&house.saleroom, &sign_in).await)
    };
    for _ in 0..10 {
        assert_eq!(sign_in("ann@example.com", "wrong").await, Some("sign_in_refused"));
    }
    assert_eq!(sign_in("ann@example.com", PASSWORD).await, Some("too_many_attempts"));
    assert_eq!(sign_in("bo@example.com", PASSWORD).await, None, "the same Wi-Fi");
    let user = SignIn {
        email: "ann@example.com".into(),
        password: secret("wrong"),
        code: None,
        client: Client { from, ..Client::default() },
    };
    assert_eq!(code(platform.sign_in(&user, None).await), Some("sign_in_refused"));
}

#[tokio::test]
async fn another_password_ends_all_sessions_and_a_link_works_once() {
    let house = House::open(RegistrationRule::AtOnce).await;
    let platform = &house.fixture.platform;
    let (_, token) = house.open_account(&house.saleroom, "ann@example.com").await;
    let link = house.link(&house.saleroom, "ann@example.com").await;
    assert_eq!(
        platform.open_bidder_link(&house.saleroom, &link, None).await.unwrap(),
        ("ann@example.com".into(), true)
    );
    let input = |password: &str| AccountInput { details: BidderDetails::default(), password: secret(password) };
    let used = async |password: &str| {
        platform.use_bidder_link(&house.saleroom, &link, input(password), &Client::default()).await
    };
    assert_eq!(code(used("short").await), Some("invalid"), "and the link stays");
    used("four green lamps").await.unwrap();
    assert_eq!(code(used("five green lamps").await), Some("link_void"));
    assert!(platform.signed_in_bidder(&house.saleroom, &token).await.unwrap().is_none());
}

#[tokio::test]
async fn an_account_has_what_the_house_asks_for() {
    let house = House::open(RegistrationRule::AtOnce).await;
    let platform = &house.fixture.platform;
    let asks = HouseSaleroom { asks_phone: true, asks_address: true, ..house.saleroom.house.saleroom.clone() };
    platform.change_saleroom(&house.fixture.caller, house.fixture.customer.uuid, asks, None).await.unwrap();
    let saleroom = platform.saleroom("hartley").await.unwrap();
    let link = house.link(&saleroom, "ann@example.com").await;
    let open = async |phone: Option<&str>, address: Option<AddressModel>| {
        let details =
            BidderDetails { name: "Ann".into(), phone: phone.map(str::to_owned), address, ..BidderDetails::default() };
        let input = AccountInput { details, password: secret(PASSWORD) };
        match platform.use_bidder_link(&saleroom, &link, input, &Client::default()).await {
            Err(PlatformError::Invalid(problems)) => problems.into_iter().map(|problem| problem.pointer).collect(),
            outcome => outcome.map(|_| Vec::<String>::new()).unwrap(),
        }
    };
    assert_eq!(open(None, None).await, ["/phone", "/address/addressLine1"]);
    assert_eq!(open(Some(" "), None).await.len(), 2);
    let address =
        AddressModel { address_line1: "1 Mill Lane".into(), postcode: "BA1 1AA".into(), ..AddressModel::default() };
    assert_eq!(open(Some("+44 1225 1"), Some(address)).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_bidder_chooses_a_language_and_a_time_zone() {
    let house = House::open(RegistrationRule::AtOnce).await;
    let platform = &house.fixture.platform;
    let (ann, token) = house.open_account(&house.saleroom, "ann@example.com").await;
    let details = ann.account.profile.details.clone();
    let zone = |name: &str| BidderDetails { time_zone: Some(name.into()), ..details.clone() };
    let refused = platform.change_bidder_details(&house.saleroom, &ann, zone("Nowhere/Town")).await;
    let Err(PlatformError::Invalid(problems)) = refused else { panic!("{refused:?}") };
    assert_eq!(problems[0].pointer, "/timeZone");
    platform.change_bidder_details(&house.saleroom, &ann, zone("Europe/Berlin")).await.unwrap();
    let ann = platform.signed_in_bidder(&house.saleroom, &token).await.unwrap().unwrap();
    platform.choose_bidder_language(&ann, Language::Italian).await.unwrap();
    let stored = platform.signed_in_bidder(&house.saleroom, &token).await.unwrap().unwrap().account.profile.details;
    let chosen = BidderDetails { language: Some(Language::Italian), ..zone("Europe/Berlin") };
    assert_eq!(stored, chosen, "the other details stay");
}

#[tokio::test]
async fn a_registration_names_one_record_and_needs_the_conditions_of_the_sale() {
    let house = House::open(RegistrationRule::ByStaff).await;
    let (fixture, platform) = (&house.fixture, &house.fixture.platform);
    let (ann, registration) = house.registered("ann@example.com").await;
    assert_eq!((registration.status, registration.paddle.as_str()), (RegistrationStatus::Pending, "1"));
    assert_eq!(registration.email.as_deref(), Some("ann@example.com"));
    let party = platform.party(&fixture.caller, registration.party.unwrap()).await.unwrap();
    assert_eq!(party.details.name, "Name of ann at example.com");
    assert_eq!(house.register(&ann, None).await.unwrap().uuid, registration.uuid, "once for a sale");
    assert_eq!(house.bid(&ann, 0, SaleroomBid::Next(100)).await, Err("registration_required"));

    // A second sale: the same record, and its conditions in the version of now.
    let draft = fixture.timed(HOUR, vec![NewItem::new("1", "A lamp")]);
    let draft = platform_core::sales::auctions::NewAuction { status: AuctionStatus::Preview, ..draft };
    let second = platform.create_auction(&fixture.caller, &draft, None).await.unwrap().fresh().unwrap().auction;
    for text in ["Sold as seen.", "Sold as seen. Pay within a week."] {
        platform.add_conditions(&fixture.caller, fixture.customer.uuid, text).await.unwrap();
    }
    let facts = SaleFactsInput { conditions: Some(2), ..SaleFactsInput::default() };
    platform.change_sale_facts(&fixture.caller, second.uuid, &facts, None).await.unwrap();
    for accepted in [None, Some(1)] {
        let refused = platform.register_for_sale(&house.saleroom, &ann, second.uuid, accepted).await;
        assert_eq!(code(refused), Some("conditions_changed"));
    }
    let again = platform.register_for_sale(&house.saleroom, &ann, second.uuid, Some(2)).await.unwrap();
    assert_eq!(again.party, registration.party);
    let accepted = fixture.store.accepted_conditions(ann.account.id, second.uuid).await.unwrap().unwrap();
    assert_eq!(accepted.number, 2);

    // A bidder who is blocked in the register gets no registration.
    platform.block_party(&fixture.caller, party.uuid, "it did not pay", None).await.unwrap();
    let third = platform.create_auction(&fixture.caller, &draft, None).await.unwrap().fresh().unwrap().auction;
    let refused = platform.register_for_sale(&house.saleroom, &ann, third.uuid, None).await;
    assert_eq!(code(refused), Some("bidder_blocked"));
}

#[tokio::test]
async fn a_bid_is_placed_on_what_the_bidder_saw_and_never_against_themselves() {
    let house = House::open(RegistrationRule::AtOnce).await;
    let ((ann, _), (bo, _)) = (house.registered("ann@example.com").await, house.registered("bo@example.com").await);
    assert_eq!(house.bid(&ann, 0, SaleroomBid::Next(100)).await, Ok((true, 100)));
    assert_eq!(house.bid(&ann, 0, SaleroomBid::Next(110)).await, Err("already_leading"));
    assert_eq!(house.bid(&bo, 0, SaleroomBid::Next(100)).await, Err("price_moved"), "the earlier of equal bids counts");
    assert_eq!(house.bid(&bo, 0, SaleroomBid::Next(500)).await, Err("price_moved"), "it is no maximum");
    assert_eq!(house.bid(&bo, 0, SaleroomBid::UpTo(105)).await, Err("bid_too_low"));
    assert_eq!(house.bid(&bo, 0, SaleroomBid::UpTo(300)).await, Ok((true, 110)));
    assert_eq!(house.bid(&ann, 0, SaleroomBid::Next(120)).await, Ok((false, 130)), "the maximum answers at once");
    assert_eq!(house.bid(&bo, 0, SaleroomBid::UpTo(300)).await, Err("maximum_not_raised"));
    assert_eq!(house.bid(&bo, 0, SaleroomBid::UpTo(400)).await, Ok((true, 130)), "a higher maximum moves no price");

    // The same key is the same bid, and another bid with it is refused.
    assert_eq!(house.bid_with_key(&ann, 1, SaleroomBid::UpTo(200), "key").await, Ok((true, 100)));
    assert_eq!(house.bid_with_key(&ann, 1, SaleroomBid::UpTo(200), "key").await, Ok((true, 100)));
    assert_eq!(house.bid_with_key(&ann, 1, SaleroomBid::UpTo(300), "key").await, Err("idempotency_mismatch"));
    assert_eq!(
        house.bid_with_key(&bo, 1, SaleroomBid::UpTo(120), "key").await,
        Ok((false, 130)),
        "keys are the bidder's own"
    );
    let bids = house.fixture.platform.bids(&house.fixture.caller, house.items[1].uuid, Page { after: None, limit: 9 });
    assert!(bids.await.unwrap().1.iter().filter(|bid| bid.bidder == "1").count() <= 2);

    // Late, and on a lot that no visitor sees.
    house.fixture.clock.advance(HOUR + Duration::from_secs(600));
    assert_eq!(house.bid(&ann, 0, SaleroomBid::UpTo(800)).await, Err("item_ended"));
    let unseen = (house.items[0].auction, Uuid::nil());
    let refused =
        house.fixture.platform.bid_in_saleroom(&house.saleroom, &ann, unseen, SaleroomBid::Next(100), form("k")).await;
    assert_eq!(code(refused), Some("not_found"));
}

#[tokio::test]
async fn a_bid_is_placed_at_the_rates_that_the_bidder_saw() {
    let house = House::open(RegistrationRule::AtOnce).await;
    let (platform, caller) = (&house.fixture.platform, &house.fixture.caller);
    let (ann, _) = house.registered("ann@example.com").await;
    let lot = (house.items[0].auction, house.items[0].uuid);
    let seen = platform.item(caller, lot.1).await.unwrap().1.charges;
    let charges = Charges { premium_basis_points: 9_000, ..seen };
    let edit = AuctionEdit { charges: Some(charges), ..AuctionEdit::default() };
    platform.change_auction(caller, lot.0, &AuctionPatch { edit, address: None }, None).await.unwrap();
    let at = |rates| BidForm { key: "k", rates: Some(rates) };
    for bid in [SaleroomBid::Next(100), SaleroomBid::UpTo(500)] {
        let refused = platform.bid_in_saleroom(&house.saleroom, &ann, lot, bid, at(seen)).await;
        assert_eq!(code(refused), Some("rates_moved"), "{bid:?}");
    }
    let refused = platform.buy_now_in_saleroom(&house.saleroom, &ann, lot, 900, at(seen)).await;
    assert_eq!(code(refused), Some("rates_moved"));
    platform.bid_in_saleroom(&house.saleroom, &ann, lot, SaleroomBid::Next(100), at(charges)).await.unwrap();
}

#[tokio::test]
async fn a_lot_is_bought_at_the_price_that_the_bidder_saw() {
    let house = House::open(RegistrationRule::AtOnce).await;
    let (ann, _) = house.registered("ann@example.com").await;
    let lot = (house.items[0].auction, house.items[0].uuid);
    let buy = async |seen: i64, key: &str| {
        code(house.fixture.platform.buy_now_in_saleroom(&house.saleroom, &ann, lot, seen, form(key)).await)
    };
    assert_eq!(buy(800, "a").await, Some("price_moved"));
    assert_eq!(buy(900, "b").await, None);
    assert_eq!(buy(900, "b").await, None, "the same key is the same purchase");
    let own = house.fixture.platform.own_lots(&house.saleroom, &ann).await.unwrap();
    assert!(own[0].lots[0].own.as_ref().unwrap().leads);
}

#[tokio::test]
async fn watched_lots_are_the_bidders_own_and_an_account_ends_with_its_password() {
    let house = House::open(RegistrationRule::AtOnce).await;
    let platform = &house.fixture.platform;
    let (ann, token) = house.open_account(&house.saleroom, "ann@example.com").await;
    let (bo, _) = house.open_account(&house.saleroom, "bo@example.com").await;
    let lot = (house.items[1].auction, house.items[1].uuid);
    platform.watch_lot(&house.saleroom, &ann, lot, true).await.unwrap();
    assert!(platform.watches_lot(&ann, lot).await.unwrap() && !platform.watches_lot(&bo, lot).await.unwrap());
    let own = platform.own_lots(&house.saleroom, &ann).await.unwrap();
    assert!(own.len() == 1 && own[0].lots[0].is_watched && own[0].lots[0].own.is_none());
    let hidden = platform.watch_lot(&house.saleroom, &ann, (lot.0, Uuid::nil()), true).await;
    assert_eq!(code(hidden), Some("not_found"));

    assert_eq!(code(platform.delete_bidder_account(&ann, &secret("wrong")).await), Some("password_refused"));
    platform.delete_bidder_account(&ann, &secret(PASSWORD)).await.unwrap();
    assert!(platform.signed_in_bidder(&house.saleroom, &token).await.unwrap().is_none());
}

#[tokio::test]
async fn an_erased_person_has_no_account_any_more() {
    let house = House::open(RegistrationRule::AtOnce).await;
    let (fixture, platform) = (&house.fixture, &house.fixture.platform);
    let (ann, registration) = house.registered("ann@example.com").await;
    platform.erase_party(&fixture.caller, registration.party.unwrap(), None).await.unwrap();
    assert_eq!(fixture.store.bidder_account(ann.account.id).await.unwrap(), None);
}

#[tokio::test]
async fn an_account_that_is_deleted_and_opened_again_is_the_same_person() {
    let house = House::open(RegistrationRule::AtOnce).await;
    let platform = &house.fixture.platform;
    let (ann, registration) = house.registered("ann@example.com").await;
    let decision = RegistrationDecision { to: RegistrationStatus::Suspended, reason: Some("it did not pay".into()) };
    let known = (registration.auction, registration.uuid);
    platform.change_registration_status(&house.fixture.caller, known, &decision, None, None).await.unwrap();
    platform.delete_bidder_account(&ann, &secret(PASSWORD)).await.unwrap();
    let link = house.link(&house.saleroom, "ann@example.com").await;
    assert_eq!(
        platform.open_bidder_link(&house.saleroom, &link, None).await.unwrap(),
        ("ann@example.com".into(), false)
    );
    let (again, _) = house.open_account(&house.saleroom, "ann@example.com").await;
    assert_eq!(house.register(&again, None).await.unwrap().uuid, registration.uuid);
    assert_eq!(house.bid(&again, 0, SaleroomBid::Next(100)).await, Err("bidder_suspended"));
}

#[tokio::test]
async fn staff_decide_on_a_bidder_whose_address_the_register_has() {
    let house = House::open(RegistrationRule::AtOnce).await;
    let (platform, caller) = (&house.fixture.platform, &house.fixture.caller);
    let record = |email: &str| PartyInput {
        details: PartyDetails {
            name: "A".into(),
            is_consignor: true,
            email: Some(email.into()),
            ..PartyDetails::default()
        },
        document: None,
    };
    let customer = house.fixture.customer.uuid;
    let known = platform.create_party(caller, customer, &record("ann@example.com")).await.unwrap();
    let blocked = platform.create_party(caller, customer, &record("bo@example.com")).await.unwrap();
    platform.block_party(caller, blocked.uuid, "it did not pay", None).await.unwrap();
    let (_, registration) = house.registered("ann@example.com").await;
    assert_eq!(registration.status, RegistrationStatus::Pending);
    let (bo, _) = house.open_account(&house.saleroom, "bo@example.com").await;
    assert_eq!(code(house.register(&bo, None).await), Some("bidder_blocked"));

    // Merged records have one account: with two, each bidder would act with the paddle of the other.
    let own = registration.party.unwrap();
    let merge = async |kept, merged| {
        code(
            platform.merge_parties(caller, RecordPair { kept, merged, versions: None }, &MergeChoices::default()).await,
        )
    };
    let (_, third) = house.registered("cy@example.com").await;
    assert_eq!(merge(own, third.party.unwrap()).await, Some("two_accounts"));
    assert_eq!(merge(known.uuid, own).await, None);
    let plan =
        platform.merge_plan(caller, RecordPair { kept: known.uuid, merged: third.party.unwrap(), versions: None });
    let plan = plan.await.unwrap();
    assert_eq!(plan.account.as_deref(), Some("ann@example.com"));
    assert_eq!(plan.refusal.unwrap().code(), "two_accounts");
}
