//! SQLite: one file for each system.

mod provider;

pub use provider::open_provider;
