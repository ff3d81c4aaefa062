//! Web pages on the use cases of the system that they belong to: so far the App Portal, in which a customer's engineers look
//! after the endpoints of their application.
//!
//! Called by the binary, which puts each site beside the API of its system. One folder for each site; what sites have in
//! common (layout, styles, forms, refusals, what is put around a site) is in `shared`. A page is a template beside the
//! handler that fills it; handlers call use cases, and know no SQL and no JSON API.
//!
//! Guarantees: every page works without script; whatever is shown is escaped by the templates; nothing is loaded from
//! elsewhere; a form that comes from another site is refused.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod portal;
mod shared;
