//! Bids of signed-in bidders: on lots of timed auctions, on the lot in the ring of a webcast, and commission bids before. A bid
//! carries what the bidder saw, and is not placed on anything else.

use platform_rules::{Auction, AuctionKind, Charges, Item, PublicItem};
use uuid::Uuid;

use super::accounts::require_accounts;
use super::{Saleroom, SignedInBidder};
use crate::Platform;
use crate::bidding::bids::{NewBid, PlacedBid};
use crate::error::saleroom_refusal::SaleroomRefusal;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Registration, RegistrationStatus, WatchedItem};
use crate::steps::idempotency::Outcome;

/// Items that one bidder watches.
const WATCHED_MAX: usize = 500;

/// A bid as a bidder enters it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaleroomBid {
    /// The next bid that the page showed, minor units. It is placed only while it is the next bid, and by a bidder who does not
    /// lead.
    Next(i64),
    /// The bidder's maximum, minor units. The platform bids up to it by proxy.
    UpTo(i64),
}

impl SaleroomBid {
    /// Minor units.
    pub fn amount(self) -> i64 {
        match self {
            Self::Next(amount) | Self::UpTo(amount) => amount,
        }
    }
}

/// The key and the rates that a form sends with a bid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BidForm<'a> {
    /// The key of the form: a bid that is sent again with it is placed once.
    pub key: &'a str,
    /// Premium and taxes behind the totals that the bidder saw; none when the bidder saw no totals of ours.
    pub rates: Option<Charges>,
}

impl BidForm<'_> {
    /// Errors: `rates_moved`.
    pub(super) fn expect_rates(&self, auction: &Auction) -> PlatformResult<()> {
        match self.rates {
            Some(seen) if seen != auction.charges => Err(SaleroomRefusal::RatesMoved.into()),
            _ => Ok(()),
        }
    }
}

/// What became of a bid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaleroomBidResult {
    /// Standing of the sale after the bid, or after the one that had the same key.
    pub sale: PublicItem,
    /// What only the bidder sees.
    pub own: OwnStanding,
    /// The bid was placed before with the same key.
    pub is_repeated: bool,
}

/// How a bidder stands on a lot: only they see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnStanding {
    /// The bidder's paddle in the sale.
    pub paddle: String,
    /// The bidder leads, or has won.
    pub leads: bool,
    /// The bidder's maximum while they lead, minor units.
    pub maximum: Option<i64>,
    /// The bidder has bid on the lot.
    pub has_bid: bool,
    /// The bidder's bid on the lot in the ring that waits for the clerk, minor units.
    pub waiting: Option<i64>,
    /// The bidder's commission bid on a lot of a webcast, minor units.
    pub commission: Option<i64>,
}

impl OwnStanding {
    pub(super) fn of(item: &Item, paddle: &str, has_bid: bool) -> Self {
        let standing = item.standing.as_ref().filter(|standing| standing.bidder == paddle);
        let waiting = item.pending.iter().find(|pending| pending.bidder == paddle);
        Self {
            paddle: paddle.to_owned(),
            leads: standing.is_some(),
            maximum: standing.map(|standing| standing.maximum.reveal()),
            has_bid: has_bid || standing.is_some(),
            waiting: waiting.map(|waiting| waiting.amount),
            commission: None,
        }
    }
}

impl Platform {
    /// Places a bid of a registered bidder on a lot on view: a bid of a timed auction, a bid on the lot in the ring, or, while the
    /// lot waits for the ring, a commission bid.
    ///
    /// Errors: `accounts_closed`, `not_found`, `registration_required`, `price_moved`, `rates_moved`, `already_leading`, `link_lost`, and those of
    /// [`platform_rules::item::decide`] and [`platform_rules::ring::decide`] for bids.
    pub async fn bid_in_saleroom(
        &self,
        saleroom: &Saleroom,
        bidder: &SignedInBidder,
        lot: (Uuid, Uuid),
        bid: SaleroomBid,
        form: BidForm<'_>,
    ) -> PlatformResult<SaleroomBidResult> {
        let (registration, item, auction) = self.admitted_to_lot(saleroom, bidder, lot).await?;
        let paddle = registration.paddle.as_str();
        if auction.kind == AuctionKind::Webcast {
            return self.bid_in_webcast(bidder, paddle, (item, auction), bid, form).await;
        }
        let expected = |auction: &Auction, item: &Item| {
            form.expect_rates(auction)?;
            match bid {
                SaleroomBid::UpTo(_) => Ok(()),
                SaleroomBid::Next(seen) => expect_next_bid(auction, item, paddle, seen),
            }
        };
        let new = NewBid { bidder: paddle.to_owned(), amount: bid.amount() };
        let render = |placed: &PlacedBid| placed.bid.amount.to_string();
        let answering = bidder.answering(form.key, &format!("{} {bid:?}", lot.1), &render);
        match self.place_bid_if(&bidder.caller(), lot.1, &new, &expected, Some(answering)).await? {
            Outcome::Fresh(PlacedBid { item, auction, .. }) => {
                let own = OwnStanding::of(&item, paddle, true);
                Ok(SaleroomBidResult { sale: PublicItem::of(&auction, &item), own, is_repeated: false })
            }
            Outcome::Replayed(_) => self.repeated_bid(bidder, paddle, lot.1).await,
        }
    }

    pub(super) async fn repeated_bid(
        &self,
        bidder: &SignedInBidder,
        paddle: &str,
        item: Uuid,
    ) -> PlatformResult<SaleroomBidResult> {
        let (item, auction) = self.item(&bidder.caller(), item).await?;
        let own = self.own_of_kind(&auction, &item, paddle, true).await?;
        Ok(SaleroomBidResult { sale: PublicItem::of(&auction, &item), own, is_repeated: true })
    }

    /// How a bidder stands on a lot. In a webcast, a commission bid is recorded as the others are, and is no bid that others see.
    pub(super) async fn own_of_kind(
        &self,
        auction: &Auction,
        item: &Item,
        paddle: &str,
        has_bid: bool,
    ) -> PlatformResult<OwnStanding> {
        match auction.kind {
            AuctionKind::Timed => Ok(OwnStanding::of(item, paddle, has_bid)),
            AuctionKind::Webcast => self.own_in_webcast(item, paddle).await,
        }
    }

    /// Buys a lot at its buy-now price, which the bidder saw.
    ///
    /// Errors: as [`Platform::bid_in_saleroom`], and `no_buy_now`, `buy_now_over`.
    pub async fn buy_now_in_saleroom(
        &self,
        saleroom: &Saleroom,
        bidder: &SignedInBidder,
        lot: (Uuid, Uuid),
        seen: i64,
        form: BidForm<'_>,
    ) -> PlatformResult<()> {
        let (registration, ..) = self.admitted_to_lot(saleroom, bidder, lot).await?;
        let render = |placed: &PlacedBid| placed.bid.amount.to_string();
        let answering = bidder.answering(form.key, &format!("{} buy {seen}", lot.1), &render);
        let expected = |auction: &Auction, item: &Item| {
            form.expect_rates(auction)?;
            match item.buy_now {
                Some(price) if price != seen => {
                    Err(SaleroomRefusal::PriceMoved { minimum: price, is_equal: false }.into())
                }
                // Without a price, the rules say why it can't be bought.
                _ => Ok(()),
            }
        };
        let caller = bidder.caller();
        self.buy_now_if(&caller, lot.1, &registration.paddle, &expected, Some(answering)).await.map(drop)
    }

    /// How a bidder stands on a lot; none without an approved or suspended registration for its sale.
    pub async fn own_standing(
        &self,
        bidder: &SignedInBidder,
        registration: Option<&Registration>,
        item: Uuid,
    ) -> PlatformResult<Option<OwnStanding>> {
        let Some(registration) = registration else { return Ok(None) };
        let (item, auction) = self.item(&bidder.caller(), item).await?;
        if registration.auction != auction.uuid {
            return Ok(None);
        }
        let has_bid = self.store().has_bidder_item(auction.uuid, &registration.paddle, item.uuid).await?;
        self.own_of_kind(&auction, &item, &registration.paddle, has_bid).await.map(Some)
    }

    /// A key that no other form has.
    pub fn new_form_key(&self) -> String {
        self.ids().uuid_v7().simple().to_string()
    }

    /// Begins or ends watching a lot on view.
    ///
    /// Errors: `accounts_closed`, `not_found`, `too_many_watched`.
    pub async fn watch_lot(
        &self,
        saleroom: &Saleroom,
        bidder: &SignedInBidder,
        (auction, item): (Uuid, Uuid),
        watches: bool,
    ) -> PlatformResult<()> {
        require_accounts(saleroom)?;
        let account = bidder.account.id;
        if !watches {
            return Ok(self.store().unwatch_item(account, item).await?);
        }
        self.lot_on_view(saleroom, (auction, item)).await?;
        let watched = WatchedItem { account, auction, item, at: self.now() };
        if self.store().watch_item(watched, WATCHED_MAX).await? {
            Ok(())
        } else {
            Err(SaleroomRefusal::TooManyWatched { maximum: WATCHED_MAX }.into())
        }
    }

    /// True when the bidder watches the lot.
    pub async fn watches_lot(&self, bidder: &SignedInBidder, (auction, item): (Uuid, Uuid)) -> PlatformResult<bool> {
        let watched = self.store().watched_items(bidder.account.id, Some(auction), WATCHED_MAX).await?;
        Ok(watched.iter().any(|watched| watched.item == item))
    }

    /// A lot on view, and the approved registration with which a bidder bids on it. A suspended one is refused by the rules, which
    /// say why.
    pub(super) async fn admitted_to_lot(
        &self,
        saleroom: &Saleroom,
        bidder: &SignedInBidder,
        lot: (Uuid, Uuid),
    ) -> PlatformResult<(Registration, Item, Auction)> {
        require_accounts(saleroom)?;
        let (item, auction) = self.lot_on_view(saleroom, lot).await?;
        let registration = self.own_registration(bidder, lot.0).await?;
        let may_bid =
            |found: &Registration| matches!(found.status, RegistrationStatus::Approved | RegistrationStatus::Suspended);
        let registration = registration.filter(may_bid).ok_or(SaleroomRefusal::RegistrationRequired)?;
        Ok((registration, item, auction))
    }
}

fn expect_next_bid(auction: &Auction, item: &Item, paddle: &str, seen: i64) -> PlatformResult<()> {
    let standing = item.standing.as_ref();
    match PublicItem::of(auction, item).minimum_bid {
        // The rules say why the lot takes no bid, also to the bidder who led.
        None => Ok(()),
        Some(_) if standing.is_some_and(|standing| standing.bidder == paddle) => {
            Err(SaleroomRefusal::AlreadyLeading.into())
        }
        Some(minimum) if minimum == seen => Ok(()),
        Some(minimum) => {
            let is_equal = standing.is_some_and(|standing| standing.amount == seen);
            Err(PlatformError::from(SaleroomRefusal::PriceMoved { minimum, is_equal }))
        }
    }
}
