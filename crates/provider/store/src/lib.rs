//! The provider's store on SQLite and on PostgreSQL: the only crate with the provider's SQL.
//!
//! The binary opens one store; the conformance suite in `tests/` runs on both. Both implement the ports of
//! `provider-core`, which state the guarantees of each call. Connections, transactions and migrations are
//! `kit-engine`'s.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod codec;
mod counts_codec;
mod endpoint_codec;
mod endpoint_search_sql;
mod merge;
pub mod postgres;
mod scan;
pub mod sqlite;
mod task_codec;
