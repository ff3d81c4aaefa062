//! Pauses a timed auction, or some of its lots.
//!
//! A pause suspends the LIVE lots: they take no bids and do not end. When it is over, each lot is LIVE again, and its ends are
//! later by the time for which it was paused. The journal's entry of the suspension says since when, so that a restart loses
//! nothing. Lots that were suspended for another reason stay suspended.
//!
//! A large auction is paused and resumed in several commits. An interrupted call is repeated: it continues with the lots
//! that are left.

use std::slice;

use contract::ItemStatus;
use jiff::Timestamp;
use platform_rules::edit::Plan;
use platform_rules::{Auction, AuctionKind, Item, ItemCommand, Rejection};
use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult};
use crate::port::Page;
use crate::steps::decide::Decision;
use crate::{Caller, Platform, Scope};

/// How the reason of a suspension begins that is a pause.
pub const PAUSE_REASON: &str = "Sale paused: ";
/// Lots of one commit. Bids on LIVE lots make a commit conflict, so a pause takes few of them.
const PAUSED_AT_ONCE_MAX: usize = 100;
const RESUMED_AT_ONCE_MAX: usize = 500;

/// The lots of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PausedLots<'a> {
    /// All lots of the auction.
    All,
    /// These, at most 1,000.
    Named(&'a [Uuid]),
}

/// What a pause or its end did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PauseReport {
    /// Lots that are suspended now, or LIVE again.
    pub changed: u64,
    /// Lots that stay as they were.
    pub kept: u64,
}

/// A commit of a pause: what it did, where the next one begins, and since when the lots were paused.
struct Step {
    report: PauseReport,
    next: Option<i64>,
    since: Option<Timestamp>,
}

impl Platform {
    /// Suspends the LIVE lots of a timed auction. A lot that is due has ended, even if the timer has not processed it yet:
    /// it stays.
    ///
    /// Errors: `not_found`, `wrong_auction_kind`, `items_following`, `reason_required`, `busy`.
    pub async fn pause_items(
        &self,
        caller: &Caller,
        auction: Uuid,
        lots: PausedLots<'_>,
        reason: &str,
    ) -> PlatformResult<PauseReport> {
        caller.require(Scope::AuctionsWrite)?;
        if reason.trim().is_empty() {
            return Err(Rejection::ReasonRequired.into());
        }
        let suspend = ItemCommand::ChangeStatus {
            to: ItemStatus::Suspended,
            reason: Some(format!("{PAUSE_REASON}{}", reason.trim())),
        };
        let mut report = PauseReport::default();
        for named in self.parts(lots, PAUSED_AT_ONCE_MAX)? {
            let mut after = None;
            loop {
                let step = self.decide(None, || async {
                    let auction = self.timed_auction(caller, auction).await?;
                    let page = Page { after, limit: PAUSED_AT_ONCE_MAX };
                    let items = self.lots_with_status(&auction, named, ItemStatus::Live, page).await?;
                    let now = self.time_of(&auction);
                    let mut step =
                        Step { report: PauseReport::default(), next: next(&items, named, page.limit), since: None };
                    let mut draft = self.build_change(&caller.actor, now);
                    for item in items {
                        if item.effective_end_time.is_some_and(|end| end <= now) {
                            step.report.kept += 1;
                            continue;
                        }
                        let changes = platform_rules::item::decide(&auction, &item, suspend.clone(), now)?;
                        draft.item(&auction, item, &changes);
                        step.report.changed += 1;
                    }
                    let customer = auction.customer;
                    // The auction's status depends on the number of LIVE lots.
                    draft.auction(auction, &[]);
                    let change = draft.finish::<Step>(None, &step);
                    Ok(Decision { customer, change, result: step })
                });
                let step = step.await?.fresh()?;
                report.changed += step.report.changed;
                report.kept += step.report.kept;
                after = step.next;
                if after.is_none() {
                    break;
                }
            }
        }
        self.ends_changed().notify();
        Ok(report)
    }

    /// Ends the pause of lots. When all lots of an auction resume, its closing time is later, too, if it was ahead.
    ///
    /// Errors: `not_found`, `wrong_auction_kind`, `items_following`, `reason_required`, `busy`, and those of
    /// [`platform_rules::item::resume_after_pause`].
    pub async fn resume_items(
        &self,
        caller: &Caller,
        auction: Uuid,
        lots: PausedLots<'_>,
        reason: &str,
    ) -> PlatformResult<PauseReport> {
        caller.require(Scope::AuctionsWrite)?;
        let (mut report, mut since) = (PauseReport::default(), None);
        for named in self.parts(lots, self.config().call_items_max)? {
            let mut after = None;
            loop {
                let step = self.decide(None, || async {
                    let auction = self.timed_auction(caller, auction).await?;
                    let page = Page { after, limit: RESUMED_AT_ONCE_MAX };
                    let items = self.lots_with_status(&auction, named, ItemStatus::Suspended, page).await?;
                    let now = self.time_of(&auction);
                    let mut step =
                        Step { report: PauseReport::default(), next: next(&items, named, page.limit), since };
                    let mut draft = self.build_change(&caller.actor, now);
                    for item in items {
                        let Some(paused_at) = self.paused_at(&item).await? else {
                            step.report.kept += 1;
                            continue;
                        };
                        let changes =
                            platform_rules::item::resume_after_pause(&auction, &item, paused_at, reason, now)?;
                        draft.item(&auction, item, &changes);
                        step.report.changed += 1;
                        step.since = Some(step.since.map_or(paused_at, |since| since.min(paused_at)));
                    }
                    let is_last = step.next.is_none() && named.is_none();
                    let plan = closing_time(&auction, step.since.filter(|_| is_last), now);
                    let changes =
                        plan.map_or(Ok(Vec::new()), |plan| platform_rules::edit::replan(&auction, plan, now))?;
                    let customer = auction.customer;
                    draft.auction(auction, &changes);
                    let change = draft.finish::<Step>(None, &step);
                    Ok(Decision { customer, change, result: step })
                });
                let step = step.await?.fresh()?;
                report.changed += step.report.changed;
                report.kept += step.report.kept;
                (after, since) = (step.next, step.since);
                if after.is_none() {
                    break;
                }
            }
        }
        self.ends_changed().notify();
        Ok(report)
    }

    /// Paused lots of an auction in running order, at most `limit`, with the time at which each was paused.
    ///
    /// Errors: `not_found`, `wrong_auction_kind`.
    pub async fn paused_items(
        &self,
        caller: &Caller,
        auction: Uuid,
        lots: PausedLots<'_>,
        limit: usize,
    ) -> PlatformResult<Vec<(Item, Timestamp)>> {
        let auction = self.auction(caller, auction).await?;
        let named = if let PausedLots::Named(named) = lots { Some(named) } else { None };
        let page = Page { after: None, limit };
        let mut paused = Vec::new();
        for item in self.lots_with_status(&auction, named, ItemStatus::Suspended, page).await? {
            if let Some(since) = self.paused_at(&item).await? {
                paused.push((item, since));
            }
        }
        Ok(paused)
    }

    async fn timed_auction(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<Auction> {
        let auction = self.visible_auction(caller, uuid).await?;
        if auction.kind != AuctionKind::Timed {
            return Err(Rejection::WrongAuctionKind { needs: AuctionKind::Timed }.into());
        }
        self.require_no_bulk_change(&auction).await?;
        Ok(auction)
    }

    /// The named lots in parts, or none for all.
    fn parts<'a>(&self, lots: PausedLots<'a>, at_once: usize) -> PlatformResult<Vec<Option<&'a [Uuid]>>> {
        match lots {
            PausedLots::All => Ok(vec![None]),
            PausedLots::Named(named) => {
                self.check_named("/items", named)?;
                Ok(named.chunks(at_once).map(Some).collect())
            }
        }
    }

    /// The named lots, or a page of all, with this status.
    async fn lots_with_status(
        &self,
        auction: &Auction,
        named: Option<&[Uuid]>,
        status: ItemStatus,
        page: Page<i64>,
    ) -> PlatformResult<Vec<Item>> {
        let Some(named) = named else {
            return Ok(self.store().items_with_status(auction.uuid, slice::from_ref(&status), page).await?);
        };
        let mut items = Vec::with_capacity(named.len());
        for uuid in named {
            let found = self.store().item(*uuid).await?.filter(|item| item.auction == auction.uuid);
            let item = found.ok_or(PlatformError::NotFound("item in this auction"))?;
            items.extend(Some(item).filter(|item| item.status == status));
        }
        Ok(items)
    }

    /// When the item was paused; none when it is not, or was suspended for another reason.
    async fn paused_at(&self, item: &Item) -> PlatformResult<Option<Timestamp>> {
        let page = Page { after: Some(item.sequence - 1), limit: 1 };
        let last = self.store().history(item.uuid, page).await?.pop();
        let is_pause = |reason: &Option<String>| reason.as_ref().is_some_and(|text| text.starts_with(PAUSE_REASON));
        let from_live = |from: &Option<String>| from.as_deref() == Some(ItemStatus::Live.name());
        let paused = last.filter(|row| row.to == ItemStatus::Suspended.name() && from_live(&row.from));
        Ok(paused.filter(|row| is_pause(&row.reason)).map(|row| row.at))
    }
}

/// Where the next page begins; none after the last one. Named lots are one page.
fn next(items: &[Item], named: Option<&[Uuid]>, limit: usize) -> Option<i64> {
    items.last().filter(|_| named.is_none() && items.len() == limit).map(|item| item.position)
}

/// The closing time that follows from a pause since this time; none when it was over before, or all lots did not resume.
fn closing_time(auction: &Auction, since: Option<Timestamp>, now: Timestamp) -> Option<Plan> {
    let (ends_at, since) = auction.ends_at.zip(since).filter(|(ends_at, since)| ends_at > since)?;
    let ends_at = ends_at.checked_add(now.duration_since(since)).ok()?;
    Some(Plan { ends_at, stagger: auction.stagger })
}
