//! Reminds the approved bidders of a sale. The preview is read; the confirmation stores the reminder with its text; the
//! worker makes one mail for each bidder.

use std::collections::{BTreeMap, BTreeSet};

use contract::AuctionStatus;
use kit_mail::allowances::mailbox;
use platform_rules::Auction;
use uuid::Uuid;

use super::template::{MailValues, RenderedMail};
use super::{MailForecast, MailKind, NewMail, Recipient, Reminder, is_real};
use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Page, Party, Registration, RegistrationStatus, ReminderStep, StoreError};
use crate::steps::decide::expect_version;
use crate::{Caller, Platform, Scope};

/// Registrations of one part of a reminder. Ends and bids may have to wait for its commit.
const PART_MAX: usize = 250;
/// Reminders that one run goes on with.
const REMINDERS_MAX: usize = 20;
/// Tries of a part after conflicts.
const TRIES_MAX: usize = 5;

/// What a reminder would do.
#[derive(Debug, Clone)]
pub struct ReminderPlan {
    /// UUID of the reminder that the confirmation sends.
    pub id: Uuid,
    /// Approved bidders with an e-mail address: each receives a mail.
    pub recipients: u64,
    /// Mailboxes that receive a mail. One mailbox can be that of several bidders.
    pub mailboxes: u64,
    /// Approved bidders without one.
    pub without_email: u64,
    /// The mail to the first of them.
    pub first: Option<FirstMail>,
    /// When the house can send the mails.
    pub forecast: MailForecast,
    /// The latest reminder of this sale.
    pub last: Option<Reminder>,
    /// Why no reminder can be sent.
    pub hindrance: Option<&'static str>,
    /// The version of the house that the text was read from.
    pub house_version: i64,
}

/// The mail to the first recipient of a reminder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstMail {
    /// The bidder's paddle.
    pub paddle: String,
    /// Address of the recipient.
    pub recipient: String,
    /// Subject and text.
    pub mail: RenderedMail,
}

/// What the person who confirms a reminder has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReminderConfirmation {
    /// UUID of the reminder, made with the form.
    pub id: Uuid,
    /// The latest reminder.
    pub seen: Option<Uuid>,
    /// The version of the house.
    pub house_version: i64,
}

/// Registrations with the records in the register that they name.
struct Approved {
    registrations: Vec<Registration>,
    /// The record that stands for its person, by the record that a registration names.
    parties: BTreeMap<Uuid, Party>,
}

impl Approved {
    fn recipients(&self) -> impl Iterator<Item = Recipient<'_>> {
        self.registrations.iter().map(|registration| {
            let party = registration.party.and_then(|party| self.parties.get(&party));
            Recipient { registration, party: party.filter(|party| party.customer == registration.customer) }
        })
    }
}

impl Platform {
    /// What a reminder would do, with the mail to the first bidder. The access log gets an entry.
    ///
    /// Errors: `not_found`.
    pub async fn reminder_plan(&self, caller: &Caller, auction: Uuid) -> PlatformResult<ReminderPlan> {
        caller.require(Scope::BiddersWrite)?;
        let auction = self.visible_auction(caller, auction).await?;
        let letterhead = self.letterhead(auction.customer).await?;
        let (text, values) = (
            letterhead.mails().text(MailKind::Reminder),
            letterhead.values(&auction, letterhead.mails().language, self.now()),
        );
        let (mut recipients, mut without_email, mut first, mut after) = (0, 0, None, None);
        let mut mailboxes = BTreeSet::new();
        loop {
            let approved = self.approved(auction.uuid, after).await?;
            after = approved.registrations.last().map(|registration| registration.uuid);
            for recipient in approved.recipients() {
                let Some(address) = recipient.address() else {
                    without_email += 1;
                    continue;
                };
                recipients += 1;
                mailboxes.insert(mailbox(&address));
                first.get_or_insert_with(|| FirstMail {
                    paddle: recipient.registration.paddle.clone(),
                    recipient: address,
                    mail: text.render(&recipient.values(&values)),
                });
            }
            if approved.registrations.len() < PART_MAX {
                break;
            }
        }
        let event = AccessEvent::ReminderPreviewed { auction: auction.uuid };
        self.note_alone(self.note(caller, event)?).await?;
        let waiting = self.store().mail_counts(auction.customer).await?.waiting;
        Ok(ReminderPlan {
            forecast: self.mail_forecast(auction.customer, waiting, recipients).await?,
            id: self.ids().uuid_v7(),
            recipients,
            mailboxes: u64::try_from(mailboxes.len()).unwrap_or(u64::MAX),
            without_email,
            first,
            last: self.store().latest_reminder(auction.uuid).await?,
            hindrance: self.hindrance(&auction),
            house_version: letterhead.version(),
        })
    }

    /// Sends the reminder to all approved bidders with an address. A confirmation that is sent twice reminds once.
    ///
    /// Errors: `not_found`, `invalid` (no mail server, the sale is a draft, over or a sandbox), `precondition_failed` (the text
    /// changed since), `busy` (another reminder was sent since).
    pub async fn remind_bidders(
        &self,
        caller: &Caller,
        auction: Uuid,
        confirmed: ReminderConfirmation,
    ) -> PlatformResult<()> {
        caller.require(Scope::BiddersWrite)?;
        let auction = self.visible_auction(caller, auction).await?;
        if let Some(hindrance) = self.hindrance(&auction) {
            return Err(PlatformError::invalid("", hindrance));
        }
        let letterhead = self.letterhead(auction.customer).await?;
        let reminder = Reminder {
            uuid: confirmed.id,
            customer: auction.customer,
            auction: auction.uuid,
            actor: caller.actor.clone(),
            language: letterhead.mails().language,
            text: letterhead.mails().text(MailKind::Reminder),
            after: None,
            recipients: 0,
            without_email: 0,
            created_at: self.now(),
            ended_at: None,
        };
        expect_version(Some(confirmed.house_version), letterhead.version())?;
        match self.store().begin_reminder(reminder, confirmed.seen).await {
            Ok(()) => {
                self.mails_queued().notify();
                Ok(())
            }
            // The form was sent twice.
            Err(StoreError::Taken(_)) => Ok(()),
            Err(StoreError::Conflict) => Err(PlatformError::Busy),
            Err(error) => Err(error.into()),
        }
    }

    /// The latest reminder of a sale.
    ///
    /// Errors: `not_found`.
    pub async fn latest_reminder(&self, caller: &Caller, auction: Uuid) -> PlatformResult<Option<Reminder>> {
        caller.require(Scope::BiddersRead)?;
        let auction = self.visible_bidders(caller, auction).await?.uuid;
        Ok(self.store().latest_reminder(auction).await?)
    }

    /// When the house can send the mails of the latest reminder of a sale, those that are not made yet included. For the person
    /// who just sent it: mails that were sent meanwhile count as possible now.
    ///
    /// Errors: `not_found`.
    pub async fn reminder_forecast(&self, caller: &Caller, auction: Uuid) -> PlatformResult<Option<MailForecast>> {
        caller.require(Scope::BiddersWrite)?;
        let auction = self.visible_auction(caller, auction).await?;
        let Some(reminder) = self.store().latest_reminder(auction.uuid).await? else { return Ok(None) };
        let (mut to_make, mut after) = (0, reminder.after);
        while reminder.ended_at.is_none() {
            let approved = self.approved(auction.uuid, after).await?;
            after = approved.registrations.last().map(|registration| registration.uuid);
            to_make += approved.recipients().filter(|recipient| recipient.address().is_some()).count();
            if approved.registrations.len() < PART_MAX {
                break;
            }
        }
        let to_make = u64::try_from(to_make).unwrap_or(u64::MAX);
        let mails = reminder.recipients.saturating_add(to_make);
        let waiting = self.store().mail_counts(auction.customer).await?.waiting.saturating_add(to_make);
        let forecast = self.mail_forecast(auction.customer, waiting.saturating_sub(mails), mails.min(waiting)).await?;
        let sent = mails.saturating_sub(waiting);
        Ok(Some(MailForecast { mails, now: forecast.now.saturating_add(sent), ..forecast }))
    }

    fn hindrance(&self, auction: &Auction) -> Option<&'static str> {
        match auction.status {
            _ if !self.sends_mail() => {
                Some("This platform sends no mail: its operator has to set mail.smtp_url and mail.from.")
            }
            _ if !is_real(auction) => Some("This is a sandbox or a rehearsal: its bidders receive no mail."),
            AuctionStatus::Draft => Some("The sale is a draft: set it to preview first."),
            AuctionStatus::Reconciliation | AuctionStatus::Archived => Some("The sale is over."),
            AuctionStatus::Preview | AuctionStatus::Live => None,
        }
    }

    /// Makes the mails of reminders that were confirmed.
    pub(super) async fn make_reminder_mails(&self) -> PlatformResult<()> {
        for reminder in self.store().open_reminders(REMINDERS_MAX).await? {
            self.make_mails_of(reminder).await?;
        }
        Ok(())
    }

    async fn make_mails_of(&self, mut reminder: Reminder) -> PlatformResult<()> {
        let Some(auction) = self.store().auction(reminder.auction).await? else { return Ok(()) };
        let letterhead = self.letterhead(reminder.customer).await?;
        let values = letterhead.values(&auction, reminder.language, self.now());
        let mut tries = 0;
        while reminder.ended_at.is_none() {
            let step = self.next_part(&reminder, &values).await?;
            let (through, ended_at) = (step.through, step.ended_at);
            match self.store().remind(step).await {
                Ok(()) => {
                    (reminder.after, reminder.ended_at) = (through.or(reminder.after), ended_at);
                    tries = 0;
                }
                // Another node goes on with it, or a registration changed meanwhile.
                Err(StoreError::Conflict) if tries < TRIES_MAX => {
                    tries += 1;
                    match self.store().latest_reminder(reminder.auction).await? {
                        Some(latest) if latest.uuid == reminder.uuid => reminder = latest,
                        _ => return Ok(()),
                    }
                }
                Err(StoreError::Conflict) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    async fn next_part(&self, reminder: &Reminder, values: &MailValues) -> PlatformResult<ReminderStep> {
        let approved = self.approved(reminder.auction, reminder.after).await?;
        let (mut mails, mut without_email, now) = (Vec::new(), 0, self.now());
        for recipient in approved.recipients() {
            let Some(address) = recipient.address() else {
                without_email += 1;
                continue;
            };
            let rendered = reminder.text.render(&recipient.values(values));
            let mail = NewMail {
                uuid: self.ids().uuid_v7(),
                customer: reminder.customer,
                auction: reminder.auction,
                registration: recipient.registration.uuid,
                party: recipient.party.map(|party| party.uuid),
                kind: MailKind::Reminder,
                recipient: address,
                subject: rendered.subject,
                text: rendered.text,
                queued_at: now,
                unsubscribe: None,
            };
            mails.push((mail, recipient.registration.version));
        }
        Ok(ReminderStep {
            reminder: reminder.clone(),
            through: approved.registrations.last().map(|registration| registration.uuid),
            mails,
            without_email,
            ended_at: (approved.registrations.len() < PART_MAX).then_some(now),
        })
    }

    /// The next approved registrations of an auction, with the records that they name.
    async fn approved(&self, auction: Uuid, after: Option<Uuid>) -> PlatformResult<Approved> {
        let page = Page { after, limit: PART_MAX };
        let approved = [RegistrationStatus::Approved];
        let registrations = self.store().registrations_with_status(auction, &approved, page).await?;
        let named: Vec<Uuid> = registrations.iter().filter_map(|registration| registration.party).collect();
        let named = self.store().parties_of(&named).await?;
        let merged_into: Vec<Uuid> =
            named.iter().filter(|party| party.record() != party.uuid).map(Party::record).collect();
        let standing = self.store().parties_of(&merged_into).await?;
        let record_of = |party: Party| {
            let standing = standing.iter().find(|record| record.uuid == party.record()).cloned();
            (party.uuid, standing.unwrap_or(party))
        };
        Ok(Approved { registrations, parties: named.into_iter().map(record_of).collect() })
    }
}
