//! Records that a buyer does not pay for lots: a selection of the buyer's lots, all of them or none.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_core::sales::items::unpaid::UnpaidLots;
use platform_rules::{Item, Rejection};
use uuid::Uuid;

use crate::admin::Admin;
use crate::form_page::reason_field;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::writable;
use crate::sale::{labels, notified, refusal};
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "results/unpaid.html")]
struct UnpaidPage {
    frame: Frame,
    sale_title: String,
    path: String,
    buyer: String,
    lots: Vec<Lot>,
    reason: FormField,
    notified: String,
    /// An amount of zero, as the page writes amounts.
    zero: String,
    errors: ErrorSummary,
}

/// Asks before the lots are recorded.
#[derive(Template)]
#[template(path = "results/unpaid_confirm.html")]
struct ConfirmPage {
    frame: Frame,
    sale_title: String,
    path: String,
    buyer: String,
    lots: Vec<Lot>,
    /// Such as `19 lots`.
    count: String,
    sum: String,
    /// The sum in minor units.
    minor: i64,
    reason: String,
    notified: String,
}

struct Lot {
    id: Uuid,
    lot_number: String,
    title: String,
    hammer: String,
    /// The hammer price in minor units.
    minor: i64,
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

/// Asks about the selected lots; once that is confirmed, records them. Shows the form again with its faults.
pub(super) async fn record(
    session: Session,
    State(admin): State<Admin>,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let mut errors = FieldErrors::default();
    if !form.text("back").is_empty() {
        return show(&session, &sale, (&form, &errors), StatusCode::OK).await;
    }
    let chosen = chosen(&form);
    if chosen.is_empty() {
        errors.add("", "Select at least one lot.");
    } else if form.text("reason").is_empty() {
        errors.add("reason", "Give a reason.");
    } else {
        let lots = selected(&session, &sale, &form, &mut errors).await?;
        let sum = lots.iter().map(|lot| lot.minor).sum();
        if errors.is_empty() {
            if form.text("confirmed") != format!("{sum}") {
                return ask(&session, &sale, &form, (lots, sum)).await;
            }
            let (buyer, reason) = (form.text("buyer").to_owned(), form.text("reason").to_owned());
            let unpaid = UnpaidLots { buyer, items: Some(chosen), reason };
            match session.platform().record_unpaid_lots(&session.caller, uuid, &unpaid, None, None).await {
                Ok(_) => {
                    let path = format!("/results?done=unpaid&lots={}&sum={sum}", lots.len());
                    return Ok(admin.redirect(&sale.path(&path)).into_response());
                }
                Err(error) => refusal::add_to(&mut errors, error)?,
            }
        }
    }
    show(&session, &sale, (&form, &errors), StatusCode::UNPROCESSABLE_ENTITY).await
}

/// The selected lots; a lot that is not sold to the buyer any more is an error.
async fn selected(
    session: &Session,
    sale: &Sale,
    form: &FormFields,
    errors: &mut FieldErrors,
) -> Result<Vec<Lot>, PageError> {
    let platform = session.platform();
    let sold = platform.lots_sold_to(&session.caller, sale.auction.uuid, form.text("buyer")).await?;
    let chosen = chosen(form);
    for other in chosen.iter().filter(|chosen| sold.iter().all(|item| item.uuid != **chosen)) {
        let lot_number = platform.item(&session.caller, *other).await?.0.lot_number;
        refusal::add_to(errors, Rejection::NotSoldToBuyer { lot_number }.into())?;
    }
    Ok(sold.iter().filter(|item| chosen.contains(&item.uuid)).map(|item| lot(sale, item, true)).collect())
}

fn lot(sale: &Sale, item: &Item, is_chosen: bool) -> Lot {
    let minor = item.price().unwrap_or_default();
    Lot {
        id: item.uuid,
        lot_number: item.lot_number.clone(),
        title: item.title.clone(),
        hammer: sale.currency.exact(minor),
        minor,
        is_chosen,
    }
}

async fn ask(
    session: &Session,
    sale: &Sale,
    form: &FormFields,
    (lots, sum): (Vec<Lot>, i64),
) -> Result<Response, PageError> {
    let page = ConfirmPage {
        frame: session.frame(format!("Unpaid lots · {}", sale.title()), Section::Auctions),
        sale_title: sale.title(),
        path: sale.path("/results"),
        buyer: form.text("buyer").to_owned(),
        count: labels::count(lots.len() as u64, "lot", "lots"),
        sum: sale.currency.exact(sum),
        minor: sum,
        reason: form.text("reason").to_owned(),
        notified: notified::words(session, sale, "one event for each lot, that it is unsold").await?,
        lots,
    };
    render_page_as(StatusCode::OK, &page)
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
    let reason = reason_field(values.text("reason")).required().with(errors);
    let page = UnpaidPage {
        frame: session.frame(format!("Unpaid lots · {}", sale.title()), Section::Auctions),
        sale_title: sale.title(),
        path: sale.path("/results"),
        buyer,
        lots: sold.iter().map(|item| lot(sale, item, is_only || chosen.contains(&item.uuid))).collect(),
        zero: sale.currency.exact(0),
        errors: ErrorSummary::of_fields(errors, [&reason]),
        reason,
        notified: notified::words(session, sale, "one event for each lot, that it is unsold").await?,
    };
    render_page_as(status, &page)
}
