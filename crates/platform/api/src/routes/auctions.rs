//! Auctions: creating, listing and reading them.

use axum::extract::{Path, State};
use axum::response::Response;
use contract::{AuctionStatus, ItemStatus};
use http::HeaderMap;
use platform_core::sales::auctions::{CreatedAuction, NewAuction};
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
use crate::body_fields::{Raw, address, attachments, currency_code, instant, or_null, status};
use crate::cacheable::CacheableResponse;
use crate::errors::{ApiError, Problem};
use crate::etag;
use crate::extract::{Post, QueryRequest};
use crate::list_filters::AuctionListQuery;
use crate::models::{
    AddressSchema, AuctionView, CurrencyInSchema, IncrementView, List, StaggerView, UrlAttachmentSchema,
};
use crate::pagination::PageParams;
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

/// Charges on the hammer price, in basis points (hundredths of a percent); 0 to 10,000 each. For each item, the
/// premium, the tax on the hammer price and the tax on the rounded premium are rounded half up.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ChargesIn {
    /// Buyer's premium, of the hammer price.
    #[schema(maximum = 10_000)]
    premium_basis_points: u32,
    /// Tax on the hammer price. Default: 0.
    #[serde(default)]
    #[schema(maximum = 10_000)]
    hammer_tax_basis_points: u32,
    /// Tax on the premium. Default: 0.
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

/// How a webcast handles internet bids.
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

/// A new auction.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AuctionIn {
    /// UUID of the auctioneer that holds the auction.
    auctioneer: Uuid,
    /// How the items end.
    kind: KindIn,
    /// At most 500 characters; may be empty in a DRAFT.
    #[serde(default)]
    title: String,
    /// ISO 4217 code, such as `GBP`, or a CurrencyModel with its code or id.
    #[schema(value_type = CurrencyInSchema)]
    currency: Raw,
    /// IANA time zone, such as `Europe/London`.
    time_zone: String,
    /// A new address, without an id, where the auction is held or its items can be viewed.
    #[schema(value_type = Option<AddressSchema>)]
    address: Option<Raw>,
    /// Id of an existing address of the customer, instead of a new one.
    address_id: Option<i64>,
    /// When bidding or the webcast starts.
    #[schema(format = DateTime)]
    starts_at: Option<String>,
    /// Closing time: the end of the first items of a timed auction.
    #[schema(format = DateTime)]
    ends_at: Option<String>,
    /// Staggered ends of a timed auction.
    stagger: Option<StaggerView>,
    /// Soft close of a timed auction, in seconds, at most 86,400; 0 or null turns it off. Default: 600.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<u32>)]
    extension_seconds: Option<Option<u32>>,
    /// Increment table. Default: a common one.
    increments: Option<Vec<IncrementView>>,
    /// Charges on hammer prices. Default: none.
    charges: Option<ChargesIn>,
    /// How a webcast handles internet bids. Default: `wait_for_clerk`.
    internet_bids: Option<InternetBidsIn>,
    /// Images, documents and videos, at most 50.
    #[serde(default)]
    #[schema(value_type = Vec<UrlAttachmentSchema>)]
    attachments: Vec<Raw>,
    /// `open` (default), or `required` if only registered and approved bidders may bid.
    registration: Option<String>,
    /// `DRAFT` (default), `PREVIEW` or `LIVE`.
    status: Option<String>,
    /// Items to create with the auction, at most 1,000. In a LIVE auction their default status is LIVE.
    #[serde(default)]
    items: Vec<ItemIn>,
    /// True for a sandbox auction. It has its own clock, which only moves when a caller advances it. It can't be
    /// changed. Default: false.
    #[serde(default)]
    sandbox: bool,
}

impl AuctionIn {
    fn read(self) -> Result<NewAuction, ApiError> {
        let first = self.status.as_deref().map_or(Ok(AuctionStatus::Draft), |name| status("/status", name))?;
        let increments = self.increments.map(increment_table).transpose()?;
        let default_status = if first == AuctionStatus::Live { ItemStatus::Live } else { ItemStatus::Draft };
        let items = (0..)
            .zip(self.items)
            .map(|(index, item)| item.read(&format!("/items/{index}"), default_status))
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
            stagger: self.stagger.map(Stagger::from),
            extension_seconds: self.extension_seconds.unwrap_or(Some(EXTENSION_SECONDS_DEFAULT)).filter(|on| *on > 0),
            increments,
            charges: self.charges.map(ChargesIn::read).unwrap_or_default(),
            internet_bids: self.internet_bids.map(InternetBidsIn::read).unwrap_or_default(),
            attachments: attachments("/attachments", &self.attachments)?,
            registration: self.registration.as_deref().map(admission).transpose()?.unwrap_or_default(),
            status: first,
            items,
            sale_mode: if self.sandbox { SaleMode::Sandbox } else { SaleMode::Real },
        })
    }
}

pub(super) fn admission(name: &str) -> Result<Admission, ApiError> {
    let found = Admission::ALL.into_iter().find(|admission| admission.as_str() == name);
    found.ok_or_else(|| ApiError::invalid("/registration", "must be open or required"))
}

pub(super) fn increment_table(rows: Vec<IncrementView>) -> Result<IncrementTable, ApiError> {
    let rows = rows.into_iter().map(|row| IncrementRow { from: row.from, increment: row.increment }).collect();
    IncrementTable::new(rows).map_err(|error| ApiError::invalid("/increments", error.to_string()))
}

/// Create an auction
///
/// With up to 1,000 items in the same call. The platform announces the auction, and its items if they are LIVE. Scope
/// `auctions:write`. Errors: 409 `taken` if two items have one lot number; 409 `fields_missing`, `end_not_in_future`,
/// `no_live_item` if the auction can't have the requested status.
#[utoipa::path(
    post, path = "/auctions", tag = "auctions", request_body = AuctionIn,
    responses(
        (status = 201, description = "The new auction, with its items counted.", body = AuctionView),
        (status = 409, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(crate) async fn create(State(platform): State<Platform>, post: Post<AuctionIn>) -> Result<Response, ApiError> {
    let (post, new) = post.map(AuctionIn::read)?;
    let now = platform.now();
    let whole = |created: &CreatedAuction| AuctionView::whole(&created.auction, &created.counts(), None, now);
    let render = |created: &CreatedAuction| response::body(&whole(created));
    let tag = |created: &CreatedAuction| Some(etag::auction_etag(&created.auction, &created.counts(), None, now));
    let outcome = platform.create_auction(&post.caller, &new, post.idempotent_tagged(201, &render, &tag)).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}

/// List auctions
///
/// In order of creation, filtered by the given parameters; an auction must match all of them. Scope `auctions:read`.
#[utoipa::path(
    get, path = "/auctions", tag = "auctions",
    params(AuctionListQuery),
    responses(
        (status = 200, description = "A page of auctions in order of creation.", body = List<AuctionView>),
        (status = 404, body = Problem),
    ),
)]
pub(crate) async fn list(
    State(platform): State<Platform>,
    request: QueryRequest<AuctionListQuery>,
) -> Result<Response, ApiError> {
    let (wanted, page) = request.query.read()?;
    let auctions = platform.list_auctions(&request.caller, wanted, page.with_lookahead()).await?;
    page_of(&platform, auctions, page).await
}

/// A page of auctions, each with its `legalNextStatuses`.
pub(super) async fn page_of(
    platform: &Platform,
    auctions: Vec<Auction>,
    page: PageParams<Uuid>,
) -> Result<Response, ApiError> {
    let present = platform.capped_item_counts(&auctions).await?;
    let auctions: Vec<(Auction, ItemCounts)> = auctions.into_iter().zip(present).collect();
    let now = platform.now();
    Ok(response::list(
        auctions,
        page,
        |(auction, _)| auction.uuid,
        |(auction, items)| AuctionView::new(auction, items, now),
    ))
}

/// Get an auction
///
/// With its items counted per status, and the progress of a bulk change. The `ETag` covers the whole response,
/// including the counts. Scope `auctions:read`.
#[utoipa::path(
    get, path = "/auctions/{uuid}", tag = "auctions",
    params(("uuid" = Uuid, Path), ("If-None-Match" = Option<String>, Header)),
    responses(
        (status = 200, description = "The auction, with its items counted.", body = AuctionView),
        (status = 304), (status = 404, body = Problem),
    ),
)]
pub(crate) async fn get(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    request: QueryRequest<()>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let auction = platform.auction(&request.caller, uuid).await?;
    Ok(full_view(&platform, &request.caller, &auction).await?.respond(&headers))
}

/// One auction with its counts and its bulk change, as a GET and the response to an edit show it.
pub(super) async fn full_view(
    platform: &Platform,
    caller: &Caller,
    auction: &Auction,
) -> Result<CacheableResponse, ApiError> {
    let items = platform.item_counts(caller, auction.uuid).await?;
    let bulk_change = platform.bulk_change(caller, auction.uuid).await?;
    let (bulk_change, now) = (bulk_change.as_ref(), platform.now());
    let tag = etag::auction_etag(auction, &items, bulk_change, now);
    Ok(CacheableResponse::tagged(&AuctionView::whole(auction, &items, bulk_change, now), tag))
}
