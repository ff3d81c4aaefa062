//! For search engines: `robots.txt`, and site maps (<https://www.sitemaps.org/protocol.html>). The one of the host names those of
//! the open salerooms; that of a house has its sales and their lots.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::Extensions;
use http::header::{CONTENT_TYPE, HeaderValue};
use kit_design::error_page::ErrorPage;

use crate::hosts::OnDomain;
use crate::house::{OpenHouse, require_open};
use crate::page_error::PageError;
use crate::site::SaleroomSite;

#[derive(Template)]
#[template(path = "site_map_index.xml")]
struct Index {
    addresses: Vec<String>,
}

#[derive(Template)]
#[template(path = "site_map.xml")]
struct Map {
    addresses: Vec<String>,
}

/// `/robots.txt`: every page may be read.
pub(crate) async fn robots(State(site): State<SaleroomSite>, extensions: Extensions) -> Response {
    let map = match extensions.get::<OnDomain>() {
        Some(OnDomain { base, .. }) => format!("{base}/sitemap.xml"),
        None => site.address("/sitemap.xml"),
    };
    format!("User-agent: *\nAllow: /\nSitemap: {map}\n").into_response()
}

/// `/sitemap.xml`: the site maps of the open salerooms at the host.
pub(crate) async fn index(State(site): State<SaleroomSite>, extensions: Extensions) -> Result<Response, PageError> {
    require_open(&site)?;
    if let Some(OnDomain { base, address }) = extensions.get() {
        site.platform().saleroom(address).await?;
        return xml(&Index { addresses: vec![format!("{base}/{address}/sitemap.xml")] });
    }
    let houses = site.platform().open_salerooms().await?;
    let address = |house: &String| site.address(&format!("/{house}/sitemap.xml"));
    xml(&Index { addresses: houses.iter().map(address).collect() })
}

/// `/{house}/sitemap.xml`. Reading it costs as much as a search.
pub(crate) async fn of_house(house: OpenHouse<0>) -> Result<Response, PageError> {
    let _turn = house.site.search_turn().await;
    let map = house.platform().site_map(&house.saleroom).await?;
    let first = house.site.house_address(&house.saleroom, "");
    let mut addresses = vec![first.clone()];
    for (sale, lots) in map.sales {
        addresses.push(format!("{first}/sales/{sale}"));
        addresses.extend(lots.iter().map(|lot| format!("{first}/sales/{sale}/lots/{lot}")));
    }
    xml(&Map { addresses })
}

fn xml(template: &impl Template) -> Result<Response, PageError> {
    let text = template.render().map_err(|error| ErrorPage::failed(&error.to_string()))?;
    let headers = [(CONTENT_TYPE, HeaderValue::from_static("application/xml; charset=utf-8"))];
    Ok((headers, text).into_response())
}
