//! Relists the unsold lots of an auction in another one.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use contract::{AuctionStatus, ItemStatus};
use http::StatusCode;
use kit_design::error_page::ErrorPage;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::{FieldErrors, FormFields, SubmittedForm};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page_as};
use platform_core::port::Page;
use platform_core::sales::items::relist::Relist;
use platform_core::sales::search::AuctionSearch;
use uuid::Uuid;

use crate::admin::Admin;
use crate::lots::bidder_offer;
use crate::page_error::PageError;
use crate::sale::Sale;
use crate::sale::writable;
use crate::sale::{labels, refusal};
use crate::session::{PathIds, Section, Session};

/// Auctions that the form offers at most.
const TARGETS_MAX: usize = 100;

#[derive(Template)]
#[template(path = "results/relist.html")]
struct RelistPage {
    frame: Frame,
    sale_title: String,
    path: String,
    /// How many lots can be relisted.
    unsold: String,
    has_unsold: bool,
    /// What it does to open offers; empty without one.
    offers: String,
    into: Option<FormField>,
    errors: ErrorSummary,
}

/// The form.
pub(super) async fn page(session: Session, PathIds([uuid]): PathIds<1>) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    show(&session, &sale, "", &FieldErrors::default(), StatusCode::OK).await
}

/// Relists the lots, or shows the form again with what is wrong.
pub(super) async fn relist(
    session: Session,
    State(admin): State<Admin>,
    PathIds([uuid]): PathIds<1>,
    SubmittedForm(form): SubmittedForm,
) -> Result<Response, PageError> {
    let sale = writable(&session, uuid).await?;
    let into = Uuid::try_parse(form.text("into")).map_err(|_| ErrorPage::bad_request("Choose an auction."))?;
    let wanted = Relist { into, items: None, status: ItemStatus::Draft };
    let mut errors = FieldErrors::default();
    match session.platform().relist_items(&session.caller, uuid, &wanted, None).await {
        Ok(relisted) => {
            let count = relisted.fresh()?.items.len();
            let left = session.platform().count_relistable(&session.caller, uuid).await?;
            let path = format!("/auctions/{into}/lots?done=relisted&count={count}&left={left}");
            return Ok(admin.redirect(&path).into_response());
        }
        Err(error) => refusal::add_to(&mut errors, error)?,
    }
    show(&session, &sale, form.text("into"), &errors, StatusCode::CONFLICT).await
}

/// The notice of the other auction's lots after a relisting.
pub(crate) fn notice(query: &FormFields) -> Option<String> {
    let count = query.text("count").parse().ok().filter(|_| query.text("done") == "relisted")?;
    let left = match query.text("left").parse().unwrap_or(0) {
        0 => String::new(),
        left => format!(
            " {} of the other auction: relist again.",
            labels::count(left, "unsold lot is left", "unsold lots are left")
        ),
    };
    Some(format!("{}.{left}", labels::count(count, "unsold lot was relisted", "unsold lots were relisted")))
}

async fn show(
    session: &Session,
    sale: &Sale,
    chosen: &str,
    errors: &FieldErrors,
    status: StatusCode,
) -> Result<Response, PageError> {
    let wanted = AuctionSearch {
        customer: Some(sale.auction.customer),
        statuses: vec![AuctionStatus::Draft, AuctionStatus::Preview, AuctionStatus::Live],
        ..AuctionSearch::default()
    };
    let page = Page { after: None, limit: TARGETS_MAX };
    let found = session.platform().search_auctions(&session.caller, &wanted, page).await?;
    let is_target = |own: &platform_rules::Auction| {
        own.uuid != sale.auction.uuid
            && own.currency == sale.auction.currency
            && own.sale_mode() == sale.auction.sale_mode()
    };
    let choice = |own: &platform_rules::Auction| {
        Choice::of(
            own.uuid,
            format!("{} ({}, {})", own.shown_title(), own.status.label(), labels::kind(own.kind)),
            chosen,
        )
    };
    let choices: Vec<Choice> = found.entries.iter().filter(|own| is_target(own)).map(choice).collect();
    let into = (!choices.is_empty()).then(|| FormField::select("into", "Auction", choices).with(errors));
    let unsold = session.platform().count_relistable(&session.caller, sale.auction.uuid).await?;
    let offers = bidder_offer::of_sale(session, sale).await?;
    let page = RelistPage {
        frame: session.frame(format!("Relist · {}", sale.title()), Section::Auctions),
        sale_title: sale.title(),
        path: sale.path("/results"),
        errors: ErrorSummary::of_fields(errors, &into),
        unsold: labels::count(unsold, "lot", "lots"),
        has_unsold: unsold > 0,
        offers: bidder_offer::ending(&offers).unwrap_or_default(),
        into,
    };
    render_page_as(status, &page)
}
