//! Everything in memory: for simulation and tests.

mod platform;
mod provider;

pub use platform::{PlatformFaults, platform, platform_with_faults};
pub use provider::provider;
