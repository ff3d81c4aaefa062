//! Recipients of alerts by e-mail: addresses of an account, for all its applications, and addresses of one application.

use jiff::SignedDuration;
use sha2::{Digest as _, Sha256};

use super::notice::{self, Audience};
use crate::activity::Action;
use crate::caller::{Caller, Scope};
use crate::error::{ProviderError, ProviderResult};
use crate::model::Role;
use crate::model::{Capability, Id};
use crate::port::{AlertRecipient, AlertScope, NewMail, StoreError};
use crate::provider::Provider;

/// Addresses of an account, or of one of its applications.
const RECIPIENTS_MAX: usize = 20;
/// Random bytes of a confirmation code.
const CODE_BYTES: usize = 10;
const CODE_VALID: SignedDuration = SignedDuration::from_hours(24);

impl Provider {
    /// The confirmed and unconfirmed addresses for alerts of the account, or of one application. 403, 404
    /// (application).
    pub async fn alert_recipients(
        &self,
        caller: &Caller,
        application: Option<&str>,
    ) -> ProviderResult<Vec<AlertRecipient>> {
        let scope = self.alert_scope(caller, application, Role::Viewer).await?;
        Ok(self.store().alert_recipients(&scope).await?)
    }

    /// Adds an address for alerts, and sends it a confirmation code. An unconfirmed address receives a new code. 422
    /// (no address), 400 `mail_not_configured`, `limit_reached`, 403, 404 (application), 409 (confirmed already), 429.
    pub async fn add_alert_recipient(
        &self,
        caller: &Caller,
        application: Option<&str>,
        address: &str,
    ) -> ProviderResult<()> {
        let scope = self.alert_scope(caller, application, Role::Member).await?;
        self.require_mail()?;
        let address = address.trim();
        if !kit_mail::is_address(address) {
            return Err(ProviderError::invalid("address", "must be an e-mail address, such as ops@example.com"));
        }
        let (audience, owner_name) = match &scope.application {
            Some(application) => (Audience::Application, self.application(caller, application).await?.name),
            None => (Audience::Account, self.account(&scope.account).await?.name),
        };
        let taken = self.take_code(&scope, address).await?;
        let code = kit_runtime::ids::token(self.random(), CODE_BYTES);
        let now = self.now();
        let mail = NewMail {
            account: scope.account.clone(),
            recipient: address.to_owned(),
            subject: "Confirm this address for webhook alerts".to_owned(),
            body: notice::confirmation(&code, audience, &owner_name, &self.config().public_url),
        };
        let recipient = AlertRecipient {
            scope: scope.clone(),
            address: address.to_owned(),
            code_hash: hash(&code),
            created_at: now,
            confirmed_at: None,
        };
        if let Err(error) = self.store().put_alert_recipient(recipient, RECIPIENTS_MAX, mail).await {
            self.return_code(taken).await?;
            return Err(match error {
                StoreError::LimitReached => {
                    let detail =
                        format!("there are {RECIPIENTS_MAX} addresses for these alerts already; remove one first");
                    ProviderError::BadRequest { code: "limit_reached", detail }
                }
                error => error.into(),
            });
        }
        self.record_alert_recipient(caller, Action::AlertRecipientAdded, &scope, address).await;
        Ok(())
    }

    /// Confirms the address that received this code in the last 24 hours, and returns it. A mail reports what fails now.
    /// The caller needs only the code. 404 when no address has this code.
    pub async fn confirm_alert_recipient(&self, code: &str) -> ProviderResult<AlertRecipient> {
        let now = self.now();
        let found = self.store().confirm_alert_recipient(hash(code.trim()), now - CODE_VALID, now).await?;
        let recipient = found.ok_or(ProviderError::NotFound)?;
        let is_repeated = recipient.confirmed_at.is_some_and(|at| at.as_millisecond() != now.as_millisecond());
        if !is_repeated && self.sends_mail() {
            self.report_what_fails(&recipient, now).await?;
        }
        Ok(recipient)
    }

    /// Removes an address. 403, 404.
    pub async fn remove_alert_recipient(
        &self,
        caller: &Caller,
        application: Option<&str>,
        address: &str,
    ) -> ProviderResult<()> {
        let scope = self.alert_scope(caller, application, Role::Member).await?;
        if !self.store().delete_alert_recipient(&scope, address).await? {
            return Err(ProviderError::NotFound);
        }
        self.record_alert_recipient(caller, Action::AlertRecipientRemoved, &scope, address).await;
        Ok(())
    }

    /// The scope of the alerts. 403 unless the caller has at least this role, or a portal link that may manage
    /// endpoints.
    async fn alert_scope(&self, caller: &Caller, application: Option<&str>, role: Role) -> ProviderResult<AlertScope> {
        let application: Option<Id> = match (&caller.scope, application) {
            (Scope::Application(token), Some(application)) => {
                let application = self.application(caller, application).await?.id;
                if application != token.application {
                    return Err(ProviderError::NotFound);
                }
                if !caller.has(Capability::ManageEndpoint) {
                    return Err(ProviderError::Forbidden("this link does not allow to manage alert contacts"));
                }
                Some(application)
            }
            (_, None) => {
                caller.require_role(role)?;
                None
            }
            (Scope::Account, Some(application)) => {
                caller.require_role(role)?;
                Some(self.application(caller, application).await?.id)
            }
        };
        Ok(AlertScope { account: caller.account.clone(), application })
    }
}

fn hash(code: &str) -> [u8; 32] {
    Sha256::digest(code.as_bytes()).into()
}
