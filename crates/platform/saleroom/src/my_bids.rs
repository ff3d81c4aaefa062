//! The lots of a bidder in all sales of the house: those to act on first.

use std::borrow::Cow;

use askama::Template;
use axum::response::Response;
use contract::ItemStatus;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use platform_core::saleroom::{OwnLot, OwnSale};
use platform_words::{Words, key};
use uuid::Uuid;

use crate::account::sign_in_first;
use crate::catalogue::Picture;
use crate::house::{House, HouseFrame};
use crate::limit::{request_words, sentence};
use crate::lot_words::LotWords;
use crate::offers;
use crate::page_error::PageError;
use crate::register::Standing;

#[derive(Template)]
#[template(path = "my_bids.html")]
struct MyBidsPage {
    frame: Frame,
    around: HouseFrame,
    notice: Cow<'static, str>,
    /// The page was read at this time, and does not change by itself.
    read_at: String,
    /// Headings with their lots; those without lots are left out.
    groups: Vec<(Cow<'static, str>, Vec<OwnCard>)>,
    /// Sales of the bidder with the state of the registration.
    sales: Vec<SaleRow>,
    /// How to pay and collect, if anything was won.
    payment: Vec<String>,
    collection: Vec<String>,
}

struct SaleRow {
    id: Uuid,
    title: String,
    standing: Standing,
    /// The limit and what of it is used, with the request for a higher one; empty without a limit.
    limit: String,
}

struct OwnCard {
    path: String,
    lot_number: String,
    title: String,
    sale: String,
    picture: Option<Picture>,
    standing: Cow<'static, str>,
    kind: &'static str,
    words: LotWords,
    /// The bidder's maximum while they lead, or commission bid; empty otherwise.
    maximum: String,
    /// The offer of the house; empty without one.
    offer: String,
}

/// What a bidder can still do about a lot: the order of the groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Offered,
    Outbid,
    Leading,
    Commission,
    Won,
    Watched,
    Over,
}

const GROUPS: [(Group, &str); 7] = [
    (Group::Offered, key("mine-offered")),
    (Group::Outbid, key("mine-outbid")),
    (Group::Leading, key("mine-leading")),
    (Group::Commission, key("mine-commission")),
    (Group::Won, key("mine-won")),
    (Group::Watched, key("mine-watched")),
    (Group::Over, key("mine-over")),
];

fn is_sold(lot: &OwnLot) -> bool {
    matches!(lot.lot.sale.status, ItemStatus::Sold | ItemStatus::SoldBuyNow)
}

fn group(lot: &OwnLot) -> Group {
    let is_open = matches!(lot.lot.sale.status, ItemStatus::Preview | ItemStatus::Live | ItemStatus::Suspended);
    let commission = lot.own.as_ref().and_then(|own| own.commission).filter(|_| is_open && lot.lot.sale.ring.is_none());
    let own = lot.own.as_ref().filter(|own| own.has_bid);
    match own {
        _ if lot.offer.is_some() => Group::Offered,
        None if commission.is_some() => Group::Commission,
        Some(own) if own.leads && is_sold(lot) => Group::Won,
        Some(own) if own.leads && is_open => Group::Leading,
        Some(_) if is_open => Group::Outbid,
        None if is_open => Group::Watched,
        _ => Group::Over,
    }
}

pub(crate) async fn page(house: House<0>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let (path, words) = (house.path(), house.words);
    let Some(bidder) = &house.bidder else { return Ok(sign_in_first(&path, &format!("{path}/my-bids"))) };
    let own = house.platform().own_lots(&house.saleroom, bidder).await?;
    let around = house.frame(words.of("mine"), "/my-bids", words.of("mine-description").into_owned());
    let lots: Vec<(&OwnSale, &OwnLot)> =
        own.iter().flat_map(|sale| sale.lots.iter().map(move |lot| (sale, lot))).collect();
    let groups = GROUPS.map(|(wanted, heading)| {
        let of_group = lots.iter().filter(|(_, lot)| group(lot) == wanted);
        (words.of(heading), of_group.map(|(sale, lot)| card(words, &path, sale, lot)).collect::<Vec<_>>())
    });
    let has_won = lots.iter().any(|(_, lot)| group(lot) == Group::Won);
    let profile = &house.saleroom.house.profile;
    let zone_of_sale = own.first().map_or("UTC", |sale| sale.auction.time_zone.as_str());
    let lines = |text: &Option<String>| -> Vec<String> {
        let text = text.as_deref().filter(|_| has_won).unwrap_or_default();
        text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    };
    let registered = house.platform().own_registrations(&house.saleroom, bidder).await?;
    let mut sales = Vec::new();
    for (auction, registration) in &registered {
        let currency = words.currency(auction);
        let limit = house.platform().own_limit(registration).await?;
        let in_words =
            |limit| format!("{} {}", sentence(words, &limit, &currency), request_words(words, &limit, &currency));
        sales.push(SaleRow {
            id: auction.uuid,
            title: auction.shown_title().to_owned(),
            standing: Standing::of(words, registration),
            limit: limit.map(in_words).unwrap_or_default(),
        });
    }
    render_page(&MyBidsPage {
        frame: around.frame.clone(),
        notice: if query.text("done") == "opened" { words.of("mine-welcome") } else { Cow::Borrowed("") },
        read_at: house.zone(zone_of_sale).show(house.platform().now()),
        groups: groups.into_iter().filter(|(_, cards)| !cards.is_empty()).collect(),
        sales,
        payment: lines(&profile.payment),
        collection: lines(&profile.collection),
        around,
    })
}

fn card(words: Words, house: &str, sale: &OwnSale, lot: &OwnLot) -> OwnCard {
    let currency = words.currency(&sale.auction);
    let (standing, kind) = match group(lot) {
        Group::Offered => (key("mine-offered"), "wait"),
        Group::Outbid => (key("mine-is-outbid"), "bad"),
        Group::Leading => (key("mine-leading"), "good"),
        Group::Commission => (key("mine-is-left"), "info"),
        Group::Won => (key("mine-is-won"), "good"),
        Group::Watched => (key("mine-watched"), "info"),
        Group::Over if lot.own.as_ref().is_some_and(|own| own.has_bid) && is_sold(lot) => (key("mine-is-lost"), "bad"),
        Group::Over => (key("mine-is-over"), "off"),
    };
    let own = lot.own.as_ref();
    let amount = match group(lot) {
        Group::Leading => own.and_then(|own| own.maximum).filter(|maximum| Some(*maximum) != lot.lot.sale.price),
        Group::Commission => own.and_then(|own| own.commission),
        Group::Offered | Group::Outbid | Group::Won | Group::Watched | Group::Over => None,
    };
    OwnCard {
        path: format!("{house}/sales/{}/lots/{}", sale.auction.uuid, lot.lot.sale.uuid),
        lot_number: lot.lot.lot_number.clone(),
        title: lot.lot.title.clone(),
        sale: sale.auction.shown_title().to_owned(),
        picture: lot.lot.images.first().map(|image| Picture::of(house, image)),
        standing: words.of(standing),
        kind,
        words: LotWords::of(words, &sale.auction, &lot.lot),
        offer: lot
            .offer
            .as_ref()
            .map(|offer| offers::sentence(words, &sale.auction, &lot.lot.lot_number, offer))
            .unwrap_or_default(),
        maximum: amount.map(|amount| currency.show(amount)).unwrap_or_default(),
    }
}
