//! Erases a person, after a page that says what goes and what stays.

use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;
use kit_design::error_page::sentence;
use kit_design::fields::SubmittedForm;
use platform_core::PlatformError;
use platform_core::bidders::ErasurePlan;
use uuid::Uuid;

use crate::form_page::{FormPage, Refused};
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

fn form(session: &Session, plan: &ErasurePlan) -> FormPage {
    let path = format!("/people/{}", plan.party.uuid);
    let name = if plan.party.erasure.is_some() { "person" } else { plan.party.details.name.as_str() };
    let frame = session.frame(format!("Erase {name}"), Section::People);
    let form = FormPage::new(frame, (path.clone(), name), format!("{path}/erase"));
    if let Some(refusal) = &plan.refusal {
        return form.hindered_by(sentence(&format!("Not possible now: {refusal}")));
    }
    let mut form = form
        .intro("To answer a request for erasure. Nothing brings the record back.")
        .causes(
            "Deleted from this record and from the audit log: e-mail address, telephone number, proof of identity, reference, \
             deposit, limit, note, and the reasons of blocks.",
        )
        .causes(match plan.kept_until {
            Some(until) => format!(
                "Kept until {}, because invoices need them, and shown on this record only: name, addresses and VAT number. Then \
                 the platform deletes them.",
                date(until)
            ),
            None => "Deleted as well: name, addresses and VAT number.".to_owned(),
        });
    if plan.registrations > 0 {
        form = form.causes(format!(
            "Deleted from {}: name, e-mail address, note, telephone bookings, and mails to the bidder.",
            count(plan.registrations, "registration")
        ));
    }
    if plan.open_registrations > 0 {
        form = form.causes(format!(
            "Suspended or declined, because the sale is not over: {}.",
            count(plan.open_registrations, "registration")
        ));
    }
    form.causes(
        "Kept, under the paddle: bids, limits, purchases, and the reasons of refusals and suspensions. Kept, without a name: who \
         opened this record.",
    )
    .causes("Backups have the data until you delete them. The house and the person are not notified.")
    .hidden("version", plan.party.version.to_string())
    .destroys("Erase person")
}

fn count(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A date in UTC.
pub(super) fn date(at: Timestamp) -> String {
    at.strftime("%-d %b %Y").to_string()
}

async fn plan(session: &Session, uuid: Uuid) -> Result<ErasurePlan, PageError> {
    Ok(session.platform().erasure_plan(&session.caller, uuid).await?)
}

pub(super) async fn page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let plan = plan(&session, uuid).await?;
    let is_done = plan.party.erasure.is_some() && plan.registrations == 0;
    if is_done || plan.party.merged.is_some() {
        return Ok(session.admin.redirect(&format!("/people/{uuid}")).into_response());
    }
    form(&session, &plan).open()
}

pub(super) async fn erase(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(typed): SubmittedForm,
) -> Result<Response, PageError> {
    // A form without the version that was read erases nothing.
    let version = typed.text("version").parse().unwrap_or_default();
    let refused = match session.platform().erase_party(&session.caller, uuid, Some(version)).await {
        Ok(_) => {
            let path = format!("/people/{uuid}?done=party-erased");
            return Ok(session.admin.redirect(&path).into_response());
        }
        Err(PlatformError::PreconditionFailed { .. }) => Refused::by_page(
            "",
            "Someone else changed the record since you opened this page. Read again what the erasure deletes.",
        ),
        Err(error) => Refused::from(error, &[])?,
    };
    form(&session, &plan(&session, uuid).await?).refuse(&refused)
}
