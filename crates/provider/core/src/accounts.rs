//! Accounts, their settings and their API keys. An API key is shown once, when it is created; the store has its hash.

pub(crate) mod api_key_cache;
pub(crate) mod authentication;
pub(crate) mod caller;
pub(crate) mod failed_auth_limit;
pub(crate) mod rate_limit;

use jiff::Timestamp;

use crate::accounts::authentication::{KEY_PREFIX, hash};
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::{Account, AccountSettings, ApiKey};
use crate::page::{ListPage, PageRequest};
use crate::port::Order;
use crate::provider::Provider;
use crate::validation::FieldErrors;

/// Randomness of a key or token.
pub(crate) const SECRET_BYTES: usize = 32;

/// A key just made.
#[derive(Clone)]
pub struct NewApiKey {
    /// What is kept of it.
    pub key: ApiKey,
    /// The key itself, to be shown this once.
    pub text: String,
}

impl std::fmt::Debug for NewApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewApiKey").field("key", &self.key.id).finish_non_exhaustive()
    }
}

impl Provider {
    /// Makes an account. 422 when the name is empty.
    pub async fn create_account(&self, name: &str) -> ProviderResult<Account> {
        let mut errors = FieldErrors::default();
        errors.required_text("name", name);
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

    /// Changes name and settings of an account. It counts at once here, and elsewhere when it is signalled there. 404,
    /// 422.
    pub async fn update_account(&self, account: Account) -> ProviderResult<()> {
        let mut errors = FieldErrors::default();
        errors.required_text("name", &account.name);
        if account.settings.requests_per_second_max == Some(0) {
            errors.fault("requestsPerSecondMax", "must be at least 1, or be left out");
        }
        errors.finish()?;
        let updated = self.store().update_account(account).await;
        self.api_key_cache().clear();
        Ok(updated?)
    }

    /// Creates an API key for an account. 404 when the account does not exist, 422 when the name is empty.
    pub async fn create_api_key(&self, account: &str, name: &str) -> ProviderResult<NewApiKey> {
        self.create_api_key_until(account, name, None).await
    }

    /// The same, of a key that gives access until `expires_at`. 422 when that is over.
    pub async fn create_api_key_until(
        &self,
        account: &str,
        name: &str,
        expires_at: Option<Timestamp>,
    ) -> ProviderResult<NewApiKey> {
        let now = self.now();
        let mut errors = FieldErrors::default();
        errors.required_text("name", name);
        if expires_at.is_some_and(|at| at <= now) {
            errors.fault("expiresAt", "must be in the future");
        }
        errors.finish()?;
        let account = self.account(account).await?;
        let text = self.new_secret(KEY_PREFIX);
        let key = ApiKey {
            id: self.ids().make(ids::API_KEY),
            account: account.id,
            name: name.to_owned(),
            hash: hash(&text),
            created_at: now,
            expires_at,
            last_used_at: None,
        };
        self.store().create_api_key(key.clone()).await?;
        Ok(NewApiKey { key, text })
    }

    /// Keys of an account, oldest first.
    pub async fn list_api_keys(&self, account: &str, page: &PageRequest) -> ProviderResult<ListPage<ApiKey>> {
        let rows = self.store().api_keys(account, page.to_store(Order::Ascending)).await?;
        Ok(page.slice(rows, |key| &key.id))
    }

    /// Takes a key away. From then on it is refused: here at once, elsewhere when the change is signalled there.
    pub async fn delete_api_key(&self, account: &str, id: &str) -> ProviderResult<()> {
        let there = self.store().delete_api_key(account, id).await;
        self.api_key_cache().clear();
        if there? { Ok(()) } else { Err(ProviderError::NotFound) }
    }

    /// A key or token: prefix, randomness, and the region that clients read off it.
    pub(crate) fn new_secret(&self, prefix: &str) -> String {
        let secret = kit_runtime::ids::token(self.random(), SECRET_BYTES);
        let region = self.config().key_region.as_ref().map(|region| format!(".{region}")).unwrap_or_default();
        format!("{prefix}{secret}{region}")
    }
}
