//! Changes the status of one lot: first a page that says what it will cause and who is notified.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use contract::ItemStatus;
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_rules::Item;

use super::bulk::needs_reason;
use super::lot;
use crate::admin::Admin;
use crate::form_page::reason_field;
use crate::page_error::PageError;
use crate::results::WayBack;
use crate::sale::Sale;
use crate::sale::labels::{self, Badge};
use crate::sale::{notified, refusal};
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "lots/status.html")]
struct StatusPage {
    frame: Frame,
    sale_title: String,
    sale_path: String,
    path: String,
    lot_number: String,
    title: String,
    from: Badge,
    to: Badge,
    to_name: &'static str,
    version: i64,
    /// The query of the results to which the form leads back, and the path of “Cancel”.
    results: String,
    cancel: String,
    consequences: Vec<String>,
    reason: Option<FormField>,
    errors: ErrorSummary,
}

/// The page that asks for confirmation.
pub(super) async fn page(
    session: Session,
    PathIds([auction, item]): PathIds<2>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    show(&session, &sale, &item, wanted(&query)?, (&query, &FieldErrors::default()), StatusCode::OK).await
}

/// Changes the status, or shows the page again with why it is not possible.
pub(super) async fn change(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, item]): PathIds<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let (to, version) = (wanted(&form)?, form.text("version").parse().ok());
    let reason = form.non_empty("reason").map(str::to_owned);
    let done = if to == ItemStatus::Live { "reopened" } else { "lot-status" };
    match session.platform().change_item_status(&session.caller, item.uuid, to, reason, version, None).await {
        Ok(_) => Ok(admin.redirect(&WayBack::of(&form).path_after(&sale, &item, done)).into_response()),
        Err(error) => {
            let mut errors = FieldErrors::default();
            refusal::add_to(&mut errors, error)?;
            let (sale, item) = lot::load(&session, auction, item.uuid).await?;
            show(&session, &sale, &item, to, (&form, &errors), StatusCode::CONFLICT).await
        }
    }
}

fn wanted(fields: &FormFields) -> Result<ItemStatus, ErrorPage> {
    let found = ItemStatus::ALL.iter().copied().find(|status| status.name() == fields.text("to"));
    found.ok_or_else(|| ErrorPage::bad_request("The address names no status of a lot."))
}

async fn show(
    session: &Session,
    sale: &Sale,
    item: &Item,
    to: ItemStatus,
    (values, errors): (&FormFields, &FieldErrors),
    status: StatusCode,
) -> Result<Response, PageError> {
    let mut consequences = consequences(sale, item, to);
    consequences.push(if is_announced(item, to) {
        let what = format!("one event that lot {} is {}", item.lot_number, to.label().to_lowercase());
        notified::words(session, sale, &what).await?
    } else {
        "No event is sent: no status of this lot was announced before.".to_owned()
    });
    let reason = needs_reason(item.status, to).then(|| reason_field(values.text("reason")).required().with(errors));
    let way_back = WayBack::of(values);
    let page = StatusPage {
        frame: session.frame(format!("Lot {}: {}", item.lot_number, to.label()), Section::Auctions),
        sale_title: sale.title(),
        sale_path: sale.path(""),
        path: sale.path(&format!("/lots/{}", item.uuid)),
        lot_number: item.lot_number.clone(),
        title: item.title.clone(),
        from: item.status.into(),
        to: to.into(),
        to_name: to.name(),
        version: item.version,
        results: way_back.query().to_owned(),
        cancel: way_back.path(sale, item),
        consequences,
        errors: ErrorSummary::of_fields(errors, &reason),
        reason,
    };
    render_page_as(status, &page)
}

/// True when the customer receives an event about this change.
fn is_announced(item: &Item, to: ItemStatus) -> bool {
    use platform_rules::transitions::{ITEM_TRANSITIONS, ItemActor};
    let by = |actor| matches!(actor, ItemActor::Administrator | ItemActor::Correction);
    let row = ITEM_TRANSITIONS.iter().find(|row| row.from == Some(item.status) && row.to == to && by(row.by));
    row.is_some_and(|row| row.announced.applies_to(item))
}

fn consequences(sale: &Sale, item: &Item, to: ItemStatus) -> Vec<String> {
    let price = item.price().map(|price| sale.currency.exact(price));
    let buyer = item.standing.as_ref().map(labels::bidder).unwrap_or_default();
    let mut out = Vec::new();
    match (item.status, to) {
        (ItemStatus::Sold, ItemStatus::Live) => {
            out.push(format!("The sale for {} is taken back ({buyer}).", price.unwrap_or_default()));
            out.push("The lot is on sale again with the bids that stood.".to_owned());
        }
        (ItemStatus::Passed, ItemStatus::Live) => {
            out.push("The pass is taken back, and the lot is on sale again.".to_owned())
        }
        (ItemStatus::Sold | ItemStatus::SoldBuyNow, ItemStatus::Unsold) => {
            out.push(format!(
                "The buyer did not pay {} ({buyer}): the lot counts as unsold in the results.",
                price.unwrap_or_default()
            ));
            out.push("A post-sale offer can be recorded for it afterwards.".to_owned());
        }
        (_, ItemStatus::Suspended) => {
            out.push("The lot takes no bids, and it does not end while it is suspended.".to_owned())
        }
        (_, ItemStatus::Withdrawn) => {
            out.push("The lot leaves the sale.".to_owned());
            if item.has_bids() {
                out.push("Its bids lapse. If it is reinstated, it begins without bids.".to_owned());
            }
        }
        (_, ItemStatus::Live) => out.push("The lot takes bids.".to_owned()),
        (_, ItemStatus::Draft) => out.push("Only staff see the lot.".to_owned()),
        _ => {}
    }
    out
}
