//! Reference data, records by id, addresses and auctioneers: whole responses.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod auctioneers;
mod auctions;
mod by_id;
mod document;
mod fixture;
mod lists;
