//! The platform's store on SQLite and on PostgreSQL: the only crate with the platform's SQL.
//!
//! The binary opens one store; the conformance suite in `tests/` runs on both. Both implement the ports of
//! `platform-core`, which state the guarantees of each call. Connections, transactions and migrations are
//! `kit-engine`'s.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod batch;
mod codec;
mod orphans;
pub mod postgres;
pub mod sqlite;
