//! The catalogue on paper, on A4 or A5, with or without pictures. It leaves out withdrawn lots and shows no reserve.

use std::collections::HashMap;

use askama::Template;
use axum::response::Response;
use contract::ItemStatus;
use contract::models::AddressModel;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use platform_core::PlatformError;
use platform_core::images::{ImageVariant, ItemImage};
use platform_core::port::{Conditions, HouseProfile};
use platform_rules::Item;
use uuid::Uuid;

use super::lots::{self, estimate};
use super::paper::{Paper, PaperKind};
use crate::auctions::facts_form;
use crate::customers::house::LogoImage;
use crate::images;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels;
use crate::session::{PathIds, Session};
use platform_words::address_fields::one_line;

/// Items whose images one read loads.
const READ_MAX: usize = 250;
/// Longer side of the small variant of an image, in pixels.
const PICTURE_PX: u32 = 320;

#[derive(Template)]
#[template(path = "print/catalogue.html")]
struct CataloguePage {
    frame: Frame,
    paper: Paper,
    lots: Vec<Lot>,
    /// Kind of the sale, its currency and its terms.
    facts: Vec<String>,
    logo: Option<LogoImage>,
    description: String,
    /// Where and when the lots can be viewed, and how to reach the house.
    notes: Vec<(&'static str, String)>,
    conditions: Option<Conditions>,
}

struct Lot {
    number: String,
    title: String,
    description: String,
    estimate: String,
    picture: Option<Picture>,
}

struct Picture {
    address: String,
    /// Size in pixels; none for a picture at another site.
    size: Option<(u32, u32)>,
}

/// `GET /auctions/{auction}/print/catalogue`
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, uuid).await?;
    let has_pictures = query.text("pictures") != "no";
    let mut chosen = lots::load(&session, &sale, &query).await?;
    let loaded = chosen.items.len();
    chosen.items.retain(|item| item.status != ItemStatus::Withdrawn);
    let mut paper = Paper::new(&session, &sale, PaperKind::Catalogue).await?;
    paper.class = match query.text("size") {
        "a5" => "a5 catalogue",
        _ => "a4 catalogue",
    };
    let withdrawn = loaded - chosen.items.len();
    paper.contents =
        if chosen.are_all { labels::count(chosen.items.len() as u64, "lot", "lots") } else { chosen.words };
    if withdrawn > 0 {
        let count = labels::count(withdrawn as u64, "withdrawn lot is", "withdrawn lots are");
        paper.warnings.push(format!("{count} left out."));
    }
    paper.warnings.extend(chosen.warning);
    let mut pictures = if has_pictures { pictures(&session, &chosen.items).await? } else { HashMap::new() };
    let lot = |item: Item| Lot {
        estimate: estimate(&item, &sale.currency),
        picture: pictures.remove(&item.uuid),
        number: item.lot_number,
        title: item.title,
        description: item.description,
    };
    let lots = chosen.items.into_iter().map(lot).collect();
    let premium = platform_words::percent::show(sale.auction.charges.premium_basis_points);
    let facts =
        vec![sale.dates(), format!("Estimates in {}", sale.currency.code()), format!("Buyer's premium {premium}")];
    let (platform, caller) = (session.platform(), &session.caller);
    let of_sale = platform.sale_facts(caller, uuid).await?;
    let house = platform.house(caller, sale.auction.customer).await?;
    let conditions = match of_sale.conditions {
        Some(number) => Some(platform.conditions(caller, sale.auction.customer, number).await?),
        None => None,
    };
    let venue = facts_form::venue(&session, &sale.auction).await?;
    render_page(&CataloguePage {
        frame: paper.frame(&session, &sale),
        paper,
        lots,
        facts,
        logo: LogoImage::of(&session, &house),
        notes: notes(venue.as_ref(), of_sale.viewing, house.profile),
        description: of_sale.description,
        conditions,
    })
}

/// Where and when the lots can be viewed, how to reach the house, and how to pay and collect.
fn notes(venue: Option<&AddressModel>, viewing: String, house: HouseProfile) -> Vec<(&'static str, String)> {
    let contact = [house.address.as_ref().map(one_line), house.phone, house.email, house.website];
    let contact = contact.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let notes = [
        ("Venue", venue.map(one_line).unwrap_or_default()),
        ("Viewing", viewing),
        ("Contact", contact),
        ("Payment", house.payment.unwrap_or_default()),
        ("Collection", house.collection.unwrap_or_default()),
    ];
    notes.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// The picture of each item that has one: the first uploaded image in its small variant, or else the address in the
/// catalogue.
async fn pictures(session: &Session, items: &[Item]) -> Result<HashMap<Uuid, Picture>, PlatformError> {
    let given = |item: &Item| Some((item.uuid, Picture { address: item.image_url.clone()?, size: None }));
    let mut pictures: HashMap<Uuid, Picture> = items.iter().filter_map(given).collect();
    let base = &session.admin.site().base;
    for part in items.chunks(READ_MAX) {
        let Some(auction) = part.first().map(|item| item.auction) else { break };
        let uuids: Vec<Uuid> = part.iter().map(|item| item.uuid).collect();
        // From the last position to the first, so that the first image of an item stays.
        for image in session.platform().images(&session.caller, auction, &uuids).await?.iter().rev() {
            let address = format!("{base}{}", images::path(image.uuid, ImageVariant::Small));
            pictures.insert(image.item, Picture { address, size: Some(small_size(image)) });
        }
    }
    Ok(pictures)
}

/// Width and height of the small variant.
fn small_size(image: &ItemImage) -> (u32, u32) {
    let longer = image.width.max(image.height).max(PICTURE_PX);
    let side = |pixels: u32| (pixels * PICTURE_PX / longer).max(1);
    (side(image.width), side(image.height))
}
