//! Edits of an auction.

use axum::extract::{Path, State};
use axum::response::Response;
use http::HeaderMap;
use platform_core::Platform;
use platform_core::sales::auctions::edit::AuctionPatch;
use platform_rules::{AuctionEdit, Stagger};
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::auctions::{ChargesIn, InternetBidsIn, admission, full_view, increment_table};
use crate::body_fields::{Raw, address, attachments, currency_code, instant, no_null, or_null};
use crate::errors::{ApiError, Problem};
use crate::extract::Post;
use crate::models::{AddressSchema, AuctionView, CurrencyInSchema, IncrementView, StaggerView, UrlAttachmentSchema};

/// A JSON merge patch of an auction: an absent field stays, null clears an optional one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AuctionPatchIn {
    /// At most 500 characters; may be empty in a draft.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    title: Option<String>,
    /// ISO 4217 code, or a CurrencyModel. Locked once the auction has items.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = CurrencyInSchema, required = false)]
    currency: Option<Raw>,
    /// IANA time zone, such as `Europe/London`.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    time_zone: Option<String>,
    /// Without an id, a new address. With the id of the present address, its new content, wherever it is used.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<AddressSchema>)]
    address: Option<Option<Raw>>,
    /// Id of an existing address of the customer.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<i64>)]
    address_id: Option<Option<i64>>,
    /// The complete list, at most 50; `[]` removes all.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = Vec<UrlAttachmentSchema>, required = false)]
    attachments: Option<Vec<Raw>>,
    /// When bidding or the webcast starts. Locked once the auction has bids.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>, format = DateTime)]
    starts_at: Option<Option<String>>,
    /// Closing time; planned ends follow it. Locked once a timed auction is LIVE: use `POST /auctions/{uuid}/ends` to
    /// extend it.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<String>, format = DateTime)]
    ends_at: Option<Option<String>>,
    /// Staggered ends. Locked as `endsAt`.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<StaggerView>)]
    stagger: Option<Option<StaggerView>>,
    /// Soft close, in seconds, at most 86,400; 0 or null turns it off. Locked once the auction has bids.
    #[serde(default, deserialize_with = "or_null")]
    #[schema(value_type = Option<u32>)]
    extension_seconds: Option<Option<u32>>,
    /// The complete increment table. Locked once the auction has bids.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = Vec<IncrementView>, required = false)]
    increments: Option<Vec<IncrementView>>,
    /// All three rates. Locked once the auction has bids.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = ChargesIn, required = false)]
    charges: Option<ChargesIn>,
    /// How a webcast handles internet bids.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = InternetBidsIn, required = false)]
    internet_bids: Option<InternetBidsIn>,
    /// `open`, or `required` if only registered and approved bidders may bid. Locked once the auction was LIVE or has bids.
    #[serde(default, deserialize_with = "no_null")]
    #[schema(value_type = String, required = false)]
    registration: Option<String>,
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
            stagger: self.stagger.map(|stagger| stagger.map(Stagger::from)),
            extension_seconds: self.extension_seconds.map(|seconds| seconds.filter(|on| *on > 0)),
            increments: self.increments.map(increment_table).transpose()?,
            charges: self.charges.map(ChargesIn::read),
            internet_bids: self.internet_bids.map(InternetBidsIn::read),
            registration: self.registration.as_deref().map(admission).transpose()?,
        };
        Ok(AuctionPatch { edit, address: has_address.then_some(entry) })
    }
}

/// Edit an auction
///
/// A JSON merge patch: an absent field stays, null clears an optional one. Which fields can change depends on the
/// auction's status and bids; for others the response is 409 `fields_locked`, and nothing changes. On a large auction,
/// new ends and terms apply as a bulk change in steps, and the response follows the last step. Requires `If-Match`
/// (412 `precondition_failed`, 428 `precondition_required`). Scope `auctions:write`. Errors: 409 `fields_locked`,
/// `fields_missing`, `end_not_in_future`, `items_following`.
#[utoipa::path(
    patch, path = "/auctions/{uuid}", tag = "auctions", request_body = AuctionPatchIn,
    params(("uuid" = Uuid, Path), ("If-Match" = String, Header)),
    responses(
        (status = 200, description = "The auction after the change.", body = AuctionView),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 412, body = Problem),
        (status = 422, body = Problem), (status = 428, body = Problem),
    ),
)]
pub(crate) async fn change(
    State(platform): State<Platform>,
    Path(uuid): Path<Uuid>,
    post: Post<AuctionPatchIn>,
) -> Result<Response, ApiError> {
    let (post, patch) = post.map(AuctionPatchIn::read)?;
    let expected = post.required_version()?;
    let auction = platform.change_auction(&post.caller, uuid, &patch, Some(expected)).await?;
    Ok(full_view(&platform, &post.caller, &auction).await?.respond(&HeaderMap::new()))
}
