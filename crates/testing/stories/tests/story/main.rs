//! Integration tests of the whole system: processes of the `lotwire` binary, real stores, real HTTP, a real browser.
//!
//! Each module tests one subject. The tests need the binary: `cargo build -p lotwire` (`cargo xtask ci` builds it
//! first).

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod admin_connection;
mod admin_sign_in;
mod admin_timed_sale;
mod administration;
mod amounts_fit;
mod api_conventions;
mod audit;
mod broken_log;
mod bulk_changes;
mod catalogue_check;
mod clerks_desk;
mod clerks_desk_book;
mod clerks_desk_buyers;
mod clerks_desk_entry;
mod clerks_desk_order;
mod clerks_desk_sale;
mod clerks_desk_twice;
mod clerks_desk_waiting;
mod concurrent_bidders;
mod corrections;
mod dashboard_setup;
mod dashboard_users;
mod database_outage;
mod demo;
mod disconnect_and_quarantine;
mod doctor_faults;
mod embedded_provider;
mod every_page;
mod fake_provider;
mod first_hour;
mod first_start;
mod http_server;
mod import_uploads;
mod large_payloads;
mod listen_and_trigger;
mod live;
mod live_pages;
mod lot_images;
mod lots_grid;
mod management;
mod official_clients;
mod portal;
mod portal_frame;
mod portal_links;
mod portal_recovery;
mod provider_access;
mod provider_errors;
mod provider_nodes;
mod publisher_fixture;
mod remote_provider;
mod sandbox;
mod screens_fit;
mod sealing_keys;
mod secrets;
mod silent_database;
mod startup_refusals;
mod stuck_deliveries;
mod support;
mod two_nodes;
mod verify_samples;
mod webcast;
