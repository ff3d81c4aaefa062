//! Sales: auctions and their items, from creation to results.

pub(crate) mod attachments;
pub mod auctions;
pub mod bulk_change;
mod copied_images;
pub mod facts;
pub mod film;
pub mod item_ends;
pub mod items;
pub mod lists;
pub mod new_item;
pub mod results;
pub mod search;
