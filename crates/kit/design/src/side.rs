//! Side navigation of a site whose visitors sign in: groups of links, who is signed in, and the environment.

use std::borrow::Cow;

/// What `side_layout.html` shows beside a page.
#[derive(Debug, Clone)]
pub struct Side {
    /// Groups of links, from top to bottom.
    pub groups: Vec<SideGroup>,
    /// The visitor.
    pub user: User,
    /// Name of an installation that is not for production, such as "Staging"; shown as a badge.
    pub environment: Option<String>,
}

/// A group of links.
#[derive(Debug, Clone)]
pub struct SideGroup {
    /// Heading of the group; empty for a group without one.
    pub title: &'static str,
    /// The links, from top to bottom.
    pub links: Vec<SideLink>,
}

/// A link of the side navigation.
#[derive(Debug, Clone)]
pub struct SideLink {
    /// Text of the link.
    pub words: Cow<'static, str>,
    /// Path below the site's base.
    pub path: Cow<'static, str>,
    /// The page that is shown belongs to this part of the site.
    pub is_current: bool,
    /// Number of things that need the visitor; shown as a badge.
    pub count: Option<u64>,
}

/// The visitor who is signed in.
#[derive(Debug, Clone)]
pub struct User {
    /// E-mail address or name.
    pub name: String,
    /// What the visitor is here, such as a role.
    pub detail: Cow<'static, str>,
    /// Path of the visitor's own settings, below the site's base.
    pub account_path: &'static str,
    /// Path that a form posts to in order to sign out, below the site's base.
    pub sign_out_path: &'static str,
}

impl SideLink {
    /// A link without a count.
    pub fn new(words: &'static str, path: &'static str, is_current: bool) -> Self {
        Self { words: Cow::Borrowed(words), path: Cow::Borrowed(path), is_current, count: None }
    }
}
