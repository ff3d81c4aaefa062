//! The list of auctions, newest first, with search and filters in the address.

use std::collections::HashMap;

use askama::Template;
use axum::response::Response;
use contract::AuctionStatus;
use kit_design::fields::{FormFields, QueryFields};
use kit_design::form_field::{Choice, FormField};
use kit_design::frame::{Frame, render_page};
use platform_core::Scope;
use platform_core::port::Page;
use platform_core::sales::search::AuctionSearch;
use platform_rules::{Auction, AuctionKind, ItemCounts, SaleMode};
use uuid::Uuid;

use super::blockers;
use super::owners;
use crate::page_error::PageError;
use crate::sale;
use crate::sale::labels::{self, Badge};
use crate::sale::notice;
use crate::sale::query::query_without;
use crate::session::{Section, Session};
use platform_words::SaleZone;

/// Rows of a page. Each row counts the auction's lots.
const ROWS_MAX: usize = 25;
/// Characters of the search text that are used.
const TEXT_CHARS_MAX: usize = 200;
/// Query parameters of the filter.
const FILTERS: &[&str] = &["q", "status", "kind", "customer"];

#[derive(Template)]
#[template(path = "auctions/list.html")]
struct ListPage {
    frame: Frame,
    filters: Vec<FormField>,
    rows: Vec<Row>,
    is_filtered: bool,
    may_create: bool,
    /// Query of the page with older auctions.
    older: Option<String>,
    /// Query of the first page; none on the first page.
    first: Option<String>,
}

struct Row {
    id: Uuid,
    title: String,
    badge: Badge,
    kind: &'static str,
    is_sandbox: bool,
    owner: String,
    lots: String,
    dates: String,
    blocks: String,
}

/// The list of auctions that match the filters.
pub(super) async fn page(session: Session, QueryFields(query): QueryFields) -> Result<Response, PageError> {
    let platform = session.platform();
    let wanted = search(&query);
    let before = Uuid::try_parse(query.text("before")).ok();
    let found = platform.search_auctions(&session.caller, &wanted, Page { after: before, limit: ROWS_MAX }).await?;
    let names = owners::auctioneer_names(&session, &found.entries).await?;
    let mut rows = Vec::with_capacity(found.entries.len());
    for auction in found.entries {
        let counts = platform.item_counts(&session.caller, auction.uuid).await?;
        let now = platform.time_of(&auction);
        rows.push(row(&auction, &counts, &names, blockers::first(&auction, &counts, now)));
    }
    let filter = query_without(&query, FILTERS, &[]);
    let page = ListPage {
        frame: session.frame("Auctions", Section::Auctions).with_notice(notice::from_query(&query)),
        filters: filters(&session, &query, &wanted.text).await?,
        rows,
        is_filtered: wanted != AuctionSearch::default(),
        may_create: session.may(Scope::AuctionsWrite),
        older: found.next.map(|next| format!("{filter}before={next}")),
        first: before.map(|_| filter),
    };
    render_page(&page)
}

async fn filters(session: &Session, query: &FormFields, text: &str) -> Result<Vec<FormField>, PageError> {
    let select = |name: &'static str, label: &'static str, choices: Vec<Choice>| {
        let all = Choice::of("", "All", query.text(name));
        FormField::select(name, label, std::iter::once(all).chain(choices).collect())
    };
    let status = |status: &AuctionStatus| Choice::of(status.name(), status.label(), query.text("status"));
    let kind = |kind: &AuctionKind| Choice::of(kind.as_str(), labels::kind(*kind), query.text("kind"));
    let customers = owners::customer_choices(session, query.text("customer")).await?;
    let mut filters = vec![
        FormField::search("q", "Title", text),
        select("status", "Status", AuctionStatus::ALL.iter().map(status).collect()),
        select("kind", "Kind", AuctionKind::ALL.iter().map(kind).collect()),
    ];
    if !customers.is_empty() {
        filters.push(select("customer", "Customer", customers));
    }
    Ok(filters)
}

fn search(query: &FormFields) -> AuctionSearch {
    let status = AuctionStatus::ALL.iter().copied().find(|status| status.name() == query.text("status"));
    AuctionSearch {
        customer: Uuid::try_parse(query.text("customer")).ok(),
        statuses: status.into_iter().collect(),
        kind: AuctionKind::ALL.into_iter().find(|kind| kind.as_str() == query.text("kind")),
        text: query.text("q").chars().take(TEXT_CHARS_MAX).collect(),
    }
}

fn row(auction: &Auction, counts: &ItemCounts, names: &HashMap<Uuid, String>, blocks: Option<String>) -> Row {
    Row {
        id: auction.uuid,
        title: auction.shown_title().to_owned(),
        badge: auction.status.into(),
        kind: labels::kind(auction.kind),
        is_sandbox: auction.sale_mode() == SaleMode::Sandbox,
        owner: names.get(&auction.auctioneer).cloned().unwrap_or_default(),
        lots: labels::number(counts.total),
        dates: sale::dates(auction, &SaleZone::of(auction)),
        blocks: blocks.unwrap_or_default(),
    }
}
