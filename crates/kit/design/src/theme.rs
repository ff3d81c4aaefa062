//! A style sheet with the colour that a house or an account chose. The content security policy allows no style in a page itself.

use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use kit_colour::Colour;

use super::error_page::ErrorPage;

/// The route of the style sheets, for [`style`].
pub const ROUTE: &str = "/theme/{name}";

/// Ink on a coloured button: white on light pages, nearly black on dark ones, where the colour is light.
const INK_LIGHT: &str = "#ffffff";
const INK_DARK: &str = "#0b1214";

/// Path of the style sheet with a colour, below the site's base, for [`super::frame::Frame::theme`].
pub fn path(colour: Colour) -> String {
    format!("/theme/{}.css", colour.to_string().trim_start_matches('#'))
}

/// `/theme/{rrggbb}.css`: a style sheet for this colour. It is the same for everyone and needs no session.
pub async fn style(Path(name): Path<String>) -> Result<Response, ErrorPage> {
    let colour = name.strip_suffix(".css").and_then(|digits| Colour::parse(&format!("#{digits}")));
    let colour = colour.ok_or_else(ErrorPage::not_found)?;
    let dark = colour.on_dark_pages();
    let style = format!(
        ":root {{ --accent: light-dark({colour}, {dark}); --on-accent: light-dark({INK_LIGHT}, {INK_DARK}); \
         --accent-tint: color-mix(in srgb, var(--accent) 12%, var(--sheet)); }}\n"
    );
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/css; charset=utf-8")),
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
    ];
    Ok((headers, style).into_response())
}
