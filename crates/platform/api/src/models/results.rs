//! What was sold, and answers to changes of many items.

use jiff::Timestamp;
use kit_http::problem::ProblemError;
use platform_core::auctions::move_ends::MovedEnds;
use platform_core::items::edit_many::{ItemEditOutcome, ItemEditsReport};
use platform_core::items::relist::Relisted;
use platform_core::results::{AuctionResults, BuyerResult};
use platform_core::{PlatformError, Problem};
use platform_rules::{Auction, Charges, Item, SaleResult};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{AuctionView, ItemView};

/// Rates in basis points, a hundredth of a percent.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Charges)]
pub(crate) struct ChargesView {
    /// Buyer's premium, of the hammer price.
    pub(crate) premium_basis_points: u32,
    /// Tax on the hammer price.
    pub(crate) hammer_tax_basis_points: u32,
    /// Tax on the premium.
    pub(crate) premium_tax_basis_points: u32,
}

impl From<Charges> for ChargesView {
    fn from(charges: Charges) -> Self {
        Self {
            premium_basis_points: charges.premium_basis_points,
            hammer_tax_basis_points: charges.hammer_tax_basis_points,
            premium_tax_basis_points: charges.premium_tax_basis_points,
        }
    }
}

/// Minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SaleResult)]
pub(crate) struct SaleResultView {
    pub(crate) hammer: i64,
    /// Buyer's premium.
    pub(crate) premium: i64,
    /// On both.
    pub(crate) tax: i64,
    pub(crate) total: i64,
}

impl From<SaleResult> for SaleResultView {
    fn from(result: SaleResult) -> Self {
        Self { hammer: result.hammer, premium: result.premium, tax: result.tax, total: result.total }
    }
}

/// What an auction has brought so far.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Results)]
pub(crate) struct ResultsView {
    pub(crate) auction: Uuid,
    /// ISO 4217.
    pub(crate) currency: String,
    /// Status name of the auction.
    pub(crate) status: &'static str,
    /// True when the auction is reconciled: nothing of it changes any more.
    #[serde(rename = "final")]
    pub(crate) is_final: bool,
    pub(crate) charges: ChargesView,
    pub(crate) items: u64,
    pub(crate) sold: u64,
    /// UNSOLD and PASSED.
    pub(crate) unsold: u64,
    pub(crate) totals: SaleResultView,
    /// Buyers by paddle, a page of them.
    pub(crate) data: Vec<BuyerResultView>,
    /// Ask with `after=` this for the next page; null on the last one.
    pub(crate) next: Option<String>,
}

impl ResultsView {
    pub(crate) fn new(results: &AuctionResults, buyers: &[BuyerResult], next: Option<String>) -> Self {
        Self {
            auction: results.auction.uuid,
            currency: results.auction.currency.clone(),
            status: results.auction.status.name(),
            is_final: results.is_final,
            charges: results.auction.charges.into(),
            items: results.items,
            sold: results.sold,
            unsold: results.unsold,
            totals: results.total.into(),
            data: buyers.iter().map(BuyerResultView::from).collect(),
            next,
        }
    }
}

/// What one buyer owes.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BuyerResult)]
pub(crate) struct BuyerResultView {
    /// Paddle.
    pub(crate) bidder: String,
    pub(crate) items: u64,
    pub(crate) hammer: i64,
    pub(crate) premium: i64,
    pub(crate) tax: i64,
    pub(crate) total: i64,
}

impl From<&BuyerResult> for BuyerResultView {
    fn from(buyer: &BuyerResult) -> Self {
        let SaleResult { hammer, premium, tax, total } = buyer.total;
        Self { bidder: buyer.bidder.clone(), items: buyer.items, hammer, premium, tax, total }
    }
}

/// What one item has brought.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ItemResult)]
pub(crate) struct ItemResultView {
    pub(crate) item: Uuid,
    pub(crate) lot_number: String,
    pub(crate) title: String,
    /// Status name.
    pub(crate) status: &'static str,
    /// Paddle of the buyer; null unless it is sold.
    pub(crate) bidder: Option<String>,
    /// Null unless it is sold.
    pub(crate) result: Option<SaleResultView>,
}

impl ItemResultView {
    pub(crate) fn new(auction: &Auction, item: &Item) -> Self {
        let result = SaleResult::of(auction, item);
        let buyer = item.standing.as_ref().filter(|_| result.is_some());
        Self {
            item: item.uuid,
            lot_number: item.lot_number.clone(),
            title: item.title.clone(),
            status: item.status.name(),
            bidder: buyer.map(|buyer| buyer.bidder.clone()),
            result: result.map(SaleResultView::from),
        }
    }
}

/// What became of moving ends.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MovedEnds)]
pub(crate) struct MovedEndsView {
    pub(crate) auction: AuctionView,
    /// Items with another planned end now.
    pub(crate) moved: u64,
    /// Items that have ended, or were planned so already.
    pub(crate) kept: u64,
}

impl MovedEndsView {
    pub(crate) fn new(moved: &MovedEnds, now: Timestamp) -> Self {
        Self {
            auction: AuctionView::whole(&moved.auction, &moved.items, None, now),
            moved: moved.moved,
            kept: moved.kept,
        }
    }
}

/// What became of a bulk change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ItemEditsReport)]
pub(crate) struct BulkDoneView {
    /// Entries that changed their item.
    pub(crate) done: usize,
    /// Entries whose item was so already.
    pub(crate) unchanged: usize,
    /// Entries that were refused.
    pub(crate) refused: usize,
    /// One for each entry, in order.
    pub(crate) results: Vec<BulkResultView>,
}

/// What became of one entry.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BulkResult)]
pub(crate) struct BulkResultView {
    /// Null when the entry names none that can be read.
    pub(crate) item: Option<Uuid>,
    /// If the item is another way now.
    pub(crate) changed: bool,
    /// Null when it was not refused; otherwise the code that the call for this item alone would have had.
    pub(crate) code: Option<&'static str>,
    /// Why it was refused.
    pub(crate) detail: Option<String>,
    /// Where in the body what is wrong with the entry stands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub(crate) errors: Vec<ProblemError>,
    /// The item as it is now; null when it was refused.
    pub(crate) state: Option<ItemView>,
}

impl BulkDoneView {
    pub(crate) fn new(done: &ItemEditsReport, now: Timestamp) -> Self {
        let results: Vec<BulkResultView> = done
            .items
            .iter()
            .enumerate()
            .map(|(index, (item, result))| BulkResultView {
                item: *item,
                changed: matches!(result, Ok(ItemEditOutcome::Changed(_))),
                code: result.as_ref().err().map(|error| error.code()),
                detail: result.as_ref().err().map(ToString::to_string),
                errors: result.as_ref().err().map(|error| problems_of(index, error)).unwrap_or_default(),
                state: result.as_ref().ok().map(|done_to| ItemView::new(done_to.item(), &done.auction, now)),
            })
            .collect();
        let refused = results.iter().filter(|result| result.code.is_some()).count();
        let changed = results.iter().filter(|result| result.changed).count();
        Self { done: changed, unchanged: results.len() - refused - changed, refused, results }
    }
}

/// The problems of an entry's own input begin at the entry.
fn problems_of(index: usize, error: &PlatformError) -> Vec<ProblemError> {
    let PlatformError::Invalid(problems) = error else { return Vec::new() };
    let at =
        |problem: &Problem| ProblemError::at(format!("/items/{index}{}", problem.pointer), problem.message.clone());
    problems.iter().map(at).collect()
}

/// Items that are offered again.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Relisted)]
pub(crate) struct RelistedView {
    /// The auction that took them.
    pub(crate) into: Uuid,
    /// The new items in running order; `relistedFrom` names the old one.
    pub(crate) items: Vec<ItemView>,
}

impl RelistedView {
    pub(crate) fn new(relisted: &Relisted, now: Timestamp) -> Self {
        let view = |item: &Item| ItemView::new(item, &relisted.into, now);
        Self { into: relisted.into.uuid, items: relisted.items.iter().map(view).collect() }
    }
}
