//! Corrects the hammer price of a sold lot, with the buyer kept.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::render_page_as;
use platform_core::sales::items::hammer_price::HammerPrice;
use platform_rules::{Item, SaleResult};

use super::lot;
use super::sold_form::SoldForm;
use crate::admin::Admin;
use crate::form_page::reason_field;
use crate::page_error::PageError;
use crate::results::WayBack;
use crate::sale::Sale;
use crate::sale::unusual::{self, UnusualAmount};
use crate::sale::{labels, refusal};
use crate::session::{PathIds, Session};

/// The form.
pub(super) async fn page(
    session: Session,
    PathIds([auction, item]): PathIds<2>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    show(&session, &sale, &item, (&WayBack::of(&query).fields(), &FieldErrors::default()), (None, StatusCode::OK))
}

/// Corrects the price, or shows the form again with its faults.
pub(super) async fn correct(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, item]): PathIds<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let (mut errors, mut asked) = (FieldErrors::default(), None);
    match sale.currency.parse(form.text("amount")) {
        Err(wrong) => errors.add("amount", wrong),
        Ok(amount) => {
            let unusual_amount = unusual::is_confirmed(&form, amount);
            let right = HammerPrice { amount, reason: form.text("reason").to_owned(), unusual_amount };
            let version = form.text("version").parse().ok();
            match session.platform().correct_hammer_price(&session.caller, item.uuid, &right, version, None).await {
                Ok(_) => {
                    let path = WayBack::of(&form).path_after(&sale, &item, "hammer-price");
                    return Ok(admin.redirect(&path).into_response());
                }
                Err(error) => {
                    asked = UnusualAmount::of(&error, amount, &sale.currency);
                    match &asked {
                        Some(asked) => errors.add("amount", asked.fault()),
                        None => refusal::add_to(&mut errors, error)?,
                    }
                }
            }
        }
    }
    let (sale, item) = lot::load(&session, auction, item.uuid).await?;
    show(&session, &sale, &item, (&form, &errors), (asked, StatusCode::UNPROCESSABLE_ENTITY))
}

fn show(
    session: &Session,
    sale: &Sale,
    item: &Item,
    (values, errors): (&FormFields, &FieldErrors),
    (asked, status): (Option<UnusualAmount>, StatusCode),
) -> Result<Response, PageError> {
    let mut fields = vec![
        FormField::text("amount", format!("Right hammer price, {}", sale.currency.code()), values.text("amount"))
            .required(),
        reason_field(values.text("reason")).required(),
    ];
    fields.extend(asked.map(|asked| asked.field_of_price()));
    let now = item.standing.as_ref().map(|standing| {
        format!("Now: {} to {}. The buyer stays.", sale.currency.exact(standing.amount), labels::bidder(standing))
    });
    let total = SaleResult::of(&sale.auction, item).map(|result| {
        format!("Premium and tax follow the price; the total is {} now.", sale.currency.exact(result.total))
    });
    let no_event = "No event is sent: the lot stays sold. The log keeps both prices.".to_owned();
    let mut page = SoldForm::new(session, (sale, item), &WayBack::of(values), ("hammer-price", "Correct hammer price"));
    page.consequences = now.into_iter().chain(total).chain([no_event]).collect();
    page.fields = fields.into_iter().map(|field| field.with(errors)).collect();
    page.errors = ErrorSummary::of_fields(errors, &page.fields);
    render_page_as(status, &page)
}
