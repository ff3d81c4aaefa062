//! Approves registrations, and declines or suspends one with a reason.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_core::PlatformError;
use platform_core::bidders::RegistrationDecision;
use platform_core::port::{Registration, RegistrationStatus};
use uuid::Uuid;

use super::place::{Done, Place};
use crate::admin::Admin;
use crate::form_page::reason_field;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::refusal;
use crate::session::{PathIds, Section, Session};

/// Reasons that the form suggests.
const REASONS: &[&str] = &[
    "The identity could not be confirmed",
    "The deposit was not received",
    "Lots of an earlier sale are not paid",
    "Registered twice",
    "The bidder asked for it",
];
/// Registrations that one form approves at most.
const APPROVED_MAX: usize = 250;

#[derive(Template)]
#[template(path = "registrations/decide.html")]
struct DecidePage {
    frame: Frame,
    sale_title: String,
    path: String,
    /// The part of the list to which the form leads back.
    list: String,
    id: Uuid,
    action: &'static str,
    to: &'static str,
    paddle: String,
    name: String,
    version: i64,
    effect: &'static str,
    /// The bidder receives a mail about the decision.
    writes_mail: bool,
    reason: FormField,
    errors: ErrorSummary,
}

/// Approves the registrations of the form.
pub(super) async fn approve(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let step = RegistrationDecision { to: RegistrationStatus::Approved, reason: None };
    let chosen: Vec<(Uuid, i64)> = form.all("registration").filter_map(seen).take(APPROVED_MAX).collect();
    let (mut approved, mut missed) = (Vec::new(), 0);
    for (uuid, version) in chosen {
        let (caller, key) = (&session.caller, (auction, uuid));
        match session.platform().change_registration_status(caller, key, &step, Some(version), None).await {
            Ok(_) => approved.push(uuid),
            // Someone was faster, perhaps the same user with a second press: the list shows what stands.
            Err(PlatformError::PreconditionFailed { .. } | PlatformError::Rejected(_) | PlatformError::NotFound(_)) => {
                missed += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
    let path = Place::of_form(&form).path(&sale, Done::Decided(step.to), &approved);
    Ok(admin.redirect(&format!("{path}&missed={missed}")).into_response())
}

/// A registration that a form names with the version that its page showed.
fn seen(text: &str) -> Option<(Uuid, i64)> {
    let (uuid, version) = text.split_once('.')?;
    Some((Uuid::try_parse(uuid).ok()?, version.parse().ok()?))
}

/// The page that asks for a reason.
pub(super) async fn page(
    session: Session,
    PathIds([auction, registration]): PathIds<2>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let found = session.platform().registration(&session.caller, (auction, registration)).await?;
    show(&session, &sale, &found, wanted(&query)?, (&query, &FieldErrors::default()), StatusCode::OK).await
}

/// Declines or suspends, or shows the page again with what is wrong.
pub(super) async fn decide(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, registration]): PathIds<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = Sale::load(&session, auction).await?;
    let step = RegistrationDecision { to: wanted(&form)?, reason: form.non_empty("reason").map(str::to_owned) };
    let version = form.text("version").parse().ok();
    let key = (auction, registration);
    match session.platform().change_registration_status(&session.caller, key, &step, version, None).await {
        Ok(_) => {
            let path = Place::of_form(&form).path(&sale, Done::Decided(step.to), &[registration]);
            Ok(admin.redirect(&path).into_response())
        }
        Err(error) => {
            let mut errors = FieldErrors::default();
            refusal::add_to(&mut errors, error)?;
            let found = session.platform().registration(&session.caller, key).await?;
            show(&session, &sale, &found, step.to, (&form, &errors), StatusCode::UNPROCESSABLE_ENTITY).await
        }
    }
}

fn wanted(fields: &FormFields) -> Result<RegistrationStatus, ErrorPage> {
    let found = RegistrationStatus::ALL.into_iter().find(|status| status.as_str() == fields.text("to"));
    found.ok_or_else(|| ErrorPage::bad_request("The address names no decision."))
}

async fn show(
    session: &Session,
    sale: &Sale,
    registration: &Registration,
    to: RegistrationStatus,
    (values, errors): (&FormFields, &FieldErrors),
    status: StatusCode,
) -> Result<Response, PageError> {
    let (action, effect) = match to {
        RegistrationStatus::Suspended => (
            "Suspend bidder",
            "The bidder can't bid any more in this auction. Bids that stand stay: cancel them on the page of their lot.",
        ),
        RegistrationStatus::Refused => (
            "Decline registration",
            "The bidder can't bid in this auction. Bids that stand stay: cancel them on the page of their lot.",
        ),
        RegistrationStatus::Approved | RegistrationStatus::Pending => {
            ("Approve registration", "The bidder can bid in this auction.")
        }
    };
    let reason = reason_field(values.text("reason")).required().suggesting(REASONS.iter().copied()).with(errors);
    let writes_mail = session.platform().sends_mail()
        && session.platform().house(&session.caller, sale.auction.customer).await?.mails.sends_decisions;
    let page = DecidePage {
        writes_mail,
        frame: session.frame(format!("{action} · {}", sale.title()), Section::Auctions),
        sale_title: sale.title(),
        path: sale.path("/registrations"),
        list: Place::of_form(values).query(),
        id: registration.uuid,
        action,
        to: to.as_str(),
        paddle: registration.paddle.clone(),
        name: registration.name.clone().unwrap_or_else(|| "not named yet".to_owned()),
        version: registration.version,
        effect,
        errors: ErrorSummary::of_fields(errors, [&reason]),
        reason,
    };
    render_page_as(status, &page)
}
