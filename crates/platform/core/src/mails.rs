//! Mails to bidders: a decision about a registration, the reminder of a sale, and notices ([`crate::notices`]).
//!
//! ```text
//!  registration decided ── mail in the same commit ──> queue ──> worker ── SMTP ──> mail server
//!  reminder confirmed ──> reminder ── 250 bidders a commit ──^      └── result ──> queue ──> page "Mails"
//! ```
//!
//! Guarantees:
//! - A decision and its mail are committed together, so no mail is lost or queued twice, whichever node dies. A mail about a
//!   later decision replaces one that was not sent yet.
//! - A confirmed reminder becomes one mail for each approved bidder with an address, however often the form is sent, and on
//!   however many nodes the worker runs.
//! - A mail that a node sent and could not record is sent again with the same `Message-ID`.
//! - A house that has not turned mails about decisions on sends none; an operator who set no mail server sends no mail at all.
//!   A sandbox auction sends none.
//! - A mailbox receives, and a house sends, at most the mails of its allowances; others wait, and those of other houses do not
//!   wait with them. A node that starts makes the mails due that wait for a limit, because its limits may be higher.
//! - An erasure deletes the mails of the person. Logs, events and streams name no recipient.

mod account_links;
mod allowances;
mod dates;
mod decisions;
mod default_texts;
mod forecasts;
mod lists;
mod messages;
mod notices;
mod queue;
mod reminders;
pub mod template;
mod texts;

pub use self::default_texts::default_text;
use self::default_texts::live_text;
pub use self::forecasts::MailForecast;
pub use self::lists::{MailBidder, TestMail};
pub use self::messages::MessageRecipients;
pub use self::notices::EndedMails;
pub use self::reminders::{FirstMail, ReminderConfirmation, ReminderPlan};
pub use self::texts::SampleMail;
pub use crate::port::{
    HeldCount, HouseMails, Language, MailCounts, MailKind, MailState, MailText, NewMail, Reminder, StoredMail,
};

use contract::AuctionStatus;
use jiff::Timestamp;
use platform_rules::{Auction, SaleMode};
use uuid::Uuid;

use crate::Platform;
use crate::error::PlatformResult;
use crate::mails::template::MailValues;
use crate::port::{House, Party, Registration};

/// What the mails of a house have in common.
pub(crate) struct Letterhead {
    /// The name, without anything that a mail program makes a link of.
    name: String,
    pub(crate) house: Option<House>,
    /// Base URL of its saleroom's pages; none at a server without salerooms.
    saleroom_base: Option<String>,
}

impl Letterhead {
    pub(crate) fn mails(&self) -> HouseMails {
        self.house.as_ref().map(|house| house.mails.clone()).unwrap_or_default()
    }

    /// Number of the last change of the house; 0 before the first.
    fn version(&self) -> i64 {
        self.house.as_ref().map_or(0, |house| house.version)
    }

    /// The address for replies.
    fn email(&self) -> Option<String> {
        self.house.as_ref()?.profile.email.clone()
    }

    fn contact(&self) -> Option<String> {
        let profile = &self.house.as_ref()?.profile;
        let parts: Vec<&str> = [&profile.email, &profile.phone].into_iter().flatten().map(String::as_str).collect();
        Some(parts.join(", ")).filter(|contact| !contact.is_empty())
    }

    /// The values of placeholders that do not depend on the bidder. A start or an end that has passed has no value, because
    /// a mail announces only future times.
    fn values(&self, auction: &Auction, language: Language, now: Timestamp) -> MailValues {
        let show = |at| dates::show(language, at, &auction.time_zone);
        let comes = |at: &Timestamp| *at > now;
        let is_timed = auction.kind == platform_rules::AuctionKind::Timed;
        let is_live = auction.status == AuctionStatus::Live;
        let title = kit_mail::plain_title(&auction.title);
        MailValues {
            sale: Some(if title.is_empty() { self.name.clone() } else { title }),
            starts: auction.starts_at.filter(comes).filter(|_| !is_live).map(show),
            ends: auction.ends_at.filter(|_| is_timed).filter(comes).map(show),
            live: is_live.then(|| live_text(language, auction.kind).to_owned()),
            house: Some(self.name.clone()),
            contact: self.contact(),
            ..MailValues::default()
        }
    }
}

/// An approved bidder with the record in the register.
struct Recipient<'a> {
    registration: &'a Registration,
    party: Option<&'a Party>,
}

impl Recipient<'_> {
    /// The e-mail address: the record's, or the registration's.
    fn address(&self) -> Option<String> {
        let of_record = self.party.and_then(|party| party.details.email.clone());
        of_record.or_else(|| self.registration.email.clone())
    }

    /// The name, without anything that a mail program makes a link of: the bidder chose it.
    fn name(&self) -> Option<String> {
        let name = self.registration.name.as_deref();
        let name = name.or_else(|| self.party.map(|party| party.details.name.as_str()));
        name.map(kit_mail::plain_name).filter(|name| !name.is_empty())
    }

    fn values(&self, of_sale: &MailValues) -> MailValues {
        let paddle = kit_mail::plain_name(&self.registration.paddle);
        MailValues { bidder: self.name(), paddle: Some(paddle).filter(|paddle| !paddle.is_empty()), ..of_sale.clone() }
    }
}

impl Platform {
    /// True if the operator set a mail server.
    pub fn sends_mail(&self) -> bool {
        self.config().mailer.is_some()
    }

    pub(crate) async fn letterhead(&self, customer: Uuid) -> PlatformResult<Letterhead> {
        let name = self.store().customer(customer).await?.map(|customer| customer.name).unwrap_or_default();
        let (house, saleroom_base) = (self.store().house(customer).await?, self.saleroom_base(customer).await?);
        Ok(Letterhead { name: kit_mail::plain_title(&name), house, saleroom_base })
    }

    /// The record of a registration in the register of its house; of a merged one, the record that stands for its person.
    pub(crate) async fn record_of(&self, registration: &Registration) -> PlatformResult<Option<Party>> {
        let Some(party) = registration.party else { return Ok(None) };
        let named = self.store().party(party).await?;
        let record = match named {
            Some(party) if party.record() != party.uuid => self.store().party(party.record()).await?,
            named => named,
        };
        Ok(record.filter(|party| party.customer == registration.customer))
    }
}

/// True for an auction whose bidders may receive mails.
fn is_real(auction: &Auction) -> bool {
    auction.sale_mode() == SaleMode::Real
}
