//! Lots of coming sales that lack a field which they need before they are on view. The first page loads it as a fragment
//! after itself, because it reads lots.

use askama::Template;
use axum::response::{Html, IntoResponse as _, Response};
use contract::AuctionStatus;
use futures_util::future::try_join_all;
use kit_design::error_page::ErrorPage;
use kit_design::fields::QueryFields;
use kit_design::frame::{Frame, render_page};
use platform_core::PlatformResult;
use platform_core::port::Page;
use platform_core::sales::lists::AuctionQuery;
use platform_core::sales::search::MissingField;
use platform_rules::Auction;

use super::{Task, plural};
use crate::page_error::PageError;

use crate::session::{Section, Session};

/// Sales of each status whose lots are read.
const SALES_MAX: usize = 8;
/// Lots of a sale that are read.
const LOTS_MAX: usize = 250;

#[derive(Template)]
#[template(path = "today/missing.html")]
struct Missing {
    base: String,
    tasks: Vec<Task>,
}

#[derive(Template)]
#[template(path = "today/missing_page.html")]
struct MissingPage {
    frame: Frame,
    missing: String,
}

/// The counts: as a page, or as the fragment that the first page loads.
pub(super) async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let mut sales = Vec::new();
    for status in [AuctionStatus::Preview, AuctionStatus::Draft] {
        let wanted = AuctionQuery { statuses: vec![status], ..AuctionQuery::default() };
        let page = Page { after: None, limit: SALES_MAX };
        sales.extend(session.platform().list_auctions(&session.caller, wanted, page).await?);
    }
    let tasks = try_join_all(sales.iter().map(|auction| tasks_of(&session, auction))).await?;
    let missing = Missing { base: session.admin.site().base.to_string(), tasks: tasks.into_iter().flatten().collect() };
    let missing = missing.render().map_err(|_| ErrorPage::internal())?;
    if !query.text("fragment").is_empty() {
        return Ok(Html(missing).into_response());
    }
    render_page(&MissingPage { frame: session.frame("Lots that lack a field", Section::Today), missing })
}

async fn tasks_of(session: &Session, auction: &Auction) -> PlatformResult<Vec<Task>> {
    let found = session.platform().missing_counts(&session.caller, auction.uuid, LOTS_MAX).await?;
    let sale = auction.shown_title().to_owned();
    let detail = if found.is_complete { sale } else { format!("{sale}; of its first {LOTS_MAX} lots") };
    let task = |(field, count): (MissingField, u64)| {
        Task::new(
            if found.is_complete { count.to_string() } else { format!("{count}+") },
            format!("{} {}", plural(usize::try_from(count).unwrap_or(usize::MAX), "lot", "lots"), words(field)),
            &detail,
            format!("/auctions/{}/lots?missing={}", auction.uuid, field.as_str()),
        )
    };
    Ok(found.counts.into_iter().filter(|(_, count)| *count > 0).map(task).collect())
}

fn words(field: MissingField) -> &'static str {
    match field {
        MissingField::Title => "without a title",
        MissingField::Image => "without an image",
        MissingField::Description => "without a description",
        MissingField::Estimate => "without an estimate",
        MissingField::OpeningBid => "without an opening bid",
        MissingField::Reserve => "without a reserve",
        MissingField::Vendor => "without a consignor",
    }
}
