//! The platform's API in process, on a temporary SQLite store and a test clock.

#![expect(clippy::unwrap_used, reason = "a test fails if its fixture does")]

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
mod corrections;
mod docs;
mod entering;
mod events_document;
mod fixture;
mod hidden;
mod images;
mod list_filters;
mod live;
mod next_statuses;
mod paddles;
mod passed;
mod queries;
mod reading;
mod replayed;
mod sandbox;
mod shown;
mod tags;
mod telephone_bookings;
mod uploads;
mod users;
mod visitor_messages;
mod visitors;
