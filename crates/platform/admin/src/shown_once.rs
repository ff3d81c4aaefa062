//! A page that shows secrets once, such as a new API key.

use askama::Template;
use axum::response::Response;
use kit_design::frame::{Frame, render_page};

use crate::page_error::PageError;

/// A page with secrets that no page shows again.
#[derive(Template)]
#[template(path = "shown_once.html")]
pub(crate) struct ShownOnce {
    pub(crate) frame: Frame,
    /// What to do with the secrets.
    pub(crate) intro: String,
    /// Label and secret.
    pub(crate) secrets: Vec<(String, String)>,
    /// Path and text of the page that follows.
    pub(crate) next: (String, &'static str),
}

impl ShownOnce {
    pub(crate) fn show(&self) -> Result<Response, PageError> {
        render_page(self)
    }
}
