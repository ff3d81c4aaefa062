//! The App Portal over real HTTP: a provider on a store in memory, a server on a port, a visitor with a cookie.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod access;
mod deliveries;
mod escaping;
mod fixture;
mod forgery;
mod forms;
mod login;
mod visitor;
