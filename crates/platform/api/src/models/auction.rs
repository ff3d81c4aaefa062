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
    /// UUID of the auction.
    pub(crate) uuid: Uuid,
    /// UUID of the customer.
    pub(crate) customer: Uuid,
    /// UUID of the auctioneer that holds the auction.
    pub(crate) auctioneer: Uuid,
    /// `timed` or `webcast`.
    pub(crate) kind: &'static str,
    /// Title; may be empty in a DRAFT.
    pub(crate) title: String,
    /// ISO 4217; every amount in the auction is in minor units of it.
    pub(crate) currency: String,
    /// IANA time zone in which people read the times.
    pub(crate) time_zone: String,
    /// Id of the address where the auction is held or its items can be viewed; see `/reference/addresses/{id}`.
    pub(crate) address_id: Option<i64>,
    /// When bidding or the webcast starts; null for no set time.
    #[schema(format = DateTime)]
    pub(crate) starts_at: Option<String>,
    /// Closing time: the end of the first items of a timed auction.
    #[schema(format = DateTime)]
    pub(crate) ends_at: Option<String>,
    /// Staggered ends; null if all items end at `endsAt`.
    pub(crate) stagger: Option<StaggerView>,
    /// Soft close, in seconds: a bid within this time before an item's end extends the end to this time after the bid.
    /// Null: off.
    pub(crate) extension_seconds: Option<u32>,
    /// Increment table: each row holds from its price, inclusive, to the next row.
    pub(crate) increments: Vec<IncrementView>,
    /// Charges added to hammer prices.
    pub(crate) charges: ChargesView,
    /// Images, documents and videos.
    #[schema(value_type = Vec<UrlAttachmentSchema>)]
    pub(crate) attachments: Vec<UrlAttachmentApiModel>,
    /// `open`: the owner of the API key vouches for bidders without a registration. `required`: only approved bidders
    /// may bid.
    pub(crate) registration: &'static str,
    /// Status name; see the reference data.
    pub(crate) status: &'static str,
    /// Statuses to which an administrator may change the auction now, given its items. Bids on a webcast, which this
    /// list does not consider, and a running bulk change can still forbid one.
    pub(crate) legal_next_statuses: Vec<&'static str>,
    /// Phase of a webcast: `pre_bidding` or `live`; null for a timed auction.
    pub(crate) phase: Option<&'static str>,
    /// How a webcast handles internet bids: `wait_for_clerk` or `accepted_at_once`; null for a timed auction.
    pub(crate) internet_bids: Option<&'static str>,
    /// UUID of the item in the ring of a webcast; null if the ring is empty.
    pub(crate) in_ring: Option<Uuid>,
    /// Items counted per status; absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) item_counts: Option<ItemCountsView>,
    /// Progress of a bulk change while it runs; absent otherwise, and in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) following: Option<FollowingView>,
    /// True for a sandbox auction, which has its own clock; see `/auctions/{uuid}/clock`.
    pub(crate) sandbox: bool,
    /// True for a rehearsal of a webcast: its events are never published.
    pub(crate) rehearsal: bool,
    /// Increases with each change; the `ETag` begins with it.
    pub(crate) version: i64,
    /// When the auction was created.
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
}

impl AuctionView {
    /// `items` may be counts or only presence (0 or 1): `legalNextStatuses` needs no more. `now` is the server's time.
    pub(crate) fn new(auction: &Auction, items: &ItemCounts, now: Timestamp) -> Self {
        let next = auction.legal_next(items, auction.clock_or(now));
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
            rehearsal: auction.rehearsal,
            version: auction.version,
            created_at: time(auction.created_at),
        }
    }

    /// One auction with its items counted, and with its bulk change.
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

/// Progress of a bulk change: the items of a large auction change in steps after the auction. Until the last step,
/// operations that depend on the change are refused with 409 `items_following`; repeat them a moment later.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Following)]
pub(crate) struct FollowingView {
    /// The change: `going_live`, `returning` (to PREVIEW or DRAFT), `reconciling`, `archiving`, `moving_ends`,
    /// `changing_terms`, `importing` or `copying`.
    what: &'static str,
    /// Items, from the beginning of the running order, that the change has processed.
    items: i64,
    /// Items that the change processes in total.
    of: i64,
}

impl From<&BulkChange> for FollowingView {
    fn from(bulk_change: &BulkChange) -> Self {
        let what = match &bulk_change.operation {
            BulkOperation::GoLive => "going_live",
            BulkOperation::ReturnToPreview | BulkOperation::ResetToDraft => "returning",
            BulkOperation::Reconcile => "reconciling",
            BulkOperation::Archive { .. } => "archiving",
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

/// Staggered ends: every `items` items end `seconds` later than those before.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Stagger)]
pub(crate) struct StaggerView {
    /// Seconds between groups; 0 to 604,800.
    pub(crate) seconds: u32,
    /// Items in a group; 1 or more.
    #[schema(minimum = 1)]
    pub(crate) items: u32,
}

impl From<Stagger> for StaggerView {
    fn from(stagger: Stagger) -> Self {
        Self { seconds: stagger.seconds, items: stagger.items }
    }
}

impl From<StaggerView> for Stagger {
    fn from(stagger: StaggerView) -> Self {
        Self { seconds: stagger.seconds, items: stagger.items }
    }
}

/// A row of the increment table: from this price on, bids increase by this increment. Minor units.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Increment)]
pub(crate) struct IncrementView {
    /// Price from which the row applies, inclusive, in minor units.
    pub(crate) from: i64,
    /// Increment, in minor units; at least 1.
    #[schema(minimum = 1)]
    pub(crate) increment: i64,
}

impl From<&IncrementRow> for IncrementView {
    fn from(row: &IncrementRow) -> Self {
        Self { from: row.from, increment: row.increment }
    }
}

/// The items of an auction, counted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ItemCounts)]
pub(crate) struct ItemCountsView {
    /// All items.
    pub(crate) total: u64,
    /// LIVE items.
    pub(crate) live: u64,
    /// SUSPENDED items.
    pub(crate) suspended: u64,
    /// PASSED items.
    pub(crate) passed: u64,
    /// Items with at least one accepted bid; null for a webcast, where it would disclose absentee bids.
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
