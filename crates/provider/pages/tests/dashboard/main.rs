//! The dashboard, in process: a provider on a temporary store, its pages, and browsers that keep cookies.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod account;
mod activity;
mod alerts;
mod api_keys;
mod applications;
mod endpoints;
mod event_types;
mod figures;
mod fixture;
mod left;
mod messages;
mod operation;
mod ordering;
mod portal_links;
mod profile;
mod sent_by_hand;
mod sign_in;
mod users;
mod workplace;
