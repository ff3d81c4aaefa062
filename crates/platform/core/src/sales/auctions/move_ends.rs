//! Shifts the planned ends of a timed auction's items, or plans them anew.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use platform_rules::edit::Plan;
use platform_rules::{Auction, AuctionKind, Item, Rejection, new_item_end};
use uuid::Uuid;

use super::stagger_problems;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{BulkOperation, ItemCounts};
use crate::steps::change_builder::ChangeBuilder;
use crate::steps::decide::{Decision, expect_version};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::{Caller, Platform, Scope};

/// Seconds of one shift, at most: ten years.
pub const SHIFT_SECONDS_MAX: i64 = 10 * 366 * 24 * 3600;

/// The new ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewEnds {
    /// Later by this number of seconds. A negative number makes them earlier, which is possible before the sale is
    /// LIVE.
    Shift {
        /// Seconds.
        seconds: i64,
    },
    /// Planned from a closing time: by running order for all items, by their order in the call for named items.
    Plan(Plan),
}

/// Which ends to move, and where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveEnds {
    /// The new ends.
    pub ends: NewEnds,
    /// The items, at most 1,000; none for all items and the auction's closing time.
    pub items: Option<Vec<Uuid>>,
    /// Why; required when the end of a LIVE or SUSPENDED item moves.
    pub reason: Option<String>,
}

/// The result of moving ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedEnds {
    /// The auction.
    pub auction: Auction,
    /// The counts of its items.
    pub items: ItemCounts,
    /// Items with a new planned end.
    pub moved: u64,
    /// Items that have ended, or had this planned end already.
    pub kept: u64,
}

impl Platform {
    /// Moves the planned ends of a timed auction's items, all or none. The ends of LIVE and SUSPENDED items only move
    /// forward; an end that soft close has already extended further stays. A large auction's ends move in steps
    /// ([`crate::port::BulkChange`]), each item once and by the rules of that moment; the response follows the last
    /// step. `expected_version` is the version of the auction that the caller saw.
    ///
    /// Errors: `not_found`, `precondition_failed`, `items_following`, `invalid`, and those of
    /// [`platform_rules::edit::replan`] and [`platform_rules::item::move_plan`].
    pub async fn move_ends(
        &self,
        caller: &Caller,
        uuid: Uuid,
        wanted: &MoveEnds,
        expected_version: Option<i64>,
        answering: Option<IdempotentRequest<'_, MovedEnds>>,
    ) -> PlatformResult<Outcome<MovedEnds>> {
        caller.require(Scope::AuctionsWrite)?;
        self.check_move(wanted)?;
        let decided = self.decide(answering.as_ref(), || async {
            let auction = self.visible_auction(caller, uuid).await?;
            expect_version(expected_version, auction.version)?;
            self.require_no_bulk_change(&auction).await?;
            let now = self.time_of(&auction);
            if let NewEnds::Plan(Plan { stagger: Some(stagger), .. }) = wanted.ends {
                let problems = stagger_problems(auction.kind, stagger);
                if !problems.is_empty() {
                    return Err(PlatformError::Invalid(problems));
                }
            }
            if auction.kind != AuctionKind::Timed {
                return Err(Rejection::WrongAuctionKind { needs: AuctionKind::Timed }.into());
            }
            let mut draft = self.build_change(&caller.actor, now);
            let result = match &wanted.items {
                None => self.move_all(&mut draft, auction, (wanted, &caller.actor), now).await?,
                Some(items) => self.move_some(&mut draft, auction, items, wanted, now).await?,
            };
            let change = draft.finish(answering.as_ref(), &result);
            Ok(Decision { customer: result.auction.customer, change, result })
        });
        let outcome = decided.await.inspect(|_| self.ends_changed().notify())?;
        self.run_bulk_change_to_end(uuid).await?;
        Ok(outcome)
    }

    async fn move_all(
        &self,
        draft: &mut ChangeBuilder<'_>,
        auction: Auction,
        (wanted, actor): (&MoveEnds, &str),
        now: Timestamp,
    ) -> PlatformResult<MovedEnds> {
        let plan = match wanted.ends {
            NewEnds::Plan(plan) => Some(plan),
            NewEnds::Shift { seconds } => match auction.ends_at {
                Some(ends_at) => Some(Plan { ends_at: later(ends_at, seconds)?, stagger: auction.stagger }),
                None => None,
            },
        };
        let changes = plan.map_or(Ok(Vec::new()), |plan| platform_rules::edit::replan(&auction, plan, now))?;
        let auction = draft.auction(auction, &changes);
        let reason = wanted.reason.clone();
        let operation = match wanted.ends {
            NewEnds::Plan(_) => BulkOperation::PlanEnds { reason },
            NewEnds::Shift { seconds } => BulkOperation::ShiftEnds { seconds, reason },
        };
        let counts = self.store().item_counts(auction.uuid).await?;
        let moved = self.count_affected_items(&auction, &operation, now).await?;
        self.begin_bulk_change(draft, &auction, (operation, actor), &counts, now).await?;
        Ok(MovedEnds { auction, items: counts, moved, kept: counts.total.saturating_sub(moved) })
    }

    async fn move_some(
        &self,
        draft: &mut ChangeBuilder<'_>,
        auction: Auction,
        items: &[Uuid],
        wanted: &MoveEnds,
        now: Timestamp,
    ) -> PlatformResult<MovedEnds> {
        let planned = match wanted.ends {
            NewEnds::Plan(plan) => {
                Some(Auction { ends_at: Some(plan.ends_at), stagger: plan.stagger, ..auction.clone() })
            }
            NewEnds::Shift { .. } => None,
        };
        let auction = draft.auction(auction, &[]);
        let counts = self.store().item_counts(auction.uuid).await?;
        let mut moved = MovedEnds { auction, items: counts, moved: 0, kept: 0 };
        for (place, uuid) in (0_i64..).zip(items) {
            let found = self.store().item(*uuid).await?.filter(|item| item.auction == moved.auction.uuid);
            let item = found.ok_or(PlatformError::NotFound("item in this auction"))?;
            let to = match (wanted.ends, &planned) {
                (NewEnds::Shift { seconds }, _) => item.end_time.map(|end| later(end, seconds)).transpose()?,
                (NewEnds::Plan(plan), planned) => {
                    planned.as_ref().map_or(Some(plan.ends_at), |by| new_item_end(by, place))
                }
            };
            move_one(draft, &mut moved, item, to, wanted, now)?;
        }
        Ok(moved)
    }

    fn check_move(&self, wanted: &MoveEnds) -> PlatformResult<()> {
        if let NewEnds::Shift { seconds } = wanted.ends
            && !(-SHIFT_SECONDS_MAX..=SHIFT_SECONDS_MAX).contains(&seconds)
        {
            let message = format!("must be from -{SHIFT_SECONDS_MAX} to {SHIFT_SECONDS_MAX}");
            return Err(PlatformError::invalid("/shiftSeconds", message));
        }
        wanted.items.as_deref().map_or(Ok(()), |items| self.check_named("/items", items))
    }

    /// Rejects an empty list, a list with too many items, and a list with an item twice.
    pub(crate) fn check_named(&self, pointer: &str, items: &[Uuid]) -> PlatformResult<()> {
        self.check_count(pointer, items.len())?;
        let mut seen = HashSet::new();
        match items.iter().position(|item| !seen.insert(item)) {
            Some(twice) => {
                Err(PlatformError::invalid(format!("{pointer}/{twice}"), "is named twice: name each item once"))
            }
            None => Ok(()),
        }
    }

    /// Rejects a number of items that is 0 or more than one call may name.
    pub(crate) fn check_count(&self, pointer: &str, items: usize) -> PlatformResult<()> {
        let items_max = self.config().call_items_max;
        if (1..=items_max).contains(&items) {
            return Ok(());
        }
        Err(PlatformError::invalid(pointer, format!("names {items} items: name 1 to {items_max}")))
    }
}

fn move_one(
    draft: &mut ChangeBuilder<'_>,
    moved: &mut MovedEnds,
    item: Item,
    to: Option<Timestamp>,
    wanted: &MoveEnds,
    now: Timestamp,
) -> PlatformResult<()> {
    let changes = platform_rules::item::move_plan(&moved.auction, &item, to, wanted.reason.as_deref(), now)?;
    if changes.is_empty() {
        moved.kept += 1;
    } else {
        draft.item(&moved.auction, item, &changes);
        moved.moved += 1;
    }
    Ok(())
}

/// The time this number of seconds later.
pub(crate) fn later(at: Timestamp, seconds: i64) -> PlatformResult<Timestamp> {
    let beyond =
        |_| PlatformError::invalid("/shiftSeconds", "leads beyond the latest possible time: choose a shorter shift");
    at.checked_add(SignedDuration::from_secs(seconds)).map_err(beyond)
}
