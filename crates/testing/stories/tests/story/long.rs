//! Stories that take too long for every change: `cargo xtask release-check` runs them, and `cargo xtask ci` leaves them out.

mod api_references;
mod clerks_desk_sale;
mod counts_after_kills;
mod house_week;
mod saleroom_sale;
