//! The mail with the link that opens a bidder's account. It is sent at once and stored nowhere: its reader takes over the account.

use super::allowances::attempt;
use super::default_texts::link_text;
use super::template::{MailValues, RenderedMail};
use crate::Platform;
use crate::error::PlatformResult;
use crate::error::saleroom_refusal::SaleroomRefusal;
use crate::port::{BidderLink, Language};
use std::time::Duration;

use kit_identity::throttle::Attempt;
use kit_mail::Mail;
use kit_mail::allowances::{Allowance, mailbox};
use uuid::Uuid;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Links of a house in an hour.
const OF_HOUSE_MAX: u32 = 1_000;
/// Links of a house to one address in an hour.
const TO_ADDRESS_MAX: u32 = 5;
/// Links of a house to further spellings of one mailbox, such as `ann+1@example.com`, in 24 hours.
const TO_OTHER_SPELLINGS_MAX: u32 = 10;

fn of_house(customer: Uuid) -> Attempt {
    attempt(&Allowance::new("account link", &["of house", &customer.to_string()], OF_HOUSE_MAX, HOUR))
}

/// The allowances of an address. Other spellings of its mailbox take nothing from the mailbox's own one, so that no one else can
/// use it up with them.
fn of_address(customer: Uuid, email: &str) -> Vec<Attempt> {
    let (house, mailbox) = (customer.to_string(), mailbox(email));
    let mut wanted =
        vec![attempt(&Allowance::new("account link", &["to address", &house, email], TO_ADDRESS_MAX, HOUR))];
    if mailbox != email {
        let owner = ["to mailbox", house.as_str(), &mailbox];
        wanted.push(attempt(&Allowance::new("account link", &owner, TO_OTHER_SPELLINGS_MAX, DAY)));
    }
    wanted
}

impl Platform {
    /// Stores a link and sends its address to the mailbox that it is for, in the name of the house and in a language.
    ///
    /// Errors: `mail_unavailable`, `too_many_mails`.
    pub(crate) async fn send_account_link(
        &self,
        link: BidderLink,
        (address, language): (&str, Language),
    ) -> PlatformResult<()> {
        let (customer, to) = (link.customer, link.email.clone());
        let mailer = self.config().mailer.as_ref().ok_or(SaleroomRefusal::MailUnavailable)?;
        // Links have allowances of their own: who asks for links uses up no notice of the house. A mailbox that received too many
        // gets no further one, and the visitor reads what all others read.
        let now = self.now();
        if let Some(until) = self.store().take_sign_in_attempts(vec![of_house(customer)], now).await? {
            let minutes = until.duration_since(now).as_secs().max(0).unsigned_abs().div_ceil(60).max(1);
            return Err(SaleroomRefusal::TooManyMails { minutes }.into());
        }
        if self.store().take_sign_in_attempts(of_address(customer, &to), now).await?.is_some() {
            return Ok(());
        }
        self.store().put_bidder_link(link).await?;
        let letterhead = self.letterhead(customer).await?;
        let house = Some(letterhead.name.clone());
        let values = MailValues { house, contact: letterhead.contact(), ..MailValues::default() };
        let RenderedMail { subject, text } = link_text(language).render(&values);
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
        Err(SaleroomRefusal::MailUnavailable.into())
    }
}
