//! Mails to bidders: the queue of a house, its texts, a test mail, and the reminder of a sale.

mod forecast;
mod list;
mod remind;
mod texts;
mod view;

use axum::Router;
use jiff::Timestamp;
use kit_http::page_routes::{form, get, post};
use platform_core::Scope::{BiddersWrite, CustomersWrite, PartiesRead, PartiesWrite};
use platform_core::mails::{MailKind, MailState, StoredMail};
use uuid::Uuid;

pub(crate) use self::forecast::ForecastWords;
pub(crate) use self::remind::LastReminder;
use crate::access::{Need, Page};
use crate::admin::Admin;
use crate::page_error::PageError;
use crate::session::Session;
use platform_words::SaleZone;

const MAY_SEND: Need = Need::HasOneOf(&[PartiesWrite, CustomersWrite]);

pub(crate) const PAGES: &[Page] = &[
    ("GET", "/customers/{customer}/mails", Need::Has(PartiesRead)),
    ("POST", "/customers/{customer}/mails/test", MAY_SEND),
    ("GET", "/customers/{customer}/mails/texts", Need::Has(CustomersWrite)),
    ("POST", "/customers/{customer}/mails/texts", Need::Has(CustomersWrite)),
    ("GET", "/customers/{customer}/mails/{mail}", Need::Has(PartiesRead)),
    ("POST", "/customers/{customer}/mails/{mail}/again", MAY_SEND),
    ("POST", "/customers/{customer}/mails/{mail}/now", MAY_SEND),
    ("GET", "/auctions/{auction}/remind", Need::Has(BiddersWrite)),
    ("POST", "/auctions/{auction}/remind", Need::Has(BiddersWrite)),
];

pub(crate) fn router() -> Router<Admin> {
    Router::new()
        .route("/customers/{customer}/mails", get(list::page))
        .route("/customers/{customer}/mails/test", post(list::test))
        .route("/customers/{customer}/mails/texts", form(texts::page, texts::save))
        .route("/customers/{customer}/mails/{mail}", get(view::page))
        .route("/customers/{customer}/mails/{mail}/again", post(view::send_again))
        .route("/customers/{customer}/mails/{mail}/now", post(view::send_now))
        .route("/auctions/{auction}/remind", form(remind::page, remind::send))
}

/// The time zone of a house, which its mails are listed in; UTC for a house without one.
async fn zone_of(session: &Session, customer: Uuid) -> Result<SaleZone, PageError> {
    let house = session.platform().house(&session.caller, customer).await?;
    Ok(SaleZone::named(house.profile.time_zone.as_deref().unwrap_or("UTC")))
}

/// True if the last try of a mail failed and the next one is not due yet.
fn can_go_now(stored: &StoredMail, now: Timestamp) -> bool {
    stored.state == MailState::Waiting && stored.tries > 0 && stored.fault.is_some() && stored.next_at > now
}

/// A kind of mail in words.
fn kind_words(kind: MailKind) -> &'static str {
    match kind {
        MailKind::Approved => "Registration approved",
        MailKind::Declined => "Registration declined",
        MailKind::Suspended => "Registration suspended",
        MailKind::Reminder => "Reminder of a sale",
        MailKind::Outbid => "Outbid",
        MailKind::Won => "Lot won",
        MailKind::NotWon => "Lot not won",
        MailKind::SaleBegan => "Sale begun",
        MailKind::LotSoon => "Lot soon in the ring",
        MailKind::LimitGranted => "Higher limit granted",
        MailKind::LimitDeclined => "Higher limit declined",
        MailKind::Message => "Message to bidders",
        MailKind::Offer => "Offer of a lot",
    }
}
