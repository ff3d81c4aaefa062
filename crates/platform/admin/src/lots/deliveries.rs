//! Where the event of a lot's status change is: its message at the customer's provider, each endpoint and attempt.
//!
//! The provider answers over HTTP, so the page of the lot loads this as a fragment after itself.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use kit_design::error_page::{ErrorPage, sentence};
use kit_design::fields::{QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page};
use kit_design::relative_time::RelativeTime;
use platform_core::PlatformError;
use platform_core::customers::connections::{EventEndpoint, EventMessage, EventName, RESEND_SCOPES};
use platform_core::journal::SubjectKind;
use platform_core::port::Page;
use platform_rules::Item;

use super::history::Delivery;
use super::{history, lot};
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels::Badge;
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "lots/deliveries.html")]
struct Deliveries {
    base: String,
    path: String,
    sequence: i64,
    event: String,
    /// Why the provider's message can't be shown; empty when it can.
    trouble: String,
    message: Option<Message>,
    /// The deliveries of the event as the worker read them; none if the event is in quarantine, because no endpoint has it.
    known: Option<Delivery>,
    may_resend: bool,
}

#[derive(Template)]
#[template(path = "lots/deliveries_page.html")]
struct DeliveriesPage {
    frame: Frame,
    sale_title: String,
    sale_path: String,
    path: String,
    lot_number: String,
    deliveries: String,
}

struct Message {
    id: String,
    accepted_at: RelativeTime,
    endpoints: Vec<Endpoint>,
}

struct Endpoint {
    id: String,
    url: String,
    badge: Badge,
    latest: String,
    attempts: usize,
    next: Option<RelativeTime>,
}

/// The deliveries of one event: as a page, or as the fragment that the page of the lot loads.
pub(super) async fn page(
    session: Session,
    PathIds([auction, item]): PathIds<2>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let sequence: i64 = query.text("sequence").parse().map_err(|_| ErrorPage::not_found())?;
    let page = Page { after: Some(sequence.saturating_sub(1)), limit: 1 };
    let history = session.platform().history(&session.caller, (SubjectKind::Item, item.uuid), page).await?;
    let event_id = history.iter().find(|row| row.sequence == sequence).and_then(|row| row.event_id());
    let event_id = event_id.ok_or_else(ErrorPage::not_found)?;
    let quarantined = history::quarantined(&session, &item).await?.remove(&sequence);
    let known = match &quarantined {
        Some(_) => None,
        None => Some(history::delivery(&session, &sale, &item, sequence).await?),
    };
    let (message, trouble) = match quarantined {
        // The provider may have another message under this event id.
        Some(reason) => (None, reason),
        None => found(&session, &sale, &item, EventName { subject: item.uuid, sequence }).await?,
    };
    let path = sale.path(&format!("/lots/{}", item.uuid));
    let deliveries = Deliveries {
        base: session.admin.site().base.to_string(),
        path: path.clone(),
        sequence,
        event: event_id,
        trouble,
        message,
        known,
        may_resend: RESEND_SCOPES.iter().any(|scope| session.may(*scope)),
    };
    if !query.text("fragment").is_empty() {
        return render_page(&deliveries);
    }
    let page = DeliveriesPage {
        frame: session.frame(format!("Deliveries · Lot {}", item.lot_number), Section::Auctions),
        sale_title: sale.title(),
        sale_path: sale.path(""),
        path,
        lot_number: item.lot_number.clone(),
        deliveries: deliveries.render().map_err(|_| ErrorPage::internal())?,
    };
    render_page(&page)
}

/// The message at the provider, or why it can't be shown.
async fn found(
    session: &Session,
    sale: &Sale,
    item: &Item,
    event: EventName,
) -> Result<(Option<Message>, String), PageError> {
    let trouble = match session.platform().event_message(&session.caller, item.customer, event).await {
        Ok(Some(message)) => return Ok((Some(shown(session, sale, message)), String::new())),
        Ok(None) => {
            "The provider does not have it. It waits to be published, or was deleted after its retention.".to_owned()
        }
        Err(PlatformError::NotFound("connection")) => "Not sent: the customer is not connected.".to_owned(),
        Err(error @ (PlatformError::Provider { .. } | PlatformError::Invalid(_))) => sentence(&error.to_string()),
        Err(error) => return Err(error.into()),
    };
    Ok((None, trouble))
}

/// Asks the provider to send an event to one endpoint once more.
pub(super) async fn resend(
    session: Session,
    State(admin): State<Admin>,
    PathIds([auction, item]): PathIds<2>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (sale, item) = lot::load(&session, auction, item).await?;
    let sequence = form.text("sequence").parse().map_err(|_| ErrorPage::bad_request("The form names no event."))?;
    let event = EventName { subject: item.uuid, sequence };
    session.platform().resend_event(&session.caller, item.customer, event, form.text("endpoint")).await?;
    Ok(admin.redirect(&sale.path(&format!("/lots/{}?done=resent#history", item.uuid))).into_response())
}

fn shown(session: &Session, sale: &Sale, message: EventMessage) -> Message {
    let now = session.now();
    let endpoint = |endpoint: EventEndpoint| {
        let latest = endpoint.attempts.first();
        let code = |code: u16| if code == 0 { "no response".to_owned() } else { code.to_string() };
        Endpoint {
            badge: badge(&endpoint.status),
            latest: latest
                .map(|attempt| format!("{} in {} ms", code(attempt.status_code), attempt.duration_ms))
                .unwrap_or_default(),
            attempts: endpoint.attempts.len(),
            next: endpoint.next_attempt_at.map(|at| sale.zone.relative(at, now)),
            id: endpoint.id,
            url: endpoint.url,
        }
    };
    Message {
        id: message.id,
        accepted_at: sale.zone.relative(message.accepted_at, now),
        endpoints: message.endpoints.into_iter().map(endpoint).collect(),
    }
}

fn badge(status: &str) -> Badge {
    match status {
        "success" => Badge::new("good", "Delivered"),
        "fail" => Badge::new("bad", "Failed"),
        "canceled" => Badge::new("off", "Cancelled"),
        _ => Badge::new("wait", "Waiting"),
    }
}
