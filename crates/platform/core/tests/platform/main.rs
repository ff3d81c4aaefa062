//! Tests of the platform's use cases with a real SQLite store and a real HTTP server as the provider.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod access;
mod after_sale;
mod bidders;
mod conflicts;
mod connecting;
mod connecting_embedded;
mod consignors;
mod downtime;
mod duplicates;
mod endpoint_provider;
mod endpoint_readings;
mod erasing;
mod failing;
mod faulty_store;
mod fixture;
mod health;
mod houses;
mod images;
mod item_queue;
mod late_bids;
mod limit_requests;
mod lot_offers;
mod mails;
mod merging;
mod names;
mod notices;
mod parties;
mod provider;
mod publishing;
mod reduced_sending;
mod register_files;
mod saleroom_accounts;
mod saleroom_grants;
mod sales;
mod sandbox;
mod shared_contacts;
mod webcasts;
