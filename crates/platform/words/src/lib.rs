//! Texts in five languages, and amounts, times and addresses in words and fields, as the pages of the platform show them: those of staff and those of bidders.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod address_fields;
mod currency;
pub mod percent;
mod sale_zone;
mod words;

pub use currency::Currency;
pub use sale_zone::{SaleZone, short_names, time_format};
pub use words::{Value, Words, key, own_name, tag};
