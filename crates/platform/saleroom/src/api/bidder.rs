//! What a bidder reads and does beside bidding: who they are, registrations, their lots, and lots they watch.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::errors::{ApiError, Problem};
use super::models::{List, LotView};
use super::own_models::{BidderView, OfferView, OwnLotView, RegistrationView, StandingView};
use super::requests::{BodyOf, ForBidder};
use super::sales::ok;

/// Read who the bidder is
#[utoipa::path(
    get, path = "/me", tag = "bidder", params(("house" = String, Path)),
    responses((status = 200, description = "The bidder.", body = BidderView), (status = 401, body = Problem)),
)]
pub(super) async fn me(ForBidder { at, bidder }: ForBidder<0>) -> Result<Response, ApiError> {
    let account = &bidder.account;
    Ok(ok(&BidderView {
        name: account.profile.details.name.clone(),
        email: account.email.clone(),
        house: at.saleroom().name.clone(),
    }))
}

/// List the bidder's registrations
///
/// For sales on view, the latest first; at most 50.
#[utoipa::path(
    get, path = "/me/registrations", tag = "bidder", params(("house" = String, Path)),
    responses(
        (status = 200, description = "The registrations.", body = List<RegistrationView>), (status = 401, body = Problem),
    ),
)]
pub(super) async fn registrations(ForBidder { at, bidder }: ForBidder<0>) -> Result<Response, ApiError> {
    let found = at.platform().own_registrations(at.saleroom(), &bidder).await?;
    Ok(ok(&List::whole(found.iter().map(|(_, registration)| RegistrationView::of(registration)).collect())))
}

/// A registration for a sale.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RegistrationIn {
    /// The version of the conditions of sale that the bidder has read and accepts; absent for a sale without.
    #[schema(example = 3)]
    accepted_conditions: Option<u32>,
}

/// Register the bidder for a sale
///
/// Returns the registration that they have, if there is one. Errors: 409 `conditions_changed` (the sale has other conditions than the
/// accepted ones, or none were accepted), `sale_over`, `registration_refused`, `busy`.
#[utoipa::path(
    post, path = "/sales/{sale}/registration", tag = "bidder", request_body = RegistrationIn,
    params(("house" = String, Path), ("sale" = Uuid, Path)),
    responses(
        (status = 200, description = "The registration.", body = RegistrationView), (status = 401, body = Problem),
        (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem),
    ),
)]
pub(super) async fn register(
    ForBidder { at, bidder }: ForBidder<1>,
    BodyOf(body): BodyOf<RegistrationIn>,
) -> Result<Response, ApiError> {
    let (platform, accepted) = (at.platform(), body.accepted_conditions);
    let registration = platform.register_for_sale(at.saleroom(), &bidder, at.ids[0], accepted).await?;
    Ok(ok(&RegistrationView::of(&registration)))
}

/// List the bidder's lots
///
/// Those they bid on, bought or watch, in all sales on view, by sale.
#[utoipa::path(
    get, path = "/me/lots", tag = "bidder", params(("house" = String, Path)),
    responses((status = 200, description = "The lots.", body = List<OwnLotView>), (status = 401, body = Problem)),
)]
pub(super) async fn lots(request: ForBidder<0>) -> Result<Response, ApiError> {
    own_lots(request, false).await
}

/// List the lots that the bidder watches
#[utoipa::path(
    get, path = "/me/watched", tag = "bidder", params(("house" = String, Path)),
    responses((status = 200, description = "The lots.", body = List<OwnLotView>), (status = 401, body = Problem)),
)]
pub(super) async fn watched(request: ForBidder<0>) -> Result<Response, ApiError> {
    own_lots(request, true).await
}

async fn own_lots(ForBidder { at, bidder }: ForBidder<0>, only_watched: bool) -> Result<Response, ApiError> {
    let mut data = Vec::new();
    for sale in at.platform().own_lots(at.saleroom(), &bidder).await? {
        for own in sale.lots.iter().filter(|own| own.is_watched || !only_watched) {
            data.push(OwnLotView {
                lot: LotView::of(&at, (&sale.auction, sale.is_link_lost), &own.lot),
                standing: own.own.as_ref().map(StandingView::of),
                watched: own.is_watched,
                offer: own.offer.as_ref().map(|offer| OfferView::of(&sale.auction, offer)),
            });
        }
    }
    Ok(ok(&List::whole(data)))
}

/// Watch a lot
///
/// Errors: 409 `too_many_watched`.
#[utoipa::path(
    put, path = "/sales/{sale}/lots/{lot}/watch", tag = "bidder",
    params(("house" = String, Path), ("sale" = Uuid, Path), ("lot" = Uuid, Path)),
    responses(
        (status = 204, description = "The lot is watched."), (status = 401, body = Problem),
        (status = 404, body = Problem), (status = 409, body = Problem),
    ),
)]
pub(super) async fn watch(request: ForBidder<2>) -> Result<Response, ApiError> {
    change_watch(request, true).await
}

/// Stop watching a lot
#[utoipa::path(
    delete, path = "/sales/{sale}/lots/{lot}/watch", tag = "bidder",
    params(("house" = String, Path), ("sale" = Uuid, Path), ("lot" = Uuid, Path)),
    responses((status = 204, description = "The lot is not watched."), (status = 401, body = Problem)),
)]
pub(super) async fn unwatch(request: ForBidder<2>) -> Result<Response, ApiError> {
    change_watch(request, false).await
}

async fn change_watch(ForBidder { at, bidder }: ForBidder<2>, watches: bool) -> Result<Response, ApiError> {
    let [auction, item] = at.ids;
    at.platform().watch_lot(at.saleroom(), &bidder, (auction, item), watches).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
