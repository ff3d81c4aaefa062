//! What a decision makes of a state, written down as a change for the store: the new state with its version, a journal
//! entry for each change of a status, with its event where it is announced, the bids, and the entries of the log. The state that
//! is given back is the one that is kept, with the end of its log.

use std::sync::Arc;

use contract::event::{AuctionStatusChange, Event, ItemStatusChange};
use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use kit_runtime::random::SharedRandom;
use platform_rules::{Auction, AuctionChange, AuctionKind, Item, ItemChange, LogHead};

use crate::Platform;
use crate::audit::{self, SubjectChanges, UnloggedChanges};
use crate::bid::{Bid, BidStrike, StruckBid};
use crate::bidders::Admitted;
use crate::idempotency::IdempotentRequest;
use crate::journal::{JournalEntry, SubjectKind};
use crate::port::{Address, BidderItem, BulkChange, BulkChangeStep, Change, ItemCounts, Versioned};

/// A change being written down.
pub(crate) struct ChangeBuilder<'a> {
    actor: &'a str,
    now: Timestamp,
    random: SharedRandom,
    change: Change,
    /// Items as they were before it, and as they are after it.
    items: (ItemCounts, ItemCounts),
}

impl Platform {
    /// Nothing yet; `actor` does it at `now`.
    pub(crate) fn build_change<'a>(&self, actor: &'a str, now: Timestamp) -> ChangeBuilder<'a> {
        ChangeBuilder {
            actor,
            now,
            random: Arc::clone(self.random()),
            change: Change::default(),
            items: Default::default(),
        }
    }
}

impl<'a> ChangeBuilder<'a> {
    /// What follows is done by `actor` at `now`.
    pub(crate) fn continue_as(&mut self, actor: &'a str, now: Timestamp) {
        self.actor = actor;
        self.now = now;
    }

    /// The auction takes the changes and its next version. Without changes only the version moves, which makes whoever
    /// decides on it at the same time decide again.
    pub(crate) fn auction(&mut self, mut auction: Auction, changes: &[AuctionChange]) -> Auction {
        let expected_version = auction.version;
        let opening = (expected_version == 0).then(|| Box::new(Auction { log: LogHead::default(), ..auction.clone() }));
        self.log(SubjectChanges::Auction { opening, changes: changes.to_vec() });
        for change in changes {
            auction.apply(change);
            if let AuctionChange::StatusChanged { from, to, cause } = change {
                let event = AuctionStatusChange {
                    auctioneer_uuid: auction.auctioneer,
                    auction_uuid: auction.uuid,
                    status: *to,
                };
                self.change.journal.push(JournalEntry {
                    subject: auction.uuid,
                    kind: SubjectKind::Auction,
                    customer: auction.customer,
                    sequence: auction.sequence,
                    from: from.map(AuctionStatus::name),
                    to: to.name(),
                    cause: cause.as_str(),
                    actor: self.actor.to_owned(),
                    at: self.now,
                    reason: None,
                    event: Some(Event::from(event)),
                });
            }
        }
        auction.version = expected_version + 1;
        self.change.auction = Some(Versioned { expected_version, state: auction.clone() });
        self.append_log_entries();
        auction.log = self.change.auction.as_ref().map_or(auction.log, |auction| auction.state.log);
        auction
    }

    /// A new address is written.
    pub(crate) fn address(&mut self, address: Option<Address>) {
        self.change.address = address;
    }

    /// The item of `auction` takes the changes and its next version.
    pub(crate) fn item(&mut self, auction: &Auction, mut item: Item, changes: &[ItemChange]) -> Item {
        let expected_version = item.version;
        if expected_version > 0 {
            self.items.0 = self.items.0.with(&item);
        }
        let opening = (expected_version == 0).then(|| Box::new(Item { log: LogHead::default(), ..item.clone() }));
        let place = self.change.items.len();
        self.log(SubjectChanges::Item { place, opening, changes: changes.to_vec() });
        for change in changes {
            item.apply(change);
            match change {
                ItemChange::StatusChanged { from, to, cause, announced, reason } => {
                    let event = ItemStatusChange {
                        item_uuid: item.uuid,
                        auctioneer_uuid: auction.auctioneer,
                        auction_uuid: auction.uuid,
                        status: *to,
                    };
                    self.change.journal.push(JournalEntry {
                        subject: item.uuid,
                        kind: SubjectKind::Item,
                        customer: item.customer,
                        sequence: item.sequence,
                        from: from.map(ItemStatus::name),
                        to: to.name(),
                        cause: cause.as_str(),
                        actor: self.actor.to_owned(),
                        at: self.now,
                        reason: reason.clone(),
                        event: announced.then_some(Event::from(event)),
                    });
                }
                ItemChange::BidAccepted { record, .. } => {
                    // A hall is no faster than its clerk. Bids of timed auctions are: see `Platform::place_bid`.
                    if auction.kind == AuctionKind::Webcast {
                        self.note_bidder_item(&item, &record.bidder);
                    }
                    self.change.bids.push(Bid::of(item.uuid, record, self.actor));
                }
                ItemChange::BidStruck { number, struck, reason, .. } => {
                    let struck = StruckBid {
                        strike: struck.strike,
                        after: struck.after,
                        reason: reason.clone(),
                        actor: self.actor.to_owned(),
                        at: self.now,
                    };
                    self.strike_bid(&item, *number, Some(struck));
                }
                ItemChange::BidReinstated { number, .. } => self.strike_bid(&item, *number, None),
                _ => {}
            }
        }
        item.version = expected_version + 1;
        self.items.1 = self.items.1.with(&item);
        self.change.items.push(Versioned { expected_version, state: item.clone() });
        self.append_log_entries();
        item.log = self.change.items.last().map_or(item.log, |item| item.state.log);
        item
    }

    /// Notes for the log what happened.
    fn log(&mut self, what: SubjectChanges) {
        self.change.unlogged.push(UnloggedChanges { actor: self.actor.to_owned(), at: self.now, what });
    }

    /// Makes entries of what was noted. What can't be written stays noted: the commit seals what is left, and says why not.
    fn append_log_entries(&mut self) {
        if let Err(error) = audit::append_entries(&mut self.change, self.random.as_ref()) {
            tracing::error!(%error, "an entry of the log can't be written");
        }
    }

    /// The bidder has bid on the item: what that binds can be found again.
    pub(crate) fn note_bidder_item(&mut self, item: &Item, paddle: &str) {
        self.change.bidder_items.push(BidderItem { auction: item.auction, paddle: paddle.to_owned(), item: item.uuid });
    }

    /// The bid stands on what its bidder was admitted by: their turn, which it takes, or else their registration.
    pub(crate) fn set_bidder_preconditions(&mut self, admitted: &Admitted) {
        self.change.spending_version = admitted.spending_version;
        self.change.registration = Some(admitted.precondition.clone()).filter(|_| admitted.spending_version.is_none());
    }

    /// A bulk change of the auction begins, goes on or is over.
    pub(crate) fn bulk_change(&mut self, step: BulkChangeStep) {
        self.change.bulk_change = Some(step);
    }

    fn strike_bid(&mut self, item: &Item, number: i64, struck: Option<StruckBid>) {
        self.change.bid_strikes.push(BidStrike { item: item.uuid, number, struck });
    }

    /// The first item that it changes.
    pub(crate) fn first_item(&self) -> Option<uuid::Uuid> {
        self.change.items.first().map(|item| item.state.uuid)
    }

    /// What an auction's items come to by it, all of those that it changes being of that auction.
    pub(crate) fn counts_after(&self, before: &ItemCounts) -> ItemCounts {
        before.moved(&self.items.0, &self.items.1)
    }

    /// The bulk change that begins or goes on by it.
    pub(crate) fn bulk_change_after(&self) -> Option<BulkChange> {
        self.change.bulk_change.as_ref().and_then(|step| step.bulk_change.clone())
    }

    /// The bid accepted last.
    pub(crate) fn last_bid(&self) -> Option<&Bid> {
        self.change.bids.last()
    }

    /// The change, with the answer to keep when there is an idempotency key.
    pub(crate) fn finish<T>(mut self, answering: Option<&IdempotentRequest<'_, T>>, result: &T) -> Change {
        self.change.answer = answering.map(|answering| answering.answer(result, self.now));
        self.change
    }
}
