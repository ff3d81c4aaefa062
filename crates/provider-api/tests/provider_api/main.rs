//! The provider's API, asked as clients ask it. Every answer is also held against the provider's own document, where that
//! is at hand.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod applications;
mod attempts;
mod background_tasks;
mod document;
mod endpoints;
mod event_types;
mod faults;
mod messages;
mod official;
mod official_operations;
mod operational;
mod refusals;
mod stage;
