//! The mail about a decision on a registration.

use platform_rules::Auction;

use super::notices::one_click;
use super::template::MailValues;
use super::{HouseMails, MailKind, NewMail, Recipient, is_real};
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
        let account = self.account_to_tell(registration).await?;
        let is_wanted = match &account {
            Some(account) => account.profile.details.wants_mail_about(NoticeKind::RegistrationDecided),
            None => mails.sends_decisions,
        };
        if !is_wanted {
            return Ok(None);
        }
        let (language, pages) = match &account {
            Some(account) => (account.profile.details.language, self.notice_pages(&letterhead, auction, account)),
            None => (None, None),
        };
        let mails = HouseMails { language: language.unwrap_or(mails.language), ..mails };
        let (page, end_mails) = pages.unzip();
        let recipient = Recipient { registration, party: party.as_ref() };
        let Some(address) = recipient.address() else { return Ok(None) };
        let of_sale = letterhead.values(auction, mails.language, self.now());
        let values = MailValues { page, end_mails: end_mails.clone(), ..recipient.values(&of_sale) };
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
            unsubscribe: end_mails.as_deref().map(one_click),
        }))
    }
}
