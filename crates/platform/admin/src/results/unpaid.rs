//! Records that a buyer does not pay for lots: a selection of the buyer's lots, all of them or none.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};
use platform_core::sales::items::unpaid::UnpaidLots;
use platform_rules::Item;
use uuid::Uuid;

use crate::admin::Admin;
use crate::auctions::field::Field;
use crate::auctions::list::writable;
use crate::auctions::sale::Sale;
use crate::auctions::{notified, refusal};
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "results/unpaid.html")]
struct UnpaidPage {
    frame: Frame,
    sale_title: String,
    path: String,
    buyer: String,
    lots: Vec<Lot>,
    reason: Field,
    notified: String,
    faults: Vec<String>,
}

struct Lot {
    id: Uuid,
    lot_number: String,
    title: String,
    hammer: String,
    is_chosen: bool,
}

/// The lots of the buyer, to select from; a single one is selected.
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    show(&session, &sale, (&query, &FieldErrors::default()), StatusCode::OK).await
}

/// Records the selected lots, or shows the form again with its faults.
pub(super) async fn record(
    session: Session,
    State(admin): State<Admin>,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let mut errors = FieldErrors::default();
    let chosen = chosen(&form);
    if chosen.is_empty() {
        errors.add("", "Select at least one lot.");
    } else {
        let (buyer, reason) = (form.text("buyer").to_owned(), form.text("reason").to_owned());
        let unpaid = UnpaidLots { buyer, items: Some(chosen), reason };
        match session.platform().record_unpaid_lots(&session.caller, uuid, &unpaid, None, None).await {
            Ok(_) => return Ok(admin.redirect(&sale.path("/results?done=unpaid")).into_response()),
            Err(error) => refusal::add_to(&mut errors, error)?,
        }
    }
    show(&session, &sale, (&form, &errors), StatusCode::UNPROCESSABLE_ENTITY).await
}

fn chosen(form: &FormFields) -> Vec<Uuid> {
    form.all("lot").filter_map(|lot| Uuid::try_parse(lot).ok()).collect()
}

async fn show(
    session: &Session,
    sale: &Sale,
    (values, errors): (&FormFields, &FieldErrors),
    status: StatusCode,
) -> Result<Response, PageError> {
    let buyer = values.text("buyer").to_owned();
    let sold = session.platform().lots_sold_to(&session.caller, sale.auction.uuid, &buyer).await?;
    let (chosen, is_only) = (chosen(values), sold.len() == 1);
    let lot = |item: &Item| Lot {
        id: item.uuid,
        lot_number: item.lot_number.clone(),
        title: item.title.clone(),
        hammer: item.price().map(|price| sale.currency.exact(price)).unwrap_or_default(),
        is_chosen: is_only || chosen.contains(&item.uuid),
    };
    let page = UnpaidPage {
        frame: session.frame(format!("Unpaid lots · {}", sale.title()), Section::Auctions),
        sale_title: sale.title(),
        path: sale.path("/results"),
        buyer,
        lots: sold.iter().map(lot).collect(),
        reason: Field::reason(values.text("reason")).required().with(errors),
        notified: notified::words(session, sale, "one event for each lot, that it is unsold").await?,
        faults: errors.remaining(&["reason"]),
    };
    render_page_as(status, &page)
}
