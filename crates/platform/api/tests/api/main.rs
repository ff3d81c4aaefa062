//! The platform's API in process: its surface on the store in memory, with a clock that stands still.

#![expect(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod absentees;
mod access;
mod access_log;
mod administration;
mod api_keys;
mod archived;
mod bidders;
mod bidding;
mod clerks;
mod cloned;
mod conventions;
mod docs;
mod entering;
mod events_document;
mod fixture;
mod hidden;
mod list_filters;
mod live;
mod next_statuses;
mod paddles;
mod passed;
mod people;
mod queries;
mod reading;
mod replayed;
mod sandbox;
mod shown;
mod tags;
mod uploads;
