//! The provider over a real store and real sockets: its use cases, and the delivery of messages.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod access;
mod background;
mod causes;
mod closing;
mod delivery;
mod faults;
mod faulty_store;
mod fixture;
mod history;
mod hostile;
mod media_types;
mod messages;
mod operational;
mod operations;
mod ordering;
mod overview;
mod pauses_and_concurrency;
mod properties;
mod receiver;
mod reliability;
mod set_up;
mod traces;
mod upserts;
