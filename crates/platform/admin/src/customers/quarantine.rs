//! Events that the provider refused for good: sent again, or dropped.

use axum::response::{IntoResponse as _, Response};
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use platform_core::PlatformError;
use platform_core::outbox::quarantine::QuarantineSelection;
use platform_core::port::{Cursor, OvertakenPolicy};
use uuid::Uuid;

use crate::form_page::{FormPage, Refused, not_found};
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

fn cursor(fields: &FormFields) -> Result<Cursor, PageError> {
    fields.text("cursor").parse().map_err(|_| not_found())
}

/// Sends one event again, or all that keep their order. An event that was overtaken leads to a page that asks.
pub(super) async fn send(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let which = match form.non_empty("cursor") {
        Some(_) => QuarantineSelection::These(vec![cursor(&form)?]),
        None => QuarantineSelection::All,
    };
    let policy = if form.text("outOfOrder") == "yes" { OvertakenPolicy::Send } else { OvertakenPolicy::Refuse };
    let path = format!("/customers/{uuid}");
    match session.platform().send_quarantined(&session.caller, uuid, (&which, policy), None).await {
        Ok(sent) => {
            let done = if sent.fresh()?.left.is_empty() { "quarantine-sent" } else { "quarantine-left" };
            Ok(session.admin.redirect(&format!("{path}?done={done}")).into_response())
        }
        Err(PlatformError::LaterPublished(cursor)) => {
            let asked = format!("{path}/quarantine/out-of-order?cursor={cursor}");
            Ok(session.admin.redirect(&asked).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// Asks whether an event is sent out of order.
pub(super) async fn out_of_order_page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let customer = session.platform().customer(&session.caller, uuid).await?;
    let cursor = cursor(&query)?.to_string();
    let path = format!("/customers/{uuid}");
    let action = format!("{path}/quarantine/send");
    FormPage::new(session.frame("Send the event out of order", Section::Customers), (path, customer.name), action)
        .causes("A later event of the same auction or lot was published already.")
        .causes("The customer's endpoints receive an old status after the new one. Send it only if they compare the number in the event id.")
        .hidden("cursor", cursor)
        .hidden("outOfOrder", "yes")
        .destroys("Send out of order")
        .open()
}

async fn drop_form(session: &Session, uuid: Uuid, form: &FormFields, refused: &Refused) -> Result<FormPage, PageError> {
    let customer = session.platform().customer(&session.caller, uuid).await?;
    let cursor = cursor(form)?.to_string();
    let path = format!("/customers/{uuid}");
    let action = format!("{path}/quarantine/drop");
    Ok(FormPage::new(session.frame("Drop the event", Section::Customers), (path, customer.name), action)
        .causes(format!(
            "The event with cursor {cursor} is never published. The customer's endpoints do not learn of it."
        ))
        .causes("The journal and the event feed keep it. No event is sent.")
        .hidden("cursor", cursor)
        .fields(vec![
            FormField::text("reason", "Reason", form.text("reason"))
                .chars_max(500)
                .required()
                .hint("For the server's log.")
                .fault(refused.of("reason")),
        ])
        .destroys("Drop event"))
}

/// Asks for the reason.
pub(super) async fn drop_page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    drop_form(&session, uuid, &query, &Refused::default()).await?.open()
}

/// Drops the event.
pub(super) async fn drop_event(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let cursors = [cursor(&form)?];
    let dropped = session.platform().drop_quarantined(&session.caller, uuid, (&cursors, form.text("reason")), None);
    match dropped.await {
        Ok(_) => Ok(session.admin.redirect(&format!("/customers/{uuid}?done=quarantine-dropped")).into_response()),
        Err(error) => {
            let refused = Refused::from(error, &[])?;
            drop_form(&session, uuid, &form, &refused).await?.refuse(&refused)
        }
    }
}
