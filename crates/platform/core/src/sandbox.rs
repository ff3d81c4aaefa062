//! Sandbox auctions: a sale on a test clock, which an API call advances, so that a week passes in a second.
//!
//! An advance is one change: the clock's target, the first ends that it causes with their events, and the answer to the
//! idempotency key are committed together. A worker does the rest, one change at a time, each from where the previous
//! one ended. The auction stores the target, so a crash in between loses nothing and repeats nothing. Every change
//! raises the auction's version: if two nodes run the same step, one commit fails with a version conflict, and the node
//! leaves the work to the other.
//!
//! Guarantees:
//! - Each due item ends at its own effective end time, the earliest first, and is announced as always.
//! - Real sales are not affected: their clock is the server's, which is never advanced.

mod run;

use jiff::{SignedDuration, Timestamp};
use platform_rules::test_clock::{self, ADVANCE_SECONDS_MAX};
use platform_rules::{Auction, AuctionChange, Item, ItemCommand, Rejection, TestClock};
use uuid::Uuid;

pub use run::TestClockWorker;

use crate::error::{PlatformError, PlatformResult};
use crate::steps::change_builder::ChangeBuilder;
use crate::steps::decide::{Decision, expect_version};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform, Scope};

/// The actor in the journal for items that end by a test clock.
const ACTOR: &str = "test clock";

/// How far to advance a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advance {
    /// This number of seconds from its present time; 1 to [`ADVANCE_SECONDS_MAX`].
    Seconds(i64),
    /// To this time, truncated to milliseconds.
    To(Timestamp),
}

/// The result of an advance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advanced {
    /// The auction with its clock. While the clock has a target, more items end on the way to it.
    pub auction: Auction,
    /// Items that this change ended, in the order of their ends.
    pub ended: Vec<Item>,
}

impl Platform {
    /// A sandbox auction and its test clock.
    ///
    /// Errors: `not_found`, `not_a_sandbox`.
    pub async fn test_clock(&self, caller: &Caller, auction: Uuid) -> PlatformResult<(Auction, TestClock)> {
        caller.require_one_of(&[Scope::AuctionsRead, Scope::SandboxWrite])?;
        let auction = self.visible_auction(caller, auction).await?;
        let clock = auction.clock.ok_or(Rejection::NotASandbox)?;
        Ok((auction, clock))
    }

    /// Advances the clock of a sandbox auction and ends the items that become due. A repeated request with the same
    /// idempotency key advances it once. `expected_version` is the version that the caller saw; with it, only one of
    /// two concurrent requests advances the clock.
    ///
    /// Errors: `not_found`, `precondition_failed`, `invalid`, and those of [`test_clock::advance`].
    pub async fn advance_clock(
        &self,
        caller: &Caller,
        auction: Uuid,
        by: Advance,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, Advanced>>,
    ) -> PlatformResult<Outcome<Advanced>> {
        caller.require(Scope::SandboxWrite)?;
        if let Advance::Seconds(seconds) = by
            && !(1..=ADVANCE_SECONDS_MAX).contains(&seconds)
        {
            return Err(PlatformError::invalid("/seconds", format!("must be from 1 to {ADVANCE_SECONDS_MAX}")));
        }
        self.decide(answering.as_ref(), || async {
            let auction = self.visible_auction(caller, auction).await?;
            expect_version(expected_version, auction.version)?;
            self.require_no_bulk_change(&auction).await?;
            let begin = test_clock::advance(&auction, by.target(&auction))?;
            let (draft, result) = self.step(&caller.actor, auction, Some(begin), self.step_items_max()).await?;
            let change = draft.finish(answering.as_ref(), &result);
            Ok(Decision { customer: result.auction.customer, change, result })
        })
        .await
        .inspect(|_| self.clocks_advanced().notify())
    }

    /// One step of an advance: ends the next due items, `items_max` at most.
    async fn step<'a>(
        &self,
        actor: &'a str,
        auction: Auction,
        begin: Option<AuctionChange>,
        items_max: usize,
    ) -> PlatformResult<(ChangeBuilder<'a>, Advanced)> {
        let mut advanced = auction.clone();
        begin.iter().for_each(|change| advanced.apply(change));
        let target = self.time_of(&advanced);
        let mut due = self.store().due_sandbox_items(auction.uuid, target, items_max + 1).await?;
        let is_last = due.len() <= items_max;
        due.truncate(items_max);
        let reached = due.last().and_then(|last| last.effective_end_time).filter(|_| !is_last).unwrap_or(target);
        let followed = test_clock::follow(&advanced, reached, due.len() as u64)?;
        let changes: Vec<AuctionChange> = begin.into_iter().chain([followed]).collect();

        let mut draft = self.build_change(actor, target);
        let auction = draft.auction(auction, &changes);
        let mut ended = Vec::with_capacity(due.len());
        for item in due {
            let end = item.effective_end_time.unwrap_or(target);
            let changes = platform_rules::item::decide(&auction, &item, ItemCommand::ReachEnd, end)?;
            draft.continue_as(ACTOR, end);
            ended.push(draft.item(&auction, item, &changes));
        }
        Ok((draft, Advanced { auction, ended }))
    }

    fn step_items_max(&self) -> usize {
        self.config().timers.clock_items_max.max(1)
    }
}

impl Advance {
    fn target(self, auction: &Auction) -> Timestamp {
        match self {
            Self::To(to) => Timestamp::from_millisecond(to.as_millisecond()).unwrap_or(to),
            Self::Seconds(seconds) => {
                let now = auction.clock.as_ref().map_or(auction.created_at, TestClock::now);
                now.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
            }
        }
    }
}
