//! Auctions: created, listed, moved from status to status.

use axum::extract::{Path, State};
use axum::response::Response;
use contract::{AuctionStatus, ItemStatus};
use http::HeaderMap;
use platform_core::auctions::after_change::AuctionAfterChange;
use platform_core::auctions::{CreatedAuction, NewAuction};
use platform_core::journal::SubjectKind;
use platform_core::{Caller, Platform};
use platform_rules::increments::{IncrementRow, IncrementTable};
use platform_rules::lifecycle::ItemCounts;
use platform_rules::{
    Admission, Auction, AuctionKind, Charges, EXTENSION_SECONDS_DEFAULT, InternetBids, SaleMode, Stagger,
};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::items::ItemIn;
use crate::cacheable::{self, CacheableResponse};
use crate::errors::{ApiError, Problem};
use crate::extract::{ListQuery, PageParams, Post, QueryRequest, instant, status};
use crate::extract_models::{Raw, address, attachments, currency_code, or_null};
use crate::list_filters::AuctionListQuery;
use crate::models::{
    AddressSchema, AuctionView, CurrencyInSchema, HistoryView, IncrementView, List, StaggerView, UrlAttachmentSchema,
};
use crate::response;

/// How items of an auction end.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum KindIn {
    /// By the server's clock.
    Timed,
    /// By the clerk's hammer.
    Webcast,
}

/// Rates in basis points, a hundredth of a percent; 0 to 10,000 each. Each amount is rounded half up for each item: the
/// premium, the tax on the hammer price, and the tax on the rounded premium.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ChargesIn {
    /// Buyer's premium, of the hammer price.
    #[schema(maximum = 10_000)]
    premium_basis_points: u32,
    /// Tax on the hammer price; 0 without.
    #[serde(default)]
    #[schema(maximum = 10_000)]
    hammer_tax_basis_points: u32,
    /// Tax on the premium; 0 without.
    #[serde(default)]
    #[schema(maximum = 10_000)]
    premium_tax_basis_points: u32,
}

impl ChargesIn {
    pub(super) fn read(self) -> Charges {
        Charges {
            premium_basis_points: self.premium_basis_points,
            hammer_tax_basis_points: self.hammer_tax_basis_points,
            premium_tax_basis_points: self.premium_tax_basis_points,
        }
    }
}

/// What becomes of internet bids in a webcast.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum InternetBidsIn {
    /// They wait for the clerk.
    WaitForClerk,
    /// They are taken as they come, at the asking price or above.
    AcceptedAtOnce,
}

impl InternetBidsIn {
    pub(super) fn read(self) -> InternetBids {
        match self {
            Self::WaitForClerk => InternetBids::WaitForClerk,
            Self::AcceptedAtOnce => InternetBids::AcceptedAtOnce,
        }
    }
}

/// An auction to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AuctionIn {
    /// Who holds it.
    auctioneer: Uuid,
    kind: KindIn,
    /// May be empty in a draft.
    #[serde(default)]
    title: String,
    /// ISO 4217, such as `GBP`, or a CurrencyModel with its code or id.
    #[schema(value_type = CurrencyInSchema)]
    currency: Raw,
    /// IANA time zone, such as `Europe/London`.
    time_zone: String,
    /// Where it is held, or its items can be seen: a new address, without an id.
    #[schema(value_type = Option<AddressSchema>)]
    address: Option<Raw>,
    /// An address that the customer has, instead of a new one.
    address_id: Option<i64>,
    /// When bidding or the webcast starts.
    #[schema(format = DateTime)]
    starts_at: Option<String>,
    /// Closing time: the end of the first items of a timed auction.
    #[schema(format = DateTime)]
    ends_at: Option<String>,
    /// Staggered ends of a timed auction.
    stagger: Option<StaggerView>,
    /// Soft close of a timed auction, in seconds: 600 when it is left out, 0 or null for off, at most 86,400.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<u32>)]
    extension_seconds: Option<Option<u32>>,
    /// Increment table; a common one without.
    increments: Option<Vec<IncrementView>>,
    /// What is added to hammer prices; nothing without.
    charges: Option<ChargesIn>,
    /// Of a webcast; `wait_for_clerk` without.
    internet_bids: Option<InternetBidsIn>,
    /// Images, documents and videos, at most 50.
    #[serde(default)]
    #[schema(value_type = Vec<UrlAttachmentSchema>)]
    attachments: Vec<Raw>,
    /// `open` (default) or `required`: if bidders have to be registered and approved.
    registration: Option<String>,
    /// `DRAFT` (default), `PREVIEW` or `LIVE`.
    status: Option<String>,
    /// Items made with it, at most 1,000. In a LIVE auction they are LIVE, but for those whose status says DRAFT.
    #[serde(default)]
    items: Vec<ItemIn>,
    /// True for a sandbox: it runs on a clock of its own, which stands still until it is advanced. Never changed.
    #[serde(default)]
    sandbox: bool,
}

impl AuctionIn {
    fn read(self) -> Result<NewAuction, ApiError> {
        let first = self.status.as_deref().map_or(Ok(AuctionStatus::Draft), |name| status("/status", name))?;
        let increments = self.increments.map(increment_table).transpose()?;
        let unsaid = if first == AuctionStatus::Live { ItemStatus::Live } else { ItemStatus::Draft };
        let items = (0..)
            .zip(self.items)
            .map(|(index, item)| item.read(&format!("/items/{index}"), unsaid))
            .collect::<Result<_, _>>()?;
        Ok(NewAuction {
            auctioneer: self.auctioneer,
            kind: match self.kind {
                KindIn::Timed => AuctionKind::Timed,
                KindIn::Webcast => AuctionKind::Webcast,
            },
            title: self.title,
            currency: currency_code("/currency", &self.currency)?,
            time_zone: self.time_zone,
            address: address(self.address.as_deref(), self.address_id)?,
            starts_at: instant("/startsAt", self.starts_at.as_deref())?,
            ends_at: instant("/endsAt", self.ends_at.as_deref())?,
            stagger: self.stagger.map(|stagger| Stagger { seconds: stagger.seconds, items: stagger.items }),
            extension_seconds: self.extension_seconds.unwrap_or(Some(EXTENSION_SECONDS_DEFAULT)).filter(|on| *on > 0),
            increments,
            charges: self.charges.map(ChargesIn::read).unwrap_or_default(),
            internet_bids: self.internet_bids.map(InternetBidsIn::read).unwrap_or_default(),
            attachments: attachments("/attachments", &self.attachments)?,
            registration: admission(self.registration.as_deref())?,
            status: first,
            items,
            sale_mode: if self.sandbox { SaleMode::Sandbox } else { SaleMode::Real },
        })
    }
}

fn admission(name: Option<&str>) -> Result<Admission, ApiError> {
    let Some(name) = name else { return Ok(Admission::default()) };
    let found = Admission::ALL.into_iter().find(|admission| admission.as_str() == name);
    found.ok_or_else(|| ApiError::invalid("/registration", "is neither open nor required"))
}

pub(super) fn increment_table(rows: Vec<IncrementView>) -> Result<IncrementTable, ApiError> {
    let rows = rows.into_iter().map(|row| IncrementRow { from: row.from, increment: row.increment }).collect();
    IncrementTable::new(rows).map_err(|error| ApiError::invalid("/increments", error.to_string()))
}

/// Creates an auction, with its items in the same call if wanted. Announced. Scope `auctions:write`.
#[utoipa::path(post, path = "/auctions", tag = "auctions", request_body = AuctionIn,
    responses((status = 201, body = AuctionView), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn create(State(platform): State<Platform>, post: Post<AuctionIn>) -> Result<Response, ApiError> {
    let (post, new) = post.map(AuctionIn::read)?;
    let now = platform.now();
    let whole = |created: &CreatedAuction| AuctionView::whole(&created.auction, &created.counts(), None, now);
    let render = |created: &CreatedAuction| response::body(&whole(created));
    let tag = |created: &CreatedAuction| Some(cacheable::auction_etag(&created.auction, &created.counts(), None, now));
    let outcome = platform.create_auction(&post.caller, &new, post.answering_tagged(201, &render, &tag)).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}

/// Lists auctions in order of creation, narrowed to those that meet all that is asked for. Scope `auctions:read`.
#[utoipa::path(get, path = "/auctions", tag = "auctions", params(AuctionListQuery),
    responses((status = 200, body = List<AuctionView>), (status = 404, body = Problem)))]
pub(crate) async fn list(
    State(platform): State<Platform>,
    request: QueryRequest<AuctionListQuery>,
) -> Result<Response, ApiError> {
    let (wanted, page) = request.query.read()?;
    let auctions = platform.list_auctions(&request.caller, wanted, page.with_lookahead()).await?;
    page_of(&platform, auctions, page).await
}

/// A page of auctions, each with where it may go from here.
pub(super) async fn page_of(
    platform: &Platform,
    auctions: Vec<Auction>,
    page: PageParams<Uuid>,
) -> Result<Response, ApiError> {
    let present = platform.item_presence(&auctions).await?;
    let auctions: Vec<(Auction, ItemCounts)> = auctions.into_iter().zip(present).collect();
    let now = platform.now();
    Ok(response::list(
        auctions,
        page,
        |(auction, _)| auction.uuid,
        |(auction, items)| AuctionView::new(auction, items, now),
    ))
}

/// Gives an auction with its items counted per status, and how far they have followed a change of it as a whole. Its `ETag` is
/// for all that the answer says, the counts too: with `If-None-Match` the answer is 304 while that stands. Scope
/// `auctions:read`.
#[utoipa::path(get, path = "/auctions/{uuid}", tag = "auctions",
    params(("uuid" = Uuid, Path), ("If-None-Match" = Option<String>, Header)),
    responses((status = 200, body = AuctionView), (status = 304), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let auction = platform.auction(&request.caller, uuid).await?;
    Ok(full_view(&platform, &request.caller, &auction).await?.answer(&headers))
}

/// All that is said of one auction, as it is asked for and as a change of it is answered.
pub(super) async fn full_view(
    platform: &Platform,
    caller: &Caller,
    auction: &Auction,
) -> Result<CacheableResponse, ApiError> {
    let items = platform.item_counts(caller, auction.uuid).await?;
    let lead = platform.bulk_change(caller, auction.uuid).await?;
    let (lead, now) = (lead.as_ref(), platform.now());
    let tag = cacheable::auction_etag(auction, &items, lead, now);
    Ok(CacheableResponse::tagged(&AuctionView::whole(auction, &items, lead, now), tag))
}

/// The status wanted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AuctionStatusIn {
    /// Status name, such as `LIVE`.
    status: String,
}

/// Changes an auction's status, as an administrator. Announced. Needs `If-Match`. Scope `auctions:write`.
///
/// Of an auction of more than 1,000 items, those behind the first 1,000 follow within seconds: `following` of
/// `GET /auctions/{uuid}` tells how far they are. Back to PREVIEW it is when it is sure that no bid has come in.
#[utoipa::path(post, path = "/auctions/{uuid}/status", tag = "auctions",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = AuctionStatusIn,
    responses((status = 200, body = AuctionView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn change_status(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<AuctionStatusIn>,
) -> Result<Response, ApiError> {
    let to = status("/status", &post.body.status)?;
    let seen = post.required_version()?;
    let now = platform.now();
    let render = |changed: &AuctionAfterChange| {
        response::body(&AuctionView::whole(&changed.auction, &changed.items, changed.bulk_change.as_ref(), now))
    };
    let tag = |changed: &AuctionAfterChange| {
        Some(cacheable::auction_etag(&changed.auction, &changed.items, changed.bulk_change.as_ref(), now))
    };
    let answering = post.answering_tagged(200, &render, &tag);
    let outcome = platform.change_auction_status(&post.caller, uuid, to, Some(seen), answering).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// Lists the status changes of an auction, with causes and actors. Scope `events:read`.
#[utoipa::path(get, path = "/auctions/{uuid}/history", tag = "auctions", params(("uuid" = Uuid, Path), ListQuery),
    responses((status = 200, body = List<HistoryView>), (status = 404, body = Problem)))]
pub(crate) async fn history(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<ListQuery>,
) -> Result<Response, ApiError> {
    let page = request.query.page::<i64>()?;
    let rows = platform.history(&request.caller, (SubjectKind::Auction, uuid), page.with_lookahead()).await?;
    Ok(response::list(rows, page, |row| row.sequence, |row| HistoryView::from(row)))
}
