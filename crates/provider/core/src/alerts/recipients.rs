//! Who receives alerts by e-mail: addresses of an account, for all its applications, and of one application.

use jiff::SignedDuration;
use sha2::{Digest as _, Sha256};

use super::notice::{self, Audience};
use crate::accounts::caller::{Caller, Scope};
use crate::activity::Action;
use crate::error::{ProviderError, ProviderResult};
use crate::model::{Capability, Id};
use crate::people::Role;
use crate::port::{AlertRecipient, AlertScope, NewMail, StoreError};
use crate::provider::Provider;

/// Addresses of one scope: of an account, or of one of its applications.
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

    /// The addresses that receive alerts of the account, or of one application alone, those that are not confirmed
    /// among them. 403, 404 (application).
    pub async fn alert_recipients(
        &self,
        caller: &Caller,
        application: Option<&str>,
    ) -> ProviderResult<Vec<AlertRecipient>> {
        let scope = self.alert_scope(caller, application, Role::Viewer).await?;
        Ok(self.store().alert_recipients(&scope).await?)
    }

    /// Adds an address that is to receive alerts, and sends it a code that confirms it; once more for one that is not
    /// confirmed. 422 (no address), 400 `mail_not_configured`, `limit_reached`, 403, 404 (application), 409 (confirmed
    /// already), 429.
    pub async fn add_alert_recipient(
        &self,
        caller: &Caller,
        application: Option<&str>,
        address: &str,
    ) -> ProviderResult<()> {
        let scope = self.alert_scope(caller, application, Role::Member).await?;
        if !self.sends_mail() {
            let detail =
                "this provider sends no e-mail: its operator has to set mail.smtp_url and mail.from".to_owned();
            return Err(ProviderError::BadRequest { code: "mail_not_configured", detail });
        }
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

    /// Confirms an address with the code that was sent to it in the last 24 hours, and returns it. The code is proof
    /// enough, so the caller needs no other right. 404 when no address has this code.
    pub async fn confirm_alert_recipient(&self, code: &str) -> ProviderResult<AlertRecipient> {
        let now = self.now();
        let found = self.store().confirm_alert_recipient(hash(code.trim()), now - CODE_VALID, now).await?;
        found.ok_or(ProviderError::NotFound)
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

    /// The scope, if the caller has at least this role, or the link that manages the application's endpoints.
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
