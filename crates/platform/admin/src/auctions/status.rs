//! Changes the status of an auction: first a page that says what it will cause and who is notified, then the change.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use contract::AuctionStatus;
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::fields::{FormFields, QueryFields, SubmittedForm};
use kit_design::frame::{Frame, render_page_as};

use super::labels::Badge;
use super::list::writable;
use super::sale::Sale;
use super::{blockers, notified, refusal};
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::session::{PathIds, Section, Session};

#[derive(Template)]
#[template(path = "auctions/status.html")]
struct StatusPage {
    frame: Frame,
    title: String,
    path: String,
    action: &'static str,
    from: Badge,
    to: Badge,
    to_name: &'static str,
    version: i64,
    consequences: Vec<String>,
    notified: String,
    fault: String,
    is_final: bool,
}

/// The page that asks for confirmation.
pub(super) async fn page(
    session: Session,
    PathIds([uuid]): PathIds<1>,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let to = wanted(&query)?;
    let fault = blockers::of(&sale.auction, &sale.counts, to, sale.now).unwrap_or_default();
    show(&session, &sale, to, fault, StatusCode::OK).await
}

/// Changes the status, or shows the page again with why it is not possible.
pub(super) async fn change(
    session: Session,
    State(admin): State<Admin>,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (to, version) = (wanted(&form)?, form.text("version").parse().ok());
    match session.platform().change_auction_status(&session.caller, uuid, to, version, None).await {
        Ok(_) => Ok(admin.redirect(&format!("/auctions/{uuid}?done=status")).into_response()),
        Err(error) => {
            let fault = refusal::text(error)?;
            let sale = writable(&session, uuid).await?;
            show(&session, &sale, to, fault, StatusCode::CONFLICT).await
        }
    }
}

fn wanted(fields: &FormFields) -> Result<AuctionStatus, ErrorPage> {
    let found = AuctionStatus::ALL.iter().copied().find(|status| status.name() == fields.text("to"));
    found.ok_or_else(|| ErrorPage::bad_request("The address names no status of an auction."))
}

async fn show(
    session: &Session,
    sale: &Sale,
    to: AuctionStatus,
    fault: String,
    status: StatusCode,
) -> Result<Response, PageError> {
    let from = sale.auction.status;
    let action = blockers::action(from, to);
    let page = StatusPage {
        frame: session.frame(format!("{action} · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        path: sale.path(""),
        action,
        from: from.into(),
        to: to.into(),
        to_name: to.name(),
        version: sale.auction.version,
        consequences: blockers::consequences(&sale.auction, &sale.counts, to),
        notified: notified::words(session, sale, "one event about the auction's status").await?,
        fault,
        is_final: matches!(to, AuctionStatus::Reconciliation | AuctionStatus::Archived),
    };
    render_page_as(status, &page)
}
