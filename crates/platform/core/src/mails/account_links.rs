//! The mail with the link that opens a bidder's account. It is sent at once and stored nowhere: its reader takes over the account.

use super::allowances::UsedUp;
use super::default_texts::link_text;
use super::template::{MailValues, RenderedMail};
use crate::Platform;
use crate::error::PlatformResult;
use crate::error::saleroom_refusal::SaleroomRefusal;
use crate::port::BidderLink;
use kit_mail::Mail;

impl Platform {
    /// Stores a link and sends its address to the mailbox that it is for, in the name of the house.
    ///
    /// Errors: `mail_unavailable`, `too_many_mails`.
    pub(crate) async fn send_account_link(&self, link: BidderLink, address: &str) -> PlatformResult<()> {
        let (customer, to) = (link.customer, link.email.clone());
        let mailer = self.config().mailer.as_ref().ok_or(SaleroomRefusal::MailUnavailable)?;
        let taken = match self.take_mail(customer, &to).await? {
            Ok(taken) => taken,
            Err(UsedUp { until, .. }) => {
                let minutes = until.duration_since(self.now()).as_secs().max(0).unsigned_abs().div_ceil(60).max(1);
                return Err(SaleroomRefusal::TooManyMails { minutes }.into());
            }
        };
        // An earlier link stays usable until this one is on its way.
        self.store().put_bidder_link(link).await?;
        let letterhead = self.letterhead(customer).await?;
        let house = Some(letterhead.name.clone());
        let values = MailValues { house, contact: letterhead.contact(), ..MailValues::default() };
        let RenderedMail { subject, text } = link_text(letterhead.mails().language).render(&values);
        let mail = Mail {
            to,
            subject,
            text: text.replace("<link>", address),
            id: self.ids().uuid_v7().to_string(),
            sender_name: Some(letterhead.name.clone()),
            reply_to: letterhead.email(),
        };
        let Err(error) = mailer.send(&mail).await else { return Ok(()) };
        tracing::warn!(%customer, permanent = error.is_permanent(), "the link of an account could not be sent");
        if error.is_permanent() {
            self.return_refused_mail(taken).await?;
        } else {
            self.return_mail(taken).await?;
        }
        Err(SaleroomRefusal::MailUnavailable.into())
    }
}
