//! The outbox: the workers that publish it, and the events that providers refused.

mod publish_outbox;
pub mod quarantine;
