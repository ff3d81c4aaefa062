//! The first page of a house: its sales that are live, open, announced and past.

use std::borrow::Cow;

use askama::Template;
use axum::response::Response;
use contract::AuctionStatus;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use platform_core::port::Page;
use platform_core::saleroom::SaleroomSale;
use platform_rules::AuctionKind;
use platform_words::Words;
use uuid::Uuid;

use crate::house::{House, HouseFrame};
use crate::lot_words::{dates, lots};
use crate::page_error::PageError;

/// Past sales on one page.
const PAST_MAX: usize = 20;

#[derive(Template)]
#[template(path = "sales.html")]
struct SalesPage {
    frame: Frame,
    around: HouseFrame,
    about: Vec<String>,
    /// Headings with their sales; those without sales are left out.
    groups: Vec<(Cow<'static, str>, Vec<SaleCard>)>,
    past: Vec<SaleCard>,
    older: Option<Uuid>,
    is_first: bool,
}

struct SaleCard {
    id: Uuid,
    title: String,
    dates: String,
    lots: String,
}

impl SaleCard {
    fn of(words: Words, sale: &SaleroomSale) -> Self {
        let id = sale.auction.uuid;
        Self {
            id,
            title: sale.auction.shown_title().to_owned(),
            dates: dates(words, sale),
            lots: lots(words, sale.lots),
        }
    }
}

pub(crate) async fn page(house: House<0>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let before = Uuid::try_parse(query.text("before")).ok();
    let coming = if before.is_none() { house.platform().coming_sales(&house.saleroom).await? } else { Vec::new() };
    let past = house.platform().past_sales(&house.saleroom, Page { after: before, limit: PAST_MAX }).await?;
    let words = house.words;
    let card = |sale: &SaleroomSale| SaleCard::of(words, sale);
    let group = |wanted: &dyn Fn(&SaleroomSale) -> bool| -> Vec<SaleCard> {
        coming.iter().filter(|sale| wanted(sale)).map(card).collect()
    };
    let is_live = |sale: &SaleroomSale| sale.auction.status == AuctionStatus::Live;
    // The house begins the reconciliation of a sale some time after its last lot.
    let is_over = |sale: &SaleroomSale| sale.lots > 0 && sale.lots_open == 0;
    let is_webcast = |sale: &SaleroomSale| sale.auction.kind == AuctionKind::Webcast;
    let groups = vec![
        (words.of("sales-live"), group(&|sale| is_live(sale) && !is_over(sale) && is_webcast(sale))),
        (words.of("sales-open"), group(&|sale| is_live(sale) && !is_over(sale) && !is_webcast(sale))),
        (words.of("sales-ended"), group(&|sale| is_live(sale) && is_over(sale))),
        (words.of("sales-coming"), group(&|sale| !is_live(sale))),
    ];
    let name = &house.saleroom.name;
    let about = house.saleroom.house.profile.about.as_deref().unwrap_or_default();
    let around = house.frame(words.of("nav-sales"), "", words.fill("sales-description", "house", name));
    render_page(&SalesPage {
        frame: around.frame.clone(),
        around,
        about: about.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect(),
        groups: groups.into_iter().filter(|(_, sales)| !sales.is_empty()).collect(),
        past: past.entries.iter().map(card).collect(),
        older: past.next,
        is_first: before.is_none(),
    })
}
