//! The mail of a message of staff to a bidder without an account, and who would receive a message.

use platform_rules::Auction;
use uuid::Uuid;

use super::template::MailValues;
use super::{MailKind, NewMail, Recipient, is_real};
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{BidderMessage, NoticeKind, Page, Registration, RegistrationStatus};

/// Registrations of one read.
const READ_AT_ONCE: usize = 250;

/// Whom a message reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageRecipients {
    /// Bidders it is for.
    pub bidders: u64,
    /// Of these, those who read it on their pages.
    pub with_account: u64,
    /// Those who receive a mail.
    pub with_mail: u64,
}

impl Platform {
    /// The mail of a message to a bidder without an account. None without an address.
    pub(crate) async fn message_mail(
        &self,
        auction: &Auction,
        message: &BidderMessage,
        registration: &Registration,
    ) -> PlatformResult<Option<NewMail>> {
        if !self.sends_mail() || !is_real(auction) {
            return Ok(None);
        }
        let party = self.record_of(registration).await?;
        let recipient = Recipient { registration, party: party.as_ref() };
        let Some(address) = recipient.address() else { return Ok(None) };
        let letterhead = self.letterhead(auction.customer).await?;
        let language = letterhead.mails().language;
        let values = MailValues {
            title: Some(message.subject.clone()),
            text: Some(message.text.clone()),
            ..recipient.values(&letterhead.values(auction, language, self.now()))
        };
        let rendered = super::default_text(language, MailKind::Message).render(&values);
        Ok(Some(NewMail {
            uuid: self.ids().uuid_v7(),
            customer: auction.customer,
            auction: auction.uuid,
            registration: registration.uuid,
            party: party.as_ref().map(|party| party.uuid),
            kind: MailKind::Message,
            recipient: address,
            subject: rendered.subject,
            text: rendered.text,
            queued_at: self.now(),
            unsubscribe: None,
        }))
    }

    /// Whom a message to all approved bidders, or to one, reaches.
    pub(crate) async fn message_recipients(
        &self,
        auction: &Auction,
        one: Option<&Registration>,
    ) -> PlatformResult<MessageRecipients> {
        let mut found = MessageRecipients::default();
        if let Some(registration) = one {
            self.count_recipient(auction, registration, &mut found).await?;
            return Ok(found);
        }
        let mut after: Option<Uuid> = None;
        loop {
            let (page, approved) = (Page { after, limit: READ_AT_ONCE }, [RegistrationStatus::Approved]);
            let registrations = self.store().registrations_with_status(auction.uuid, &approved, page).await?;
            for registration in &registrations {
                self.count_recipient(auction, registration, &mut found).await?;
            }
            match registrations.last() {
                Some(last) if registrations.len() == READ_AT_ONCE => after = Some(last.uuid),
                _ => return Ok(found),
            }
        }
    }

    async fn count_recipient(
        &self,
        auction: &Auction,
        registration: &Registration,
        found: &mut MessageRecipients,
    ) -> PlatformResult<()> {
        found.bidders += 1;
        let sends = self.sends_mail() && is_real(auction);
        match self.account_to_tell(registration).await? {
            Some(account) => {
                found.with_account += 1;
                found.with_mail += u64::from(sends && account.profile.details.wants_mail_about(NoticeKind::Message));
            }
            None => {
                let party = self.record_of(registration).await?;
                let has_address = Recipient { registration, party: party.as_ref() }.address().is_some();
                found.with_mail += u64::from(sends && has_address);
            }
        }
        Ok(())
    }
}
