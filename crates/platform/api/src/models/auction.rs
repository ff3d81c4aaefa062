//! Auctions.

use contract::models::UrlAttachmentApiModel;
use jiff::Timestamp;
use platform_core::port::{BulkChange, BulkOperation};
use platform_rules::increments::IncrementRow;
use platform_rules::lifecycle::ItemCounts;
use platform_rules::{Auction, AuctionKind, Stagger};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{ChargesView, UrlAttachmentSchema, ring, time};

/// A sale of items by one auctioneer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Auction)]
pub(crate) struct AuctionView {
    pub(crate) uuid: Uuid,
    pub(crate) customer: Uuid,
    pub(crate) auctioneer: Uuid,
    /// `timed` or `webcast`.
    pub(crate) kind: &'static str,
    pub(crate) title: String,
    /// ISO 4217; every amount in the auction is in minor units of it.
    pub(crate) currency: String,
    /// IANA time zone, for people.
    pub(crate) time_zone: String,
    /// Where it is held, or its items can be seen; see `/reference/addresses/{id}`.
    pub(crate) address_id: Option<i64>,
    #[schema(format = DateTime)]
    pub(crate) starts_at: Option<String>,
    /// Closing time: the end of the first items of a timed auction.
    #[schema(format = DateTime)]
    pub(crate) ends_at: Option<String>,
    pub(crate) stagger: Option<StaggerView>,
    /// Soft close: a bid within this many seconds of the end puts the end off to as long after the bid. Null: off.
    pub(crate) extension_seconds: Option<u32>,
    /// By how much bids rise: lower bounds are inclusive, the last row is open.
    pub(crate) increments: Vec<IncrementView>,
    /// What is added to hammer prices.
    pub(crate) charges: ChargesView,
    /// Images, documents and videos.
    #[schema(value_type = Vec<UrlAttachmentSchema>)]
    pub(crate) attachments: Vec<UrlAttachmentApiModel>,
    /// `open`: a paddle without a registration is vouched for by whoever sends its bid. `required`: only approved bidders.
    pub(crate) registration: &'static str,
    /// Status name; see the reference data.
    pub(crate) status: &'static str,
    /// Statuses that an administrator may change it to at this moment, without those that its items rule out. Bids on a webcast,
    /// which are not looked at here, can still refuse one, and so can items that still follow an earlier change.
    pub(crate) legal_next_statuses: Vec<&'static str>,
    /// Phase of a webcast: `pre_bidding` or `live`; null in a timed auction.
    pub(crate) phase: Option<&'static str>,
    /// What becomes of internet bids in a webcast: `wait_for_clerk` or `accepted_at_once`; null in a timed auction.
    pub(crate) internet_bids: Option<&'static str>,
    /// The item in the ring of a webcast.
    pub(crate) in_ring: Option<Uuid>,
    /// Items per status; absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) item_counts: Option<ItemCountsView>,
    /// While its items follow a change of it as a whole; absent otherwise, and in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) following: Option<FollowingView>,
    /// True when it runs on a clock of its own; see `/auctions/{uuid}/clock`.
    pub(crate) sandbox: bool,
    /// Rises with each change; the `ETag` begins with it.
    pub(crate) version: i64,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
}

impl AuctionView {
    /// `items` is what there is among its items, counted or not; `now` the server's time.
    pub(crate) fn new(auction: &Auction, items: &ItemCounts, now: Timestamp) -> Self {
        let next = auction.legal_next(items, auction.clock.map_or(now, |clock| clock.now()));
        Self {
            uuid: auction.uuid,
            customer: auction.customer,
            auctioneer: auction.auctioneer,
            kind: auction.kind.as_str(),
            title: auction.title.clone(),
            currency: auction.currency.clone(),
            time_zone: auction.time_zone.clone(),
            address_id: auction.address_id,
            starts_at: auction.starts_at.map(time),
            ends_at: auction.ends_at.map(time),
            stagger: auction.stagger.map(StaggerView::from),
            extension_seconds: auction.extension_seconds,
            increments: auction.increments.rows().iter().map(IncrementView::from).collect(),
            charges: auction.charges.into(),
            attachments: auction.attachments.clone(),
            registration: auction.registration.as_str(),
            status: auction.status.name(),
            legal_next_statuses: next.into_iter().map(|status| status.name()).collect(),
            phase: ring::phase(auction),
            internet_bids: ring::internet_bids(auction),
            in_ring: auction.in_ring,
            item_counts: None,
            following: None,
            sandbox: auction.clock.is_some(),
            version: auction.version,
            created_at: time(auction.created_at),
        }
    }

    /// All that is said of one auction: with its items counted, and what they follow.
    pub(crate) fn whole(
        auction: &Auction,
        items: &ItemCounts,
        bulk_change: Option<&BulkChange>,
        now: Timestamp,
    ) -> Self {
        Self {
            item_counts: Some(ItemCountsView::new(auction, items)),
            following: bulk_change.map(FollowingView::from),
            ..Self::new(auction, items, now)
        }
    }
}

/// How far the items of a large auction have followed a change of it as a whole. What needs them to have followed is refused with
/// 409 `items_following` meanwhile: try again in a moment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Following)]
pub(crate) struct FollowingView {
    /// What they follow: `going_live`, `returning` (to PREVIEW), `reconciling`, `moving_ends`, `changing_terms`, `importing` or
    /// `copying`.
    what: &'static str,
    /// Items, from the beginning of the running order, that have followed or had no need to.
    items: i64,
    /// Items when all have.
    of: i64,
}

impl From<&BulkChange> for FollowingView {
    fn from(bulk_change: &BulkChange) -> Self {
        let what = match &bulk_change.operation {
            BulkOperation::GoLive => "going_live",
            BulkOperation::ReturnToPreview | BulkOperation::ResetToDraft => "returning",
            BulkOperation::Reconcile => "reconciling",
            BulkOperation::ShiftEnds { .. } | BulkOperation::PlanEnds { .. } | BulkOperation::ReplanEnds { .. } => {
                "moving_ends"
            }
            BulkOperation::EditTerms { .. } => "changing_terms",
            BulkOperation::Import { .. } => "importing",
            BulkOperation::Copy { .. } => "copying",
        };
        Self { what, items: bulk_change.through + 1, of: bulk_change.until + 1 }
    }
}

/// Staggered ends: `seconds` later for every `items` items.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Stagger)]
pub(crate) struct StaggerView {
    /// 0 to 604,800.
    pub(crate) seconds: u32,
    /// 1 or more.
    #[schema(minimum = 1)]
    pub(crate) items: u32,
}

impl From<Stagger> for StaggerView {
    fn from(stagger: Stagger) -> Self {
        Self { seconds: stagger.seconds, items: stagger.items }
    }
}

/// From this price on, bids rise by this increment. Minor units.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Increment)]
pub(crate) struct IncrementView {
    pub(crate) from: i64,
    #[schema(minimum = 1)]
    pub(crate) increment: i64,
}

impl From<&IncrementRow> for IncrementView {
    fn from(row: &IncrementRow) -> Self {
        Self { from: row.from, increment: row.increment }
    }
}

/// Items of an auction, counted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ItemCounts)]
pub(crate) struct ItemCountsView {
    pub(crate) total: u64,
    pub(crate) live: u64,
    pub(crate) suspended: u64,
    pub(crate) passed: u64,
    /// With at least one bid accepted; null in a webcast, where it would tell of what absentees left.
    pub(crate) with_bids: Option<u64>,
}

impl ItemCountsView {
    fn new(auction: &Auction, counts: &ItemCounts) -> Self {
        Self {
            total: counts.total,
            live: counts.live,
            suspended: counts.suspended,
            passed: counts.passed,
            with_bids: (auction.kind == AuctionKind::Timed).then_some(counts.with_bids),
        }
    }
}
