//! Stories of the whole system, driven from outside: the real binary as processes, real stores, real HTTP.
//!
//! Each module is one story. They need the binary: `cargo build -p lotwire` (which `cargo xtask ci` does first).

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod api_conventions;
mod audit;
mod database_away;
mod demo;
mod ended_connection;
mod fake_provider;
mod house;
mod keys;
mod large_payloads;
mod leads;
mod live;
mod management;
mod many_bidders;
mod official_clients;
mod one_server;
mod portal;
mod provider_access;
mod provider_down;
mod provider_nodes;
mod provider_stuck;
mod remote_provider;
mod sandbox;
mod secrets;
mod two_nodes;
mod unheard;
mod webcast;
