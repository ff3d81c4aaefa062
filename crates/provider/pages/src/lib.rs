//! Web pages of the delivery provider: the dashboard, where the users of an account work, and the App Portal, where a
//! customer's engineers manage the endpoints of their application.
//!
//! The binary mounts both beside the provider's JSON API. A page is a template beside the handler that fills it.
//! Handlers call the use cases of `provider-core` and contain no SQL. Layout, forms and error pages come from `kit-design`.
//!
//! Guarantees: every page works without script; templates escape every value; a page loads files of its own site only;
//! the server refuses a form that another site sent.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod alert_recipients;
pub mod dashboard;
mod endpoints;
mod live;
mod messages;
mod ordering;
mod page_error;
pub mod portal;
mod stream_slots;

use std::sync::LazyLock;

use kit_design::assets::Asset;

/// Styles of the pages of both sites.
static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    Asset::style(
        "provider",
        concat!(include_str!("pages.css"), include_str!("portal/portal.css"), include_str!("dashboard/editor.css")),
    )
});

/// Files of this wing, which both sites serve beside those of kit-design.
const FILES: &[&LazyLock<Asset>] = &[&STYLE];
