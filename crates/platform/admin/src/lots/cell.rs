//! Saves one cell of the grid, with the version of the row that the person saw.

use askama::Template as _;
use axum::extract::State;
use axum::response::{Html, IntoResponse as _, Response};
use http::{HeaderMap, StatusCode};
use kit_design::error_page::ErrorPage;
use kit_design::fields::{FieldErrors, FormFields, SubmittedForm};
use platform_rules::Item;
use platform_rules::item::ItemEdit;

use super::columns::Column;
use super::consignors::{Consignors, TypedConsignor};
use super::grid::{self, OpenCell};
use super::grid_columns;
use super::row::{Editor, Row};
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::refusal;
use crate::sale::writable;
use crate::session::{PathIds, Session};

/// The script asks for the row alone with this header.
pub(super) const FRAGMENT: &str = "x-fragment";

/// Saves the cell: back to the grid, or the grid with the cell still open and what is wrong.
pub(super) async fn save(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, item]): PathIds<2>,
    headers: HeaderMap,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = writable(&session, auction).await?;
    let column =
        Column::parse(form.text("field")).ok_or_else(|| ErrorPage::bad_request("The form names no field of a lot."))?;
    let (fault, item) = change(&session, &sale, item, column, &form).await?;
    let wants_row = headers.contains_key(FRAGMENT);
    let status = if fault.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let value = form.text("value").to_owned();
    if wants_row {
        let editor = (!fault.is_empty()).then_some(Editor { column, value, fault });
        let (columns, kept) =
            (grid_columns::chosen(&session, &headers), grid::kept(&FormFields::of_query(form.text("back"))?));
        let consignors = grid::consignors(&session, &sale, &columns, std::slice::from_ref(&item)).await?;
        let mut row = Row::new(&session, &sale, (&item, &consignors), (&columns, &kept), editor);
        let (items, rows) = (std::slice::from_ref(&item), std::slice::from_mut(&mut row));
        Row::add_pictures(&session, items, rows).await?;
        let row = row.render().map_err(|_| PageError::from(ErrorPage::internal()))?;
        return Ok((status, Html(row)).into_response());
    }
    let query = FormFields::of_query(form.text("back"))?;
    if fault.is_empty() {
        let kept = grid::kept(&query);
        let path = sale.path(&format!("/lots?{kept}done=saved#lot-{}", item.position));
        return Ok(admin.redirect(&path).into_response());
    }
    let open = OpenCell { position: item.position, column, value: Some(value), fault };
    grid::show(&session, &sale, (&query, &headers), Some(open), status).await
}

/// Changes the field. Returns what is wrong, if anything is, and the lot as it is now.
async fn change(
    session: &Session,
    sale: &Sale,
    item: uuid::Uuid,
    column: Column,
    form: &FormFields,
) -> Result<(String, Item), PageError> {
    let (before, of) = session.platform().item(&session.caller, item).await?;
    if of.uuid != sale.auction.uuid {
        return Err(ErrorPage::not_found().into());
    }
    let mut edit = ItemEdit::default();
    let mut value = form.text("value").to_owned();
    if column == Column::Vendor {
        let typed = TypedConsignor::of(session, sale, &value, Some(&before)).await?;
        if !typed.fault.is_empty() {
            return Ok((typed.fault, before));
        }
        value = typed.value;
    }
    if let Err(fault) = column.set(&mut edit, &value, &sale.currency) {
        return Ok((fault, before));
    }
    let version = form.text("version").parse().ok();
    match session.platform().change_item(&session.caller, item, &edit, version).await {
        Ok((item, _)) => Ok((String::new(), item)),
        Err(platform_core::PlatformError::PreconditionFailed { .. }) => {
            let consignors = Consignors::of(session, sale, [&before]).await?;
            let now = column.shown(&before, &sale.currency, &consignors);
            let now = if now.is_empty() { "empty".to_owned() } else { format!("“{now}”") };
            let text = format!("Someone else changed this lot. The field is {now} now. Save again to replace it.");
            Ok((text, before))
        }
        Err(error) => {
            let mut errors = FieldErrors::default();
            refusal::add_to(&mut errors, error)?;
            let own = errors.of(column.name());
            Ok((if own.is_empty() { errors.remaining(&[]).join(" ") } else { own }, before))
        }
    }
}
