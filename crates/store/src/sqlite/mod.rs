//! SQLite: one file for each system.

mod platform;
mod provider;

pub use platform::open_platform;
pub use provider::open_provider;
