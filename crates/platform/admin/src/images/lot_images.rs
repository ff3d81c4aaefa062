//! Adds images to one lot, removes them, and makes one the first.

use axum::extract::State;
use axum::extract::multipart::Multipart;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::fields::FormFields;
use platform_core::images::{ItemImage, SameName};
use platform_rules::Item;
use uuid::Uuid;

use super::files::{self, ChosenFiles, FileRow};
use super::panel::Uploaded;
use crate::admin::Admin;
use crate::form_page::FormPage;
use crate::lots::lot;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::refusal;
use crate::session::{PathIds, Section, Session};

/// Adds the chosen files in their order. When one is refused, the page of the lot says why beside its name.
pub(super) async fn add(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, item]): PathIds<2>,
    form: Multipart,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    sale.auction.require_open().map_err(platform_core::PlatformError::from)?;
    let (mut chosen, mut uploaded, mut refused) = (ChosenFiles::new(&session, form), Uploaded::default(), None);
    loop {
        match chosen.next().await {
            Ok(Some(file)) => {
                let name = file.name.clone();
                // Phones give every picture the same name, so an image of that name stays.
                let stored = files::store(&session, item.uuid, file, SameName::Keep).await?;
                if stored.is_err() {
                    refused = Some(StatusCode::UNPROCESSABLE_ENTITY);
                }
                uploaded.files.push(FileRow::new(name, None, stored));
            }
            Ok(None) => break,
            Err(broken_off) => {
                refused = Some(broken_off.status);
                uploaded.fault = broken_off.text;
                break;
            }
        }
    }
    if uploaded.files.is_empty() && refused.is_none() {
        refused = Some(StatusCode::UNPROCESSABLE_ENTITY);
        uploaded.fault = "Choose one or more images.".to_owned();
    }
    match refused {
        Some(status) => lot::show(&session, &sale, &item, &FormFields::default(), uploaded, status).await,
        None => Ok(admin.redirect(&lot_path(&sale, &item, "?done=images#images")).into_response()),
    }
}

/// The page that asks for confirmation.
pub(super) async fn ask_removal(
    session: Session,
    PathIds([auction, item, image]): PathIds<3>,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let images = images(&session, &item).await?;
    let place = images.iter().position(|other| other.uuid == image).ok_or_else(ErrorPage::not_found)?;
    let title = format!("Remove image {} of lot {}", place + 1, item.lot_number);
    let above = (lot_path(&sale, &item, "#images"), format!("Lot {}", item.lot_number));
    let action = lot_path(&sale, &item, &format!("/images/{image}/remove"));
    let name = images.get(place).map(|image| image.file_name.clone()).unwrap_or_default();
    let mut page = FormPage::new(session.frame(title, Section::Auctions), above, action)
        .intro(format!("The image “{name}” of lot {}: {}.", item.lot_number, item.title))
        .causes("The image is deleted in all its sizes. To show it again, upload its file again.");
    if place == 0 && images.len() > 1 {
        page = page.causes("The next image becomes the first: lists, the clerk's desk and the screens show it.");
    }
    page.causes("No event is sent.").destroys("Remove image").open()
}

/// Removes the image.
pub(super) async fn remove(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, item, image]): PathIds<3>,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    if !images(&session, &item).await?.iter().any(|other| other.uuid == image) {
        return Err(ErrorPage::not_found().into());
    }
    session.platform().remove_image(&session.caller, image).await?;
    Ok(admin.redirect(&lot_path(&sale, &item, "?done=image-removed#images")).into_response())
}

/// Makes the image the first; the others keep their order.
pub(super) async fn make_first(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, item, image]): PathIds<3>,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let mut order: Vec<Uuid> = images(&session, &item).await?.iter().map(|image| image.uuid).collect();
    let place = order.iter().position(|other| *other == image).ok_or_else(ErrorPage::not_found)?;
    order[..=place].rotate_right(1);
    if let Err(error) = session.platform().order_images(&session.caller, item.uuid, order).await {
        let why = refusal::text(error)?;
        return Err(ErrorPage::new(StatusCode::CONFLICT, "The order was not changed", why).into());
    }
    Ok(admin.redirect(&lot_path(&sale, &item, "?done=image-first#images")).into_response())
}

async fn images(session: &Session, item: &Item) -> Result<Vec<ItemImage>, PageError> {
    Ok(session.platform().images(&session.caller, item.auction, &[item.uuid]).await?)
}

fn lot_path(sale: &Sale, item: &Item, page: &str) -> String {
    sale.path(&format!("/lots/{}{page}", item.uuid))
}
