//! What tests and rigs stand on: a PostgreSQL of their own, the real binary as a child process, and a real browser.
//!
//! Called by test suites and by `rigs`; never part of the product.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod browser;
pub mod certificates;
pub mod postgres;
pub mod server;
pub mod site;
