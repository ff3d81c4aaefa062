//! Opens live streams for callers, who keep them while their access lasts. The streams are in [`crate::live`].

use async_trait::async_trait;
use contract::AuctionStatus;
use platform_rules::AuctionKind;
use uuid::Uuid;

use crate::error::PlatformResult;
use crate::live::{AccessCheck, Listener, Topic};
use crate::{Caller, Platform, Scope};

impl Platform {
    /// Listens to one item. `last` is the `Last-Event-ID` that the listener sent.
    ///
    /// Errors: `not_found`, `forbidden`, `listeners_full`, `unavailable`.
    pub async fn listen_to_item(&self, caller: &Caller, item: Uuid, last: Option<&str>) -> PlatformResult<Listener> {
        caller.require(Scope::AuctionsRead)?;
        let (item, auction) = self.visible_item(caller, item).await?;
        let check = self.access_check(caller, None);
        self.live().listen(&auction, Topic::Item(item.uuid), last, check).await
    }

    /// Listens to an auction and all of its items. `last` is the `Last-Event-ID` that the listener sent.
    ///
    /// Errors: `not_found`, `forbidden`, `listeners_full`, `unavailable`.
    pub async fn listen_to_auction(
        &self,
        caller: &Caller,
        auction: Uuid,
        last: Option<&str>,
    ) -> PlatformResult<Listener> {
        caller.require(Scope::AuctionsRead)?;
        let auction = self.visible_auction(caller, auction).await?;
        let check = self.access_check(caller, None);
        self.live().listen(&auction, Topic::Auction, last, check).await
    }

    /// Listens to a webcast for its desk or its speaker's view. A clerk has to be assigned to it, and the stream ends with the
    /// assignment. Needs `ring:write`.
    ///
    /// Errors: `not_found`, `forbidden`, `clerk_not_assigned`, `listeners_full`, `unavailable`.
    pub async fn listen_to_ring(&self, caller: &Caller, webcast: Uuid) -> PlatformResult<Listener> {
        caller.require(Scope::AuctionsRead)?;
        caller.require(Scope::RingWrite)?;
        let webcast = self.visible_auction(caller, webcast).await?;
        self.require_clerk(caller, &webcast).await?;
        let check = self.access_check(caller, Some(webcast.uuid));
        self.live().listen(&webcast, Topic::Auction, None, check).await
    }

    /// Reports that the desk of a LIVE webcast receives its live stream. While a lot is in the ring and no desk reports, the saleroom
    /// takes no bids at the asking price. Needs `ring:write`.
    ///
    /// Errors: `not_found`, `forbidden`, `clerk_not_assigned`, `unavailable`.
    pub async fn report_desk(&self, caller: &Caller, webcast: Uuid) -> PlatformResult<()> {
        caller.require(Scope::RingWrite)?;
        let webcast = self.visible_auction(caller, webcast).await?;
        self.require_clerk(caller, &webcast).await?;
        if webcast.kind == AuctionKind::Webcast && webcast.status == AuctionStatus::Live {
            self.store().report_desk(webcast.uuid, self.now()).await?;
        }
        Ok(())
    }

    fn access_check(&self, caller: &Caller, clerk_of: Option<Uuid>) -> Box<dyn AccessCheck> {
        Box::new(CallerAccess { platform: self.clone(), caller: caller.clone(), clerk_of })
    }
}

/// The access of a stream's caller.
struct CallerAccess {
    platform: Platform,
    caller: Caller,
    /// The webcast that a clerk has to be assigned to.
    clerk_of: Option<Uuid>,
}

#[async_trait]
impl AccessCheck for CallerAccess {
    async fn goes_on(&self) -> PlatformResult<bool> {
        let (caller, now) = (&self.caller, self.platform.now());
        let id = caller.session.unwrap_or(caller.id);
        let answers = self.platform.live().access_answers();
        let goes_on = match answers.get(id, now) {
            Some(known) => known,
            None => {
                let found = self.platform.access_goes_on(caller).await?;
                answers.put(id, found, now);
                found
            }
        };
        if let (true, Some(webcast)) = (goes_on, self.clerk_of) {
            return self.platform.is_clerk_of(caller, webcast).await;
        }
        Ok(goes_on)
    }
}
