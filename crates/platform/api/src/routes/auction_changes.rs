//! Auctions corrected after they were entered, their ends moved, and copies of them.

use axum::extract::{Path, State};
use axum::response::Response;
use http::HeaderMap;
use platform_core::Platform;
use platform_core::auctions::copy::{AuctionCopy, CopiedAuction, CopiedItems};
use platform_core::auctions::edit::AuctionPatch;
use platform_core::auctions::move_ends::{MoveEnds, MovedEnds, NewEnds};
use platform_core::auctions::shift::Shift;
use platform_rules::edit::Plan;
use platform_rules::{AuctionEdit, Stagger};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::auctions::{ChargesIn, InternetBidsIn, full_view, increment_table};
use crate::cacheable;
use crate::errors::{ApiError, Problem};
use crate::extract::{Post, instant};
use crate::extract_models::{Raw, address, attachments, currency_code, no_null, or_null};
use crate::models::{
    AddressSchema, AuctionView, CurrencyInSchema, IncrementView, MovedEndsView, StaggerView, UrlAttachmentSchema,
};
use crate::response;

/// What is to be another way (a JSON merge patch). What is absent stays; null takes away what may be absent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AuctionPatchIn {
    /// At most 500 characters; may be empty in a draft.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    title: Option<String>,
    /// While it has no items.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = CurrencyInSchema, required = false)]
    currency: Option<Raw>,
    /// IANA time zone.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    time_zone: Option<String>,
    /// Without an id a new address; with the id of the one that is there, what that one says from now on.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<AddressSchema>)]
    address: Option<Option<Raw>>,
    /// An address that the customer has.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>)]
    address_id: Option<Option<i64>>,
    /// All of them, at most 50; `[]` takes them away.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = Vec<UrlAttachmentSchema>, required = false)]
    attachments: Option<Vec<Raw>>,
    /// While it has no bids.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>, format = DateTime)]
    starts_at: Option<Option<String>>,
    /// Before a timed auction is LIVE; then `POST /auctions/{uuid}/ends` puts it off. Planned ends follow.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>, format = DateTime)]
    ends_at: Option<Option<String>>,
    /// As `endsAt`.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<StaggerView>)]
    stagger: Option<Option<StaggerView>>,
    /// Seconds, 0 or null for off, at most 86,400. While it has no bids.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<u32>)]
    extension_seconds: Option<Option<u32>>,
    /// The whole table. While it has no bids.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = Vec<IncrementView>, required = false)]
    increments: Option<Vec<IncrementView>>,
    /// All three rates. While it has no bids.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = ChargesIn, required = false)]
    charges: Option<ChargesIn>,
    /// Of a webcast.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = InternetBidsIn, required = false)]
    internet_bids: Option<InternetBidsIn>,
}

impl AuctionPatchIn {
    fn read(self) -> Result<AuctionPatch, ApiError> {
        let has_address = self.address.is_some() || self.address_id.is_some();
        let entry = address(self.address.flatten().as_deref(), self.address_id.flatten())?;
        let time =
            |pointer, given: Option<Option<String>>| given.map(|given| instant(pointer, given.as_deref())).transpose();
        let edit = AuctionEdit {
            title: self.title,
            currency: self.currency.as_deref().map(|raw| currency_code("/currency", raw)).transpose()?,
            time_zone: self.time_zone,
            address_id: None,
            attachments: self.attachments.as_deref().map(|raw| attachments("/attachments", raw)).transpose()?,
            starts_at: time("/startsAt", self.starts_at)?,
            ends_at: time("/endsAt", self.ends_at)?,
            stagger: self.stagger.map(|stagger| stagger.map(stagger_of)),
            extension_seconds: self.extension_seconds.map(|seconds| seconds.filter(|on| *on > 0)),
            increments: self.increments.map(increment_table).transpose()?,
            charges: self.charges.map(ChargesIn::read),
            internet_bids: self.internet_bids.map(InternetBidsIn::read),
        };
        Ok(AuctionPatch { edit, address: has_address.then_some(entry) })
    }
}

fn stagger_of(stagger: StaggerView) -> Stagger {
    Stagger { seconds: stagger.seconds, items: stagger.items }
}

/// Changes what is given of an auction. What can change depends on its status and on bids; of what can't, the answer is 409
/// `fields_locked`. Needs `If-Match`. Scope `auctions:write`.
///
/// Ends of a large auction follow its closing time a piece at a time, and other terms of a large LIVE one hold when no bid can be on
/// its way that was decided on those of before; the answer comes when that is done.
#[utoipa::path(patch, path = "/auctions/{uuid}", tag = "auctions",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = AuctionPatchIn,
    responses((status = 200, body = AuctionView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 422, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn change(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<AuctionPatchIn>,
) -> Result<Response, ApiError> {
    let (post, patch) = post.map(AuctionPatchIn::read)?;
    let seen = post.required_version()?;
    let auction = platform.change_auction(&post.caller, uuid, &patch, Some(seen)).await?;
    Ok(full_view(&platform, &post.caller, &auction).await?.answer(&HeaderMap::new()))
}

/// Other ends: either `shiftSeconds`, or `endsAt` with or without `stagger`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EndsIn {
    /// So many seconds later; negative for earlier, before the sale is LIVE.
    shift_seconds: Option<i64>,
    /// The end of the first items.
    #[schema(format = DateTime)]
    ends_at: Option<String>,
    /// So many seconds later for every so many items.
    stagger: Option<StaggerView>,
    /// These items only, 1 to 1,000; `stagger` counts them in this order, and the auction's own closing time stays. Without:
    /// all items, by their place in the running order, and the closing time.
    items: Option<Vec<Uuid>>,
    /// Needed as soon as a LIVE or SUSPENDED item moves; at most 500 characters.
    reason: Option<String>,
}

impl EndsIn {
    fn read(self) -> Result<MoveEnds, ApiError> {
        let ends_at = instant("/endsAt", self.ends_at.as_deref())?;
        let ends = match (self.shift_seconds, ends_at) {
            (Some(seconds), None) if self.stagger.is_none() => NewEnds::Shift { seconds },
            (None, Some(ends_at)) => NewEnds::Plan(Plan { ends_at, stagger: self.stagger.map(stagger_of) }),
            _ => {
                return Err(ApiError::invalid("", "give either shiftSeconds alone, or endsAt with or without stagger"));
            }
        };
        Ok(MoveEnds { ends, items: self.items, reason: self.reason })
    }
}

/// Moves the planned ends of a timed auction's items, all or none: shifts them, or plans them anew. Those of LIVE and
/// SUSPENDED items move forward only (409 `end_not_later`), and an end that soft close has put off further already stays.
/// Needs `If-Match`. Scope `auctions:write`.
///
/// Those of a large auction move a piece at a time, each item once and by the rules of that moment, after it was found that none is
/// refused; the answer comes when all have (`following` of the auction meanwhile).
#[utoipa::path(post, path = "/auctions/{uuid}/ends", tag = "auctions",
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)), request_body = EndsIn,
    responses((status = 200, body = MovedEndsView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 412, body = Problem), (status = 422, body = Problem), (status = 428, body = Problem)))]
pub(crate) async fn move_ends(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<EndsIn>,
) -> Result<Response, ApiError> {
    let (post, wanted) = post.map(EndsIn::read)?;
    let seen = post.required_version()?;
    let now = platform.now();
    let render = |moved: &MovedEnds| response::body(&MovedEndsView::new(moved, now));
    let tag = |moved: &MovedEnds| Some(cacheable::auction_etag(&moved.auction, &moved.items, None, now));
    let answering = post.answering_tagged(200, &render, &tag);
    let outcome = platform.move_ends(&post.caller, uuid, &wanted, Some(seen), answering).await?;
    Ok(response::outcome_tagged(outcome, 200, render, tag))
}

/// How to copy.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CloneIn {
    /// Another title; the same without.
    title: Option<String>,
    /// Start, closing time and ends are so many seconds later; negative for earlier, at most ten years.
    shift_seconds: Option<i64>,
    /// Instead, so many days later at the same time of day in the auction's `timeZone`, wherever the clocks change in between;
    /// negative for earlier, at most 3,660. Staggered ends stay as far from the closing time. Without either, no later.
    #[schema(minimum = -3_660, maximum = 3_660)]
    shift_days: Option<i64>,
    /// With its items but the WITHDRAWN ones, as DRAFT and without bids; false without.
    #[serde(default)]
    with_items: bool,
}

impl CloneIn {
    fn read(self) -> Result<AuctionCopy, ApiError> {
        let shift = match (self.shift_seconds, self.shift_days) {
            (seconds, None) => Shift::Seconds(seconds.unwrap_or_default()),
            (None, Some(days)) => Shift::Days(days),
            (Some(_), Some(_)) => return Err(ApiError::invalid("", "give either shiftSeconds or shiftDays")),
        };
        let items = if self.with_items { CopiedItems::All } else { CopiedItems::None };
        Ok(AuctionCopy { title: self.title, shift, items })
    }
}

/// Copies an auction as a DRAFT, with or without its items. Announced. The answer comes when all items are there: those of a large
/// auction come one piece after the other (`following` of the copy), to the end, even if the server is killed. Scope
/// `auctions:write`.
#[utoipa::path(post, path = "/auctions/{uuid}/clone", tag = "auctions", params(("uuid" = Uuid, Path)),
    request_body = CloneIn,
    responses((status = 201, body = AuctionView), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn clone(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<CloneIn>,
) -> Result<Response, ApiError> {
    let (post, copy) = post.map(CloneIn::read)?;
    let now = platform.now();
    let render =
        |copied: &CopiedAuction| response::body(&AuctionView::whole(&copied.auction, &copied.items, None, now));
    let tag = |copied: &CopiedAuction| Some(cacheable::auction_etag(&copied.auction, &copied.items, None, now));
    let outcome = platform.copy_auction(&post.caller, uuid, &copy, post.answering_tagged(201, &render, &tag)).await?;
    Ok(response::outcome_tagged(outcome, 201, render, tag))
}
