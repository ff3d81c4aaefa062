//! The administration application of the platform, at `/admin`: what the people who run sales, and support, work with.
//!
//! The binary mounts it beside the platform's JSON API. A page is a template beside the handler that fills it. Handlers
//! call the use cases of `platform-core` and contain no SQL. Layout, forms and error pages come from `kit-design`.
//!
//! Guarantees:
//! - A user may do exactly what the API allows the user's role to do. Each request authenticates the session and calls
//!   the use case that the API calls; [`access`] lists the scope that each page requires.
//! - Every page but the clerk's desk works without script; templates escape every value; a page loads files of its own
//!   site only; the server refuses a form that another site sent.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod access;
mod account;
mod admin;
mod api_keys;
mod assets;
mod auctioneers;
mod auctions;
mod audit;
mod book;
mod buyer_words;
mod customers;
mod desk;
mod end_times;
mod endpoint_health;
mod file_upload;
mod form_page;
mod images;
mod imports;
mod join;
mod labels;
mod lots;
mod mails;
mod notice;
mod paddles;
mod page_error;
mod people;
mod print;
mod registrations;
mod results;
mod room_words;
mod sale;
mod screens;
mod session;
mod set_up;
mod shown_once;
mod sign_in;
mod system;
mod test_clock;
mod today;
mod users;

use axum::Router;
use kit_design::site;
use kit_http::Surface;
use kit_runtime::clock::SharedClock;
use platform_core::Platform;

use admin::Admin;
pub use admin::AdminConfig;

/// Path of the administration below the platform's public address.
pub const PATH: &str = "/admin";

/// Mounts the administration of this platform on the surface, below [`PATH`].
pub fn add_to(surface: Surface, platform: Platform, clock: SharedClock, config: AdminConfig) -> Surface {
    let admin = Admin::new(platform, clock, config);
    let (site, side) = (admin.shared_site(), session::side_of_visitor(&admin));
    surface.mount(PATH, site::wrap_site_with_side(pages().with_state(admin), site, side))
}

/// Method and path of each page that requires a session, below [`PATH`]. Tests of access go through them.
pub fn listed_pages() -> impl Iterator<Item = (&'static str, &'static str)> {
    access::all().map(|(method, path, _)| (*method, *path))
}

/// All pages. Each module lists its own, with the scope that each requires, for [`access`].
fn pages() -> Router<Admin> {
    Router::new()
        .merge(sign_in::router())
        .merge(set_up::router())
        .merge(join::router())
        .merge(today::router())
        .merge(account::router())
        .merge(customers::router())
        .merge(auctioneers::router())
        .merge(people::router())
        .merge(users::router())
        .merge(api_keys::router())
        .merge(audit::router())
        .merge(system::router())
        .merge(test_clock::router())
        .merge(auctions::router())
        .merge(lots::router())
        .merge(images::router())
        .merge(end_times::router())
        .merge(registrations::router())
        .merge(mails::router())
        .merge(results::router())
        .merge(desk::router())
        .merge(screens::router())
        .merge(book::router())
        .merge(print::router())
        .merge(kit_design::assets::routes_with(assets::OWN))
}
