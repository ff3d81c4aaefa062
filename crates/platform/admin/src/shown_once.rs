//! A page that shows secrets once, such as a new API key.

use askama::Template;
use axum::response::Response;
use kit_design::frame::{Frame, render_page};
use kit_design::qr_code::QrCode;

use crate::page_error::PageError;

/// A page with secrets that no page shows again.
#[derive(Template)]
#[template(path = "shown_once.html")]
pub(crate) struct ShownOnce {
    pub(crate) frame: Frame,
    /// What to do with the secrets.
    pub(crate) intro: String,
    pub(crate) secrets: Vec<ShownSecret>,
    /// Path and text of the page that follows.
    pub(crate) next: (String, &'static str),
}

/// A secret with its label.
pub(crate) struct ShownSecret {
    label: String,
    text: String,
    /// For a link that another device opens.
    qr: Option<QrCode>,
}

impl ShownSecret {
    pub(crate) fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self { label: label.into(), text: text.into(), qr: None }
    }

    /// A link with its QR code.
    pub(crate) fn link(label: impl Into<String>, url: String) -> Self {
        Self { label: label.into(), qr: QrCode::new(&url, "QR code with the link"), text: url }
    }
}

impl ShownOnce {
    pub(crate) fn show(&self) -> Result<Response, PageError> {
        render_page(self)
    }
}
