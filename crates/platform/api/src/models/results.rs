//! Results of a sale, and results of changes of many items.

use jiff::Timestamp;
use kit_http::problem::ProblemError;
use platform_core::sales::auctions::move_ends::MovedEnds;
use platform_core::sales::items::edit_many::{ItemEditOutcome, ItemEditsReport};
use platform_core::sales::items::relist::Relisted;
use platform_core::sales::items::unpaid::UnpaidLotsRecorded;
use platform_core::sales::results::{AuctionResults, BuyerResult};
use platform_core::{PlatformError, Problem};
use platform_rules::{Auction, Charges, Item, SaleResult};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{AuctionView, ItemView};

/// Charges on the hammer price, in basis points (hundredths of a percent).
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

/// Amounts of a sale, in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SaleResult)]
pub(crate) struct SaleResultView {
    /// Hammer price.
    pub(crate) hammer: i64,
    /// Buyer's premium.
    pub(crate) premium: i64,
    /// Tax on hammer price and premium.
    pub(crate) tax: i64,
    /// Hammer price, premium and tax.
    pub(crate) total: i64,
}

impl From<SaleResult> for SaleResultView {
    fn from(result: SaleResult) -> Self {
        Self { hammer: result.hammer, premium: result.premium, tax: result.tax, total: result.total }
    }
}

/// Results of an auction so far.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Results)]
pub(crate) struct ResultsView {
    /// UUID of the auction.
    pub(crate) auction: Uuid,
    /// ISO 4217.
    pub(crate) currency: String,
    /// Status name of the auction.
    pub(crate) status: &'static str,
    /// True if the auction is archived: the results don't change any more.
    #[serde(rename = "final")]
    pub(crate) is_final: bool,
    /// Charges on hammer prices.
    pub(crate) charges: ChargesView,
    /// Number of items.
    pub(crate) items: u64,
    /// Number of sold items.
    pub(crate) sold: u64,
    /// Number of UNSOLD and PASSED items.
    pub(crate) unsold: u64,
    /// Number of sold items whose buyer in the room is not named yet. They count in the totals, and for no buyer.
    pub(crate) open_buyers: u64,
    /// Totals of all sold items.
    pub(crate) totals: SaleResultView,
    /// A page of buyers, in order of their paddles.
    pub(crate) data: Vec<BuyerResultView>,
    /// The value to send as `after` for the next page; null on the last page.
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
            open_buyers: results.open_buyers,
            totals: results.total.into(),
            data: buyers.iter().map(BuyerResultView::from).collect(),
            next,
        }
    }
}

/// Amounts that one buyer owes, in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BuyerResult)]
pub(crate) struct BuyerResultView {
    /// Paddle of the buyer.
    pub(crate) bidder: String,
    /// Number of items bought.
    pub(crate) items: u64,
    /// Sum of hammer prices, in minor units.
    pub(crate) hammer: i64,
    /// Sum of buyer's premiums, in minor units.
    pub(crate) premium: i64,
    /// Sum of taxes, in minor units.
    pub(crate) tax: i64,
    /// Sum of all amounts, in minor units.
    pub(crate) total: i64,
}

impl From<&BuyerResult> for BuyerResultView {
    fn from(buyer: &BuyerResult) -> Self {
        let SaleResult { hammer, premium, tax, total } = buyer.total;
        Self { bidder: buyer.bidder.clone(), items: buyer.items, hammer, premium, tax, total }
    }
}

/// The result of one item.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ItemResult)]
pub(crate) struct ItemResultView {
    /// UUID of the item.
    pub(crate) item: Uuid,
    /// Lot number, as printed.
    pub(crate) lot_number: String,
    /// Title.
    pub(crate) title: String,
    /// Status name.
    pub(crate) status: &'static str,
    /// Paddle of the buyer; null unless the item is sold, and while the buyer in the room is not named yet.
    pub(crate) bidder: Option<String>,
    /// Amounts of the sale; null unless the item is sold.
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
            bidder: buyer.and_then(|buyer| buyer.known_bidder()).map(str::to_owned),
            result: result.map(SaleResultView::from),
        }
    }
}

/// The result of moving ends.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MovedEnds)]
pub(crate) struct MovedEndsView {
    /// The auction after the change.
    pub(crate) auction: AuctionView,
    /// Number of items whose planned end moved.
    pub(crate) moved: u64,
    /// Number of items that have ended, or already had this planned end.
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

/// The result of a bulk edit.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BulkDone)]
pub(crate) struct BulkDoneView {
    /// Number of entries that changed their item.
    pub(crate) done: usize,
    /// Number of entries whose item already had the requested values.
    pub(crate) unchanged: usize,
    /// Number of rejected entries.
    pub(crate) refused: usize,
    /// One result for each entry, in the order of the request.
    pub(crate) results: Vec<BulkResultView>,
}

/// The result of one entry.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BulkResult)]
pub(crate) struct BulkResultView {
    /// UUID of the item; null if the entry has none that can be read.
    pub(crate) item: Option<Uuid>,
    /// True if the item changed.
    pub(crate) changed: bool,
    /// The code with which the call for this item alone would be rejected; null if the entry was not rejected.
    pub(crate) code: Option<&'static str>,
    /// Why the entry was rejected, for people.
    pub(crate) detail: Option<String>,
    /// Places in the body where the entry is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub(crate) errors: Vec<ProblemError>,
    /// The item after the call; null if the entry was rejected.
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

/// Problems of an entry, with pointers from the root of the body.
fn problems_of(index: usize, error: &PlatformError) -> Vec<ProblemError> {
    let PlatformError::Invalid(problems) = error else { return Vec::new() };
    let at =
        |problem: &Problem| ProblemError::at(format!("/items/{index}{}", problem.pointer), problem.message.clone());
    problems.iter().map(at).collect()
}

/// Relisted items.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Relisted)]
pub(crate) struct RelistedView {
    /// UUID of the auction that received the items.
    pub(crate) into: Uuid,
    /// The new items in running order; `relistedFrom` names the original.
    pub(crate) items: Vec<ItemView>,
}

impl RelistedView {
    pub(crate) fn new(relisted: &Relisted, now: Timestamp) -> Self {
        let view = |item: &Item| ItemView::new(item, &relisted.into, now);
        Self { into: relisted.into.uuid, items: relisted.items.iter().map(view).collect() }
    }
}

/// The items that became UNSOLD.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UnpaidLots)]
pub(crate) struct UnpaidView {
    /// The items, as they are now.
    pub(crate) items: Vec<ItemView>,
}

impl UnpaidView {
    pub(crate) fn new(recorded: &UnpaidLotsRecorded, now: Timestamp) -> Self {
        let view = |item: &Item| ItemView::new(item, &recorded.auction, now);
        Self { items: recorded.items.iter().map(view).collect() }
    }
}
