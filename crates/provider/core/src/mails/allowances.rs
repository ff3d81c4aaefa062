//! Limits on mails with codes: confirmations and invitations. A caller may enter an address of another person, so codes are
//! limited by account, by application and by mailbox.
//!
//! The allowances are in the store, so a restart or another node does not renew them.

use std::time::Duration;

use kit_identity::throttle::{Attempt, AttemptsToReturn, retry_after};
use kit_mail::allowances::{Allowance, mailbox};

use crate::error::{ProviderError, ProviderResult, Quota};
use crate::port::AlertScope;
use crate::provider::Provider;

/// A used allowance refills evenly in this time.
const WINDOW: Duration = Duration::from_secs(24 * 60 * 60);
/// Codes of one account, including those of its applications.
const OF_ACCOUNT_MAX: u32 = 50;
/// Codes of one application, so that one portal can't use up the account's allowance.
const OF_APPLICATION_MAX: u32 = 20;
/// Codes of one account to one mailbox, so that one account can't use up the mailbox's allowance.
const OF_ACCOUNT_TO_MAILBOX_MAX: u32 = 5;
/// Codes of all accounts to one mailbox.
const TO_MAILBOX_MAX: u32 = 15;

impl Provider {
    /// Takes one code to an address from each allowance, and returns the taken allowances. 429 when one is used up.
    pub(crate) async fn take_code(&self, scope: &AlertScope, address: &str) -> ProviderResult<Vec<Attempt>> {
        let (wanted, now) = (wanted(scope, address), self.now());
        let Some(allowed_from) = self.store().take_sign_in_attempts(wanted.clone(), now).await? else {
            return Ok(wanted);
        };
        Err(ProviderError::TooManyRequests {
            detail: "too many codes were sent to this address, or by this account or application, in the last 24 hours",
            retry_after: retry_after(allowed_from, now),
            quota: Quota {
                name: "codes",
                requests: OF_ACCOUNT_TO_MAILBOX_MAX,
                window_s: u32::try_from(WINDOW.as_secs()).unwrap_or(u32::MAX),
            },
        })
    }

    /// Gives a code that was not sent back to its allowances.
    pub(crate) async fn return_code(&self, taken: Vec<Attempt>) -> ProviderResult<()> {
        Ok(self.store().return_sign_in_attempts(AttemptsToReturn { full: Vec::new(), back: taken }).await?)
    }
}

fn wanted(scope: &AlertScope, address: &str) -> Vec<Attempt> {
    let (account, mailbox) = (&*scope.account, mailbox(address));
    let mut wanted = vec![
        allowance(&["to mailbox", &mailbox], TO_MAILBOX_MAX),
        allowance(&["of account to mailbox", account, &mailbox], OF_ACCOUNT_TO_MAILBOX_MAX),
        allowance(&["of account", account], OF_ACCOUNT_MAX),
    ];
    wanted.extend(scope.application.as_ref().map(|id| allowance(&["of application", id], OF_APPLICATION_MAX)));
    wanted
}

fn allowance(owner: &[&str], codes_max: u32) -> Attempt {
    let Allowance { subject, mails_max, refill_interval } = Allowance::new("code mail", owner, codes_max, WINDOW);
    Attempt { subject, refill_interval, attempts_max: mails_max }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowances_that_were_stored_before_still_count() {
        let stored = allowance(&["of account", "org_1"], OF_ACCOUNT_MAX).subject;
        let hex: String = stored.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "c1dd274e0cc85b0076b6250544631eeb2d8f4c7e38d388e480ad9b11437f0956");
    }

    #[test]
    fn one_account_cannot_use_up_a_mailbox() {
        const { assert!(OF_ACCOUNT_TO_MAILBOX_MAX * 2 < TO_MAILBOX_MAX) };
        let scope = |application: Option<&str>| AlertScope {
            account: "org_1".into(),
            application: application.map(Into::into),
        };
        let subjects = |application| {
            wanted(&scope(application), "a@example.com").into_iter().map(|wanted| wanted.subject).collect::<Vec<_>>()
        };
        assert_eq!((subjects(None).len(), subjects(Some("app_1")).len()), (3, 4));
        assert_eq!(subjects(None), subjects(Some("app_1"))[..3]);
        assert_ne!(subjects(Some("app_1")), subjects(Some("app_2")));
    }
}
