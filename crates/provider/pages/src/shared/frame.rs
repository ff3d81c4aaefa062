//! What stands around the content of every page: title, navigation, a word about what was just done.

use std::sync::Arc;

use askama::Template;
use axum::response::{Html, IntoResponse as _, Response};
use http::StatusCode;

use super::error_page::ErrorPage;

/// What the layout needs.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// What the page is about; also its first heading, unless it has its own.
    pub(crate) title: String,
    /// What all addresses of the site begin with.
    pub(crate) base: Arc<str>,
    /// Whose pages these are.
    pub(crate) owner: String,
    /// Parts of the site; none when nobody is signed in.
    pub(crate) parts: Vec<NavLink>,
    /// What the visitor can't do, in two words.
    pub(crate) badge: Option<&'static str>,
    /// What was just done.
    pub(crate) notice: Option<&'static str>,
}

/// A part of the site, as the navigation shows it.
#[derive(Debug, Clone)]
pub(crate) struct NavLink {
    pub(crate) words: &'static str,
    pub(crate) path: &'static str,
    pub(crate) is_current: bool,
}

impl Frame {
    /// A page for whoever comes.
    pub(crate) fn signed_out(title: impl Into<String>, base: Arc<str>, owner: &str) -> Self {
        Self { title: title.into(), base, owner: owner.to_owned(), parts: Vec::new(), badge: None, notice: None }
    }

    /// The same page with a word about what was just done.
    pub(crate) fn with_notice(mut self, notice: Option<&'static str>) -> Self {
        self.notice = notice;
        self
    }
}

/// 200 with a page.
pub(crate) fn render_page(template: &impl Template) -> Result<Response, ErrorPage> {
    render_page_as(StatusCode::OK, template)
}

/// A page with another status.
pub(crate) fn render_page_as(status: StatusCode, template: &impl Template) -> Result<Response, ErrorPage> {
    match template.render() {
        Ok(html) => Ok((status, Html(html)).into_response()),
        Err(error) => {
            tracing::error!(%error, "a template failed");
            Err(ErrorPage::internal())
        }
    }
}
