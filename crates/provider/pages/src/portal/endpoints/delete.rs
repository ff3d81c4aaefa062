//! Deleting an endpoint, after asking.

use askama::Template;
use axum::response::{Redirect, Response};

use super::head::{Head, Tab};
use super::list;
use crate::portal::session::{At, Section, Session};
use crate::portal::show::Day;
use crate::shared::frame::{Frame, page as answer};
use crate::shared::refusal::Refusal;

#[derive(Template)]
#[template(path = "portal/endpoints/delete.html")]
struct DeletePage {
    frame: Frame,
    head: Head,
    day: Option<Day>,
}

/// Asks.
pub(in crate::portal) async fn page(session: Session, At([endpoint]): At<1>) -> Result<Response, Refusal> {
    let endpoint = session.endpoint(&endpoint).await?;
    answer(&DeletePage {
        frame: session.frame("Delete an endpoint", Section::Endpoints),
        head: Head::new(&session, &endpoint, Tab::Other),
        day: list::day(&session, &endpoint.id).await?,
    })
}

/// Deletes.
pub(in crate::portal) async fn delete(session: Session, At([endpoint]): At<1>) -> Result<Redirect, Refusal> {
    session.provider().delete_endpoint(&session.caller, session.app(), &endpoint).await?;
    Ok(session.portal.redirect("/endpoints?done=deleted"))
}
