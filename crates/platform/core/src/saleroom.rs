//! The saleroom of a house: what everyone reads about its sales and lots, and how the house opens it.
//!
//! Visitors need no session. A bidder has an account at one house, registers for its sales and bids. Visitors see the sales of one house that are announced, and of these the lots that are on view. The
//! types of this module have no field for reserves, maxima, absentee bids, consignors or names of bidders.

mod accounts;
mod bidding;
mod export;
mod grants;
mod limits;
mod notices;
mod offers;
mod own_lots;
mod registering;
mod settings;
mod site_map;
mod sites;
mod streams;
mod visits;
mod webcast_bids;

use contract::ItemStatus;
use jiff::Timestamp;
use platform_rules::{Auction, Item, PublicBid, PublicItem, SaleResult};
use uuid::Uuid;

use crate::port::{House, ItemImage, SaleFacts};

pub use self::accounts::{AccountInput, BidderSignedIn, LINK_VALID, SignedInBidder};
pub use self::bidding::{BidForm, OwnStanding, SaleroomBid, SaleroomBidResult};
pub use self::export::OwnExport;
pub use self::grants::{ACCESS_VALID, AccessRequest, CodeRedemption, SiteBidder, SiteTokens};
pub use self::limits::{LIMIT_WORDS_CHARS_MAX, OwnLimit};
pub use self::notices::NOTICES_LISTED_MAX;
pub use self::offers::OfferAnswer;
pub use self::own_lots::{OwnLot, OwnSale};
pub use self::settings::{OUTAGE_MINUTES_MAX, SALEROOM_ADDRESS_CHARS_MAX};
pub use self::sites::{SITE_ADDRESSES_MAX, sites_of_addresses};
pub use self::streams::{LOTS_FOLLOWED_MAX, Visitor};
pub use crate::error::saleroom_refusal::SaleroomRefusal;
pub use crate::port::{BidderDetails, RegistrationRule};
pub use crate::sales::film::ShownFilm;

/// The open saleroom of a house.
#[derive(Debug, Clone)]
pub struct Saleroom {
    /// Name of the house.
    pub name: String,
    /// What the house says of itself.
    pub house: House,
    /// The proven domain of the house, on which its saleroom stands; none for the shared host.
    pub domain: Option<String>,
}

/// A sale that visitors see.
#[derive(Debug, Clone)]
pub struct SaleroomSale {
    /// The auction. Every field of it is public.
    pub auction: Auction,
    /// What the house says about it; none before staff entered anything.
    pub facts: Option<SaleFacts>,
    /// Number of its lots that visitors see.
    pub lots: u64,
    /// Of these, the number that can still be sold.
    pub lots_open: u64,
    /// A lot is in the ring, and no desk holds its live stream: no bids at the asking price are taken.
    pub is_link_lost: bool,
    /// Messages of the clerk of a webcast that is live, the latest ones, the newest first.
    pub messages: Vec<SaleroomMessage>,
    /// The film of a webcast that is live.
    pub film: Option<ShownFilm>,
}

/// A message of the clerk to all visitors.
#[derive(Debug, Clone)]
pub struct SaleroomMessage {
    /// Its number in the sale, from 1.
    pub number: i64,
    /// One line.
    pub text: String,
    /// When it was written.
    pub at: Timestamp,
    /// The lot that was in the ring.
    pub item: Option<Uuid>,
    /// It is the last one, and was not cleared.
    pub on_stage: bool,
}

/// A lot that visitors see.
#[derive(Debug, Clone)]
pub struct SaleroomLot {
    /// Place in the running order.
    pub position: i64,
    /// Lot number as printed.
    pub lot_number: String,
    /// Title.
    pub title: String,
    /// Description, lines of text.
    pub description: String,
    /// Category under which the house offers it.
    pub category: Option<String>,
    /// Low and high estimate, minor units.
    pub estimate: (Option<i64>, Option<i64>),
    /// Its uploaded images, in order.
    pub images: Vec<ItemImage>,
    /// Where an image is shown that was not uploaded; none without one.
    pub image_url: Option<String>,
    /// Standing of the sale.
    pub sale: PublicItem,
    /// What the buyer pays; none while the lot is not sold.
    pub result: Option<SaleResult>,
}

/// Which lots of a sale a visitor wants: those that match all fields.
#[derive(Debug, Clone, Copy, Default)]
pub struct LotsWanted<'a> {
    /// A part of lot number, title or description, in any case. Empty for any.
    pub text: &'a str,
    /// With one of these statuses; an empty list matches every status on view.
    pub statuses: &'a [ItemStatus],
    /// Of this category; empty for any.
    pub category: &'a str,
}

/// A page of the catalogue.
#[derive(Debug, Clone)]
pub struct SaleroomLots {
    /// The lots, in running order.
    pub lots: Vec<SaleroomLot>,
    /// The position after which the next page begins; none at the end.
    pub next: Option<i64>,
}

/// The sales of a saleroom that visitors see, each with its lots.
#[derive(Debug, Clone)]
pub struct SiteMap {
    /// Sales that are live or announced, then past ones.
    pub sales: Vec<(Uuid, Vec<Uuid>)>,
}

/// A lot with its neighbours in the catalogue and its latest bids.
#[derive(Debug, Clone)]
pub struct SaleroomLotPage {
    /// The lot.
    pub lot: SaleroomLot,
    /// Its latest bids, the newest first.
    pub bids: Vec<PublicBid>,
    /// The lots before and after it that visitors see, with their numbers.
    pub neighbours: [Option<(Uuid, String)>; 2],
    /// The moment at which it was read.
    pub read_at: Timestamp,
}

impl SaleroomLot {
    fn of(auction: &Auction, item: &Item, images: Vec<ItemImage>) -> Self {
        Self {
            position: item.position,
            lot_number: item.lot_number.clone(),
            title: item.title.clone(),
            description: item.description.clone(),
            estimate: (item.low_estimate, item.high_estimate),
            images,
            category: item.category.clone(),
            image_url: item.image_url.clone(),
            sale: PublicItem::of(auction, item),
            result: SaleResult::of(auction, item),
        }
    }
}
