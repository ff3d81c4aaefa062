//! The catalogue of a sale: its lots with pictures, searched and filtered; after the sale, its results.

use std::borrow::Cow;

use askama::Template;
use axum::response::Response;
use contract::ItemStatus;
use kit_design::fields::{FormFields, QueryFields};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page};
use platform_core::images::ImageVariant;
use platform_core::port::ItemImage;
use platform_core::saleroom::{LotsWanted, SaleroomLot, SaleroomSale};
use platform_rules::AuctionKind;
use platform_words::{Words, key};
use uuid::Uuid;

use crate::film::{self, FilmView};
use crate::house::{House, HouseFrame};
use crate::live_view::LiveView;
use crate::lot_filter::LotFilter;
use crate::lot_words::{LotWords, dates, first_date, lots};
use crate::own_time::OwnTime;
use crate::page_error::PageError;
use crate::structured::Facts;

/// Lots on one page.
pub(crate) const LOTS_MAX: usize = 48;
/// Characters of a typed price.
const PRICE_CHARS_MAX: usize = 30;
/// Characters of a category that are compared.
const CATEGORY_CHARS_MAX: usize = 80;
/// Characters of a search that are compared.
const TEXT_CHARS_MAX: usize = 100;
/// Name in the address, message, and statuses of each filter; no status is every status.
const FILTERS: [(&str, &str, &[ItemStatus]); 4] = [
    ("", key("catalogue-all"), &[]),
    ("open", key("catalogue-to-be-sold"), &[ItemStatus::Preview, ItemStatus::Live, ItemStatus::Suspended]),
    ("sold", key("lot-sold"), &[ItemStatus::Sold, ItemStatus::SoldBuyNow]),
    ("unsold", key("lot-unsold"), &[ItemStatus::Unsold, ItemStatus::Passed]),
];

/// Names in the address and messages of the filters by end.
const ENDS: [(&str, &str); 2] = [("hour", key("catalogue-ends-hour")), ("today", key("catalogue-ends-today"))];
/// The same of the filters by what a bidder did.
const OWN: [(&str, &str); 2] = [("watched", key("mine-watched")), ("bids", key("mine"))];

/// Which part of the catalogue a page shows. Addresses of lots carry it, so that they lead back to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) text: String,
    /// Empty for any.
    pub(crate) category: String,
    show: &'static str,
    /// The prices as they were typed; empty for any.
    pub(crate) price: [String; 2],
    /// A name of [`ENDS`], and one of [`OWN`]; empty for any.
    pub(crate) ends: &'static str,
    pub(crate) own: &'static str,
    pub(crate) after: Option<i64>,
}

impl Part {
    pub(crate) fn of(query: &FormFields) -> Self {
        let show = FILTERS.iter().find(|(name, ..)| *name == query.text("show")).map_or("", |(name, ..)| *name);
        let name_in = |names: [(&'static str, &str); 2], field: &str| {
            names.into_iter().map(|(name, _)| name).find(|name| *name == query.text(field)).unwrap_or_default()
        };
        let price = |field: &str| query.text(field).trim().chars().take(PRICE_CHARS_MAX).collect();
        Self {
            price: [price("from"), price("to")],
            ends: name_in(ENDS, "ends"),
            own: name_in(OWN, "own"),
            category: query.text("category").chars().take(CATEGORY_CHARS_MAX).collect(),
            text: query.text("q").chars().take(TEXT_CHARS_MAX).collect(),
            show,
            after: query.text("after").parse().ok(),
        }
    }

    /// All lots of a category.
    pub(crate) fn of_category(category: &str) -> Self {
        Self { category: category.to_owned(), ..Self::default() }
    }

    pub(crate) fn wanted(&self) -> LotsWanted<'_> {
        let statuses: &[ItemStatus] =
            FILTERS.iter().find(|(name, ..)| *name == self.show).map_or(&[], |(.., statuses)| statuses);
        LotsWanted { text: &self.text, statuses, category: &self.category }
    }

    /// With its question mark; empty for the first page of all lots.
    pub(crate) fn query(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if !self.text.is_empty() {
            query.append_pair("q", &self.text);
        }
        if !self.category.is_empty() {
            query.append_pair("category", &self.category);
        }
        if !self.show.is_empty() {
            query.append_pair("show", self.show);
        }
        let [from, to] = &self.price;
        for (name, value) in [("from", from.as_str()), ("to", to), ("ends", self.ends), ("own", self.own)] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        if let Some(after) = self.after {
            query.append_pair("after", &after.to_string());
        }
        let query = query.finish();
        if query.is_empty() { query } else { format!("?{query}") }
    }
}

#[derive(Template)]
#[template(path = "catalogue.html")]
struct CataloguePage {
    frame: Frame,
    around: HouseFrame,
    /// Path of the sale.
    path: String,
    title: String,
    dates: String,
    /// When that is by the visitor's own clock; none without a date.
    own_time: Option<OwnTime>,
    /// Such as `340 lots`; empty before any is on view.
    lots: String,
    has_lots: bool,
    charges: String,
    description: Vec<String>,
    viewing: Vec<String>,
    has_conditions: bool,
    search: FormField,
    /// None in a sale without categories.
    category: Option<FormField>,
    prices: [FormField; 2],
    has_prices: bool,
    /// Names and values of the other filters, which the search keeps.
    kept: [(&'static str, &'static str); 3],
    /// As `chips`: the filters by end, and those by what the bidder did.
    further: Vec<(Cow<'static, str>, String, bool)>,
    /// Words and query of each filter, and whether the page shows it.
    chips: Vec<(Cow<'static, str>, String, bool)>,
    cards: Vec<LotCard>,
    /// What addresses of lots carry.
    part: String,
    is_first: bool,
    /// Queries of the first page and of the next one.
    first: String,
    next: Option<String>,
    film: Option<FilmView>,
    /// None when the sale is over.
    live: Option<LiveView>,
}

struct LotCard {
    id: Uuid,
    position: i64,
    lot_number: String,
    title: String,
    words: LotWords,
    picture: Option<Picture>,
}

/// A picture of a lot in two sizes.
pub(crate) struct Picture {
    pub(crate) small: String,
    pub(crate) large: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) small_width: u32,
    pub(crate) large_width: u32,
}

impl Picture {
    /// The picture below the path of the house.
    pub(crate) fn of(house: &str, image: &ItemImage) -> Self {
        let address = |variant: ImageVariant| format!("{house}{}", Self::below(image, variant));
        Self {
            small: address(ImageVariant::Small),
            large: address(ImageVariant::Large),
            width: image.width,
            height: image.height,
            small_width: image.width.min(320),
            large_width: image.width.min(1_280),
        }
    }

    /// The path of an image below that of the house.
    pub(crate) fn below(image: &ItemImage, variant: ImageVariant) -> String {
        format!("/images/{}/{}", image.uuid, variant.as_str())
    }
}

pub(crate) async fn page(house: House<1>, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let (platform, [auction]) = (house.platform(), house.ids);
    let sale = platform.saleroom_sale(&house.saleroom, auction).await?;
    let part = Part::of(&query);
    let filter = LotFilter::of(&house, &sale, &part).await?;
    let is_searched = !part.text.is_empty() || !part.category.is_empty() || filter.reads_lots();
    let _turn = if is_searched { house.site.search_turn().await } else { None };
    let found = filter.lots(&house, auction, &part).await?;
    let title = sale.auction.shown_title();
    let below = format!("/sales/{auction}");
    let words = house.words;
    let (sale_dates, sale_lots) = (dates(words, &sale), lots(words, sale.lots));
    let mut around = house.frame(title, &below, format!("{title}. {sale_dates}. {sale_lots}."));
    around.facts = Facts::of_sale(&sale, &house.saleroom.name, &around.canonical);
    if let Some(image) = found.lots.iter().find_map(|lot| lot.images.first()) {
        around.image = Some(house.address(&Picture::below(image, ImageVariant::Large)));
    }
    let lines = |text: Option<&String>| -> Vec<String> {
        let text = text.map(String::as_str).unwrap_or_default();
        text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    };
    let chip = |(name, name_of_words, _): &(&'static str, &'static str, &[ItemStatus])| {
        (words.of(name_of_words), Part { show: name, after: None, ..part.clone() }.query(), *name == part.show)
    };
    let further = |(name, message): (&'static str, &'static str), is_end: bool| {
        let is_current = name == if is_end { part.ends } else { part.own };
        let chosen = if is_current { "" } else { name };
        let (ends, own) = if is_end { (chosen, part.own) } else { (part.ends, chosen) };
        (words.of(message), Part { ends, own, after: None, ..part.clone() }.query(), is_current)
    };
    let has_ends = sale.auction.kind == AuctionKind::Timed && sale.lots_open > 0;
    let ends = ENDS.into_iter().filter(|_| has_ends).map(|filter| further(filter, true));
    let own = OWN.into_iter().filter(|_| house.bidder.is_some()).map(|filter| further(filter, false));
    let price = |(place, name, label): (usize, &'static str, &'static str)| {
        FormField::text(name, words.of(label), part.price[place].as_str())
            .attribute("inputmode", "decimal")
            .chars_max(PRICE_CHARS_MAX)
            .fault(filter.faults[place].as_str())
    };
    let followed: Vec<String> = found.lots.iter().map(|lot| lot.sale.uuid.simple().to_string()).collect();
    let stream = format!("{}{below}/live?lots={}", around.path, followed.join(","));
    let page = CataloguePage {
        film: FilmView::of(words, &sale),
        live: LiveView::of(&house, &sale, stream),
        frame: around.frame.clone(),
        path: format!("{}{below}", around.path),
        title: title.to_owned(),
        own_time: first_date(&sale).map(|at| OwnTime::of(&house, &sale.auction, at)),
        dates: sale_dates,
        lots: if sale.lots == 0 { String::new() } else { sale_lots.clone() },
        has_lots: sale.lots > 0,
        charges: charges(words, &sale),
        description: lines(sale.facts.as_ref().map(|facts| &facts.description)),
        viewing: lines(sale.facts.as_ref().map(|facts| &facts.viewing)),
        has_conditions: sale.facts.as_ref().is_some_and(|facts| facts.conditions.is_some()),
        search: FormField::search("q", words.fill("catalogue-search", "lots", sale_lots), part.text.as_str()),
        category: category(words, platform.saleroom_categories(&sale).await?, &part.category),
        prices: [(0, "from", key("catalogue-price-from")), (1, "to", key("catalogue-price-to"))].map(price),
        has_prices: part.price.iter().any(|typed| !typed.is_empty()),
        kept: [("show", part.show), ("ends", part.ends), ("own", part.own)],
        further: ends.chain(own).collect(),
        chips: FILTERS.iter().map(chip).collect(),
        cards: found.lots.iter().map(|lot| card(words, &sale, &around.path, lot)).collect(),
        is_first: part.after.is_none(),
        first: Part { after: None, ..part.clone() }.query(),
        next: found.next.map(|next| Part { after: Some(next), ..part.clone() }.query()),
        part: part.query(),
        around,
    };
    film::allow(render_page(&page), page.film.as_ref())
}

/// The choice of a category; none where the sale has none. A category of the address that no lot has stays to be chosen, so that the
/// page says why it is empty.
fn category(words: Words, mut categories: Vec<String>, chosen: &str) -> Option<FormField> {
    let is_chosen = |category: &str| category.to_lowercase() == chosen.to_lowercase();
    if !chosen.is_empty() && !categories.iter().any(|category| is_chosen(category)) {
        categories.push(chosen.to_owned());
    }
    if categories.is_empty() {
        return None;
    }
    let choice = |category: String| Choice::new(category.clone(), category.clone(), is_chosen(&category));
    let any = Choice::new("", words.of("catalogue-category-any"), chosen.is_empty());
    let choices = std::iter::once(any).chain(categories.into_iter().map(choice)).collect();
    Some(FormField::select("category", words.of("catalogue-category"), choices))
}

fn card(words: Words, sale: &SaleroomSale, house: &str, lot: &SaleroomLot) -> LotCard {
    LotCard {
        id: lot.sale.uuid,
        position: lot.position,
        lot_number: lot.lot_number.clone(),
        title: lot.title.clone(),
        words: LotWords::in_sale(words, sale, lot),
        picture: lot.images.first().map(|image| Picture::of(house, image)),
    }
}

/// The rates that are added to hammer prices, such as `Buyer's premium 25 %, tax on the premium 20 %`.
pub(crate) fn charges(words: Words, sale: &SaleroomSale) -> String {
    let charges = sale.auction.charges;
    let rates = [
        (key("charge-premium"), charges.premium_basis_points),
        (key("charge-hammer-tax"), charges.hammer_tax_basis_points),
        (key("charge-premium-tax"), charges.premium_tax_basis_points),
    ];
    let named: Vec<String> = rates
        .into_iter()
        .filter(|(_, rate)| *rate > 0)
        .map(|(name, rate)| words.fill(name, "rate", words.percent(rate)))
        .collect();
    if named.is_empty() { String::new() } else { words.fill("charges", "rates", named.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_catalogue_is_in_its_address() {
        let part = Part {
            text: "jug & bowl".to_owned(),
            category: "Glass & china".to_owned(),
            show: "sold",
            price: ["£ 100".to_owned(), String::new()],
            ends: "hour",
            own: "bids",
            after: Some(47),
        };
        let shown = "q=jug+%26+bowl&category=Glass+%26+china&show=sold&from=%C2%A3+100&ends=hour&own=bids&after=47";
        assert_eq!(part.query(), format!("?{shown}"));
        let query = FormFields::of_query(shown).unwrap();
        assert_eq!(Part::of(&query), part);
        assert_eq!(Part::of(&FormFields::of_query("show=x&ends=x&own=x&after=y").unwrap()), Part::default());
        assert_eq!(Part::default().query(), "");
    }
}
