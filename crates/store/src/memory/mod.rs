//! Everything in memory: for simulation and tests.

mod platform;
mod provider;

pub use platform::platform;
pub use provider::provider;
