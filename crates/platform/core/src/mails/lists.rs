//! The mails of a house for its staff, "Send again", and the test mail.

use std::collections::BTreeMap;
use std::time::Duration;

use kit_mail::{Mail, SendError, is_address};
use uuid::Uuid;

use super::allowances::{MailLimit, UsedUp, house_at_limit, too_many_tests};
use super::default_texts::test_text;
use super::template::{MailValues, RenderedMail};
use super::{HeldCount, MailCounts, MailState, Recipient, StoredMail};
use crate::access::access_log::AccessEvent;
use crate::caller::visible;
use crate::config::MailLimits;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Customer, Page};
use crate::{Caller, Platform, Scope};

/// Who may have a mail sent: those who decide on registrations, and those who look after customers.
const MAY_SEND: &[Scope] = &[Scope::PartiesWrite, Scope::CustomersWrite];

/// How long failed mails are shown to those who look after the platform.
const FAILED_SHOWN_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Whom a mail was written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailBidder {
    /// The paddle.
    pub paddle: String,
    /// The name of the registration, or of the record.
    pub name: Option<String>,
}

/// What became of a test mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestMail {
    /// The mail server has taken it; its answer.
    Taken(String),
    /// The mail server refused it; its answer.
    Refused(String),
    /// The mail server can't be reached, or can't take it now; why.
    Unavailable(String),
}

impl Platform {
    /// Mails of a house in this state, the latest first. The access log gets an entry.
    ///
    /// Errors: `not_found` (customer).
    pub async fn mails(
        &self,
        caller: &Caller,
        customer: Uuid,
        state: MailState,
        page: Page<Uuid>,
    ) -> PlatformResult<Vec<StoredMail>> {
        caller.require(Scope::PartiesRead)?;
        self.visible_customer(caller, customer).await?;
        let mails = self.store().mails(customer, state, page).await?;
        let records = u64::try_from(mails.len()).unwrap_or(u64::MAX);
        self.note_alone(self.note(caller, AccessEvent::MailsListed { customer, records })?).await?;
        Ok(mails)
    }

    /// The bidders of mails, by registration. For a page that lists the mails, which the access log has.
    pub async fn mail_bidders(
        &self,
        caller: &Caller,
        mails: &[StoredMail],
    ) -> PlatformResult<BTreeMap<Uuid, MailBidder>> {
        caller.require(Scope::PartiesRead)?;
        let mut bidders = BTreeMap::new();
        for registration in mails.iter().map(|stored| stored.mail.registration) {
            if bidders.contains_key(&registration) {
                continue;
            }
            let found = self.store().registration(registration).await?;
            let Some(found) = found.filter(|found| caller.can_see(found.customer)) else { continue };
            let party = self.record_of(&found).await?;
            let name = found.name.clone().or_else(|| party.map(|party| party.details.name));
            bidders.insert(registration, MailBidder { paddle: found.paddle, name });
        }
        Ok(bidders)
    }

    /// Mails of a house by state.
    ///
    /// Errors: `not_found` (customer).
    pub async fn mail_counts(&self, caller: &Caller, customer: Uuid) -> PlatformResult<MailCounts> {
        caller.require(Scope::CustomersRead)?;
        self.visible_customer(caller, customer).await?;
        Ok(self.store().mail_counts(customer).await?)
    }

    /// Houses that the caller sees with mails that were given up in the last seven days, and the number of these.
    pub async fn failed_mails(&self, caller: &Caller) -> PlatformResult<Vec<(Customer, u64)>> {
        caller.require(Scope::PartiesRead)?;
        let mut houses = Vec::new();
        for (customer, count) in self.store().failed_mails(caller.customer, self.now() - FAILED_SHOWN_FOR).await? {
            houses.extend(self.store().customer(customer).await?.map(|customer| (customer, count)));
        }
        Ok(houses)
    }

    /// Houses that the caller sees with mails that wait for a limit.
    pub async fn held_mails(&self, caller: &Caller) -> PlatformResult<Vec<(Customer, HeldCount)>> {
        caller.require(Scope::PartiesRead)?;
        let mut houses = Vec::new();
        for (customer, held) in self.store().held_mails(caller.customer).await? {
            houses.extend(self.store().customer(customer).await?.map(|customer| (customer, held)));
        }
        Ok(houses)
    }

    /// A mail with its text. The access log gets an entry.
    ///
    /// Errors: `not_found`.
    pub async fn mail(&self, caller: &Caller, customer: Uuid, uuid: Uuid) -> PlatformResult<StoredMail> {
        caller.require(Scope::PartiesRead)?;
        let stored = self.visible_mail(caller, customer, uuid).await?;
        let registration = stored.mail.registration;
        self.note_alone(self.note(caller, AccessEvent::MailViewed { mail: uuid, registration })?).await?;
        Ok(stored)
    }

    /// Sends a mail that waits after this number of failed tries at once, to the address that the bidder has now. It uses one of
    /// the tries. False when it is being sent, was sent or given up, or another try was made since.
    ///
    /// Errors: `not_found`, `invalid` (no mail server is set, or the bidder has no address any more).
    pub async fn send_mail_now(&self, caller: &Caller, customer: Uuid, uuid: Uuid, tries: u32) -> PlatformResult<bool> {
        caller.require_one_of(MAY_SEND)?;
        self.require_mail()?;
        let stored = self.visible_mail(caller, customer, uuid).await?;
        let address = self.present_address(&stored).await?;
        let is_due = self.store().send_mail_now(uuid, tries, &address, self.now()).await?;
        if is_due {
            self.mails_queued().notify();
        }
        Ok(is_due)
    }

    /// Sends a mail that was given up again, to the address that the bidder has now.
    ///
    /// Errors: `not_found`, `invalid` (it was not given up, or the bidder has no address any more).
    pub async fn send_mail_again(&self, caller: &Caller, customer: Uuid, uuid: Uuid) -> PlatformResult<()> {
        caller.require_one_of(MAY_SEND)?;
        self.require_mail()?;
        let stored = self.visible_mail(caller, customer, uuid).await?;
        let address = self.present_address(&stored).await?;
        if !self.store().send_mail_again(uuid, &address, self.now()).await? {
            return Err(PlatformError::invalid("", "the mail was not given up: it waits, or was sent"));
        }
        self.mails_queued().notify();
        Ok(())
    }

    /// Sends a test mail in the name of the house at once, and returns what the mail server answered.
    ///
    /// Errors: `not_found` (customer), `invalid` (no mail server is set, not an address, or a limit is used up).
    pub async fn send_test_mail(&self, caller: &Caller, customer: Uuid, address: &str) -> PlatformResult<TestMail> {
        caller.require_one_of(MAY_SEND)?;
        let customer = self.visible_customer(caller, customer).await?;
        let mailer = self.require_mail()?;
        let address = address.trim();
        if !is_address(address) {
            return Err(PlatformError::invalid("/address", "is not an e-mail address, such as ann@example.com"));
        }
        if let Err(until) = self.take_test_mail(caller).await? {
            return Err(PlatformError::invalid("/address", too_many_tests(until, self.now())));
        }
        let taken = match self.take_mail(customer.uuid, address, false).await? {
            Ok(taken) => taken,
            Err(UsedUp { limit: MailLimit::Mailbox, .. }) => {
                let text = "received too many mails in the last 24 hours: choose another address, or wait";
                return Err(PlatformError::invalid("/address", text));
            }
            Err(UsedUp { until, .. }) => {
                return Err(PlatformError::invalid("/address", house_at_limit(until, self.now())));
            }
        };
        let letterhead = self.letterhead(customer.uuid).await?;
        let values =
            MailValues { house: Some(letterhead.name.clone()), contact: letterhead.email(), ..MailValues::default() };
        let RenderedMail { subject, text } = test_text(letterhead.mails().language).render(&values);
        let mail = Mail {
            to: address.to_owned(),
            subject,
            text,
            id: self.ids().uuid_v7().to_string(),
            sender_name: Some(letterhead.name.clone()),
            reply_to: letterhead.email(),
            unsubscribe: None,
        };
        let sent = mailer.send(&mail).await;
        match &sent {
            Ok(_) => {}
            Err(error) if error.is_permanent() => self.return_refused_mail(taken).await?,
            Err(_) => self.return_mail(taken).await?,
        }
        match sent {
            Ok(answer) => Ok(TestMail::Taken(answer)),
            Err(SendError::Refused(answer)) => Ok(TestMail::Refused(answer)),
            Err(SendError::Unavailable(reason)) => Ok(TestMail::Unavailable(reason)),
            Err(SendError::Invalid(reason)) => Err(PlatformError::invalid("/address", reason)),
        }
    }

    /// How many mails a house sends at most.
    pub fn mail_limits(&self) -> MailLimits {
        self.config().mail_limits
    }

    /// The mail server. Errors: `invalid` when the operator set none.
    pub(super) fn require_mail(&self) -> PlatformResult<&kit_mail::Mailer> {
        self.config().mailer.as_ref().ok_or_else(|| {
            PlatformError::invalid(
                "",
                "this platform sends no mail: its operator has to set mail.smtp_url and mail.from",
            )
        })
    }

    /// The address that the recipient has now: that of the record which stands for the person.
    async fn present_address(&self, stored: &StoredMail) -> PlatformResult<String> {
        let registration = self.store().registration(stored.mail.registration).await?;
        let registration = registration.ok_or(PlatformError::NotFound("registration"))?;
        let party = self.record_of(&registration).await?;
        let address = Recipient { registration: &registration, party: party.as_ref() }.address();
        address.ok_or_else(|| {
            PlatformError::invalid("", "the bidder has no e-mail address any more: enter one in the register first")
        })
    }

    async fn visible_mail(&self, caller: &Caller, customer: Uuid, uuid: Uuid) -> PlatformResult<StoredMail> {
        let found = self.store().mail(uuid).await?.filter(|stored| stored.mail.customer == customer);
        visible(caller, found, "mail", |stored| stored.mail.customer)
    }
}
