//! Building blocks of long-running code: clock, randomness, ids, sealing of secrets, batching, rate limits, signals,
//! workers, metrics, free disk, traces.
//!
//! The platform, the provider, the stores and the binary use it; it knows none of them. Only this crate reads the wall
//! clock and the operating system's randomness. All other code gets a [`clock::SharedClock`] and a
//! [`random::SharedRandom`] as parameters, so that a test or a simulation can pass its own.
//!
//! Guarantees: every queue is bounded, no notification is lost, a panic affects only its own worker or batch, and a
//! sealed secret can't be read without the key.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod backoff;
pub mod batcher;
pub mod clock;
pub mod database_figures;
pub mod disk_space;
pub mod gcra;
pub mod heartbeat_run;
pub mod hold;
pub mod ids;
pub mod log_throttle;
pub mod metrics;
pub mod random;
pub mod signal;
pub mod tasks;
pub mod trace;
pub mod vault;
