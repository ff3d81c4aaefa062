//! How many mails a mailbox receives at most. The allowances are those of sign-in attempts in the store, so a restart or
//! another node does not renew them.

use std::time::Duration;

use jiff::Timestamp;
use kit_identity::throttle::{Attempt, AttemptsToReturn};
use kit_mail::allowances::{Allowance, mailbox};
use uuid::Uuid;

use crate::Platform;
use crate::error::PlatformResult;

/// A used allowance refills evenly in this time.
const WINDOW: Duration = Duration::from_secs(24 * 60 * 60);
/// Mails of one house to one mailbox.
pub(super) const OF_HOUSE_TO_MAILBOX_MAX: u32 = 20;
/// Mails of all houses to one mailbox.
const TO_MAILBOX_MAX: u32 = 60;

impl Platform {
    /// Takes one mail of a house to an address from its allowances, and returns the taken ones. Errors: when the next mail is
    /// possible.
    pub(super) async fn take_mail(
        &self,
        customer: Uuid,
        address: &str,
    ) -> PlatformResult<Result<Vec<Attempt>, Timestamp>> {
        let wanted = wanted(customer, address);
        let allowed_from = self.store().take_sign_in_attempts(wanted.clone(), self.now()).await?;
        Ok(allowed_from.map_or(Ok(wanted), Err))
    }

    /// Gives a mail that was not sent back to its allowances.
    pub(super) async fn return_mail(&self, taken: Vec<Attempt>) -> PlatformResult<()> {
        Ok(self.store().return_sign_in_attempts(AttemptsToReturn { full: Vec::new(), back: taken }).await?)
    }
}

fn wanted(customer: Uuid, address: &str) -> Vec<Attempt> {
    let (house, mailbox) = (customer.to_string(), mailbox(address));
    let allowance = |owner: &[&str], mails_max| {
        let Allowance { subject, mails_max, refill_interval } = Allowance::new("bidder mail", owner, mails_max, WINDOW);
        Attempt { subject, refill_interval, attempts_max: mails_max }
    };
    vec![
        allowance(&["to mailbox", &mailbox], TO_MAILBOX_MAX),
        allowance(&["of house to mailbox", &house, &mailbox], OF_HOUSE_TO_MAILBOX_MAX),
    ]
}
