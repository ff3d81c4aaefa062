//! Searches of the administration pages: auctions and items by text and by what is missing.
//!
//! A search reads the list in its order and compares each entry, so that it needs no index of its own. One call reads a
//! bounded number of entries and returns where it stopped; the next call continues there.

use std::collections::HashSet;

use contract::{AuctionStatus, ItemStatus};
use platform_rules::{Auction, AuctionKind, Item};
use uuid::Uuid;

use crate::error::PlatformResult;
use crate::port::Page;
use crate::{Caller, Platform, Scope};

/// Entries that one search reads at most.
const READ_MAX: usize = 2_000;
/// Entries read from the store at once.
const CHUNK: usize = 250;

/// Which auctions to find: those that match all fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuctionSearch {
    /// Of this customer.
    pub customer: Option<Uuid>,
    /// With one of these statuses; an empty list matches every status.
    pub statuses: Vec<AuctionStatus>,
    /// Of this kind.
    pub kind: Option<AuctionKind>,
    /// A part of the title, in any case; the UUID also matches. Empty for any.
    pub text: String,
}

/// A field of an item that a catalogue should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingField {
    /// No description.
    Description,
    /// No estimate.
    Estimate,
    /// No image: neither an uploaded one nor an address of one.
    Image,
    /// No opening bid: bidding begins at the first increment.
    OpeningBid,
    /// No reserve.
    Reserve,
    /// No title, which the lot needs before it is on view.
    Title,
    /// No vendor.
    Vendor,
}

impl MissingField {
    /// All fields, in the order of the page.
    pub const ALL: [Self; 7] =
        [Self::Title, Self::Image, Self::Description, Self::Estimate, Self::OpeningBid, Self::Reserve, Self::Vendor];
    /// Those that a lot should have before it is on view.
    pub const BEFORE_VIEW: [Self; 4] = [Self::Title, Self::Estimate, Self::OpeningBid, Self::Image];

    /// The name in addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Description => "description",
            Self::Estimate => "estimate",
            Self::Image => "image",
            Self::OpeningBid => "opening-bid",
            Self::Reserve => "reserve",
            Self::Title => "title",
            Self::Vendor => "vendor",
        }
    }

    /// True when the item itself does not have it. Uploaded images are not part of the item.
    fn is_missing(self, item: &Item) -> bool {
        match self {
            Self::Description => item.description.trim().is_empty(),
            Self::Estimate => item.low_estimate.is_none() && item.high_estimate.is_none(),
            Self::Image => item.image_url.is_none() && item.attachments.is_empty(),
            Self::OpeningBid => item.opening_bid == 0,
            Self::Reserve => item.reserve.is_none(),
            Self::Title => item.title.trim().is_empty(),
            Self::Vendor => item.vendor.is_none(),
        }
    }
}

/// Which items of an auction to find: those that match all fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemSearch {
    /// With one of these statuses; an empty list matches every status.
    pub statuses: Vec<ItemStatus>,
    /// A part of lot number, title or description, in any case. Empty for any.
    pub text: String,
    /// Of this category, in any case.
    pub category: Option<String>,
    /// Without this field.
    pub missing: Option<MissingField>,
    /// With a standing bid below the reserve.
    pub is_below_reserve: bool,
}

impl ItemSearch {
    fn reads_items(&self) -> bool {
        !self.text.is_empty() || self.category.is_some() || self.missing.is_some() || self.is_below_reserve
    }

    /// The search with its texts in lower case, as [`ItemSearch::matches`] compares them.
    fn in_lower_case(&self) -> Self {
        let category = self.category.as_deref().map(str::to_lowercase);
        Self { text: self.text.to_lowercase(), category, ..self.clone() }
    }

    fn matches(&self, item: &Item) -> bool {
        let text = self.text.as_str();
        let has_text = text.is_empty()
            || [&item.lot_number, &item.title, &item.description].iter().any(|own| own.to_lowercase().contains(text));
        has_text
            && (self.category.is_none() || item.category.as_deref().map(str::to_lowercase) == self.category)
            && self.missing.is_none_or(|field| field.is_missing(item))
            && (!self.is_below_reserve || (item.standing.is_some() && item.reserve_met() == Some(false)))
    }
}

/// How many lots lack a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingCounts {
    /// For each field of [`MissingField::BEFORE_VIEW`], the number of lots without it.
    pub counts: [(MissingField, u64); 4],
    /// False when more lots exist than were read.
    pub is_complete: bool,
}

/// A page of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<T, K> {
    /// The entries.
    pub entries: Vec<T>,
    /// Where the next page begins; none at the end of the list.
    pub next: Option<K>,
}

impl Platform {
    /// Auctions that the caller sees and that match the search, the newest first, before one of them.
    ///
    /// Errors: `not_found` for a customer that the caller does not see.
    pub async fn search_auctions(
        &self,
        caller: &Caller,
        wanted: &AuctionSearch,
        page: Page<Uuid>,
    ) -> PlatformResult<Found<Auction, Uuid>> {
        caller.require(Scope::AuctionsRead)?;
        if let Some(customer) = wanted.customer {
            self.visible_customer(caller, customer).await?;
        }
        let customer = wanted.customer.or(caller.customer);
        let text = wanted.text.to_lowercase();
        let matches = |auction: &Auction| {
            (wanted.statuses.is_empty() || wanted.statuses.contains(&auction.status))
                && wanted.kind.is_none_or(|kind| kind == auction.kind)
                && (auction.title.to_lowercase().contains(&text) || auction.uuid.to_string() == text)
        };
        let (mut entries, mut before, mut read) = (Vec::new(), page.after, 0);
        while read < READ_MAX {
            let found = self.store().latest_auctions(customer, before, CHUNK).await?;
            let is_last_chunk = found.len() < CHUNK;
            read += found.len();
            for auction in found {
                if entries.len() == page.limit {
                    return Ok(Found { entries, next: before });
                }
                before = Some(auction.uuid);
                if matches(&auction) {
                    entries.push(auction);
                }
            }
            if is_last_chunk {
                return Ok(Found { entries, next: None });
            }
        }
        Ok(Found { entries, next: before })
    }

    /// Items of an auction that match the search, in running order, after a position. An item whose lot number is the
    /// text comes first, wherever it is.
    ///
    /// Errors: `not_found`.
    pub async fn search_items(
        &self,
        caller: &Caller,
        auction: Uuid,
        wanted: &ItemSearch,
        page: Page<i64>,
    ) -> PlatformResult<Found<Item, i64>> {
        self.auction(caller, auction).await?;
        let exact_number = wanted.text.trim();
        let wanted = &wanted.in_lower_case();
        let chunk = if wanted.reads_items() { CHUNK.max(page.limit + 1) } else { page.limit + 1 };
        let exact = if exact_number.is_empty() || page.after.is_some() {
            None
        } else {
            self.store().item_by_lot_number(auction, exact_number).await?
        };
        let has_status = |item: &Item| wanted.statuses.is_empty() || wanted.statuses.contains(&item.status);
        let pictured = self.left_out(wanted, exact.as_slice()).await?;
        let is_wanted = |item: &Item| has_status(item) && wanted.matches(item) && !pictured.contains(&item.uuid);
        let exact = exact.filter(is_wanted);
        let found_already = exact.as_ref().map(|item| item.uuid);
        let (mut entries, mut after, mut read) = (Vec::from_iter(exact), page.after, 0);
        while read < READ_MAX {
            let part = Page { after, limit: chunk };
            let found = if wanted.statuses.is_empty() {
                self.store().items(auction, part).await?
            } else {
                self.store().items_with_status(auction, &wanted.statuses, part).await?
            };
            let is_last_chunk = found.len() < chunk;
            read += found.len();
            let pictured = self.left_out(wanted, &found).await?;
            for item in found {
                if entries.len() == page.limit {
                    return Ok(Found { entries, next: after });
                }
                after = Some(item.position);
                let is_wanted = wanted.matches(&item) && !pictured.contains(&item.uuid);
                if Some(item.uuid) != found_already && is_wanted {
                    entries.push(item);
                }
            }
            if is_last_chunk {
                return Ok(Found { entries, next: None });
            }
        }
        Ok(Found { entries, next: after })
    }

    /// Counts what the first `read_max` DRAFT and PREVIEW lots of an auction lack.
    ///
    /// Errors: `not_found`.
    pub async fn missing_counts(
        &self,
        caller: &Caller,
        auction: Uuid,
        read_max: usize,
    ) -> PlatformResult<MissingCounts> {
        self.auction(caller, auction).await?;
        let before_sale = [ItemStatus::Draft, ItemStatus::Preview];
        let page = Page { after: None, limit: read_max.saturating_add(1) };
        let mut items = self.store().items_with_status(auction, &before_sale, page).await?;
        let is_complete = items.len() <= read_max;
        items.truncate(read_max);
        let pictured = self.pictured(&items).await?;
        let counts = MissingField::BEFORE_VIEW.map(|field| {
            let lacks = |item: &&Item| {
                field.is_missing(item) && !(field == MissingField::Image && pictured.contains(&item.uuid))
            };
            (field, items.iter().filter(lacks).count() as u64)
        });
        Ok(MissingCounts { counts, is_complete })
    }

    /// The items with an uploaded image, if the search is for items without an image.
    async fn left_out(&self, wanted: &ItemSearch, items: &[Item]) -> PlatformResult<HashSet<Uuid>> {
        match wanted.missing {
            Some(MissingField::Image) => self.pictured(items).await,
            _ => Ok(HashSet::new()),
        }
    }

    /// Those of the items without an address of an image that have an uploaded one.
    async fn pictured(&self, items: &[Item]) -> PlatformResult<HashSet<Uuid>> {
        let without: Vec<Uuid> =
            items.iter().filter(|item| MissingField::Image.is_missing(item)).map(|item| item.uuid).collect();
        if without.is_empty() {
            return Ok(HashSet::new());
        }
        Ok(self.store().images(&without).await?.into_iter().map(|image| image.item).collect())
    }
}
