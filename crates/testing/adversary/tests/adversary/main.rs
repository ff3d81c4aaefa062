//! Attacks on the `lotwire` binary: each module has one class of attacks, with a table of them where there is one.
//!
//! `docs/security.md` states what the tests hold the system to, and their counts. Time limits are upper guards of waits:
//! a slow machine does not fail a test. The tests need the binary: `cargo build -p lotwire` (`cargo xtask ci` builds it
//! first).

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub, clippy::print_stdout)]

mod browser;
mod cached_secrets;
mod call;
mod code_mails;
mod damaged_database;
mod descriptors;
mod early_refusals;
mod endpoint_addresses;
mod forged_requests;
mod host_headers;
mod hostile_files;
mod hostile_receivers;
mod kept_connections;
mod left;
mod locked_database;
mod paddles;
mod portal_streams;
mod provider_addresses;
mod provider_tenancy;
mod raw;
mod retry_after;
mod saleroom_accounts;
mod saleroom_crowds;
mod saleroom_hosts;
mod salerooms;
mod scopes;
mod slow_readers;
mod slow_uploads;
mod support;
mod tenancy;
mod unkeyed_bodies;
mod wrong_keys;
