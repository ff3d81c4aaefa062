//! Exchange rates that the room screen shows prices with.

use axum::response::{IntoResponse as _, Redirect, Response};
use jiff::civil::Date;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FormFields, SubmittedForm};
use kit_design::form_field::FormField;
use platform_core::port::GuideRate;

use super::links;
use crate::form_page::Refused;
use crate::page_error::PageError;
use crate::session::{PathIds, Session};

/// A rate in the list.
pub(super) struct RateRow {
    pub(super) currency: String,
    pub(super) rate: String,
    pub(super) date: String,
}

impl RateRow {
    pub(super) fn new(rate: &GuideRate) -> Self {
        Self { currency: rate.currency.clone(), rate: rate.text(), date: day(rate.date) }
    }
}

/// `25 Nov 2026`
pub(super) fn day(date: Date) -> String {
    date.strftime("%-d %b %Y").to_string()
}

/// The fields of the form, and their errors.
pub(super) fn form(form: &FormFields, today: Date, refused: Option<&Refused>) -> (Vec<FormField>, ErrorSummary) {
    let fault = |field: &str| refused.map(|refused| refused.of(field)).unwrap_or_default();
    let date = form.non_empty("date").map_or_else(|| today.to_string(), str::to_owned);
    let fields = vec![
        FormField::text("currency", "Currency", form.text("currency"))
            .chars_max(3)
            .required()
            .hint("Three letters of ISO 4217, such as USD. A rate that exists is replaced.")
            .fault(fault("currency")),
        FormField::text("rate", "Rate", form.text("rate"))
            .chars_max(14)
            .required()
            .hint("How much of this currency one unit of the sale's currency buys, such as 1.2734.")
            .fault(fault("rate")),
        FormField::text("date", "Date of the rate", &date)
            .chars_max(10)
            .required()
            .kind("date", "off")
            .fault(fault("date")),
    ];
    let errors = refused.map(|refused| ErrorSummary::of_fields(&refused.errors, &fields)).unwrap_or_default();
    (fields, errors)
}

/// Enters or replaces a rate.
pub(super) async fn put(
    session: Session,
    PathIds([webcast]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (currency, rate, date) = (form.text("currency"), form.text("rate"), form.text("date"));
    match session.platform().put_guide_rate(&session.caller, webcast, currency, rate, date).await {
        Ok(()) => Ok(session.admin.redirect(&format!("/webcasts/{webcast}/screens?done=rate-saved")).into_response()),
        Err(error) => {
            let refused = Refused::from(error, &[])?;
            links::show(&session, webcast, &FormFields::default(), &form, Some(&refused)).await
        }
    }
}

/// Removes a rate.
pub(super) async fn remove(
    session: Session,
    PathIds([webcast]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Redirect, PageError> {
    session.platform().remove_guide_rate(&session.caller, webcast, form.text("currency")).await?;
    Ok(session.admin.redirect(&format!("/webcasts/{webcast}/screens?done=rate-removed")))
}
