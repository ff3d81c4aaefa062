//! The mail about a decision on a registration.

use platform_rules::Auction;

use super::{MailKind, NewMail, Recipient, is_real};
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{Registration, RegistrationStatus};

impl Platform {
    /// The mail about the status of a registration, to be committed with the change. None if the house sends none, or the
    /// bidder has no address.
    pub(crate) async fn decision_mail(
        &self,
        auction: &Auction,
        registration: &Registration,
    ) -> PlatformResult<Option<NewMail>> {
        let kind = match registration.status {
            RegistrationStatus::Approved => MailKind::Approved,
            RegistrationStatus::Refused => MailKind::Declined,
            RegistrationStatus::Suspended => MailKind::Suspended,
            RegistrationStatus::Pending => return Ok(None),
        };
        if !self.sends_mail() || !is_real(auction) {
            return Ok(None);
        }
        let letterhead = self.letterhead(auction.customer).await?;
        let mails = letterhead.mails();
        if !mails.sends_decisions {
            return Ok(None);
        }
        let party = self.record_of(registration).await?;
        let recipient = Recipient { registration, party: party.as_ref() };
        let Some(address) = recipient.address() else { return Ok(None) };
        let values = recipient.values(&letterhead.values(auction, mails.language, self.now()));
        let rendered = mails.text(kind).render(&values);
        Ok(Some(NewMail {
            uuid: self.ids().uuid_v7(),
            customer: auction.customer,
            auction: auction.uuid,
            registration: registration.uuid,
            party: party.map(|party| party.uuid),
            kind,
            recipient: address,
            subject: rendered.subject,
            text: rendered.text,
            queued_at: self.now(),
        }))
    }
}
