//! The design system of all pages: layout, styles, script and icon; forms, cookies, pagination and error pages.
//!
//! Called by the crates that render pages. Such a crate lists this crate's `src` in its `askama.toml`, extends
//! `layout.html` or `side_layout.html`, and wraps its router with [`site::wrap_site`].
//!
//! Guarantees: templates escape every value; a page loads files of its own site only; every page works without script;
//! the server refuses a form that another site sent.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

// Templates name the assets by the crate's name, in this crate as in the crates that extend the layout.
extern crate self as kit_design;

pub mod assets;
pub mod charts;
pub mod code_block;
pub mod code_colours;
pub mod colours;
pub mod cookie;
pub mod error_page;
pub mod error_summary;
pub mod field_group;
pub mod fields;
pub mod form_field;
pub mod frame;
pub mod pager;
pub mod qr_code;
pub mod relative_time;
pub mod side;
pub mod site;
pub mod texts;
pub mod theme;
