//! The page of a lot: its pictures, text, estimate, price and bids.

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page, render_page_as};
use platform_core::images::ImageVariant;
use platform_core::saleroom::SaleroomSale;
use platform_rules::PublicBid;
use uuid::Uuid;

use crate::bid_box::{BidBox, Wish};
use crate::catalogue::{Part, Picture, charges};
use crate::film::{self, FilmView};
use crate::house::{House, HouseFrame};
use crate::live_view::{LiveView, rule_of_end};
use crate::lot_words::{LotWords, ends_at};
use crate::messages::{MessageRow, Messages};
use crate::own_time::OwnTime;
use crate::page_error::PageError;
use crate::structured::Facts;

/// Bids and messages in the list.
const FEED_MAX: usize = 20;
/// Characters of a description in one sentence about the page.
const SUMMARY_CHARS_MAX: usize = 160;

#[derive(Template)]
#[template(path = "lot.html")]
struct LotPage {
    frame: Frame,
    around: HouseFrame,
    sale_title: String,
    /// Path of the sale.
    path: String,
    /// The part of the catalogue from which the lot was opened.
    part: String,
    position: i64,
    lot_number: String,
    title: String,
    description: Vec<String>,
    /// The category with the query of its lots in the catalogue.
    category: Option<(String, String)>,
    words: LotWords,
    /// When it ends by the visitor's own clock; none without an end.
    own_time: Option<OwnTime>,
    charges: String,
    pictures: Vec<Picture>,
    feed: Vec<FeedRow>,
    previous: Option<(Uuid, String)>,
    next: Option<(Uuid, String)>,
    read_at: String,
    /// The lot can still be sold.
    is_open: bool,
    bid_box: BidBox,
    id: Uuid,
    /// How bids extend the end of the lot; empty when they can't.
    rule: String,
    /// While the lot can still be sold.
    film: Option<FilmView>,
    /// None when the sale is over.
    live: Option<LiveView>,
}

impl LotPage {
    /// What a picture shows, for people who do not see it.
    fn picture_words(&self, place: &usize) -> String {
        let number = self.lot_number.as_str().into();
        self.around.words.with("lot-picture", [("n", place.to_string().into()), ("number", number)])
    }
}

/// What happened on the lot: a bid, or a message of the clerk while it was in the ring.
enum FeedRow {
    Bid(BidRow),
    Message(MessageRow),
}

impl FeedRow {
    /// Bids and messages, the newest first.
    fn of(bids: impl Iterator<Item = BidRow>, messages: impl Iterator<Item = MessageRow>) -> Vec<Self> {
        let mut rows: Vec<Self> = bids.map(Self::Bid).chain(messages.map(Self::Message)).collect();
        // Stable: bids of one moment keep their order.
        rows.sort_by_key(|row| std::cmp::Reverse(row.at_ms()));
        rows.truncate(FEED_MAX);
        rows
    }

    fn at_ms(&self) -> i64 {
        match self {
            Self::Bid(bid) => bid.at_ms,
            Self::Message(message) => message.at.as_millisecond(),
        }
    }
}

struct BidRow {
    number: i64,
    amount: String,
    bidder: String,
    at: String,
    at_ms: i64,
    is_withdrawn: bool,
}

pub(crate) async fn page(house: House<2>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let sale = house.platform().saleroom_sale(&house.saleroom, house.ids[0]).await?;
    let part = Part::of(&query).query();
    let page = lot_page(&house, &sale, part, Wish::default()).await?;
    film::allow(render_page(&page), page.film.as_ref())
}

/// The page of a lot with the answer to a bid.
pub(crate) async fn shown(
    house: &House<2>,
    sale: &SaleroomSale,
    wish: Wish,
    status: StatusCode,
) -> Result<Response, PageError> {
    let page = lot_page(house, sale, String::new(), wish).await?;
    film::allow(render_page_as(status, &page), page.film.as_ref())
}

async fn lot_page(house: &House<2>, sale: &SaleroomSale, part: String, wish: Wish) -> Result<LotPage, PageError> {
    let (platform, [auction, item]) = (house.platform(), house.ids);
    let found = platform.saleroom_lot(&house.saleroom, (auction, item)).await?;
    let lot = &found.lot;
    let words = house.words;
    let (currency, zone) = (words.currency(&sale.auction), words.zone(&sale.auction));
    let title =
        words.with("lot-title", [("number", lot.lot_number.as_str().into()), ("title", lot.title.as_str().into())]);
    let summary: String = lot.description.split_whitespace().collect::<Vec<_>>().join(" ");
    let summary: String = summary.chars().take(SUMMARY_CHARS_MAX).collect();
    let summary = if summary.is_empty() { title.clone() } else { summary };
    let mut around = house.frame(title.as_str(), &format!("/sales/{auction}/lots/{item}"), summary);
    let image = lot.images.first().map(|image| house.address(&Picture::below(image, ImageVariant::Large)));
    around.facts = Some(Facts::of_lot(sale, lot, &around.canonical, image.as_deref()));
    around.image = image.or(around.image);
    let is_open = lot.result.is_none() && lot.sale.minimum_bid.is_some();
    let stream = format!("{}/sales/{auction}/lots/{item}/live", around.path);
    let [previous, next] = found.neighbours;
    let bid = |bid: &PublicBid| BidRow {
        number: bid.number,
        amount: currency.show(bid.amount),
        bidder: if bid.bidder.is_empty() {
            words.of("lot-in-room").into_owned()
        } else {
            words.fill("lot-paddle", "number", &bid.bidder)
        },
        at: zone.show(bid.at),
        at_ms: bid.at.as_millisecond(),
        is_withdrawn: bid.struck.is_some(),
    };
    Ok(LotPage {
        frame: around.frame.clone(),
        sale_title: sale.auction.shown_title().to_owned(),
        path: format!("{}/sales/{auction}", around.path),
        part,
        position: lot.position,
        lot_number: lot.lot_number.clone(),
        title: lot.title.clone(),
        description: lot.description.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect(),
        category: lot.category.as_ref().map(|category| (category.clone(), Part::of_category(category).query())),
        own_time: ends_at(lot).map(|at| OwnTime::of(house, &sale.auction, at)),
        words: LotWords::in_sale(words, sale, lot),
        charges: charges(words, sale),
        pictures: lot.images.iter().map(|image| Picture::of(&around.path, image)).collect(),
        feed: FeedRow::of(found.bids.iter().map(bid), Messages::of(words, sale).of_lot(item)),
        previous,
        next,
        read_at: zone.show(found.read_at),
        bid_box: BidBox::of(house, sale, (lot, &found.bids), wish).await?,
        is_open,
        film: FilmView::of(words, sale).filter(|_| is_open),
        id: item,
        rule: if is_open { rule_of_end(words, &sale.auction) } else { String::new() },
        live: LiveView::of(house, sale, stream),
        around,
    })
}
