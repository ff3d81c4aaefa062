//! The lots of a bidder: those they bid on, bought and watch, in all sales of the house.

use std::collections::{BTreeMap, HashMap};

use contract::AuctionStatus;
use platform_rules::{Auction, Item};
use uuid::Uuid;

use super::{OwnStanding, Saleroom, SaleroomLot, SignedInBidder};
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{LotOffer, Page, Registration};

/// Sales of a bidder that are looked through, the latest first.
const SALES_MAX: usize = 50;
/// Lots of one sale.
const LOTS_OF_SALE_MAX: usize = 500;
/// Watched lots.
const WATCHED_MAX: usize = 500;

/// The lots of a bidder in one sale.
#[derive(Debug, Clone)]
pub struct OwnSale {
    /// The auction.
    pub auction: Auction,
    /// The bidder's registration; none for a sale of which they only watch lots.
    pub registration: Option<Registration>,
    /// The lots in running order.
    pub lots: Vec<OwnLot>,
    /// As that of [`super::SaleroomSale`].
    pub is_link_lost: bool,
}

/// A lot of a bidder.
#[derive(Debug, Clone)]
pub struct OwnLot {
    /// The lot.
    pub lot: SaleroomLot,
    /// How the bidder stands; none without a registration.
    pub own: Option<OwnStanding>,
    /// The bidder watches it.
    pub is_watched: bool,
    /// The house offers it to the bidder, who can answer.
    pub offer: Option<LotOffer>,
}

impl Platform {
    /// The lots that a bidder bid on or watches, by sale, the latest registration first. Sales with nothing of theirs are left out.
    pub async fn own_lots(&self, saleroom: &Saleroom, bidder: &SignedInBidder) -> PlatformResult<Vec<OwnSale>> {
        let caller = bidder.caller();
        let mut watched: BTreeMap<Uuid, Vec<Uuid>> = BTreeMap::new();
        for entry in self.store().watched_items(bidder.account.id, None, WATCHED_MAX).await? {
            watched.entry(entry.auction).or_default().push(entry.item);
        }
        let registrations = match bidder.account.profile.party {
            Some(party) => self.store().registrations_of_party(party, Page { after: None, limit: SALES_MAX }).await?,
            None => Vec::new(),
        };
        let mut sales: Vec<(Uuid, Option<Registration>)> =
            registrations.into_iter().map(|registration| (registration.auction, Some(registration))).collect();
        let known: Vec<Uuid> = sales.iter().map(|(auction, _)| *auction).collect();
        sales.extend(watched.keys().rev().filter(|auction| !known.contains(auction)).map(|auction| (*auction, None)));
        let mut found = Vec::new();
        for (auction, registration) in sales {
            let Ok(sale) = self.saleroom_sale(saleroom, auction).await else { continue };
            let watched = watched.remove(&auction).unwrap_or_default();
            let lots = self.own_lots_of(&sale.auction, registration.as_ref(), &watched, &caller).await?;
            if !lots.is_empty() {
                let is_link_lost = sale.is_link_lost;
                found.push(OwnSale { auction: sale.auction, registration, lots, is_link_lost });
            }
        }
        Ok(found)
    }

    /// The sales on view for which a bidder registered, the latest registration first.
    pub async fn own_registrations(
        &self,
        saleroom: &Saleroom,
        bidder: &SignedInBidder,
    ) -> PlatformResult<Vec<(Auction, Registration)>> {
        let Some(party) = bidder.account.profile.party else { return Ok(Vec::new()) };
        let page = Page { after: None, limit: SALES_MAX };
        let mut found = Vec::new();
        for registration in self.store().registrations_of_party(party, page).await? {
            if let Ok(sale) = self.saleroom_sale(saleroom, registration.auction).await {
                found.push((sale.auction, registration));
            }
        }
        Ok(found)
    }

    async fn own_lots_of(
        &self,
        auction: &Auction,
        registration: Option<&Registration>,
        watched: &[Uuid],
        caller: &crate::Caller,
    ) -> PlatformResult<Vec<OwnLot>> {
        let mut items: HashMap<Uuid, (Item, bool)> = HashMap::new();
        if let Some(registration) = registration {
            let paddle = &registration.paddle;
            for item in self.store().items_of_bidder(auction.uuid, paddle, LOTS_OF_SALE_MAX).await? {
                items.insert(item.uuid, (item, true));
            }
        }
        let mut offers: HashMap<Uuid, LotOffer> = HashMap::new();
        if let Some(registration) = registration {
            for (offer, item) in self.own_offers_in(caller, (auction, registration)).await? {
                items.entry(item.uuid).or_insert((item, false));
                offers.insert(offer.item, offer);
            }
        }
        for uuid in watched {
            if !items.contains_key(uuid)
                && let Ok((item, _)) = self.item(caller, *uuid).await
            {
                items.insert(item.uuid, (item, false));
            }
        }
        let mut items: Vec<(Item, bool)> =
            items.into_values().filter(|(item, _)| super::visits::ON_VIEW.contains(&item.status)).collect();
        items.sort_by_key(|(item, _)| item.position);
        let plain: Vec<Item> = items.iter().map(|(item, _)| item.clone()).collect();
        let lots = self.lots_on_view(auction, &plain).await?;
        let mut own = Vec::new();
        for (lot, (item, has_bid)) in lots.into_iter().zip(&items) {
            let standing = match registration {
                Some(registration) => Some(self.own_of_kind(auction, item, &registration.paddle, *has_bid).await?),
                None => None,
            };
            let offer = offers.remove(&item.uuid);
            own.push(OwnLot { lot, own: standing, is_watched: watched.contains(&item.uuid), offer });
        }
        Ok(own)
    }
}

impl OwnSale {
    /// The sale takes bids, or will.
    pub fn is_open(&self) -> bool {
        matches!(self.auction.status, AuctionStatus::Preview | AuctionStatus::Live)
    }
}
