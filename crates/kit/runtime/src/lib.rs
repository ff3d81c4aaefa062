//! What every long-running part stands on: time, randomness, ids, sealing of secrets, batching, signals, workers.
//!
//! The platform, the provider, the stores and the binary call it; it knows none of them. It is the only place that reads
//! the wall clock or the operating system's randomness: everybody else is given a [`clock::SharedClock`] and a
//! [`random::SharedRandom`], so that a test or a simulation can hand in its own.
//!
//! Guarantees: every queue here is bounded, no notification is lost, a panic in one worker or one batch stays there, and
//! what is sealed can be read by nobody without the key.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod backoff;
pub mod batcher;
pub mod clock;
pub mod ids;
pub mod log_throttle;
pub mod metrics;
pub mod random;
pub mod signal;
pub mod tasks;
pub mod vault;
