//! The stores behind the ports of platform and provider: memory, SQLite and PostgreSQL. The only crate that knows SQL.
//!
//! Called by the binary, which opens one store for each system, and by tests. Each engine has a folder with one adapter for
//! the platform and one for the provider; the two share an engine's code ([`engine`]) and nothing else: no table, no
//! transaction, no connection. What every adapter guarantees is written in the ports, and the same conformance suite runs
//! on all of them.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod batch;
mod engine;
pub mod memory;
mod platform_codec;
pub mod postgres;
mod provider_codec;
mod provider_scan;
mod sealings;
pub mod sqlite;
mod strays;
mod task_codec;

pub use engine::EngineError;
