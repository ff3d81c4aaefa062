//! Archiving, restoring and deleting an event type. A page names the endpoints that choose it first.

use askama::Template;
use axum::response::{IntoResponse as _, Response};
use kit_design::frame::{Frame, render_page};
use provider_core::{EventTypePatch, PatchField};

use super::detail::{Subscriber, subscribers};
use crate::dashboard::session::{DashboardSession, PathParams, Section};
use crate::page_error::PageError;

#[derive(Template)]
#[template(path = "dashboard/event_types/delete.html")]
struct ConfirmPage {
    frame: Frame,
    name: String,
    is_archive: bool,
    subscribers: Vec<Subscriber>,
    has_more_subscribers: bool,
}

async fn confirm(session: DashboardSession, name: String, is_archive: bool) -> Result<Response, PageError> {
    let event_type = session.provider().event_type(&session.caller, &name).await?;
    let (subscribers, has_more_subscribers) = subscribers(&session, &name).await?;
    let title = if is_archive { "Archive event type" } else { "Delete event type" };
    render_page(&ConfirmPage {
        frame: session.frame(title, Section::EventTypes),
        name: event_type.name,
        is_archive,
        subscribers,
        has_more_subscribers,
    })
}

/// The page that asks before archiving.
pub(super) async fn archive_page(
    session: DashboardSession,
    PathParams([name]): PathParams<1>,
) -> Result<Response, PageError> {
    confirm(session, name, true).await
}

/// The page that asks before deleting.
pub(super) async fn page(session: DashboardSession, PathParams([name]): PathParams<1>) -> Result<Response, PageError> {
    confirm(session, name, false).await
}

/// Archives the event type.
pub(super) async fn archive(
    session: DashboardSession,
    PathParams([name]): PathParams<1>,
) -> Result<Response, PageError> {
    session.provider().archive_event_type(&session.caller, &name).await?;
    Ok(session.dashboard.redirect(&format!("/event-types/{name}?done=event-type-archived")).into_response())
}

/// Lists the event type again.
pub(super) async fn restore(
    session: DashboardSession,
    PathParams([name]): PathParams<1>,
) -> Result<Response, PageError> {
    let patch = EventTypePatch { archived: PatchField::Set(false), ..EventTypePatch::default() };
    session.provider().patch_event_type(&session.caller, &name, patch).await?;
    Ok(session.dashboard.redirect(&format!("/event-types/{name}?done=event-type-restored")).into_response())
}

/// Deletes the event type.
pub(super) async fn delete(
    session: DashboardSession,
    PathParams([name]): PathParams<1>,
) -> Result<Response, PageError> {
    session.provider().expunge_event_type(&session.caller, &name).await?;
    Ok(session.dashboard.redirect("/event-types?done=event-type-deleted").into_response())
}
