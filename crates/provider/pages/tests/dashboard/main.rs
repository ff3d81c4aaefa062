//! The dashboard over HTTP: a provider on a temporary store, a server on a port, and a person who signed in.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod applications;
mod event_types;
mod operation;
mod workplace;
