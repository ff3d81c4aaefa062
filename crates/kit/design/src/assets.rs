//! Files that pages load: style sheet, script and icon. Each name contains a hash of the file's content, so a browser may
//! cache a file for a year and still loads a changed one immediately.

use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use sha2::{Digest as _, Sha256};

use super::error_page::ErrorPage;

/// Hexadecimal digits of the hash in a name.
const HASH_DIGITS: usize = 16;

/// A file that pages load.
#[derive(Debug)]
pub struct Asset {
    name: String,
    media_type: &'static str,
    content: &'static str,
}

impl Asset {
    /// The file `stem.<hash>.extension` with this content.
    pub fn new(stem: &str, extension: &str, media_type: &'static str, content: &'static str) -> Self {
        let hash = hex::encode(Sha256::digest(content));
        Self { name: format!("{stem}.{}.{extension}", &hash[..HASH_DIGITS]), media_type, content }
    }

    /// A style sheet.
    pub fn style(stem: &str, content: &'static str) -> Self {
        Self::new(stem, "css", "text/css; charset=utf-8", content)
    }

    /// A script.
    pub fn script(stem: &str, content: &'static str) -> Self {
        Self::new(stem, "js", "text/javascript; charset=utf-8", content)
    }

    /// File name, below `/static`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The style sheet. Its sources are one file for each subject; a later file may override an earlier one.
const STYLE_TEXT: &str = concat!(
    include_str!("style/tokens.css"),
    include_str!("style/base.css"),
    include_str!("style/layout.css"),
    include_str!("style/forms.css"),
    include_str!("style/tables.css"),
    include_str!("style/components.css"),
    include_str!("style/charts.css"),
    include_str!("style/side.css"),
    include_str!("style/panels.css"),
    include_str!("style/print.css"),
);

static STYLE: LazyLock<Asset> = LazyLock::new(|| Asset::style("style", STYLE_TEXT));
static SCRIPT: LazyLock<Asset> = LazyLock::new(|| Asset::script("script", include_str!("script.js")));
static ICON: LazyLock<Asset> = LazyLock::new(|| Asset::new("icon", "svg", "image/svg+xml", include_str!("icon.svg")));

/// File name of the style sheet, below `/static`.
pub fn style() -> &'static str {
    &STYLE.name
}

/// File name of the script, below `/static`.
pub fn script() -> &'static str {
    &SCRIPT.name
}

/// File name of the icon, below `/static`.
pub fn icon() -> &'static str {
    &ICON.name
}

/// `/static/{name}`.
pub fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    routes_with(&[])
}

/// `/static/{name}` of a site that has files of its own, too.
pub fn routes_with<S: Clone + Send + Sync + 'static>(own: &'static [&'static LazyLock<Asset>]) -> Router<S> {
    Router::new().route("/static/{name}", get(async move |Path(name): Path<String>| file(own, &name)))
}

fn file(own: &'static [&'static LazyLock<Asset>], name: &str) -> Result<Response, ErrorPage> {
    let shared = [&*STYLE, &*SCRIPT, &*ICON].into_iter();
    let found = shared.chain(own.iter().map(|asset| &***asset)).find(|asset| asset.name == name);
    let asset = found.ok_or_else(ErrorPage::not_found)?;
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(asset.media_type)),
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
    ];
    Ok((headers, asset.content).into_response())
}
