//! Telephone bookings: whom staff call before a lot of a webcast, and on which line. The bids themselves are room bids,
//! which staff make for the bidder.

use contract::ItemStatus;
use platform_rules::{Auction, AuctionKind, Item, Rejection, paddle_problem};
use uuid::Uuid;

use crate::access::caller::visible;
use crate::error::{PlatformError, PlatformResult};
use crate::input::check_text;
use crate::port::TelephoneBooking;
use crate::{Caller, Platform, Scope};

/// Bookings of one auction, at most.
pub const TELEPHONE_BOOKINGS_MAX: usize = 5_000;
const TELEPHONE_CHARS_MAX: usize = 40;
const LINE_CHARS_MAX: usize = 80;

/// A booking to enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTelephoneBooking {
    /// Paddle of the bidder; it needs no registration, as a room bid needs none.
    pub paddle: String,
    /// Telephone number with at least three digits; at most 40 characters.
    pub telephone: String,
    /// The line, or the name of the member of staff who calls; at most 80 characters, may be empty.
    pub line: String,
}

impl NewTelephoneBooking {
    fn check(&self) -> PlatformResult<()> {
        if let Some(problem) = paddle_problem(&self.paddle) {
            return Err(PlatformError::invalid("/paddle", problem));
        }
        check_text(&self.telephone, TELEPHONE_CHARS_MAX).map_err(|why| PlatformError::invalid("/telephone", why))?;
        if self.telephone.chars().filter(char::is_ascii_digit).count() < 3 {
            let problem = "is no telephone number: write its digits, such as +44 20 7946 0018";
            return Err(PlatformError::invalid("/telephone", problem));
        }
        if self.line.is_empty() {
            return Ok(());
        }
        check_text(&self.line, LINE_CHARS_MAX).map_err(|why| PlatformError::invalid("/line", why))
    }
}

impl Platform {
    /// Books a bidder by telephone for an item of a webcast, or changes the booking of this paddle. For administrators,
    /// operators and the clerks of the webcast, until the item is sold or the sale is reconciled.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`, `wrong_auction_kind`, `auction_closed`, `item_not_live`, `invalid`.
    pub async fn book_telephone_bid(
        &self,
        caller: &Caller,
        item: Uuid,
        new: &NewTelephoneBooking,
    ) -> PlatformResult<TelephoneBooking> {
        let (auction, item) = self.bookable(caller, item).await?;
        auction.require_open()?;
        if matches!(item.status, ItemStatus::Sold | ItemStatus::Unsold | ItemStatus::Withdrawn) {
            return Err(Rejection::ItemNotLive { status: item.status.name() }.into());
        }
        new.check()?;
        let NewTelephoneBooking { paddle, telephone, line } = new.clone();
        let (changed_at, changed_by) = (self.now(), caller.actor.clone());
        let (auction, item) = (auction.uuid, item.uuid);
        let booking = TelephoneBooking { auction, item, paddle, telephone, line, changed_at, changed_by };
        if !self.store().put_telephone_booking(booking.clone(), TELEPHONE_BOOKINGS_MAX).await? {
            let problem = format!("has {TELEPHONE_BOOKINGS_MAX} telephone bookings: withdraw one first");
            return Err(PlatformError::invalid("/auction", problem));
        }
        Ok(booking)
    }

    /// Withdraws a booking.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`.
    pub async fn withdraw_telephone_booking(&self, caller: &Caller, item: Uuid, paddle: &str) -> PlatformResult<()> {
        let (_, item) = self.bookable(caller, item).await?;
        if self.store().remove_telephone_booking(item.uuid, paddle).await? {
            return Ok(());
        }
        Err(PlatformError::NotFound("telephone booking"))
    }

    /// The telephone bookings of a webcast with their items, in running order, for those who see its commission book.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`.
    pub async fn telephone_bookings(
        &self,
        caller: &Caller,
        auction: Uuid,
    ) -> PlatformResult<Vec<(Item, TelephoneBooking)>> {
        caller.require(Scope::RingWrite)?;
        let auction = self.visible_auction(caller, auction).await?;
        self.require_clerk(caller, &auction).await?;
        let mut booked: Vec<(Item, TelephoneBooking)> = Vec::new();
        for booking in self.store().telephone_bookings(auction.uuid).await? {
            let known = booked.last().filter(|(item, _)| item.uuid == booking.item).map(|(item, _)| item.clone());
            let item = match known {
                Some(item) => Some(item),
                None => self.store().item(booking.item).await?,
            };
            booked.extend(item.map(|item| (item, booking)));
        }
        booked.sort_by_key(|(item, _)| item.position);
        Ok(booked)
    }

    /// The telephone bookings of an item, in the order of paddles, for those who see the commission book.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`.
    pub async fn telephone_bookings_of(&self, caller: &Caller, item: Uuid) -> PlatformResult<Vec<TelephoneBooking>> {
        let (_, item) = self.bookable(caller, item).await?;
        Ok(self.store().telephone_bookings_of(item.uuid).await?)
    }

    async fn bookable(&self, caller: &Caller, item: Uuid) -> PlatformResult<(Auction, Item)> {
        caller.require(Scope::RingWrite)?;
        let item = visible(caller, self.store().item(item).await?, "item", |item| item.customer)?;
        let auction = self.visible_auction(caller, item.auction).await?;
        self.require_clerk(caller, &auction).await?;
        if auction.kind != AuctionKind::Webcast {
            return Err(Rejection::WrongAuctionKind { needs: AuctionKind::Webcast }.into());
        }
        Ok((auction, item))
    }
}
