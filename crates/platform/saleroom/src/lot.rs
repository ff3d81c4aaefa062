//! The page of a lot: its pictures, text, estimate, price and bids.

use askama::Template;
use axum::response::Response;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use platform_rules::PublicBid;
use platform_words::{Currency, SaleZone};
use uuid::Uuid;

use crate::catalogue::{Part, Picture, charges};
use crate::house::{House, HouseFrame};
use crate::live_view::{LiveView, rule_of_end};
use crate::lot_words::LotWords;
use crate::page_error::PageError;

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
    words: LotWords,
    charges: String,
    pictures: Vec<Picture>,
    bids: Vec<BidRow>,
    previous: Option<(Uuid, String)>,
    next: Option<(Uuid, String)>,
    read_at: String,
    /// The lot can still be sold.
    is_open: bool,
    id: Uuid,
    /// How bids extend the end of the lot; empty when they can't.
    rule: String,
    /// None when the sale is over.
    live: Option<LiveView>,
}

struct BidRow {
    number: i64,
    amount: String,
    bidder: String,
    at: String,
    is_withdrawn: bool,
}

pub(crate) async fn page(house: House<2>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let (platform, [auction, item]) = (house.platform(), house.ids);
    let sale = platform.saleroom_sale(&house.saleroom, auction).await?;
    let found = platform.saleroom_lot(&house.saleroom, (auction, item)).await?;
    let lot = &found.lot;
    let (currency, zone) = (Currency::of(&sale.auction), SaleZone::of(&sale.auction));
    let title = format!("Lot {}: {}", lot.lot_number, lot.title);
    let summary: String = lot.description.split_whitespace().collect::<Vec<_>>().join(" ");
    let summary: String = summary.chars().take(SUMMARY_CHARS_MAX).collect();
    let summary = if summary.is_empty() { title.clone() } else { summary };
    let around = house.frame(&title, &format!("/sales/{auction}/lots/{item}"), summary);
    let is_open = lot.result.is_none() && lot.sale.minimum_bid.is_some();
    let stream = format!("{}/sales/{auction}/lots/{item}/live", around.path);
    let [previous, next] = found.neighbours;
    let bid = |bid: &PublicBid| BidRow {
        number: bid.number,
        amount: currency.show(bid.amount),
        bidder: if bid.bidder.is_empty() { "In the room".to_owned() } else { format!("Paddle {}", bid.bidder) },
        at: zone.show(bid.at),
        is_withdrawn: bid.struck.is_some(),
    };
    render_page(&LotPage {
        frame: around.frame.clone(),
        sale_title: sale.auction.shown_title().to_owned(),
        path: format!("{}/sales/{auction}", around.path),
        part: Part::of(&query).query(),
        position: lot.position,
        lot_number: lot.lot_number.clone(),
        title: lot.title.clone(),
        description: lot.description.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect(),
        words: LotWords::of(&sale.auction, lot),
        charges: charges(&sale),
        pictures: lot.images.iter().map(|image| Picture::of(&around.path, image)).collect(),
        bids: found.bids.iter().map(bid).collect(),
        previous,
        next,
        read_at: zone.show(found.read_at),
        is_open,
        id: item,
        rule: if is_open { rule_of_end(&sale.auction) } else { String::new() },
        live: LiveView::of(&sale, stream),
        around,
    })
}
