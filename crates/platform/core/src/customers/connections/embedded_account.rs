//! The account and the API key of a customer at the embedded provider, which the platform has made.
//!
//! The platform makes the key's text, stores it sealed, and only then opens the account with it. **Guarantee:** whenever a call
//! ends, and however many run at the same time, there is at most one account with one such key, and a repeated call
//! makes what is missing.

use uuid::Uuid;

use super::later;
use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{AccessChange, AccessChangeResult, Consumer, Contact, ContactRecord, ProviderAddress};
use crate::provider_access::{EmbeddedAccounts, provider_key_context};
use crate::{Caller, Platform, Scope};

/// Attempts while others change the connection at the same time.
const ATTEMPTS_MAX: usize = 5;

impl Platform {
    /// True if [`Platform::set_up_connection`] opens accounts at the embedded provider: this process runs it, and no other one
    /// is configured.
    pub fn opens_accounts(&self) -> bool {
        self.provider_access().accounts().is_some()
    }

    /// Opens the customer's account at the embedded provider, and enters its API key into the connection. A connection that
    /// has another key, or a key and an application, stays as it is.
    ///
    /// Errors: `forbidden`, `not_found` (customer), `not_connected` (this process opens no account, or another provider or an application was
    /// entered without its key), `provider_refused`.
    pub(super) async fn open_account(&self, caller: &Caller, customer: Uuid) -> PlatformResult<()> {
        caller.require(Scope::CustomersWrite)?;
        caller.require_staff()?;
        let name = self.visible_customer(caller, customer).await?.name;
        for _ in 0..ATTEMPTS_MAX {
            let consumer = match self.store().consumer(customer).await? {
                // The application shows that the account was opened. To open it again would accept a key that was revoked.
                Some(before) if before.api_key.is_some() && (!before.has_made_key || before.is_complete()) => {
                    return Ok(());
                }
                Some(before) if before.api_key.is_some() => before,
                before => match self.enter_new_key(caller, customer, before).await? {
                    Some(entered) => entered,
                    None => continue,
                },
            };
            let key = self.provider_key(&consumer)?;
            let refused = |text: &str| PlatformError::Provider { contact: Contact::Unreachable, text: text.to_owned() };
            self.accounts()?.open(customer, &name, &key).await.map_err(refused)?;
            // Another call may have ended the connection and begun one with another key.
            let after = self.store().consumer(customer).await?;
            if after.is_some_and(|after| after.api_key == consumer.api_key) {
                return Ok(());
            }
            self.accounts()?.revoke(customer, &key).await.map_err(refused)?;
        }
        Err(PlatformError::Busy)
    }

    /// Revokes the key of the customer's connection, if the platform made it. True if it stays valid, because this process does
    /// not run the embedded provider.
    ///
    /// Errors: `provider_refused`.
    pub(super) async fn revoke_made_key(&self, customer: Uuid) -> PlatformResult<bool> {
        let consumer = self.store().consumer(customer).await?;
        let Some(consumer) = consumer.filter(|found| found.has_made_key && found.api_key.is_some()) else {
            return Ok(false);
        };
        let Some(accounts) = self.provider_access().accounts() else { return Ok(true) };
        let key = self.provider_key(&consumer)?;
        let refused = |text: &str| PlatformError::Provider { contact: Contact::Unreachable, text: text.to_owned() };
        accounts.revoke(customer, &key).await.map_err(refused)?;
        Ok(false)
    }

    fn accounts(&self) -> PlatformResult<&dyn EmbeddedAccounts> {
        self.provider_access().accounts().ok_or(PlatformError::NotConnected)
    }

    /// Stores a connection with a new key; none when another call was faster.
    async fn enter_new_key(
        &self,
        caller: &Caller,
        customer: Uuid,
        before: Option<Consumer>,
    ) -> PlatformResult<Option<Consumer>> {
        let is_open =
            |before: &Consumer| before.provider == ProviderAddress::Embedded && before.application_id.is_none();
        if !before.as_ref().is_none_or(is_open) {
            return Err(PlatformError::NotConnected);
        }
        let key = self.accounts()?.new_key();
        let sealed = self.vault().seal(self.random().as_ref(), &provider_key_context(customer), key.expose());
        let expected = before.map(|before| before.updated_at);
        let updated_at = later(self.now(), expected);
        let consumer = Consumer {
            customer,
            provider: ProviderAddress::Embedded,
            application_id: None,
            api_key: Some(sealed),
            has_made_key: true,
            parked: None,
            contact: ContactRecord { contact: Contact::Untried, since: updated_at, detail: None },
            updated_at,
        };
        let event = AccessEvent::ConnectionEntered {
            customer,
            provider_url: consumer.provider.as_str().to_owned(),
            application_id: None,
            api_key_entered: false,
            api_key_made: true,
        };
        let note = self.note(caller, event)?;
        let change = AccessChange::ReplaceConsumer(consumer.clone(), expected);
        let changed = self.store().apply_access_change(change, note).await?;
        Ok(Some(consumer).filter(|_| changed == AccessChangeResult::Done))
    }
}
