//! PostgreSQL: one schema for each system, in one database or in two; any number of nodes at the same time.

mod platform;
mod provider;

pub use crate::engine::postgres::{PostgresConfig, Reached};
pub use platform::open_platform;
pub use provider::open_provider;
