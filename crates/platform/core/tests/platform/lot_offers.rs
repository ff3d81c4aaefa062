//! Offers of lots that did not sell: one at a time, to one bidder with an account, answered once.

use std::time::Duration;

use contract::ItemStatus;
use platform_core::access::access_log::AccessEvent;
use platform_core::bidders::{NewRegistration, RegistrationDecision};
use platform_core::notices::NoticeKind;
use platform_core::port::{LotOffer, OfferOutcome, Page, Registration, RegistrationRule, RegistrationStatus};
use platform_core::saleroom::{OfferAnswer, SignedInBidder};
use platform_core::sales::auctions::edit::AuctionPatch;
use platform_core::sales::item_ends::ItemEndWorker;
use platform_core::sales::items::lot_offers::{NewLotOffer, OFFER_VALID, OfferState};
use platform_core::sales::items::post_sale::PostSaleOffer;
use platform_core::{PlatformConfig, PlatformError};

use platform_rules::item::ItemEdit;
use platform_rules::{AuctionEdit, Charges, Item};

use crate::saleroom_accounts::{House, PASSWORD, code, secret};

const MINUTE: Duration = Duration::from_secs(60);

/// What a bidder presses, on a page that was just loaded.
#[derive(Clone, Copy)]
enum Answer {
    Accept,
    Decline,
}

/// A house whose two lots ended without a bid, with two bidders, who have the paddles 1 and 2.
async fn house() -> (House, SignedInBidder, SignedInBidder, Registration) {
    let saleroom_url = Some("https://bid.example".to_owned());
    let config = PlatformConfig { saleroom_url, ..PlatformConfig::default() };
    let house = House::open_with(RegistrationRule::AtOnce, config).await;
    let (ann, registration) = house.registered("ann@example.com").await;
    let (bob, _) = house.registered("bob@example.com").await;
    house.fixture.clock.advance(Duration::from_secs(3_700));
    let mut timer = ItemEndWorker::new(house.fixture.platform.clone());
    timer.run_once(house.fixture.platform.now()).await.unwrap();
    assert_eq!(house.item(0).await.status, ItemStatus::Unsold);
    (house, ann, bob, registration)
}

impl House {
    async fn item(&self, lot: usize) -> Item {
        self.fixture.platform.item(&self.fixture.caller, self.items[lot].uuid).await.unwrap().0
    }

    fn new_offer(&self, buyer: &str, amount: i64) -> NewLotOffer {
        let until = self.fixture.platform.now() + OFFER_VALID;
        let id = self.fixture.platform.new_offer_id();
        NewLotOffer { id, buyer: buyer.to_owned(), amount, until, unusual_amount: true }
    }

    async fn offers(&self, lot: usize, new: &NewLotOffer) -> Result<LotOffer, PlatformError> {
        self.fixture.platform.offer_lot(&self.fixture.caller, self.items[lot].uuid, new, None).await
    }

    async fn answers(
        &self,
        bidder: &SignedInBidder,
        offer: &LotOffer,
        answer: Answer,
    ) -> Result<LotOffer, PlatformError> {
        let answer = match answer {
            Answer::Accept => self.accepting(offer).await,
            Answer::Decline => OfferAnswer::Decline,
        };
        self.sends(bidder, offer, answer).await
    }

    async fn sends(
        &self,
        bidder: &SignedInBidder,
        offer: &LotOffer,
        answer: OfferAnswer,
    ) -> Result<LotOffer, PlatformError> {
        let lot = (offer.auction, offer.item);
        self.fixture.platform.answer_offer(&self.saleroom, bidder, lot, offer.uuid, answer).await
    }

    /// The press on the button that a page shows now.
    async fn accepting(&self, offer: &LotOffer) -> OfferAnswer {
        let (item, auction) = self.fixture.platform.item(&self.fixture.caller, offer.item).await.unwrap();
        OfferAnswer::Accept { lot_version: item.version, total: auction.charges.on(offer.amount).total }
    }

    async fn records_offer(&self, lot: usize, buyer: &str) -> Result<(), PlatformError> {
        let (buyer, reason) = (buyer.to_owned(), "By telephone".to_owned());
        let offer = PostSaleOffer { buyer, amount: 90, reason, unusual_amount: true };
        self.fixture.platform.accept_offer(&self.fixture.caller, self.items[lot].uuid, &offer, None, None).await?;
        Ok(())
    }

    async fn state(&self, offer: &LotOffer) -> OfferState {
        let found = self.fixture.platform.offers_of_lot(&self.fixture.caller, offer.item).await.unwrap();
        found.into_iter().find(|found| found.offer.uuid == offer.uuid).unwrap().state
    }

    /// The events about offers in the access log with their actors, the earliest first.
    async fn logged(&self) -> Vec<(String, &'static str)> {
        let page = Page { after: None, limit: 100 };
        let mut rows = self.fixture.platform.access_log(&self.fixture.caller, page).await.unwrap();
        rows.reverse();
        let name = |event: &AccessEvent| match event {
            AccessEvent::LotOffered { .. } => Some("offered"),
            AccessEvent::LotOfferWithdrawn { .. } => Some("withdrawn"),
            AccessEvent::LotOfferAccepted { .. } => Some("accepted"),
            AccessEvent::LotOfferDeclined { .. } => Some("declined"),
            _ => None,
        };
        rows.into_iter().filter_map(|row| Some((row.content.actor, name(&row.content.event)?))).collect()
    }
}

#[tokio::test]
async fn a_bidder_accepts_an_offer_once_and_the_lot_is_sold_in_the_same_commit() {
    let (house, ann, _, registration) = house().await;
    let platform = &house.fixture.platform;
    let new = house.new_offer("1", 480);
    let offer = house.offers(0, &new).await.unwrap();
    assert_eq!((offer.registration, offer.amount), (registration.uuid, 480));
    assert_eq!(house.offers(0, &new).await.unwrap(), offer, "a form that is sent twice offers once");
    assert_eq!(code(house.offers(0, &house.new_offer("1", 500)).await), Some("taken"), "one open offer for each lot");
    assert_eq!(house.state(&offer).await, OfferState::Open);
    assert_eq!(house.item(0).await.status, ItemStatus::Unsold, "an offer alone sells nothing");

    platform.make_notices().await.unwrap();
    let told = platform.own_notices(&ann, None).await.unwrap().remove(0);
    assert_eq!((told.kind, told.facts.amount, told.facts.until), (NoticeKind::Offer, Some(480), Some(offer.until)));
    // Ann neither bid on the lot nor watches it, and finds it.
    let own = platform.own_lots(&house.saleroom, &ann).await.unwrap();
    assert_eq!(own[0].lots.iter().filter_map(|lot| lot.offer.as_ref()).collect::<Vec<_>>(), [&offer]);

    let accepted = house.answers(&ann, &offer, Answer::Accept).await.unwrap();
    assert_eq!(accepted.ended.as_ref().unwrap().outcome, OfferOutcome::Accepted);
    let sold = house.item(0).await;
    let standing = sold.standing.as_ref().unwrap();
    assert_eq!((sold.status, standing.bidder.as_str(), standing.amount), (ItemStatus::Sold, "1", 480));
    assert_eq!(house.answers(&ann, &offer, Answer::Accept).await.unwrap(), accepted, "the second press");
    assert_eq!(house.item(0).await.version, sold.version);
    assert_eq!(code(house.answers(&ann, &offer, Answer::Decline).await), Some("offer_answered"));
    assert_eq!(code(house.offers(0, &house.new_offer("1", 480)).await), Some("illegal_transition"));
    platform.make_notices().await.unwrap();
    let told: Vec<_> = platform.own_notices(&ann, None).await.unwrap().iter().map(|notice| notice.kind).collect();
    assert!(told.contains(&NoticeKind::Won), "{told:?}");
    let history = house.fixture.store.history(sold.uuid, Page { after: None, limit: 9 }).await.unwrap();
    let last = history.last().unwrap();
    let bidder = format!("bidder:{}", ann.account.id);
    assert_eq!((last.cause.as_str(), last.actor.as_str()), ("post_sale_offer_accepted", bidder.as_str()));
    assert!(last.body.is_some(), "the sale is announced as that to a recorded offer");
    assert_eq!(house.logged().await, [(house.fixture.caller.actor.clone(), "offered"), (bidder, "accepted")]);
}

#[tokio::test]
async fn an_offer_ends_by_its_time_a_withdrawal_an_answer_and_every_other_sale() {
    let (house, ann, bob, _) = house().await;
    let platform = &house.fixture.platform;
    let new = NewLotOffer { until: platform.now() + 20 * MINUTE, ..house.new_offer("1", 480) };
    let timed_out = house.offers(0, &new).await.unwrap();
    house.fixture.clock.advance(20 * MINUTE);
    assert_eq!(house.state(&timed_out).await, OfferState::Over);
    assert_eq!(code(house.answers(&ann, &timed_out, Answer::Accept).await), Some("offer_over"));
    platform.make_notices().await.unwrap();
    let told = platform.own_notices(&ann, None).await.unwrap();
    assert!(told.iter().all(|notice| notice.kind != NoticeKind::Offer), "an offer that is over is no news");

    // Another offer takes its place.
    let withdrawn = house.offers(0, &house.new_offer("1", 470)).await.unwrap();
    let key = (withdrawn.item, withdrawn.uuid);
    assert!(platform.withdraw_offer(&house.fixture.caller, key).await.unwrap());
    assert!(!platform.withdraw_offer(&house.fixture.caller, key).await.unwrap());
    assert_eq!(code(house.answers(&ann, &withdrawn, Answer::Accept).await), Some("offer_withdrawn"));

    let declined = house.offers(0, &house.new_offer("1", 460)).await.unwrap();
    for _ in 0..2 {
        let answered = house.answers(&ann, &declined, Answer::Decline).await.unwrap();
        assert_eq!(answered.ended.unwrap().outcome, OfferOutcome::Declined);
    }
    assert_eq!(code(house.answers(&ann, &declined, Answer::Accept).await), Some("offer_answered"));
    assert!(!platform.withdraw_offer(&house.fixture.caller, (declined.item, declined.uuid)).await.unwrap());

    // The lot is sold meanwhile. When the buyer does not pay, the earlier offer does not come back.
    let overtaken = house.offers(0, &house.new_offer("1", 450)).await.unwrap();
    house.records_offer(0, "2").await.unwrap();
    assert_eq!(code(house.answers(&ann, &overtaken, Answer::Accept).await), Some("offer_over"));
    let (caller, item) = (&house.fixture.caller, house.items[0].uuid);
    let reason = Some("The buyer did not pay".to_owned());
    platform.change_item_status(caller, item, ItemStatus::Unsold, reason, None, None).await.unwrap();
    assert_eq!(code(house.answers(&ann, &overtaken, Answer::Accept).await), Some("offer_over"));
    assert_eq!(house.item(0).await.status, ItemStatus::Unsold);

    // A bidder can't answer an offer to another one.
    let last = house.offers(0, &house.new_offer("1", 440)).await.unwrap();
    assert_eq!(code(house.answers(&bob, &last, Answer::Accept).await), Some("not_found"));
    let events: Vec<&str> = house.logged().await.into_iter().map(|(_, event)| event).collect();
    assert_eq!(events, ["offered", "offered", "withdrawn", "offered", "declined", "offered", "offered"]);
}

#[tokio::test]
async fn offers_go_to_approved_bidders_with_an_account_and_a_blocked_one_buys_nothing() {
    let (house, ann, _, registration) = house().await;
    let platform = &house.fixture.platform;
    let refused = async |new: NewLotOffer| code(house.offers(0, &new).await);
    assert_eq!(refused(house.new_offer("9", 480)).await, Some("buyer_not_registered"));
    let new = || house.new_offer("1", 480);
    assert_eq!(refused(NewLotOffer { until: platform.now() + MINUTE, ..new() }).await, Some("invalid"));
    assert_eq!(refused(NewLotOffer { until: platform.now() + 40 * OFFER_VALID, ..new() }).await, Some("invalid"));
    assert_eq!(refused(NewLotOffer { amount: 0, ..new() }).await, Some("field_invalid"));
    let caller = house.fixture.caller.clone();
    let plain = NewRegistration {
        paddle: Some("7".to_owned()),
        party: None,
        name: Some("Ada".to_owned()),
        email: None,
        limit: None,
        note: None,
        status: RegistrationStatus::Approved,
    };
    platform.register_bidder(&caller, house.items[0].auction, &plain, None).await.unwrap();
    assert_eq!(refused(house.new_offer("7", 480)).await, Some("invalid"), "no account");

    let offer = house.offers(0, &new()).await.unwrap();
    let key = (offer.auction, registration.uuid);
    let suspend = RegistrationDecision { to: RegistrationStatus::Suspended, reason: Some("Unpaid".to_owned()) };
    platform.change_registration_status(&caller, key, &suspend, None, None).await.unwrap();
    assert_eq!(code(house.answers(&ann, &offer, Answer::Accept).await), Some("bidder_suspended"));
    assert_eq!(house.item(0).await.status, ItemStatus::Unsold);
    assert_eq!(house.state(&offer).await, OfferState::Open);
}

#[tokio::test]
async fn a_bidder_buys_the_lot_and_at_the_total_that_the_page_showed() {
    let (house, ann, _, _) = house().await;
    let (platform, caller) = (&house.fixture.platform, &house.fixture.caller);
    let offer = house.offers(0, &house.new_offer("1", 480)).await.unwrap();
    let seen = house.accepting(&offer).await;
    let charges = Charges { premium_basis_points: 9_000, ..Charges::default() };
    let edit = AuctionEdit { charges: Some(charges), ..AuctionEdit::default() };
    platform.change_auction(caller, offer.auction, &AuctionPatch { edit, address: None }, None).await.unwrap();
    assert_eq!(code(house.sends(&ann, &offer, seen).await), Some("offer_changed"), "a higher premium");
    let seen = house.accepting(&offer).await;
    let edit = ItemEdit { title: Some("Another table".to_owned()), ..ItemEdit::default() };
    platform.change_item(caller, offer.item, &edit, None).await.unwrap();
    assert_eq!(code(house.sends(&ann, &offer, seen).await), Some("offer_changed"), "another lot");
    assert_eq!(house.item(0).await.status, ItemStatus::Unsold);
    house.answers(&ann, &offer, Answer::Accept).await.unwrap();

    // The house takes the sale back: the press that is sent again does not say that the lot is bought.
    let reason = Some("The buyer did not pay".to_owned());
    platform.change_item_status(caller, offer.item, ItemStatus::Unsold, reason, None, None).await.unwrap();
    assert_eq!(code(house.answers(&ann, &offer, Answer::Accept).await), Some("offer_over"));
    assert_eq!(code(house.answers(&ann, &offer, Answer::Decline).await), Some("offer_over"));
}

#[tokio::test]
async fn a_form_that_is_sent_again_offers_only_what_it_offered() {
    let (house, ann, _, _) = house().await;
    let platform = &house.fixture.platform;
    let new = house.new_offer("1", 480);
    let offer = house.offers(0, &new).await.unwrap();
    for other in [
        NewLotOffer { amount: 500, ..new.clone() },
        NewLotOffer { buyer: "2".to_owned(), ..new.clone() },
        NewLotOffer { until: new.until + MINUTE, ..new.clone() },
    ] {
        assert_eq!(code(house.offers(0, &other).await), Some("invalid"), "{other:?}");
    }
    assert_eq!(house.offers(0, &new).await.unwrap(), offer);
    platform.withdraw_offer(&house.fixture.caller, (offer.item, offer.uuid)).await.unwrap();
    assert_eq!(code(house.offers(0, &new).await), Some("invalid"), "its offer was withdrawn");

    // A bidder without an account can't answer: the lot is free for another one.
    let left = house.offers(0, &house.new_offer("1", 480)).await.unwrap();
    platform.delete_bidder_account(&ann, &secret(PASSWORD)).await.unwrap();
    assert_eq!(house.state(&left).await, OfferState::Over);
    let next = house.offers(0, &house.new_offer("2", 480)).await.unwrap();
    assert_eq!(house.state(&next).await, OfferState::Open);
    assert_eq!(house.state(&left).await, OfferState::Ended(OfferOutcome::Lapsed));
}
