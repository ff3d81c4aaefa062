//! The App Portal over HTTP: a provider on a temporary store, a server on a port, and a visitor with a cookie.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod access;
mod alerts;
mod deliveries;
mod embedding;
mod endpoints;
mod escaping;
mod fixture;
mod forgery;
mod forms;
mod holds;
mod login;
mod one_session;
mod overview;
mod url_check;
mod verify;
