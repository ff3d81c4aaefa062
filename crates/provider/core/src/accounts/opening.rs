//! Opens the account of a record that another program of this installation has, with the API key of that program, and revokes
//! that key.
//!
//! Account and key have ids that stand for the UUID of the record. So a call that is repeated, at the same time or after a
//! crash between its steps, makes what is missing and nothing twice.

use kit_runtime::vault::Secret;

use super::authentication::{KEY_PREFIX, hash};
use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::{Account, AccountSettings, ApiKey};
use crate::port::error::StoreError;
use crate::provider::Provider;
use crate::uid::NAME_CHARS_MAX;
use crate::validation::FieldErrors;

/// Attempts to replace an earlier key while others do the same.
const ATTEMPTS_MAX: usize = 5;

/// An account to open.
#[derive(Debug, Clone, Copy)]
pub struct AccountOpening<'a> {
    /// UUID of the record that the account is for, of version 7.
    pub uuid: [u8; 16],
    /// Name of a new account. An existing one keeps its name.
    pub name: &'a str,
    /// Name of the API key.
    pub key_name: &'a str,
    /// Text of the API key, from [`Provider::new_api_key_text`].
    pub key: &'a Secret,
}

impl Provider {
    /// The text of a new API key. The provider accepts it when [`Provider::open_account`] has stored its hash.
    pub fn new_api_key_text(&self) -> Secret {
        Secret::new(self.new_secret(KEY_PREFIX).into_bytes())
    }

    /// Opens the account of a record, unless it exists, and gives it this API key, in place of an earlier one that was made
    /// in this way. Other keys of the account stay. Repeating the call has the same effect. 422 when a name is empty or has more than
    /// 256 characters.
    pub async fn open_account(&self, opening: &AccountOpening<'_>) -> ProviderResult<Account> {
        let mut errors = FieldErrors::default();
        errors.required_text("name", opening.name, NAME_CHARS_MAX);
        errors.required_text("keyName", opening.key_name, NAME_CHARS_MAX);
        errors.finish()?;
        let text = opening.key.expose_str().filter(|text| text.starts_with(KEY_PREFIX));
        let text = text.ok_or_else(|| ProviderError::Internal("the text is not one of an API key".into()))?;
        let account = self.account_of_record(opening).await?;
        let id = ids::of_uuid(ids::API_KEY, opening.uuid);
        let hash = hash(text);
        for _ in 0..ATTEMPTS_MAX {
            let key = ApiKey {
                id: id.clone(),
                account: account.id.clone(),
                name: opening.key_name.to_owned(),
                hash,
                created_at: self.now(),
                expires_at: None,
                last_used_at: None,
                last_used_from: None,
                scopes: None,
            };
            let subject = Subject { id: &key.id, name: &key.name };
            let actor = Actor::operator(&account);
            let entry = self.activity_entry(&actor, Action::KeyCreated, subject, ChangedValues::default());
            match self.store().create_api_key(key, entry).await {
                Ok(()) => return Ok(account),
                Err(StoreError::Taken(_)) => {}
                Err(error) => return Err(error.into()),
            }
            match self.store().api_key(&account.id, &id).await? {
                Some(found) if found.hash == hash => return Ok(account),
                Some(_) => match self.revoke_key(&Caller::operator(&account), &id).await {
                    // Another call revoked it.
                    Ok(()) | Err(ProviderError::NotFound) => {}
                    Err(error) => return Err(error),
                },
                None => {}
            }
        }
        Err(ProviderError::Unavailable("others are changing the key of the account at the same time".into()))
    }

    /// Revokes the API key that [`Provider::open_account`] made for a record, if it has this text. Other keys of the account stay.
    /// Repeating the call has the same effect.
    pub async fn revoke_opened_key(&self, uuid: [u8; 16], key: &Secret) -> ProviderResult<()> {
        let Some(account) = self.store().account(&ids::of_uuid(ids::ACCOUNT, uuid)).await? else { return Ok(()) };
        let id = ids::of_uuid(ids::API_KEY, uuid);
        let found = self.store().api_key(&account.id, &id).await?;
        if found.is_none_or(|found| key.expose_str().is_none_or(|text| found.hash != hash(text))) {
            return Ok(());
        }
        match self.revoke_key(&Caller::operator(&account), &id).await {
            // Another call revoked it.
            Ok(()) | Err(ProviderError::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn account_of_record(&self, opening: &AccountOpening<'_>) -> ProviderResult<Account> {
        let id = ids::of_uuid(ids::ACCOUNT, opening.uuid);
        if let Some(account) = self.store().account(&id).await? {
            return Ok(account);
        }
        let (name, settings) = (opening.name.to_owned(), AccountSettings::default());
        let account = Account { id: id.clone(), name, settings, created_at: self.now() };
        match self.store().create_account(account.clone()).await {
            Ok(()) => Ok(account),
            Err(StoreError::Taken(_)) => self.account(&id).await,
            Err(error) => Err(error.into()),
        }
    }
}
