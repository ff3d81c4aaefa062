//! Alerts: the owners of an endpoint learn that it fails, that it will be disabled, that it was, and that it recovered.
//!
//! Actors: the dispatcher records since when an endpoint fails; the worker (`worker`) compares that with what the owners
//! were told (`transition`), writes the next alert (`notice`) and sends the mails that wait. They reach the recipients of
//! the account by e-mail, if the operator set a mail server, and its operational webhooks.
//!
//! Guarantees:
//! - one node notifies the owners of each transition, the first that sees it: what was told is written together with the event and
//!   the mails, on the condition that nothing else was told meanwhile;
//! - a mail that the server has not taken is sent again, with the same `Message-ID`, for about a day;
//! - nothing of a receiver's answer goes by mail or into an event;
//! - faults of the provider's own node or proxy cause no alert.

mod notice;
mod transition;
pub(crate) mod worker;

use jiff::SignedDuration;
use sha2::{Digest as _, Sha256};

use crate::accounts::caller::{Caller, Scope};
use crate::error::{ProviderError, ProviderResult};
use crate::port::{AlertRecipient, NewMail, StoreError};
use crate::provider::Provider;

/// Addresses of an account that receive its alerts.
const RECIPIENTS_MAX: usize = 20;
/// Randomness of the code that confirms an address.
const CODE_BYTES: usize = 10;
/// How long a code confirms its address.
const CODE_VALID: SignedDuration = SignedDuration::from_hours(24);

impl Provider {
    /// Whether alerts go by e-mail: the operator set a mail server.
    pub fn sends_mail(&self) -> bool {
        self.config().mailer.is_some()
    }

    /// The addresses that receive the account's alerts, those that are not confirmed among them.
    pub async fn alert_recipients(&self, caller: &Caller) -> ProviderResult<Vec<AlertRecipient>> {
        check_scope(caller)?;
        Ok(self.store().alert_recipients(&caller.account).await?)
    }

    /// Adds an address that is to receive the account's alerts, and sends it a code that confirms it; once more for one
    /// that is not confirmed. 422 (no address), 400 `mail_not_configured`, `limit_reached`, 409 (confirmed already).
    pub async fn add_alert_recipient(&self, caller: &Caller, address: &str) -> ProviderResult<()> {
        check_scope(caller)?;
        if !self.sends_mail() {
            let detail = "this provider sends no e-mail: its operator has to set mail.smtp_url".to_owned();
            return Err(ProviderError::BadRequest { code: "mail_not_configured", detail });
        }
        let address = address.trim();
        if !kit_mail::is_address(address) {
            return Err(ProviderError::invalid("address", "must be an e-mail address, such as ops@example.com"));
        }
        let code = kit_runtime::ids::token(self.random(), CODE_BYTES);
        let now = self.now();
        let mail = NewMail {
            account: caller.account.clone(),
            recipient: address.to_owned(),
            subject: "Confirm this address for webhook alerts".to_owned(),
            body: notice::confirmation(&code, &self.config().public_url),
        };
        let recipient = AlertRecipient {
            account: caller.account.clone(),
            address: address.to_owned(),
            code_hash: hash(&code),
            created_at: now,
            confirmed_at: None,
        };
        match self.store().put_alert_recipient(recipient, RECIPIENTS_MAX, mail).await {
            Err(StoreError::LimitReached) => {
                let detail = format!("an account has at most {RECIPIENTS_MAX} addresses for alerts; remove one first");
                Err(ProviderError::BadRequest { code: "limit_reached", detail })
            }
            added => Ok(added?),
        }
    }

    /// Confirms an address with the code that was sent to it in the last 24 hours. 404 when the code is another one.
    pub async fn confirm_alert_recipient(&self, caller: &Caller, address: &str, code: &str) -> ProviderResult<()> {
        check_scope(caller)?;
        let now = self.now();
        let (address, code) = (address.trim(), hash(code.trim()));
        let confirm = self.store().confirm_alert_recipient(&caller.account, address, code, now - CODE_VALID, now);
        if confirm.await? { Ok(()) } else { Err(ProviderError::NotFound) }
    }

    /// Removes an address. 404.
    pub async fn remove_alert_recipient(&self, caller: &Caller, address: &str) -> ProviderResult<()> {
        check_scope(caller)?;
        let removed = self.store().delete_alert_recipient(&caller.account, address).await?;
        if removed { Ok(()) } else { Err(ProviderError::NotFound) }
    }
}

/// A token of one application says nothing about the account.
fn check_scope(caller: &Caller) -> ProviderResult<()> {
    match caller.scope {
        Scope::Account => Ok(()),
        Scope::Application(_) => Err(ProviderError::NotFound),
    }
}

fn hash(code: &str) -> [u8; 32] {
    Sha256::digest(code.as_bytes()).into()
}
