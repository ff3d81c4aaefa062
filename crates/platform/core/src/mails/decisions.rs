//! The mail about a decision on a registration.

use platform_rules::Auction;

use super::notices::one_click;
use super::{MailKind, NewMail, Recipient, is_real};
use crate::Platform;
use crate::error::PlatformResult;
use crate::port::{NoticeKind, Registration, RegistrationStatus};

impl Platform {
    /// The mail about the status of a registration, to be committed with the change. Bidders with an account choose whether they
    /// receive it; for others the house does. None for those who receive none, or have no address.
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
        let party = self.record_of(registration).await?;
        let unsubscribe = match self.account_to_tell(registration).await? {
            Some(account) if account.profile.details.wants_mail_about(NoticeKind::RegistrationDecided) => {
                self.end_mails_page(&letterhead, account.id, NoticeKind::RegistrationDecided).as_deref().map(one_click)
            }
            Some(_) => return Ok(None),
            None if mails.sends_decisions => None,
            None => return Ok(None),
        };
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
            unsubscribe,
        }))
    }
}
