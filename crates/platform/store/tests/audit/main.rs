//! The audit log of a platform on each store: its replay gives the stored state, and verification finds tampering.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod access;
mod crash;
mod deleted_rows;
mod erasures;
mod invariants;
mod many_ends;
mod model;
mod nodes;
mod random_commands;
mod raw_database;
mod sale;
mod states;
mod tampering;
mod test_sale;
