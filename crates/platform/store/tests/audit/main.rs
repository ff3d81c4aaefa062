//! The log of a platform on each store: what is replayed is what is kept, and what was tampered with is found.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod access;
mod behind;
mod crash;
mod ending;
mod house;
mod model;
mod nodes;
mod promises;
mod rough;
mod sale;
mod states;
mod tampering;
mod vanished;
