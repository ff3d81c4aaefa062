//! What a handler reads of a request: the house, the identifiers in the path, the bidder, the query, and the body.

use axum::extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use platform_core::Platform;
use platform_core::saleroom::{Saleroom, SignedInBidder};
use serde::de::DeserializeOwned;
use utoipa::ToSchema;
use uuid::Uuid;

use super::errors::ApiError;
use super::guard::Asked;
use crate::site::SaleroomSite;

/// Bytes of a body.
const BODY_BYTES_MAX: usize = 8 * 1024;

/// A request to a house, with the identifiers in its path.
pub(super) struct AtHouse<const N: usize> {
    pub(super) site: SaleroomSite,
    pub(super) asked: Asked,
    pub(super) ids: [Uuid; N],
}

/// The same for a bidder who allowed it to the site.
pub(super) struct ForBidder<const N: usize> {
    pub(super) at: AtHouse<N>,
    pub(super) bidder: SignedInBidder,
}

/// The query.
pub(super) struct QueryOf<Q>(pub(super) Q);

/// The JSON body.
pub(super) struct BodyOf<B>(pub(super) B);

/// The `Idempotency-Key`, which has to be there.
pub(super) struct RequiredKey(pub(super) String);

impl<const N: usize> AtHouse<N> {
    pub(super) fn platform(&self) -> &Platform {
        self.site.platform()
    }

    pub(super) fn saleroom(&self) -> &Saleroom {
        &self.asked.saleroom
    }

    /// The whole address of a path below that of the house.
    pub(super) fn address(&self, below: &str) -> String {
        self.site.house_address(self.saleroom(), below)
    }
}

impl<const N: usize> FromRequestParts<SaleroomSite> for AtHouse<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, site: &SaleroomSite) -> Result<Self, ApiError> {
        let asked = parts.extensions.get::<Asked>().cloned().ok_or_else(ApiError::not_found)?;
        let params = RawPathParams::from_request_parts(parts, site).await.map_err(|_| ApiError::not_found())?;
        let mut ids = Vec::new();
        for (name, text) in &params {
            if !matches!(name, "house" | "variant") {
                ids.push(Uuid::try_parse(text).map_err(|_| ApiError::not_found())?);
            }
        }
        let ids = <[Uuid; N]>::try_from(ids).map_err(|_| ApiError::not_found())?;
        Ok(Self { site: site.clone(), asked, ids })
    }
}

impl<const N: usize> FromRequestParts<SaleroomSite> for ForBidder<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, site: &SaleroomSite) -> Result<Self, ApiError> {
        let at = AtHouse::from_request_parts(parts, site).await?;
        let bidder = at.asked.bidder.as_ref().map(|site| site.bidder.clone());
        let bidder = bidder.ok_or_else(|| ApiError::from(kit_http::bearer::BearerError::Missing))?;
        Ok(Self { at, bidder })
    }
}

impl<Q: DeserializeOwned> FromRequestParts<SaleroomSite> for QueryOf<Q> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &SaleroomSite) -> Result<Self, ApiError> {
        let found = Query::try_from_uri(&parts.uri);
        found.map(|Query(query)| Self(query)).map_err(|error| ApiError::bad_request("query_invalid", error.body_text()))
    }
}

impl<B: DeserializeOwned + ToSchema + Send> FromRequest<SaleroomSite> for BodyOf<B> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &SaleroomSite) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        kit_http::json::check_content_type(&parts.headers)?;
        let bytes = kit_http::json::read_up_to(body, BODY_BYTES_MAX).await?;
        Ok(Self(kit_http::json::parse(&bytes)?))
    }
}

impl FromRequestParts<SaleroomSite> for RequiredKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &SaleroomSite) -> Result<Self, ApiError> {
        required_key(&parts.headers).map(Self)
    }
}

fn required_key(headers: &HeaderMap) -> Result<String, ApiError> {
    let key = kit_http::idempotency::key(headers);
    let key = key.map_err(|error| ApiError::bad_request("idempotency_key_invalid", error))?;
    key.ok_or_else(|| {
        let detail = "send an Idempotency-Key: one for each bid, the same when the bid is sent again";
        ApiError::new(StatusCode::BAD_REQUEST, "idempotency_key_missing", detail)
    })
}
