//! One story, three stores: what the ports promise, told of every adapter.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod platform;
mod provider;
