//! Staff offer a lot that did not sell to one bidder with an account, who answers in the saleroom.
//!
//! Guarantees:
//! - The rules that decide a recorded post-sale offer decide when staff offer, and again when the bidder accepts.
//! - A lot has one open offer. It ends when the bidder answers, when staff withdraw it, at its time, and with every change of the lot's
//!   status; only the close of a sale, which makes passed lots unsold, leaves it open.
//! - Each offer, withdrawal and answer is committed with an entry in the access log.

use std::time::Duration;

use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use platform_rules::{Auction, Item, ItemCommand, SaleMode};
use uuid::Uuid;

use crate::access::access_log::AccessEvent;
use crate::bidders::LookUpIn;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{
    CauseOfNotice, EndedOffer, House, LotOffer, NoticeCause, OfferEnd, OfferOutcome, Registration, RegistrationRule,
    StoreError,
};
use crate::steps::decide::expect_version;
use crate::{Caller, Platform, Scope};

/// How long a bidder can answer, unless staff choose another time.
pub const OFFER_VALID: Duration = Duration::from_secs(3 * 24 * 60 * 60);
/// The shortest and the longest time to answer.
pub const OFFER_VALID_MIN: Duration = Duration::from_secs(15 * 60);
/// See [`OFFER_VALID_MIN`].
pub const OFFER_VALID_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Why a lot is sold to a bidder who accepted; the timeline of the lot shows it.
pub(crate) const ACCEPTED_REASON: &str = "The bidder accepted the offer of the house.";
/// Offers of one lot, and those of a sale that are listed.
pub(crate) const LISTED_MAX: usize = 100;

/// A lot to offer to a bidder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLotOffer {
    /// The offer's UUID: see [`Platform::new_offer_id`]. A form that is sent twice carries it twice.
    pub id: Uuid,
    /// Paddle of the bidder.
    pub buyer: String,
    /// Hammer price, minor units of the auction's currency.
    pub amount: i64,
    /// The bidder can answer before this time.
    pub until: Timestamp,
    /// The caller confirmed an amount far from the item's known amounts.
    pub unusual_amount: bool,
}

/// Where an offer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferState {
    /// The bidder can answer it.
    Open,
    /// The bidder accepted, or declined, or staff withdrew it.
    Ended(OfferOutcome),
    /// Its time has passed, the lot or its sale has changed, or the bidder has no account any more.
    Over,
}

/// An offer as staff see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferOfLot {
    /// The offer.
    pub offer: LotOffer,
    /// Where it stands.
    pub state: OfferState,
    /// Paddle of the bidder; none when the registration was erased.
    pub paddle: Option<String>,
    /// Lot number.
    pub lot_number: String,
}

impl LotOffer {
    /// Where the offer stands, with the lot and the sale as they are.
    pub fn state(&self, auction: &Auction, item: &Item, now: Timestamp) -> OfferState {
        if let Some(ended) = &self.ended {
            return OfferState::Ended(ended.outcome);
        }
        // A passed lot becomes unsold when its sale closes.
        let has_closed = item.sequence == self.sequence + 1 && item.status == ItemStatus::Unsold;
        let is_unsold = matches!(item.status, ItemStatus::Passed | ItemStatus::Unsold) && item.relisted_as.is_none();
        let is_as_offered = is_unsold && (item.sequence == self.sequence || has_closed);
        let is_open = is_as_offered && auction.status != AuctionStatus::Archived && now < self.until;
        if is_open { OfferState::Open } else { OfferState::Over }
    }
}

impl Platform {
    /// The UUID of an offer that a form is about to make.
    pub fn new_offer_id(&self) -> Uuid {
        self.ids().uuid_v7()
    }

    /// Offers a lot that did not sell to a registered bidder with an account. The bidder receives a notice. A form that is sent twice
    /// offers once.
    ///
    /// Errors: `not_found`, `precondition_failed`, `invalid` (`/buyer`: no account; `/until`; also for a sandbox, while the saleroom is
    /// closed, for a lot that was offered 100 times, and for a form whose offer was another one or has ended), `taken` (the lot has an open offer), and those of [`Platform::accept_offer`].
    pub async fn offer_lot(
        &self,
        caller: &Caller,
        item: Uuid,
        new: &NewLotOffer,
        expected_version: Option<i64>,
    ) -> PlatformResult<LotOffer> {
        caller.require(Scope::AuctionsWrite)?;
        let (item, auction) = self.visible_item(caller, item).await?;
        let earlier = self.store().offers_of_item(item.uuid, LISTED_MAX).await?;
        if let Some(same) = earlier.iter().find(|offer| offer.uuid == new.id) {
            return self.repeated_offer(same, new).await;
        }
        if earlier.len() >= LISTED_MAX {
            let often =
                format!("the lot was offered {LISTED_MAX} times: record an offer that a bidder accepted elsewhere");
            return Err(PlatformError::invalid("", often));
        }
        expect_version(expected_version, item.version)?;
        let now = self.now();
        require_time(new.until, now)?;
        self.require_saleroom(&auction).await?;
        let open = earlier.into_iter().find(|offer| offer.ended.is_none());
        if let Some(open) = &open
            && self.offer_view(&auction, &item, open.clone()).await?.state == OfferState::Open
        {
            return Err(PlatformError::Taken("offer"));
        }
        self.require_item_not_pending(&auction, &item).await?;
        let admitted = self.admit(&auction, &item, &new.buyer, LookUpIn::Store).await?;
        let command = ItemCommand::AcceptOffer {
            bid: new.id,
            bidder: admitted.bidder,
            amount: new.amount,
            reason: ACCEPTED_REASON.to_owned(),
            unusual_amount: new.unusual_amount,
        };
        platform_rules::item::decide(&auction, &item, command, self.time_of(&auction))?;
        let registration = self.bidder_to_offer(&auction, &new.buyer).await?;
        let offer = LotOffer {
            uuid: new.id,
            auction: auction.uuid,
            item: item.uuid,
            registration: registration.uuid,
            amount: new.amount,
            sequence: item.sequence,
            offered_by: caller.actor.clone(),
            offered_at: now,
            until: new.until,
            ended: None,
        };
        let event = AccessEvent::LotOffered {
            offer: offer.uuid,
            item: offer.item,
            registration: offer.registration,
            amount: offer.amount,
            until: offer.until,
        };
        let what = CauseOfNotice::Offered { item: item.uuid, offer: offer.uuid };
        let cause = NoticeCause { auction: auction.uuid, what, at: now };
        let (lapsed, note) = (open.map(|offer| offer.uuid), self.note(caller, event)?);
        match self.store().put_offer(offer.clone(), lapsed, Some(cause), note).await {
            Ok(()) => {
                self.notices_caused().notify();
                Ok(offer)
            }
            Err(StoreError::Taken(field)) => Err(PlatformError::Taken(field)),
            Err(error) => Err(error.into()),
        }
    }

    /// Withdraws an offer. False when it had ended before.
    ///
    /// Errors: `not_found`.
    pub async fn withdraw_offer(&self, caller: &Caller, (item, offer): (Uuid, Uuid)) -> PlatformResult<bool> {
        caller.require(Scope::AuctionsWrite)?;
        let (item, _) = self.visible_item(caller, item).await?;
        let found = self.store().lot_offer(offer).await?.filter(|offer| offer.item == item.uuid);
        let found = found.ok_or(PlatformError::NotFound("offer"))?;
        let event = AccessEvent::LotOfferWithdrawn { offer: found.uuid, item: item.uuid };
        match self.store().end_offer(self.ended(caller, found.uuid, OfferOutcome::Withdrawn, event)?).await {
            Ok(()) => Ok(true),
            Err(StoreError::Conflict) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The offers of a lot, the latest first.
    ///
    /// Errors: `not_found`.
    pub async fn offers_of_lot(&self, caller: &Caller, item: Uuid) -> PlatformResult<Vec<OfferOfLot>> {
        caller.require(Scope::AuctionsRead)?;
        let (item, auction) = self.visible_item(caller, item).await?;
        let mut found = Vec::new();
        for offer in self.store().offers_of_item(item.uuid, LISTED_MAX).await? {
            found.push(self.offer_view(&auction, &item, offer).await?);
        }
        Ok(found)
    }

    /// The latest offers of a sale, the latest first.
    ///
    /// Errors: `not_found`.
    pub async fn offers_of_sale(&self, caller: &Caller, auction: Uuid) -> PlatformResult<Vec<OfferOfLot>> {
        caller.require(Scope::AuctionsRead)?;
        let auction = self.visible_auction(caller, auction).await?;
        let mut found = Vec::new();
        for offer in self.store().offers_of_auction(auction.uuid, LISTED_MAX).await? {
            if let Some(item) = self.store().item(offer.item).await? {
                found.push(self.offer_view(&auction, &item, offer).await?);
            }
        }
        Ok(found)
    }

    /// The end of an offer by this caller, with its entry in the access log.
    pub(crate) fn ended(
        &self,
        caller: &Caller,
        offer: Uuid,
        outcome: OfferOutcome,
        event: AccessEvent,
    ) -> PlatformResult<EndedOffer> {
        let end = OfferEnd { outcome, actor: caller.actor.clone(), at: self.now() };
        Ok(EndedOffer { offer, end, note: self.note(caller, event)? })
    }

    /// The offer that a form made before.
    async fn repeated_offer(&self, same: &LotOffer, new: &NewLotOffer) -> PlatformResult<LotOffer> {
        let registration = self.store().registration(same.registration).await?;
        let is_same = registration.is_some_and(|registration| registration.paddle == new.buyer)
            && (same.amount, same.until) == (new.amount, new.until);
        if is_same && same.ended.is_none() {
            return Ok(same.clone());
        }
        let other = "this form was sent before, and its offer was another one or has ended: look at the offers of the lot, then press again";
        Err(PlatformError::invalid("", other))
    }

    async fn offer_view(&self, auction: &Auction, item: &Item, offer: LotOffer) -> PlatformResult<OfferOfLot> {
        let registration = self.store().registration(offer.registration).await?;
        let mut state = offer.state(auction, item, self.now());
        // A bidder who deleted the account can't answer.
        if state == OfferState::Open
            && let Some(registration) = &registration
            && self.account_to_tell(registration).await?.is_none()
        {
            state = OfferState::Over;
        }
        Ok(OfferOfLot {
            state,
            paddle: registration.map(|registration| registration.paddle),
            lot_number: item.lot_number.clone(),
            offer,
        })
    }

    /// Bidders can answer offers of this sale.
    async fn require_saleroom(&self, auction: &Auction) -> PlatformResult<()> {
        if auction.sale_mode() != SaleMode::Real {
            return Err(PlatformError::invalid("", "this is a sandbox or a rehearsal: its bidders answer no offers"));
        }
        let house = self.store().house(auction.customer).await?;
        let takes_answers =
            |house: House| house.saleroom.is_open && house.saleroom.registration != RegistrationRule::Closed;
        let is_open = self.config().saleroom_url.is_some() && house.is_some_and(takes_answers);
        let closed = "the saleroom of the house is closed, or takes no bids online: open it, or record an offer that the bidder accepted elsewhere";
        if is_open { Ok(()) } else { Err(PlatformError::invalid("", closed)) }
    }

    async fn bidder_to_offer(&self, auction: &Auction, paddle: &str) -> PlatformResult<Registration> {
        let registration = self.store().registration_by_paddle(auction.uuid, paddle).await?;
        let registration = registration.ok_or(PlatformError::NotFound("registration"))?;
        match self.account_to_tell(&registration).await? {
            Some(_) => Ok(registration),
            None => Err(PlatformError::invalid(
                "/buyer",
                "has no account in the saleroom: record an offer that the bidder accepted elsewhere",
            )),
        }
    }
}

fn require_time(until: Timestamp, now: Timestamp) -> PlatformResult<()> {
    if (now + OFFER_VALID_MIN..=now + OFFER_VALID_MAX).contains(&until) {
        return Ok(());
    }
    Err(PlatformError::invalid("/until", "must be from 15 minutes to 30 days from now"))
}
