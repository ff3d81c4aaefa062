//! Accounts, their settings and their API keys. An API key is shown once, when it is created; the store keeps its hash.

mod api_keys;
pub(crate) mod authentication;
pub(crate) mod logo;
mod opening;
pub(crate) mod portal_settings;

pub use opening::AccountOpening;

use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::Role;
use crate::model::{Account, AccountSettings, ApiKey};
use crate::page::{ListPage, PageRequest};
use crate::port::Order;
use crate::provider::Provider;
use crate::uid::NAME_CHARS_MAX;
use crate::validation::FieldErrors;

/// Random bytes of a key or token.
pub(crate) const SECRET_BYTES: usize = 32;

/// A new API key.
#[derive(Clone)]
pub struct NewApiKey {
    /// The stored key.
    pub key: ApiKey,
    /// The text of the key. It is shown once and not stored.
    pub text: String,
}

impl std::fmt::Debug for NewApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewApiKey").field("key", &self.key.id).finish_non_exhaustive()
    }
}

impl Provider {
    /// Creates an account. 422 when the name is empty or has more than 256 characters.
    pub async fn create_account(&self, name: &str) -> ProviderResult<Account> {
        let mut errors = FieldErrors::default();
        errors.required_text("name", name, NAME_CHARS_MAX);
        errors.finish()?;
        let account = Account {
            id: self.ids().make(ids::ACCOUNT),
            name: name.to_owned(),
            settings: AccountSettings::default(),
            created_at: self.now(),
        };
        self.store().create_account(account.clone()).await?;
        Ok(account)
    }

    /// All accounts, oldest first.
    pub async fn list_accounts(&self, page: &PageRequest) -> ProviderResult<ListPage<Account>> {
        let rows = self.store().accounts(page.to_store(Order::Ascending)).await?;
        Ok(page.slice(rows, |account| &account.id))
    }

    /// An account. 404.
    pub async fn account(&self, id: &str) -> ProviderResult<Account> {
        self.store().account(id).await?.ok_or(ProviderError::NotFound)
    }

    /// Changes the name and the settings of an account, for the operator. The change takes effect at once on this node,
    /// and on other nodes when they receive the signal. 404, 422.
    pub async fn update_account(&self, account: Account) -> ProviderResult<()> {
        self.change_account(&Caller::operator(&account), account.clone()).await
    }

    /// Changes the name and the settings of the caller's account, but not its id. The change takes effect at once on
    /// this node, and on other nodes when they receive the signal. 403, 404, 422.
    pub async fn change_account(&self, caller: &Caller, account: Account) -> ProviderResult<()> {
        caller.require_role(Role::Admin)?;
        let mut errors = FieldErrors::default();
        errors.required_text("name", &account.name, NAME_CHARS_MAX);
        if account.settings.requests_per_second_max == Some(0) {
            errors.fault("requestsPerSecondMax", "must be at least 1, or be left out");
        }
        errors.finish()?;
        let old = self.account(&caller.account).await?;
        let account = Account { id: old.id.clone(), created_at: old.created_at, ..account };
        let check = |account: &Account| account.settings.payload_check.name();
        let unknown = |account: &Account| account.settings.unknown_event_types.name();
        let limit = |limit: Option<u32>| limit.map(|limit| limit.to_string());
        let requests = |account: &Account| limit(account.settings.requests_per_second_max);
        let endpoints = |account: &Account| limit(account.settings.endpoints_max);
        let values = ChangedValues::default()
            .value("name", Some(&old.name), Some(&account.name))
            .value("payload check", Some(check(&old)), Some(check(&account)))
            .value("unknown event types", Some(unknown(&old)), Some(unknown(&account)))
            .value("requests a second", requests(&old).as_deref(), requests(&account).as_deref())
            .value("endpoints of an application", endpoints(&old).as_deref(), endpoints(&account).as_deref());
        if values.is_empty() {
            return Ok(());
        }
        let subject = Subject { id: &account.id, name: &account.name };
        let entry = self.activity_entry(&Actor::of_caller(caller), Action::AccountChanged, subject, values);
        let updated = self.store().update_account(account.clone(), entry).await;
        self.api_key_cache().clear();
        Ok(updated?)
    }
}
