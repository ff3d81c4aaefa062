//! Stories of the whole system, driven from outside: the real binary as processes, real stores, real HTTP.
//!
//! Each module is one story. They need the binary: `cargo build -p lotwire` (which `cargo xtask ci` does first).

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod api_conventions;
mod audit;
mod broken_log;
mod bulk_changes;
mod concurrent_bidders;
mod database_outage;
mod demo;
mod disconnect_and_quarantine;
mod fake_provider;
mod large_payloads;
mod live;
mod management;
mod official_clients;
mod portal;
mod provider_access;
mod provider_errors;
mod provider_nodes;
mod remote_provider;
mod sandbox;
mod sealing_keys;
mod secrets;
mod startup_refusals;
mod stuck_deliveries;
mod support;
mod two_nodes;
mod webcast;
