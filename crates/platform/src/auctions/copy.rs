//! An auction is held again: a copy as a DRAFT, with or without its items.

use auction::lifecycle::{self, AuctionCommand};
use auction::{Auction, Item, ItemCommand, RingPlace, TestClock, WebcastPhase};
use contract::{AuctionStatus, ItemStatus};
use jiff::Timestamp;
use uuid::Uuid;

use super::ITEMS_READ_MAX;
use super::ends::{SHIFT_SECONDS_MAX, later};
use crate::deciding::Decision;
use crate::draft::Draft;
use crate::error::{PlatformError, PlatformResult};
use crate::idempotency::{Answering, Outcome};
use crate::new_item::{TITLE_CHARS_MAX, text};
use crate::port::{ItemCounts, Page};
use crate::{Caller, Platform, Scope};

/// What of an auction's items a copy gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopiedItems {
    /// Nothing.
    None,
    /// All but the WITHDRAWN ones, in their order, as DRAFT and without bids.
    All,
}

/// How an auction is copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuctionCopy {
    /// Another title; none for the same.
    pub title: Option<String>,
    /// Start, closing time and planned ends are so many seconds later.
    pub shift_seconds: i64,
    /// What of its items it gets.
    pub items: CopiedItems,
}

impl Platform {
    /// Copies an auction with everything that was entered about it. The copy is a DRAFT, and announced as created.
    ///
    /// Errors: `not_found`, `invalid`, and those of [`lifecycle::decide`] and [`auction::item::decide`].
    pub async fn copy_auction(
        &self,
        caller: &Caller,
        uuid: Uuid,
        copy: &AuctionCopy,
        answering: Option<Answering<'_, Auction>>,
    ) -> PlatformResult<Outcome<Auction>> {
        caller.require(Scope::AuctionsWrite)?;
        if let Some(Err(message)) = copy.title.as_deref().map(|title| text(title, TITLE_CHARS_MAX)) {
            return Err(PlatformError::invalid("/title", message));
        }
        if !(-SHIFT_SECONDS_MAX..=SHIFT_SECONDS_MAX).contains(&copy.shift_seconds) {
            let message = format!("must be from -{SHIFT_SECONDS_MAX} to {SHIFT_SECONDS_MAX}");
            return Err(PlatformError::invalid("/shiftSeconds", message));
        }
        self.decide(answering.as_ref(), || async {
            let source = self.seen_auction(caller, uuid).await?;
            self.require_settled(&source).await?;
            let now = self.now();
            let auction = self.copied(&source, copy, now)?;
            let command = AuctionCommand::Create { status: AuctionStatus::Draft };
            let changes = lifecycle::decide(&auction, &ItemCounts::default(), command, now)?;
            let mut draft = self.draft(&caller.actor, now);
            let auction = draft.auction(auction, &changes);
            if copy.items == CopiedItems::All {
                self.copy_items(&mut draft, &source, &auction, copy, now).await?;
            }
            let change = draft.finish(answering.as_ref(), &auction);
            Ok(Decision { customer: auction.customer, change, result: auction })
        })
        .await
    }

    fn copied(&self, source: &Auction, copy: &AuctionCopy, now: Timestamp) -> PlatformResult<Auction> {
        let shifted = |at: Option<Timestamp>| at.map(|at| later(at, copy.shift_seconds)).transpose();
        Ok(Auction {
            uuid: self.ids().uuid_v7(),
            title: copy.title.clone().unwrap_or_else(|| source.title.clone()),
            starts_at: shifted(source.starts_at)?,
            ends_at: shifted(source.ends_at)?,
            status: AuctionStatus::Draft,
            phase: WebcastPhase::default(),
            in_ring: None,
            last_in_ring: None,
            ring_position: None,
            returning: false,
            sequence: 0,
            version: 0,
            created_at: now,
            clock: source.clock.map(|_| TestClock::at(now)),
            ..source.clone()
        })
    }

    async fn copy_items(
        &self,
        draft: &mut Draft<'_>,
        source: &Auction,
        auction: &Auction,
        copy: &AuctionCopy,
        now: Timestamp,
    ) -> PlatformResult<()> {
        let (mut after, mut position) = (None, 0);
        loop {
            let items = self.store().items(source.uuid, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = items.last().map(|item| item.position) else { return Ok(()) };
            for item in items.into_iter().filter(|item| item.status != ItemStatus::Withdrawn) {
                let state = Item {
                    uuid: self.ids().uuid_v7(),
                    auction: auction.uuid,
                    position,
                    status: ItemStatus::Draft,
                    announced: false,
                    end_time: item.end_time.map(|end| later(end, copy.shift_seconds)).transpose()?,
                    effective_end_time: None,
                    ring: RingPlace::Waiting,
                    standing: None,
                    bid_count: 0,
                    bids_lapsed: 0,
                    pending: Vec::new(),
                    relisted_from: None,
                    relisted_as: None,
                    sequence: 0,
                    version: 0,
                    created_at: now,
                    ..item
                };
                let command = ItemCommand::Create { status: ItemStatus::Draft };
                let changes = auction::item::decide(auction, &state, command, now)?;
                draft.item(auction, state, &changes);
                position += 1;
            }
            after = Some(last);
        }
    }
}
