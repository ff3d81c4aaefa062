//! The platform's API in process: its surface on the store in memory, with a clock that stands still.

#![expect(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod absentees;
mod access;
mod access_log;
mod administration;
mod archived;
mod bidders;
mod bidding;
mod clerks;
mod cloned;
mod conventions;
mod docs;
mod entering;
mod events_document;
mod hidden;
mod keys;
mod live;
mod narrowed;
mod next_statuses;
mod paddles;
mod passed;
mod people;
mod queries;
mod reading;
mod replayed;
mod sandbox;
mod shown;
mod stage;
mod tags;
mod uploads;
