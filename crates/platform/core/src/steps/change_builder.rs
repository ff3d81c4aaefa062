//! Builds the [`Change`] that a decision makes: the new states with their versions, a journal entry for each change of
//! a status (with its event if it is announced), the bids, and the sealed entries of the audit log.
//!
//! Guarantee: the state that the builder returns is the one that the store will hold, including the head of its audit
//! log. The builder is therefore the one place that seals the entries of auctions and items; the commit refuses a
//! change with an entry that could not be sealed.

use std::sync::Arc;

use contract::event::{AuctionStatusChange, Event, ItemStatusChange};
use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use kit_runtime::random::SharedRandom;
use kit_runtime::trace;
use platform_rules::{
    Auction, AuctionChange, AuctionKind, Cause, Item, ItemChange, LogHead, RingStatus, SaleMode, known_paddle,
};

use crate::Platform;
use crate::audit;
use crate::port::{
    Address, Bid, BidStrike, BidderItem, BulkChange, BulkChangeStep, CauseOfNotice, Change, EndedOffer,
    ExpectedRegistration, ItemCounts, ItemImage, JournalEntry, NoticeCause, SpendingVersion, StruckBid, SubjectChanges,
    SubjectKind, UnloggedChanges, Versioned,
};
use crate::steps::idempotency::IdempotentRequest;

/// A change under construction.
pub(crate) struct ChangeBuilder<'a> {
    actor: &'a str,
    now: Timestamp,
    random: SharedRandom,
    change: Change,
    /// The causes of notices are recorded.
    makes_notices: bool,
    /// Counts of the changed items before and after the change.
    items: (ItemCounts, ItemCounts),
}

impl Platform {
    /// An empty change that `actor` makes at `now`. It names the request that is handled, so call it within its task.
    pub(crate) fn build_change<'a>(&self, actor: &'a str, now: Timestamp) -> ChangeBuilder<'a> {
        ChangeBuilder {
            actor,
            now,
            random: Arc::clone(self.random()),
            change: Change { origin: trace::current(), ..Change::default() },
            makes_notices: self.config().saleroom_url.is_some(),
            items: Default::default(),
        }
    }
}

impl<'a> ChangeBuilder<'a> {
    /// From now on `actor` makes the changes, at `now`.
    pub(crate) fn continue_as(&mut self, actor: &'a str, now: Timestamp) {
        self.actor = actor;
        self.now = now;
    }

    /// An archived auction changes no result: a correction in RECONCILIATION is decided again if the auction is archived at
    /// the same time.
    pub(crate) fn unless_archived(&mut self, auction: Auction) -> Auction {
        if auction.status == AuctionStatus::Reconciliation { self.auction(auction, &[]) } else { auction }
    }

    /// Applies the changes to the auction and raises its version. Without changes only the version rises, so that every
    /// command that is decided on the auction at the same time is decided again.
    pub(crate) fn auction(&mut self, mut auction: Auction, changes: &[AuctionChange]) -> Auction {
        let expected_version = auction.version;
        let opening = (expected_version == 0).then(|| Box::new(Auction { log: LogHead::default(), ..auction.clone() }));
        self.log(SubjectChanges::Auction { opening, changes: changes.to_vec() });
        for change in changes {
            auction.apply(change);
            if let AuctionChange::StatusChanged { from, to, cause, reason } = change {
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
                    reason: reason.clone(),
                    // The events of a rehearsal are journalled and never published.
                    event: (!auction.rehearsal).then_some(Event::from(event)),
                });
                if *to == AuctionStatus::Live {
                    self.cause_notices(&auction, CauseOfNotice::SaleBegan);
                }
            }
        }
        auction.version = expected_version + 1;
        self.change.auction = Some(Versioned { expected_version, state: auction.clone() });
        self.append_log_entries();
        auction.log = self.change.auction.as_ref().map_or(auction.log, |auction| auction.state.log);
        auction
    }

    /// Inserts a new address.
    pub(crate) fn address(&mut self, address: Option<Address>) {
        self.change.address = address;
    }

    /// Applies the changes to an item of `auction` and raises its version.
    pub(crate) fn item(&mut self, auction: &Auction, mut item: Item, changes: &[ItemChange]) -> Item {
        let expected_version = item.version;
        if expected_version > 0 {
            self.items.0 = self.items.0.with(&item);
        }
        let opening = (expected_version == 0).then(|| Box::new(Item { log: LogHead::default(), ..item.clone() }));
        let led = self.leader_to_tell(auction, &item, changes);
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
                        event: (*announced && !auction.rehearsal).then_some(Event::from(event)),
                    });
                    if has_ended(*from, *to) {
                        self.cause_notices(auction, CauseOfNotice::LotEnded { item: item.uuid });
                    }
                }
                ItemChange::BidAccepted { record, .. } => {
                    // For webcasts only, which have few bids. `Platform::place_bid` records it for registered bidders
                    // of timed auctions.
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
                ItemChange::BuyerChanged { bidder, .. } => {
                    self.note_bidder_item(&item, bidder);
                    self.cause_notices(auction, CauseOfNotice::LotEnded { item: item.uuid });
                }
                ItemChange::RingChanged { ring: RingStatus::InRing(_), cause: Cause::SentToRing } => {
                    self.cause_notices(auction, CauseOfNotice::LotInRing { item: item.uuid });
                }
                _ => {}
            }
        }
        if let Some(paddle) = led.filter(|paddle| item.standing.as_ref().is_some_and(|leads| leads.bidder != *paddle)) {
            self.cause_notices(auction, CauseOfNotice::Outbid { item: item.uuid, paddle });
        }
        item.version = expected_version + 1;
        self.items.1 = self.items.1.with(&item);
        self.change.items.push(Versioned { expected_version, state: item.clone() });
        self.append_log_entries();
        item.log = self.change.items.last().map_or(item.log, |item| item.state.log);
        item
    }

    /// Records the changes of one subject for the audit log.
    fn log(&mut self, what: SubjectChanges) {
        self.change.unlogged.push(UnloggedChanges { actor: self.actor.to_owned(), at: self.now, what });
    }

    /// Seals the recorded changes as entries. Changes that can't be sealed stay in `unlogged`, and the commit refuses
    /// them.
    fn append_log_entries(&mut self) {
        if let Err(error) = audit::append_entries(&mut self.change, self.random.as_ref()) {
            tracing::error!(%error, "an entry of the audit log can't be sealed");
        }
    }

    /// The paddle that leads before a bid in a timed auction.
    fn leader_to_tell(&self, auction: &Auction, item: &Item, changes: &[ItemChange]) -> Option<String> {
        let is_bid = changes.iter().any(|change| matches!(change, ItemChange::BidAccepted { .. }));
        if !self.makes_notices || !is_bid || auction.kind != AuctionKind::Timed {
            return None;
        }
        item.standing.as_ref().map(|leads| leads.bidder.clone()).filter(|paddle| known_paddle(paddle).is_some())
    }

    /// Records what bidders of a real sale may have to know.
    fn cause_notices(&mut self, auction: &Auction, what: CauseOfNotice) {
        if self.makes_notices && auction.sale_mode() == SaleMode::Real && !auction.rehearsal {
            self.change.notice_causes.push(NoticeCause { auction: auction.uuid, what, at: self.now });
        }
    }

    /// Records that the bidder has bid on the item, so that the committed amount can be computed.
    pub(crate) fn note_bidder_item(&mut self, item: &Item, paddle: &str) {
        if known_paddle(paddle).is_none() {
            return;
        }
        self.change.bidder_items.push(BidderItem { auction: item.auction, paddle: paddle.to_owned(), item: item.uuid });
    }

    /// Makes the commit depend on the facts that admitted the bidder: the spending version, or else the registration.
    pub(crate) fn set_bidder_preconditions(
        &mut self,
        spending_version: Option<SpendingVersion>,
        registration: &ExpectedRegistration,
    ) {
        self.change.registration = Some(registration.clone()).filter(|_| spending_version.is_none());
        self.change.spending_version = spending_version;
    }

    /// Inserts images of new items, with the content of existing images.
    pub(crate) fn images(&mut self, images: Vec<ItemImage>) {
        self.change.images.extend(images);
    }

    /// Ends the offer of the house that the bidder accepted.
    pub(crate) fn accepted_offer(&mut self, accepted: Option<EndedOffer>) {
        self.change.accepted_offer = accepted;
    }

    /// Begins, continues or ends a bulk change of the auction.
    pub(crate) fn bulk_change(&mut self, step: BulkChangeStep) {
        self.change.bulk_change = Some(step);
    }

    fn strike_bid(&mut self, item: &Item, number: i64, struck: Option<StruckBid>) {
        self.change.bid_strikes.push(BidStrike { item: item.uuid, number, struck });
    }

    /// The first changed item.
    pub(crate) fn first_item(&self) -> Option<uuid::Uuid> {
        self.change.items.first().map(|item| item.state.uuid)
    }

    /// The item counts of an auction after this change, if all changed items belong to it.
    pub(crate) fn counts_after(&self, before: &ItemCounts) -> ItemCounts {
        before.moved(&self.items.0, &self.items.1)
    }

    /// The bulk change as it is after this change.
    pub(crate) fn bulk_change_after(&self) -> Option<BulkChange> {
        self.change.bulk_change.as_ref().and_then(|step| step.bulk_change.clone())
    }

    /// The last accepted bid.
    pub(crate) fn last_bid(&self) -> Option<&Bid> {
        self.change.bids.last()
    }

    /// The change, with the answer to store for the idempotency key, if there is one.
    pub(crate) fn finish<T>(mut self, answering: Option<&IdempotentRequest<'_, T>>, result: &T) -> Change {
        self.change.answer = answering.map(|answering| answering.answer(result, self.now));
        self.change
    }
}

/// A lot that bidders hear about. A passed lot that is not sold in the end is no news.
fn has_ended(from: Option<ItemStatus>, to: ItemStatus) -> bool {
    match to {
        ItemStatus::Sold | ItemStatus::SoldBuyNow => true,
        ItemStatus::Unsold | ItemStatus::Passed => from != Some(ItemStatus::Passed),
        _ => false,
    }
}
