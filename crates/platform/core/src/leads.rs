//! Leads: the items of an auction follow a change of it as a whole piece by piece, so that nothing else waits for them.
//!
//! An auction of 100,000 items that goes LIVE, back to PREVIEW or into RECONCILIATION, that takes in a catalogue or the items
//! of another auction, or whose ends move, would make whatever comes at the same time (an end, a bid) wait for seconds, were
//! it one commit. The first step is the call's own
//! commit, with its answer; it writes the [`Lead`] down, which says how far the items have followed. The others are a
//! worker's, a commit of some hundred items each, together with the lead's next step: of two nodes at the same work one gets a
//! conflict and leaves it to the other, and a crash in between loses nothing and repeats nothing. The auction's own version
//! does not move with them: whoever saw it LIVE can go on from there.
//!
//! While a lead is under way:
//! - what would change the auction as a whole, or add to it, is refused with `items_following`, and so is a command on an item
//!   that has still to follow, and a bid on one that is not LIVE yet;
//! - bids, ends and commands of items that have followed go on as always;
//! - an item follows as it is at that moment, by the same rules as in a small auction.
//!
//! Ends move in a lead, too: what can't be is found out before the first step, all or none; after that each item moves by the
//! rules of its own step. One that has ended by then stays, and none moves twice: that it did is in the commit that moves it.
//!
//! Back to PREVIEW it is the other way round: the auction refuses bids at once, its LIVE items take another version, so that
//! what was decided before is known to have come in or not, and only then it is PREVIEW. After that they are taken back. Other
//! terms of a LIVE auction come to be in the same way.

mod enter;
mod following;
mod run;

use contract::AuctionStatus;
use jiff::Timestamp;
use platform_rules::lifecycle::{self, ItemCounts};
use platform_rules::{Auction, Item, Rejection};
use uuid::Uuid;

pub(crate) use enter::Piece;
use following::Following;
pub use run::RunLeads;

use crate::draft::Draft;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Follows, Lead, LeadStep, Page};
use crate::{Caller, Platform, Scope};

/// Items read for each that may follow, where few do.
const READ_FOR_EACH: usize = 8;

/// How far a step has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// Items up to this place have followed.
    Place(i64),
    /// All have.
    End,
}

impl Platform {
    /// What the items of an auction follow at the moment, and how far they have come; none when they have followed.
    ///
    /// Errors: `not_found`.
    pub async fn lead(&self, caller: &Caller, auction: Uuid) -> PlatformResult<Option<Lead>> {
        caller.require_one_of(&[Scope::AuctionsRead, Scope::AuctionsWrite, Scope::RingWrite])?;
        let auction = self.seen_auction(caller, auction).await?;
        Ok(self.store().lead(auction.uuid).await?)
    }

    /// Refuses with `items_following` while a lead of the auction is under way. To be asked after the auction was read, by what
    /// moves its version: then no lead can begin before its commit.
    pub(crate) async fn require_settled(&self, auction: &Auction) -> PlatformResult<()> {
        match self.store().lead(auction.uuid).await? {
            Some(_) => Err(Rejection::ItemsFollowing.into()),
            None => Ok(()),
        }
    }

    /// Refuses with `items_following` what is wanted of an item that has still to follow its auction.
    pub(crate) async fn require_followed(&self, auction: &Auction, item: &Item) -> PlatformResult<()> {
        match self.store().lead(auction.uuid).await? {
            Some(lead) if lead.covers(item.position) => Err(Rejection::ItemsFollowing.into()),
            _ => Ok(()),
        }
    }

    /// Why the rules refuse something about an item: that it has still to follow its auction, where that is why.
    pub(crate) async fn refusal(&self, auction: &Auction, item: &Item, rejection: Rejection) -> PlatformError {
        if matches!(rejection, Rejection::ItemNotLive { .. } | Rejection::IllegalTransition { .. }) {
            match self.store().lead(auction.uuid).await {
                Ok(Some(lead)) if lead.follows.changes_status() && lead.covers(item.position) => {
                    return Rejection::ItemsFollowing.into();
                }
                Ok(_) => {}
                Err(error) => return error.into(),
            }
        }
        rejection.into()
    }

    /// The items of an auction that was just changed begin to follow it, in the same change; a lead is written down for those
    /// that do not fit into it.
    pub(crate) async fn begin_lead(
        &self,
        draft: &mut Draft<'_>,
        auction: &Auction,
        (follows, actor): (Follows, &str),
        counts: &ItemCounts,
        now: Timestamp,
    ) -> PlatformResult<()> {
        let until = i64::try_from(counts.total).unwrap_or(i64::MAX) - 1;
        let (actor, step) = (actor.to_owned(), 1);
        let (auction_uuid, customer) = (auction.uuid, auction.customer);
        let lead = Lead { auction: auction_uuid, customer, follows, actor, at: now, step, through: -1, until };
        if let Reached::Place(through) = self.lead_items(draft, auction, &lead, self.first_items_max(), now).await? {
            let lead = Some(Lead { through, ..lead });
            draft.lead(LeadStep { auction: auction_uuid, seen: None, lead, entered: None });
        }
        Ok(())
    }

    /// If the items of an auction fit into the first step of a lead.
    pub(crate) fn fits_first_step(&self, counts: &ItemCounts) -> bool {
        usize::try_from(counts.total).is_ok_and(|total| total <= self.first_items_max())
    }

    /// The next items of the auction follow, `items_max` at most.
    async fn lead_items(
        &self,
        draft: &mut Draft<'_>,
        auction: &Auction,
        lead: &Lead,
        items_max: usize,
        now: Timestamp,
    ) -> PlatformResult<Reached> {
        let is_sparse = matches!(lead.follows, Follows::Reconcile | Follows::Replan { .. });
        let limit = if is_sparse { items_max * READ_FOR_EACH } else { items_max };
        let following = Following::new(auction, &lead.follows, now);
        let items = self.store().items(auction.uuid, Page { after: Some(lead.through), limit }).await?;
        let (is_last_page, mut led, mut through) = (items.len() < limit, 0, lead.through);
        let mut over = Vec::new();
        for item in items {
            if item.position > lead.until {
                return Ok(Reached::End);
            }
            if led == items_max {
                return Ok(Reached::Place(through));
            }
            through = item.position;
            if following.is_over(&item) {
                over.push(item.lot_number);
                continue;
            }
            let changes = match following.changes(&item) {
                Ok(Some(changes)) => changes,
                Ok(None) => continue,
                // The change that it follows was made before: what the rules refuse stays as it is.
                Err(_) if lead.step > 1 => continue,
                Err(refusal) => return Err(refusal),
            };
            draft.item(auction, item, &changes);
            led += 1;
        }
        if lead.step == 1 && !over.is_empty() {
            return Err(ends_are_over(&over));
        }
        Ok(if is_last_page || through >= lead.until { Reached::End } else { Reached::Place(through) })
    }

    /// The next step of a lead, as a change to be committed.
    async fn lead_step<'a>(&self, lead: &'a Lead, items_max: usize) -> PlatformResult<Draft<'a>> {
        let auction = self.store().auction(lead.auction).await?;
        let auction =
            auction.ok_or_else(|| PlatformError::Internal(format!("a lead of no auction {}", lead.auction)))?;
        let now = self.time_of(&auction);
        let mut draft = self.draft(&lead.actor, now);
        let mut entered = None;
        let reached = match lead.follows.staged() {
            Some(import) => {
                entered = Some((import, lead.step));
                draft.continue_as(&lead.actor, lead.at);
                self.enter_piece(&mut draft, &auction, lead, import).await?
            }
            None => self.lead_items(&mut draft, &auction, lead, items_max, now).await?,
        };
        let mut next = match reached {
            Reached::Place(through) => Some(Lead { step: lead.step + 1, through, ..lead.clone() }),
            Reached::End => None,
        };
        if next.is_none() {
            next = self.end_lead(&mut draft, &auction, lead, now).await?;
        }
        draft.lead(LeadStep { auction: lead.auction, seen: Some(lead.step), lead: next, entered });
        Ok(draft)
    }

    /// What was on its way until its items had followed is so now, unless a bid had come before. What they follow next.
    async fn end_lead(
        &self,
        draft: &mut Draft<'_>,
        auction: &Auction,
        lead: &Lead,
        now: Timestamp,
    ) -> PlatformResult<Option<Lead>> {
        match &lead.follows {
            Follows::Return => {
                let counts = self.store().item_counts(auction.uuid).await?;
                let auction = draft.auction(auction.clone(), &lifecycle::end_return(auction, &counts, now));
                let taken_back = Lead { follows: Follows::TakeBack, step: lead.step + 1, through: -1, ..lead.clone() };
                Ok(Some(taken_back).filter(|_| auction.status == AuctionStatus::Preview))
            }
            Follows::Terms { edit } => {
                let counts = self.store().item_counts(auction.uuid).await?;
                draft.auction(auction.clone(), &platform_rules::edit::end_hold(auction, &counts, (**edit).clone()));
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Brings an auction with many items back to PREVIEW: from the first commit on no bid is taken.
    ///
    /// Errors: `auction_has_bids`, when one had come before.
    pub(crate) async fn end_return(&self, auction: Uuid) -> PlatformResult<Auction> {
        self.follow_to_the_end(auction).await?;
        let auction = self.store().auction(auction).await?.ok_or(PlatformError::NotFound("auction"))?;
        if auction.status == AuctionStatus::Preview { Ok(auction) } else { Err(Rejection::AuctionHasBids.into()) }
    }

    fn first_items_max(&self) -> usize {
        self.config().leads.first_items_max.max(1)
    }
}

/// A sale that goes LIVE would end, and announce, these in the same second.
fn ends_are_over(lots: &[String]) -> PlatformError {
    const NAMED_MAX: usize = 10;
    let named = lots.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match lots.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    PlatformError::invalid(
        "/items",
        format!("the end of these lots is over, or not after the auction's start: {named}{more}; move it first"),
    )
}
