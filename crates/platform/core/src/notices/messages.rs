//! Staff and clerks write to the bidders of a sale, or to one of them.

use platform_rules::{Auction, SaleMode};
use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult, Problem};
use crate::mails::MessageRecipients;
use crate::mails::template::MAIL_SUBJECT_CHARS_MAX;
use crate::port::{BidderMessage, CauseOfNotice, NoticeCause, Registration, StoreError};
use crate::steps::input::{check_lines, check_text};
use crate::{Caller, Platform, Scope};

/// Characters of the text of a message.
pub const MESSAGE_CHARS_MAX: usize = 2_000;
/// Messages of a sale that a page lists.
const LISTED_MAX: usize = 50;
/// Who may write: those who decide on registrations, and the clerks of a webcast.
const MAY_WRITE: &[Scope] = &[Scope::BiddersWrite, Scope::RingWrite];

/// A message before it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// UUID, made with the form.
    pub id: Uuid,
    /// One line.
    pub subject: String,
    /// Lines of text.
    pub text: String,
}

impl NewMessage {
    /// All problems of subject and text.
    pub fn problems(&self) -> Vec<Problem> {
        let subject = check_text(self.subject.trim(), MAIL_SUBJECT_CHARS_MAX).err();
        let text = check_lines(self.text.trim(), MESSAGE_CHARS_MAX).err();
        let problem = |field: &str, message: String| Problem::new(field, message);
        let subject = subject.map(|message| problem("/subject", message));
        subject.into_iter().chain(text.map(|message| problem("/text", message))).collect()
    }
}

impl Platform {
    /// The UUID of a message that a form is about to send.
    pub fn new_message_id(&self) -> Uuid {
        self.ids().uuid_v7()
    }

    /// Whom a message to all approved bidders of a sale, or to one bidder, reaches.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`.
    pub async fn recipients_of_message(
        &self,
        caller: &Caller,
        (auction, registration): (Uuid, Option<Uuid>),
    ) -> PlatformResult<(MessageRecipients, Option<Registration>)> {
        let (auction, one) = self.addressed(caller, (auction, registration)).await?;
        Ok((self.message_recipients(&auction, one.as_ref()).await?, one))
    }

    /// Sends a message to all approved bidders of a sale, or to one bidder. A form that is sent twice sends once.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`, `invalid` (also for a rehearsal or a sandbox).
    pub async fn write_to_bidders(
        &self,
        caller: &Caller,
        (auction, registration): (Uuid, Option<Uuid>),
        message: &NewMessage,
    ) -> PlatformResult<()> {
        let problems = message.problems();
        if !problems.is_empty() {
            return Err(PlatformError::Invalid(problems));
        }
        let (auction, _) = self.addressed(caller, (auction, registration)).await?;
        if auction.sale_mode() != SaleMode::Real {
            let text = "this is a sandbox or a rehearsal: its bidders receive no message";
            return Err(PlatformError::invalid("", text));
        }
        let sent = BidderMessage {
            uuid: message.id,
            auction: auction.uuid,
            registration,
            actor: caller.actor.clone(),
            subject: message.subject.trim().to_owned(),
            text: message.text.trim().to_owned(),
            at: self.now(),
        };
        let what = CauseOfNotice::Message { message: sent.uuid };
        let cause = NoticeCause { auction: auction.uuid, what, at: sent.at };
        match self.store().send_message(sent, cause).await {
            Ok(()) => {
                self.notices_caused().notify();
                Ok(())
            }
            // The form was sent twice.
            Err(StoreError::Taken(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The latest messages to the bidders of a sale, the newest first.
    ///
    /// Errors: `not_found`, `clerk_not_assigned`.
    pub async fn messages_to_bidders(&self, caller: &Caller, auction: Uuid) -> PlatformResult<Vec<BidderMessage>> {
        let (auction, _) = self.addressed(caller, (auction, None)).await?;
        Ok(self.store().messages_of_auction(auction.uuid, LISTED_MAX).await?)
    }

    async fn addressed(
        &self,
        caller: &Caller,
        (auction, registration): (Uuid, Option<Uuid>),
    ) -> PlatformResult<(Auction, Option<Registration>)> {
        caller.require_one_of(MAY_WRITE)?;
        let auction = self.visible_bidders(caller, auction).await?;
        let Some(registration) = registration else { return Ok((auction, None)) };
        let found = self.store().registration(registration).await?.filter(|found| found.auction == auction.uuid);
        Ok((auction, Some(found.ok_or(PlatformError::NotFound("registration"))?)))
    }
}
