//! The frame around the content of every page: title, navigation, and a notice about what the visitor just did.

use std::borrow::Cow;
use std::sync::Arc;

use askama::Template;
use axum::response::{Html, IntoResponse as _, Response};
use http::StatusCode;

use super::colours::Colours;
use super::error_page::ErrorPage;
use super::side::Side;
use super::site::Site;
use super::texts::{self, Texts};

/// What the layout shows around a page.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Subject of the page, for the browser's title bar; error pages also show it as their heading.
    pub title: String,
    /// Path that all addresses of the site begin with.
    pub base: Arc<str>,
    /// Name at the top of every page: the site's, or that of the visitor's application.
    pub owner: String,
    /// The site has a first page, to which this name links.
    pub has_first_page: bool,
    /// Links of the navigation; empty when the visitor is not signed in.
    pub parts: Vec<NavLink>,
    /// Link back to the site from which a user opened this one.
    pub way_back: Option<WayBack>,
    /// A restriction of the visitor's session, in two words.
    pub badge: Option<&'static str>,
    /// The outcome of the form that the visitor just sent.
    pub notice: Option<Cow<'static, str>>,
    /// File name of the style sheet of the site's own pages, below `/static`.
    pub site_style: Option<&'static str>,
    /// Path of a style sheet with the colours of the owner, below the site's base.
    pub theme: Option<String>,
    /// Path of the owner's logo, below the site's base.
    pub logo: Option<String>,
    /// The colours that the visitor chose.
    pub colours: Colours,
    /// Texts of the layout, in the language of the page.
    pub texts: &'static Texts,
    /// Side navigation of a visitor who is signed in to a site with `side_layout.html`.
    pub side: Option<Side>,
}

/// A link of the navigation.
#[derive(Debug, Clone)]
pub struct NavLink {
    /// Text of the link.
    pub words: &'static str,
    /// Path below the site's base.
    pub path: &'static str,
    /// The page that is shown belongs to this part of the site.
    pub is_current: bool,
}

/// A link to the page of another site of this server from which the visitor came.
#[derive(Debug, Clone)]
pub struct WayBack {
    /// Text of the link.
    pub words: &'static str,
    /// Whole path of the page.
    pub path: String,
}

impl Frame {
    /// The frame of a page of the site for a visitor who is not signed in.
    pub fn signed_out(title: impl Into<String>, site: &Site, owner: &str) -> Self {
        Self {
            title: title.into(),
            base: Arc::clone(&site.base),
            owner: owner.to_owned(),
            has_first_page: site.home.is_some(),
            parts: Vec::new(),
            way_back: None,
            badge: None,
            notice: None,
            site_style: site.style.map(|style| style.name()),
            theme: None,
            logo: None,
            colours: Colours::of_request(),
            texts: texts::of_request(),
            side: None,
        }
    }

    /// The same frame with a notice.
    pub fn with_notice(mut self, notice: Option<impl Into<Cow<'static, str>>>) -> Self {
        self.notice = notice.map(Into::into);
        self
    }
}

/// A 200 response with the page. The caller chooses the error type: any that an [`ErrorPage`] converts to.
pub fn render_page<E: From<ErrorPage>>(template: &impl Template) -> Result<Response, E> {
    render_page_as(StatusCode::OK, template)
}

/// A response with the page and this status.
pub fn render_page_as<E: From<ErrorPage>>(status: StatusCode, template: &impl Template) -> Result<Response, E> {
    match template.render() {
        Ok(html) => Ok((status, Html(html)).into_response()),
        Err(error) => {
            tracing::error!(%error, "the server could not render the template of a page");
            Err(ErrorPage::internal().into())
        }
    }
}
