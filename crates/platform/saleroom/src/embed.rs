//! The script that shows a sale in a page of a house's own web site. It is the same for all houses: its element names house and sale.

use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};

pub(crate) const ROUTE: &str = "/embed.js";

const SCRIPT: &str = include_str!("embed/embed.js");
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Pages of every site may load it: it has nothing of a house in it.
pub(crate) async fn script() -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/javascript; charset=utf-8")),
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600")),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (CROSS_ORIGIN_RESOURCE_POLICY, HeaderValue::from_static("cross-origin")),
    ];
    (headers, SCRIPT).into_response()
}

#[cfg(test)]
mod tests {
    use super::SCRIPT;

    #[test]
    fn the_script_is_small_and_writes_no_markup() {
        assert!(SCRIPT.len() <= 8 * 1024, "{} bytes", SCRIPT.len());
        for word in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "cookie ="]
        {
            assert!(!SCRIPT.contains(word), "{word}");
        }
    }
}
