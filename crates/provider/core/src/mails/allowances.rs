//! Limits on mails with codes: confirmations and invitations. A caller may enter an address of another person, so codes are
//! limited by account, by application and by mailbox.
//!
//! The allowances are in the store, so a restart or another node does not renew them.

use std::time::Duration;

use kit_identity::throttle::{Attempt, AttemptsToReturn, retry_after};
use sha2::{Digest as _, Sha256};
use unicode_normalization::UnicodeNormalization as _;
use url::Host;

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
    let mut subject = Sha256::new_with_prefix(b"code mail\0");
    for part in owner {
        subject.update(part);
        subject.update([0]);
    }
    Attempt { subject: subject.finalize().into(), refill_interval: WINDOW / codes_max, attempts_max: codes_max }
}

/// Normalises an address, so that all addresses of one mailbox have the same text. Most servers deliver
/// `Ann+anything@example.com` to the mailbox of `ann@example.com`, and some ignore dots. Mailboxes that differ only in
/// dots share an allowance, which is harmless. Quotes, quoted pairs (RFC 5321, section 4.1.2) and the form of the
/// domain name are normalised too.
fn mailbox(address: &str) -> String {
    let address: String = address.nfkc().flat_map(char::to_lowercase).collect();
    let (local, domain) = address.rsplit_once('@').unwrap_or((&address, ""));
    let local = local.replace(['"', '\\', '.'], "");
    let local = local.split('+').next().unwrap_or_default();
    let domain = domain.trim_end_matches('.');
    let ascii = Host::parse(domain).map_or_else(|_| domain.to_owned(), |host| host.to_string());
    format!("{local}@{ascii}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_mailbox_share_its_allowance() {
        for address in
            ["ann.lee@example.com", "Ann.Lee@Example.COM", "annlee+1@example.com", "\"a.nnlee+x\"@example.com."]
        {
            assert_eq!(mailbox(address), "annlee@example.com", "{address}");
        }
        for address in ["\"a\\nn\\.l\\ee\"@example.com", "ａnnlee@ｅxample.com", "annlee@example。com"] {
            assert_eq!(mailbox(address), "annlee@example.com", "{address}");
        }
        for address in ["bob@bücher.de", "bob@bu\u{308}cher.de", "BOB@XN--BCHER-KVA.de"] {
            assert_eq!(mailbox(address), "bob@xn--bcher-kva.de", "{address}");
        }
        assert_ne!(mailbox("ann@example.com"), mailbox("ann@example.org"));
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
