//! Changes the status of an auction: first a page that says what it will cause and who is notified, then the change.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use contract::AuctionStatus;
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, QueryFields, SubmittedForm};
use kit_design::form_field::FormField;
use kit_design::frame::{Frame, render_page_as};
use platform_core::PlatformError;
use platform_core::port::Page;
use platform_core::sales::auctions::requested_status::RequestedStatus;
use platform_rules::Rejection;

use super::blockers;
use crate::admin::Admin;
use crate::form_page::reason_field;
use crate::lots::bidder_offer;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::labels::Badge;
use crate::sale::writable;
use crate::sale::{notified, refusal};
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
    reason: Option<FormField>,
    buyers_open: Option<FormField>,
    errors: ErrorSummary,
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
    let mut errors = FieldErrors::default();
    if let Some(blocker) = blockers::of(&sale.auction, &sale.counts, to, sale.now) {
        errors.add("", blocker);
    }
    show(&session, &sale, to, ("", &errors), StatusCode::OK).await
}

/// Changes the status, or shows the page again with why it is not possible.
pub(super) async fn change(
    session: Session,
    State(admin): State<Admin>,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let (to, version) = (wanted(&form)?, form.text("version").parse().ok());
    let (reason, buyers_open) = (form.non_empty("reason").map(str::to_owned), form.non_empty(blockers::BUYERS_OPEN));
    let requested = RequestedStatus { to, reason, buyers_open: buyers_open.is_some() };
    match session.platform().change_auction_status(&session.caller, uuid, requested, version, None).await {
        Ok(_) => Ok(admin.redirect(&format!("/auctions/{uuid}?done=status")).into_response()),
        Err(error) => {
            let mut errors = FieldErrors::default();
            match error {
                PlatformError::Rejected(Rejection::BuyersOpen { .. }) => {
                    errors.add(blockers::BUYERS_OPEN, "Name the buyers on Results first, or tick this.");
                }
                error => refusal::add_to(&mut errors, error)?,
            }
            let sale = writable(&session, uuid).await?;
            show(&session, &sale, to, (form.text("reason"), &errors), StatusCode::CONFLICT).await
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
    (reason, errors): (&str, &FieldErrors),
    status: StatusCode,
) -> Result<Response, PageError> {
    let from = sale.auction.status;
    let action = blockers::action(from, to);
    let is_closed = matches!(to, AuctionStatus::Reconciliation | AuctionStatus::Archived);
    let open_buyers =
        if is_closed { session.platform().open_buyers(&session.caller, sale.auction.uuid).await? } else { 0 };
    let asks_for_buyers = from == AuctionStatus::Reconciliation && to == AuctionStatus::Archived && open_buyers > 0;
    let buyers_open = if asks_for_buyers {
        let page = Page { after: None, limit: blockers::OPEN_LOTS_SHOWN_MAX };
        let lots = session.platform().lots_with_open_buyer(&session.caller, sale.auction.uuid, page).await?;
        Some(blockers::archive_with_open_buyers(open_buyers, &lots).with(errors))
    } else {
        None
    };
    let offers = if to == AuctionStatus::Archived { bidder_offer::of_sale(session, sale).await? } else { Vec::new() };
    let consequences = blockers::consequences(&sale.auction, &sale.counts, to);
    let reason = blockers::is_mistake(from, to).then(|| reason_field(reason).required().with(errors));
    let page = StatusPage {
        frame: session.frame(format!("{action} · {}", sale.title()), Section::Auctions),
        title: sale.title(),
        path: sale.path(""),
        action,
        from: from.into(),
        to: to.into(),
        to_name: to.name(),
        version: sale.auction.version,
        consequences: blockers::open_buyers(open_buyers, to)
            .into_iter()
            .chain(bidder_offer::ending(&offers))
            .chain(consequences)
            .collect(),
        notified: notified::words(session, sale, "one event about the auction's status").await?,
        errors: ErrorSummary::of_fields(errors, reason.iter().chain(&buyers_open)),
        reason,
        buyers_open,
        is_final: is_closed,
    };
    render_page_as(status, &page)
}
