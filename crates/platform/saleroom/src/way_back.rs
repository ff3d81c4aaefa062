//! The way from an error page back to the sales of the house, if the address names one.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use kit_design::error_page::ErrorPageContent;
use platform_words::Words;

use crate::site::SaleroomSite;

/// Middleware: an error page below the path of an open saleroom links to its sales. The house is looked up only for such a page.
pub(crate) async fn add(State(site): State<SaleroomSite>, request: Request, next: Next) -> Response {
    let address = request.uri().path().split('/').nth(1).unwrap_or_default().to_owned();
    let mut response = next.run(request).await;
    let is_error = response.status().is_client_error();
    if let Some(content) = response.extensions_mut().get_mut::<ErrorPageContent>().filter(|_| is_error)
        && site.platform().sends_mail()
        && site.platform().saleroom(&address).await.is_ok()
    {
        content.link_to(Words::of_request().of("sales-show"), format!("/{address}"));
    }
    response
}
