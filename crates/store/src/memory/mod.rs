//! Everything in memory: for simulation and tests.

mod provider;

pub use provider::provider;
