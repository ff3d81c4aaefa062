//! Offers of the house to a bidder: a lot that did not sell, at a price, until a time. The bidder accepts or declines.

use contract::ItemStatus;
use platform_rules::{Auction, Item};
use uuid::Uuid;

use super::{Saleroom, SaleroomRefusal, SignedInBidder};
use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{LotOffer, OfferOutcome, Registration, StoreError};
use crate::sales::items::lot_offers::{ACCEPTED_REASON, LISTED_MAX, OfferState};
use crate::sales::items::post_sale::PostSaleOffer;
use crate::{Caller, Platform};

/// Offers to one registration that are looked through for open ones.
const OFFERS_MAX: usize = 500;

/// What a bidder answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferAnswer {
    /// The bidder buys the lot at the price of the offer, as the page showed both.
    Accept {
        /// Version of the lot.
        lot_version: i64,
        /// The price with premium and taxes, minor units.
        total: i64,
    },
    /// The bidder does not want the lot.
    Decline,
}

impl Platform {
    /// The last offer of a lot to a bidder, and where it stands.
    pub async fn own_offer(
        &self,
        bidder: &SignedInBidder,
        registration: Option<&Registration>,
        item: Uuid,
    ) -> PlatformResult<Option<(LotOffer, OfferState)>> {
        let Some(registration) = registration else { return Ok(None) };
        let offers = self.store().offers_of_item(item, LISTED_MAX).await?;
        let is_own = |offer: &LotOffer| offer.registration == registration.uuid;
        let Some(offer) = offers.into_iter().find(is_own) else { return Ok(None) };
        let (item, auction) = self.item(&bidder.caller(), item).await?;
        let state = offer.state(&auction, &item, self.now());
        Ok(Some((offer, state)))
    }

    /// The open offers of a sale to a bidder, each with its lot.
    pub(super) async fn own_offers_in(
        &self,
        caller: &Caller,
        (auction, registration): (&Auction, &Registration),
    ) -> PlatformResult<Vec<(LotOffer, Item)>> {
        let mut found = Vec::new();
        for offer in self.store().offers_to(registration.uuid, OFFERS_MAX).await? {
            if offer.ended.is_some() {
                continue;
            }
            let (item, _) = self.item(caller, offer.item).await?;
            if offer.state(auction, &item, self.now()) == OfferState::Open {
                found.push((offer, item));
            }
        }
        Ok(found)
    }

    /// Answers an offer of the house. An accepted offer sells the lot in the same commit. The same answer again changes nothing, and
    /// returns the present offer.
    ///
    /// Errors: `accounts_closed`, `not_found`, `registration_required`, `offer_over`, `offer_changed` (the lot or the total is not as the
    /// bidder saw it), `offer_withdrawn`, `offer_answered` (with the other answer), and those of [`platform_rules::item::decide`] for offers.
    pub async fn answer_offer(
        &self,
        saleroom: &Saleroom,
        bidder: &SignedInBidder,
        lot: (Uuid, Uuid),
        offer: Uuid,
        answer: OfferAnswer,
    ) -> PlatformResult<LotOffer> {
        let (registration, item, auction) = self.admitted_to_lot(saleroom, bidder, lot).await?;
        let answered = match answer {
            OfferAnswer::Accept { lot_version, total } => {
                self.accept_own_offer(bidder, &registration, (item.uuid, offer), (lot_version, total)).await
            }
            OfferAnswer::Decline => self.decline_own_offer(bidder, &registration, (&auction, &item), offer).await,
        };
        let wanted = match answer {
            OfferAnswer::Accept { .. } => OfferOutcome::Accepted,
            OfferAnswer::Decline => OfferOutcome::Declined,
        };
        match answered {
            Ok(()) => {}
            // A press that was repeated gets the answer of the first.
            Err(PlatformError::Saleroom(SaleroomRefusal::OfferAnswered { outcome })) if outcome == wanted => {}
            Err(error) => return Err(error),
        }
        self.offer_to(&registration, (item.uuid, offer)).await
    }

    async fn accept_own_offer(
        &self,
        bidder: &SignedInBidder,
        registration: &Registration,
        key: (Uuid, Uuid),
        seen: (i64, i64),
    ) -> PlatformResult<()> {
        let caller = bidder.caller();
        let bid = self.ids().uuid_v7();
        let queue = self.item_queue(key.0)?;
        let sold = queue.decide(None, || async {
            queue.drain().await;
            let (item, auction) = queue.visible_item(&caller).await?;
            let offer = self.offer_to(registration, key).await?;
            self.require_open(&auction, &item, (&offer, &registration.paddle))?;
            if seen != (item.version, auction.charges.on(offer.amount).total) {
                return Err(SaleroomRefusal::OfferChanged.into());
            }
            let event =
                AccessEvent::LotOfferAccepted { offer: offer.uuid, item: item.uuid, registration: registration.uuid };
            let accepted = self.ended(&caller, offer.uuid, OfferOutcome::Accepted, event)?;
            let sale = PostSaleOffer {
                buyer: registration.paddle.clone(),
                amount: offer.amount,
                reason: ACCEPTED_REASON.to_owned(),
                // Staff confirmed the amount when they offered, and the bidder by accepting.
                unusual_amount: true,
            };
            self.sale_to_offer(&caller, (item, auction), (bid, &sale), Some(accepted), None).await
        });
        sold.await.map(drop)
    }

    async fn decline_own_offer(
        &self,
        bidder: &SignedInBidder,
        registration: &Registration,
        (auction, item): (&Auction, &Item),
        offer: Uuid,
    ) -> PlatformResult<()> {
        let offer = self.offer_to(registration, (item.uuid, offer)).await?;
        self.require_open(auction, item, (&offer, &registration.paddle))?;
        let event =
            AccessEvent::LotOfferDeclined { offer: offer.uuid, item: item.uuid, registration: registration.uuid };
        let declined = self.ended(&bidder.caller(), offer.uuid, OfferOutcome::Declined, event)?;
        match self.store().end_offer(declined).await {
            Ok(()) => Ok(()),
            // Another press, or staff, ended it first.
            Err(StoreError::Conflict) => {
                let offer = self.offer_to(registration, (item.uuid, offer.uuid)).await?;
                self.require_open(auction, item, (&offer, &registration.paddle))?;
                Err(PlatformError::Busy)
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn offer_to(&self, registration: &Registration, (item, offer): (Uuid, Uuid)) -> PlatformResult<LotOffer> {
        let found = self.store().lot_offer(offer).await?;
        let is_own = |offer: &LotOffer| offer.registration == registration.uuid && offer.item == item;
        found.filter(is_own).ok_or(PlatformError::NotFound("offer"))
    }

    fn require_open(&self, auction: &Auction, item: &Item, (offer, paddle): (&LotOffer, &str)) -> PlatformResult<()> {
        let has_lot = item.standing.as_ref().is_some_and(|standing| standing.bidder == paddle)
            && matches!(item.status, ItemStatus::Sold | ItemStatus::SoldBuyNow);
        match offer.state(auction, item, self.now()) {
            // The house has taken the sale back since.
            OfferState::Ended(OfferOutcome::Accepted) if !has_lot => Err(SaleroomRefusal::OfferOver.into()),
            OfferState::Open => Ok(()),
            OfferState::Ended(OfferOutcome::Withdrawn) => Err(SaleroomRefusal::OfferWithdrawn.into()),
            OfferState::Ended(outcome @ (OfferOutcome::Accepted | OfferOutcome::Declined)) => {
                Err(SaleroomRefusal::OfferAnswered { outcome }.into())
            }
            OfferState::Ended(OfferOutcome::Lapsed) | OfferState::Over => Err(SaleroomRefusal::OfferOver.into()),
        }
    }
}
