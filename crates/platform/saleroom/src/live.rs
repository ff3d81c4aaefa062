//! Live streams of the pages: server-sent events of a sale with the lots that a page shows, or of one lot.

use std::convert::Infallible;
use std::net::IpAddr;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::HeaderMap;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::request::Parts;
use kit_design::fields::QueryFields;
use platform_core::live::Listener;
use platform_core::saleroom::{LOTS_FOLLOWED_MAX, Visitor};

use uuid::Uuid;

use crate::house::OpenHouse;
use crate::page_error::PageError;
use crate::site::SaleroomSite;

/// The header in which a browser that reconnects names the last event that it received.
pub(crate) const LAST_EVENT_ID: &str = "last-event-id";
/// Tells nginx and compatible proxies not to buffer the stream.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The client that opens a stream.
pub(crate) struct Client {
    address: Option<IpAddr>,
    headers: HeaderMap,
}

impl Client {
    fn visitor(&self) -> Visitor<'_> {
        let last_event = self.headers.get(LAST_EVENT_ID).and_then(|value| value.to_str().ok());
        Visitor { address: self.address, last_event }
    }
}

impl FromRequestParts<SaleroomSite> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, site: &SaleroomSite) -> Result<Self, Infallible> {
        let address = kit_http::client_ip::resolve(parts, &site.platform().config().trusted_proxies);
        Ok(Self { address, headers: parts.headers.clone() })
    }
}

/// `/{house}/sales/{auction}/live?lots=<uuid>,<uuid>`: the sale, the lot in the ring, and these lots.
pub(crate) async fn sale(
    house: OpenHouse<1>,
    client: Client,
    QueryFields(query): QueryFields,
) -> Result<Response, PageError> {
    let [auction] = house.ids;
    let lots = query.text("lots").split(',').take(LOTS_FOLLOWED_MAX).filter_map(|lot| Uuid::try_parse(lot).ok());
    let listener = house.platform().follow_sale(&house.saleroom, auction, lots.collect(), client.visitor()).await?;
    Ok(respond(listener))
}

/// `/{house}/sales/{auction}/lots/{item}/live`.
pub(crate) async fn lot(house: OpenHouse<2>, client: Client) -> Result<Response, PageError> {
    let [auction, item] = house.ids;
    let listener = house.platform().follow_lot(&house.saleroom, (auction, item), client.visitor()).await?;
    Ok(respond(listener))
}

/// The answer with a stream.
pub(crate) fn respond(listener: Listener) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (ACCEL_BUFFERING, HeaderValue::from_static("no")),
    ];
    let chunks = stream::unfold(listener, async |mut listener| {
        let chunk = listener.next().await?;
        Some((Ok::<_, Infallible>(chunk), listener))
    });
    (headers, Body::from_stream(chunks)).into_response()
}
