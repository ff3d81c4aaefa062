//! Supervision for operators: metrics, endpoints with stuck deliveries, and actions on them.

pub(crate) mod ended_retries;
pub(crate) mod metrics;
pub(crate) mod operator_actions;
pub(crate) mod stuck_endpoints;
