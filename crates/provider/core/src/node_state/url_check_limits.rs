//! Limits of the checks of URLs on a node.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::rate_limit::RateLimiters;
use crate::dispatcher::Transport;

/// Maximum number of checks that a node makes at the same time.
const CHECKS_MAX: usize = 16;

/// Transport and limits of the checks on this node.
pub(crate) struct UrlChecks {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) permits: Semaphore,
    pub(crate) limiters: RateLimiters,
}

impl UrlChecks {
    pub(crate) fn new(transport: Arc<dyn Transport>, limiters: RateLimiters) -> Self {
        Self { transport, permits: Semaphore::new(CHECKS_MAX), limiters }
    }
}
