//! Shared equipment of integration tests and rigs: a temporary PostgreSQL, the `lotwire` binary as a child process, a
//! set-up customer, certificates, and a browser. It is never part of the product.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod browser;
pub mod certificates;
pub mod mail_server;
pub mod name_server;
pub mod pdf;
pub mod picture;
pub mod postgres;
pub mod push_service;
pub mod request_log;
pub mod server;
pub mod showcase;
pub mod site;
mod skewed_clock;
pub mod web;
pub mod web_site;
