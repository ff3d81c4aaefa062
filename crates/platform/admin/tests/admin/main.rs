//! The administration over its router, in process: a platform on a temporary store, and visitors with cookies.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod account;
mod auctioneers;
mod clerks;
mod consignors;
mod customers;
mod endpoint_health;
mod error_pages;
mod fixture;
mod form_errors;
mod houses;
mod images;
mod invitations;
mod mails;
mod people;
mod people_merge;
mod sale_auctions;
mod sale_fixture;
mod sale_grid;
mod sale_import;
mod sale_lots;
mod sale_order;
mod sale_pause;
mod sale_results;
mod set_up;
mod sign_in;
mod system_pages;
mod today;
mod users_and_keys;
