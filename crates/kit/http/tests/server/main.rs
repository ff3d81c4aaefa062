//! Tests of the server on a real port, with raw bytes.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod connections;
mod early_refusals;
mod fixture;
mod over_tls;
mod requests;
mod shutdown;
mod slow_clients;
