//! Supervision for operators: metrics, endpoints whose deliveries are stuck, and what an operator can do about them.

pub(crate) mod metrics;
pub(crate) mod operator_actions;
pub(crate) mod stuck_endpoints;
