//! Tests of the provider's API through its router. Every response is also checked against the API's own OpenAPI
//! document, and against that of the open-source Svix server if it is present.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod access;
mod applications;
mod attempts;
mod background_tasks;
mod contract;
mod document;
mod documented_examples;
mod endpoint_stats;
mod endpoints;
mod event_types;
mod faults;
mod fixture;
mod headers;
mod history;
mod import;
mod known_faults;
mod limits;
mod messages;
mod metrics;
mod official;
mod official_access;
mod official_configuration;
mod official_history;
mod official_operations;
mod operational;
mod ordering;
mod our_document;
mod patches;
mod payload_check;
mod portal;
mod properties;
mod refusals;
mod traceparent;
mod unknown_event_types;
