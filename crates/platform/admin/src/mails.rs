//! Mails to bidders: the queue of a house, its texts, a test mail, and the reminder of a sale.

mod list;
mod remind;
mod texts;
mod view;

use axum::Router;
use axum::routing::{get, post};
use platform_core::Scope::{BiddersWrite, CustomersWrite, PartiesRead, PartiesWrite};
use platform_core::mails::MailKind;

pub(crate) use self::remind::LastReminder;
use crate::access::{Need, Page};
use crate::admin::Admin;

const MAY_SEND: Need = Need::HasOneOf(&[PartiesWrite, CustomersWrite]);

pub(crate) const PAGES: &[Page] = &[
    ("GET", "/customers/{customer}/mails", Need::Has(PartiesRead)),
    ("POST", "/customers/{customer}/mails/test", MAY_SEND),
    ("GET", "/customers/{customer}/mails/texts", Need::Has(CustomersWrite)),
    ("POST", "/customers/{customer}/mails/texts", Need::Has(CustomersWrite)),
    ("GET", "/customers/{customer}/mails/{mail}", Need::Has(PartiesRead)),
    ("POST", "/customers/{customer}/mails/{mail}/again", MAY_SEND),
    ("GET", "/auctions/{auction}/remind", Need::Has(BiddersWrite)),
    ("POST", "/auctions/{auction}/remind", Need::Has(BiddersWrite)),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/customers/{customer}/mails", get(list::page))
        .route("/customers/{customer}/mails/test", post(list::test))
        .route("/customers/{customer}/mails/texts", get(texts::page).post(texts::save))
        .route("/customers/{customer}/mails/{mail}", get(view::page))
        .route("/customers/{customer}/mails/{mail}/again", post(view::send_again))
        .route("/auctions/{auction}/remind", get(remind::page).post(remind::send))
}

/// A kind of mail in words.
fn kind_words(kind: MailKind) -> &'static str {
    match kind {
        MailKind::Approved => "Registration approved",
        MailKind::Declined => "Registration declined",
        MailKind::Suspended => "Registration suspended",
        MailKind::Reminder => "Reminder of a sale",
    }
}
