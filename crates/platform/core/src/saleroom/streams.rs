//! Live streams of visitors: a sale with the lots that a page shows, or one lot.

use std::net::IpAddr;

use async_trait::async_trait;
use contract::AuctionStatus;
use platform_rules::Auction;
use uuid::Uuid;

use super::Saleroom;
use super::visits::{is_lot_on_view, visitor};
use crate::Platform;
use crate::error::{PlatformError, PlatformResult};
use crate::live::{AccessCheck, Listener, Topic};

/// Lots that one listener follows, at most; further ones are left out.
pub const LOTS_FOLLOWED_MAX: usize = 60;

/// A visitor who opens a stream.
#[derive(Debug, Clone, Copy, Default)]
pub struct Visitor<'a> {
    /// The address of the client, if it is known.
    pub address: Option<IpAddr>,
    /// The `Last-Event-ID` that the client sent.
    pub last_event: Option<&'a str>,
}

impl Platform {
    /// Follows a sale and these lots of it; those that visitors don't see are left out. The stream ends when the saleroom closes or
    /// the sale is over.
    ///
    /// Errors: `not_found`, also for a sale that is over; `listeners_full`, `unavailable`.
    pub async fn follow_sale(
        &self,
        saleroom: &Saleroom,
        auction: Uuid,
        mut lots: Vec<Uuid>,
        visitor: Visitor<'_>,
    ) -> PlatformResult<Listener> {
        let auction = self.sale_to_follow(saleroom, auction).await?;
        lots.truncate(LOTS_FOLLOWED_MAX);
        self.open_for_visitor(saleroom, &auction, (Topic::Sale, lots), visitor).await
    }

    /// Follows a lot. The stream ends when the saleroom closes or the sale is over.
    ///
    /// Errors: `not_found`, also for a lot that visitors don't see, and when the sale is over; `listeners_full`, `unavailable`.
    pub async fn follow_lot(
        &self,
        saleroom: &Saleroom,
        (auction, item): (Uuid, Uuid),
        from: Visitor<'_>,
    ) -> PlatformResult<Listener> {
        let auction = self.sale_to_follow(saleroom, auction).await?;
        let (item, of) = self.item(&visitor(saleroom.house.customer), item).await?;
        if of.uuid != auction.uuid || !is_lot_on_view(item.status) {
            return Err(PlatformError::NotFound("lot"));
        }
        self.open_for_visitor(saleroom, &auction, (Topic::Lot(item.uuid), Vec::new()), from).await
    }

    async fn open_for_visitor(
        &self,
        saleroom: &Saleroom,
        auction: &Auction,
        subject: (Topic, Vec<Uuid>),
        Visitor { address, last_event }: Visitor<'_>,
    ) -> PlatformResult<Listener> {
        let check = VisitorAccess { platform: self.clone(), saleroom: saleroom.clone(), auction: auction.uuid };
        self.live().listen_as_visitor(auction, subject, last_event, address, Box::new(check)).await
    }

    /// A sale that is announced or live.
    async fn sale_to_follow(&self, saleroom: &Saleroom, auction: Uuid) -> PlatformResult<Auction> {
        let auction = self.auction_on_view(saleroom, auction).await?;
        let goes_on = matches!(auction.status, AuctionStatus::Preview | AuctionStatus::Live);
        if goes_on { Ok(auction) } else { Err(PlatformError::NotFound("sale")) }
    }
}

/// What a visitor may follow: the saleroom is open, and the sale is on view and not over.
struct VisitorAccess {
    platform: Platform,
    saleroom: Saleroom,
    auction: Uuid,
}

#[async_trait]
impl AccessCheck for VisitorAccess {
    async fn goes_on(&self) -> PlatformResult<bool> {
        let (platform, now) = (&self.platform, self.platform.now());
        // All visitors of a sale share the answer.
        let answers = platform.live().access_answers();
        if let Some(known) = answers.get(self.auction, now) {
            return Ok(known);
        }
        let found = match self.find().await {
            Ok(()) => true,
            Err(PlatformError::NotFound(_) | PlatformError::Forbidden(_)) => false,
            Err(error) => return Err(error),
        };
        answers.put(self.auction, found, now);
        Ok(found)
    }
}

impl VisitorAccess {
    async fn find(&self) -> PlatformResult<()> {
        let address = self.saleroom.house.saleroom.address.as_deref().unwrap_or_default();
        let saleroom = self.platform.saleroom(address).await?;
        self.platform.sale_to_follow(&saleroom, self.auction).await.map(drop)
    }
}
