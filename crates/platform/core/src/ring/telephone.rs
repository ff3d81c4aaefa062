//! Telephone bookings: whom staff call before a lot of a webcast, and on which line. The bids themselves are room bids,
//! which staff make for the bidder.

use contract::ItemStatus;
use platform_rules::{Auction, AuctionKind, Item, Rejection, paddle_problem};
use uuid::Uuid;

use crate::caller::visible;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{RegistrationStatus, TelephoneBooking};
use crate::steps::input::check_text;
use crate::{Caller, Platform, Scope};

/// Bookings of one auction, at most.
pub const TELEPHONE_BOOKINGS_MAX: usize = 5_000;
const TELEPHONE_CHARS_MAX: usize = 40;
const LINE_CHARS_MAX: usize = 80;

/// A booking to enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTelephoneBooking {
    /// Paddle of the bidder; it needs no registration, as a room bid needs none. A suspended paddle is refused.
    pub paddle: String,
    /// Telephone number with at least three digits, which may have an extension (`ext. 12`); at most 40 characters.
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
        if !is_telephone_number(&self.telephone) {
            let problem = "is no telephone number: write its digits, such as +44 20 7946 0018 or 7946 0018 ext. 12";
            return Err(PlatformError::invalid("/telephone", problem));
        }
        if self.line.is_empty() {
            return Ok(());
        }
        check_text(&self.line, LINE_CHARS_MAX).map_err(|why| PlatformError::invalid("/line", why))
    }
}

/// True for digits as people group them, with an extension or without.
fn is_telephone_number(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let (number, extension) = lower.split_once(['x', '#']).unwrap_or((&lower, "0"));
    let number = number.strip_suffix('e').unwrap_or(number);
    let extension = extension.trim_start_matches(['t', '.', ' ']);
    let is_grouped = number.chars().all(|char| char.is_ascii_digit() || " +-()./".contains(char));
    let is_extension = !extension.is_empty() && extension.bytes().all(|byte| byte.is_ascii_digit());
    is_grouped && is_extension && number.bytes().filter(u8::is_ascii_digit).count() >= 3
}

impl Platform {
    /// Books a bidder by telephone for an item of a webcast, or changes the booking of this paddle. For administrators,
    /// operators and the clerks of the webcast, until the item is sold or the sale is reconciled. Returns the booking and
    /// the one that it replaced.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`, `wrong_auction_kind`, `auction_closed`, `item_not_live`,
    /// `bidder_suspended`, `invalid`.
    pub async fn book_telephone_bid(
        &self,
        caller: &Caller,
        item: Uuid,
        new: &NewTelephoneBooking,
    ) -> PlatformResult<(TelephoneBooking, Option<TelephoneBooking>)> {
        let (auction, item) = self.bookable(caller, item).await?;
        auction.require_open()?;
        if matches!(item.status, ItemStatus::Sold | ItemStatus::Unsold | ItemStatus::Withdrawn) {
            return Err(Rejection::ItemNotLive { status: item.status.name() }.into());
        }
        new.check()?;
        let NewTelephoneBooking { paddle, telephone, line } = new.clone();
        let (changed_at, changed_by) = (self.now(), caller.actor.clone());
        let (auction, item) = (auction.uuid, item.uuid);
        let registered = self.store().registration_by_paddle(auction, &paddle).await?;
        if registered.is_some_and(|registered| registered.status == RegistrationStatus::Suspended) {
            return Err(Rejection::BidderSuspended.into());
        }
        let replaced =
            self.store().telephone_bookings_of(item).await?.into_iter().find(|booked| booked.paddle == paddle);
        let booking = TelephoneBooking { auction, item, paddle, telephone, line, changed_at, changed_by };
        if !self.store().put_telephone_booking(booking.clone(), TELEPHONE_BOOKINGS_MAX).await? {
            let problem = format!("has {TELEPHONE_BOOKINGS_MAX} telephone bookings: withdraw one first");
            return Err(PlatformError::invalid("/auction", problem));
        }
        Ok((booking, replaced))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_telephone_number_has_digits_and_an_extension_only() {
        for number in [
            "+44 20 7946 0018",
            "(020) 7946-0018",
            "020/79.46",
            "7946 0018 ext. 12",
            "79460018x12",
            "123 #4",
            "79 EXT 5",
        ] {
            assert_eq!(is_telephone_number(number), number != "79 EXT 5", "{number}");
        }
        for wrong in ["", "nothing", "12", "+44 20 7946 0018 call early", "ask Ann 12345", "12345 x", "12345 ext. Ann"]
        {
            assert!(!is_telephone_number(wrong), "{wrong}");
        }
    }
}
