//! The clerk's desk and the screens of a webcast, in process.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod access;
mod commands;
mod fixture;
mod left;
mod messages;
mod papers;
mod pictures;
mod roles;
mod screen_links;
mod screens;
