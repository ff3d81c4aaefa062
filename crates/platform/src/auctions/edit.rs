//! An auction is corrected after it was entered (`docs/auctions.md` says what can change when).

use auction::{Auction, AuctionEdit, AuctionKind, EXTENSION_SECONDS_MAX, InternetBids, new_item_end};
use contract::AuctionStatus;
use jiff::Timestamp;
use uuid::Uuid;

use super::{ITEMS_READ_MAX, charges_problems, currency_problem, is_time_zone, stagger_problems};
use crate::addresses::AddressEntry;
use crate::attachments;
use crate::deciding::{Decision, expect_version};
use crate::draft::Draft;
use crate::error::{PlatformError, PlatformResult, Problem};
use crate::new_item::{TITLE_CHARS_MAX, text};
use crate::port::Page;
use crate::{Caller, Platform, Scope};

/// What the log says of ends that move because the closing time does.
const REPLANNED: &str = "the auction's closing time or stagger was changed";

/// What is to be another way about an auction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuctionPatch {
    /// Everything but the address.
    pub edit: AuctionEdit,
    /// Another address; one given with the id of the address that is there takes its place. The inner none takes it away.
    pub address: Option<Option<AddressEntry>>,
}

impl Platform {
    /// Changes what the patch names of an auction, and leaves the rest. When the closing time or the stagger changes, the
    /// ends of items that follow the plan follow the new one. `expected_version` is the one that the caller saw.
    ///
    /// Errors: `not_found`, `precondition_failed`, `invalid`, and those of [`auction::edit::edit`] and
    /// [`auction::item::move_plan`].
    pub async fn change_auction(
        &self,
        caller: &Caller,
        uuid: Uuid,
        patch: &AuctionPatch,
        expected_version: Option<i64>,
    ) -> PlatformResult<Auction> {
        caller.require(Scope::AuctionsWrite)?;
        let outcome = self
            .decide(None, || async {
                let before = self.seen_auction(caller, uuid).await?;
                expect_version(expected_version, before.version)?;
                self.require_settled(&before).await?;
                let problems = problems(&before, &patch.edit);
                if !problems.is_empty() {
                    return Err(PlatformError::Invalid(problems));
                }
                let mut edit = patch.edit.clone();
                let mut written = None;
                if let Some(entry) = &patch.address {
                    edit.address_id = Some(None);
                    if let Some(entry) = entry {
                        let (id, address) = self.enter_address(before.customer, entry, before.address_id).await?;
                        (edit.address_id, written) = (Some(Some(id)), address);
                    }
                }
                let counts = self.store().item_counts(uuid).await?;
                let changes = auction::edit::edit(&before, &counts, edit)?;
                let customer = before.customer;
                let now = self.time_of(&before);
                let mut draft = self.draft(&caller.actor, now);
                if changes.is_empty() && written.is_none() {
                    let change = draft.finish::<Auction>(None, &before);
                    return Ok(Decision { customer, change, result: before });
                }
                draft.address(written);
                let auction = draft.auction(before.clone(), &changes);
                self.follow_edit(&mut draft, &before, &auction, now).await?;
                let change = draft.finish::<Auction>(None, &auction);
                Ok(Decision { customer, change, result: auction })
            })
            .await
            .inspect(|_| self.ends_moved().notify())?;
        outcome.fresh()
    }

    /// What an edit of their auction means for items: planned ends that move along, and bids on LIVE items that were decided
    /// on other terms and are decided again.
    async fn follow_edit(
        &self,
        draft: &mut Draft<'_>,
        before: &Auction,
        auction: &Auction,
        now: Timestamp,
    ) -> PlatformResult<()> {
        let is_replanned = auction.kind == AuctionKind::Timed
            && (before.ends_at, before.stagger) != (auction.ends_at, auction.stagger);
        let has_other_terms = auction.status == AuctionStatus::Live
            && (&before.increments, before.charges, before.starts_at, before.extension_seconds)
                != (&auction.increments, auction.charges, auction.starts_at, auction.extension_seconds);
        if !is_replanned && !has_other_terms {
            return Ok(());
        }
        let mut after = None;
        loop {
            let items = self.store().items(auction.uuid, Page { after, limit: ITEMS_READ_MAX }).await?;
            let Some(last) = items.last().map(|item| item.position) else { return Ok(()) };
            for item in items {
                let planned = new_item_end(before, item.position);
                if is_replanned && item.end_time == planned {
                    let to = new_item_end(auction, item.position);
                    let changes = auction::item::move_plan(auction, &item, to, Some(REPLANNED), now)?;
                    if !changes.is_empty() {
                        draft.item(auction, item, &changes);
                    }
                } else if has_other_terms && item.status == contract::ItemStatus::Live {
                    draft.item(auction, item, &[]);
                }
            }
            after = Some(last);
        }
    }
}

/// What is wrong with the values themselves; what the rules ask is theirs.
fn problems(auction: &Auction, edit: &AuctionEdit) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut problem = |pointer: &str, message: String| problems.push(Problem::new(pointer, message));
    if let Some(Err(message)) =
        edit.title.as_deref().filter(|title| !title.is_empty()).map(|title| text(title, TITLE_CHARS_MAX))
    {
        problem("/title", message);
    }
    if let Some(message) = edit.currency.as_deref().and_then(currency_problem) {
        problem("/currency", message.into());
    }
    if edit.time_zone.as_deref().is_some_and(|zone| !is_time_zone(zone)) {
        problem("/timeZone", "is not an IANA time zone, as it is written there, such as Europe/London".into());
    }
    if edit.extension_seconds.flatten().is_some_and(|seconds| !(1..=EXTENSION_SECONDS_MAX).contains(&seconds)) {
        problem("/extensionSeconds", format!("must be at most {EXTENSION_SECONDS_MAX}"));
    }
    if edit.internet_bids == Some(InternetBids::AcceptedAtOnce) && auction.kind != AuctionKind::Webcast {
        problem("/internetBids", "is for webcasts only: leave it out".into());
    }
    let (starts_at, ends_at) = (edit.starts_at.unwrap_or(auction.starts_at), edit.ends_at.unwrap_or(auction.ends_at));
    if starts_at.zip(ends_at).is_some_and(|(starts_at, ends_at)| starts_at >= ends_at) {
        let pointer = if edit.ends_at.is_some() { "/endsAt" } else { "/startsAt" };
        problem(pointer, "leaves no time between startsAt and endsAt".into());
    }
    problems.extend(edit.charges.iter().flat_map(charges_problems));
    problems.extend(edit.stagger.flatten().into_iter().flat_map(|stagger| stagger_problems(auction.kind, stagger)));
    problems.extend(attachments::problems("/attachments", edit.attachments.as_deref().unwrap_or_default()));
    problems
}
