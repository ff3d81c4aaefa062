//! Management of an account's API keys by its users and by the operator.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{NewApiKey, SECRET_BYTES};
use crate::accounts::authentication::{KEY_PREFIX, hash};
use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::Role;
use crate::model::{ApiKey, KeyScope};
use crate::page::{ListPage, PageRequest};
use crate::port::Order;
use crate::provider::Provider;
use crate::uid::NAME_CHARS_MAX;
use crate::validation::FieldErrors;

impl Provider {
    /// Creates an API key for an account, for the operator. 404 when the account does not exist, 422 when the name is
    /// empty.
    pub async fn create_api_key(&self, account: &str, name: &str) -> ProviderResult<NewApiKey> {
        self.create_api_key_with(account, name, None, None).await
    }

    /// Creates an API key that has these scopes and expires at `expires_at`, for the operator. 422 when `expires_at` is
    /// not in the future.
    pub async fn create_api_key_with(
        &self,
        account: &str,
        name: &str,
        expires_at: Option<Timestamp>,
        scopes: Option<BTreeSet<KeyScope>>,
    ) -> ProviderResult<NewApiKey> {
        let account = self.account(account).await?;
        self.create_key(&Caller::operator(&account), name, expires_at, scopes).await
    }

    /// Creates an API key of the caller's account that expires at `expires_at`. Without scopes, the key allows
    /// everything. 403, 422.
    pub async fn create_key(
        &self,
        caller: &Caller,
        name: &str,
        expires_at: Option<Timestamp>,
        scopes: Option<BTreeSet<KeyScope>>,
    ) -> ProviderResult<NewApiKey> {
        caller.require_role(Role::Admin)?;
        let now = self.now();
        self.check_new_key(name, expires_at, scopes.as_ref())?;
        let text = self.new_secret(KEY_PREFIX);
        let key = ApiKey {
            id: self.ids().make(ids::API_KEY),
            account: caller.account.clone(),
            name: name.to_owned(),
            hash: hash(&text),
            created_at: now,
            expires_at,
            last_used_at: None,
            last_used_from: None,
            scopes,
        };
        let scopes = key.scopes.as_ref().map(KeyScope::list);
        let values = ChangedValues::default().value("expires", None, time(expires_at).as_deref());
        let values = values.value("scopes", None, scopes.as_deref());
        let subject = Subject { id: &key.id, name: &key.name };
        let entry = self.activity_entry(&Actor::of_caller(caller), Action::KeyCreated, subject, values);
        self.store().create_api_key(key.clone(), entry).await?;
        Ok(NewApiKey { key, text })
    }

    /// The checks of the values of a new API key. 422.
    pub fn check_new_key(
        &self,
        name: &str,
        expires_at: Option<Timestamp>,
        scopes: Option<&BTreeSet<KeyScope>>,
    ) -> ProviderResult<()> {
        let mut errors = FieldErrors::default();
        errors.required_text("name", name, NAME_CHARS_MAX);
        if expires_at.is_some_and(|at| at <= self.now()) {
            errors.fault("expiresAt", "must be in the future");
        }
        if scopes.is_some_and(BTreeSet::is_empty) {
            errors.fault("scopes", "must have at least one scope");
        }
        errors.finish()
    }

    /// Keys of an account, oldest first.
    pub async fn list_api_keys(&self, account: &str, page: &PageRequest) -> ProviderResult<ListPage<ApiKey>> {
        let rows = self.store().api_keys(account, page.to_store(Order::Ascending)).await?;
        Ok(page.slice(rows, |key| &key.id))
    }

    /// A key of the caller's account. 403, 404.
    pub async fn api_key(&self, caller: &Caller, id: &str) -> ProviderResult<ApiKey> {
        caller.require_role(Role::Viewer)?;
        self.store().api_key(&caller.account, id).await?.ok_or(ProviderError::NotFound)
    }

    /// Sets or removes the expiry of a key of the caller's account. The change takes effect at once on this node, and
    /// on other nodes when they receive the signal. 403, 404.
    pub async fn expire_key(&self, caller: &Caller, id: &str, expires_at: Option<Timestamp>) -> ProviderResult<ApiKey> {
        caller.require_role(Role::Admin)?;
        let key = self.api_key(caller, id).await?;
        let values =
            ChangedValues::default().value("expires", time(key.expires_at).as_deref(), time(expires_at).as_deref());
        let subject = Subject { id: &key.id, name: &key.name };
        let entry = self.activity_entry(&Actor::of_caller(caller), Action::KeyExpiry, subject, values);
        let changed = self.store().expire_api_key(&caller.account, id, expires_at, entry).await;
        self.api_key_cache().clear();
        if changed? { Ok(ApiKey { expires_at, ..key }) } else { Err(ProviderError::NotFound) }
    }

    /// Revokes a key of an account, for the operator. 404.
    pub async fn delete_api_key(&self, account: &str, id: &str) -> ProviderResult<()> {
        let account = self.account(account).await?;
        self.revoke_key(&Caller::operator(&account), id).await
    }

    /// Revokes a key of the caller's account. The change takes effect at once on this node, and on other nodes when
    /// they receive the signal. 403, 404.
    pub async fn revoke_key(&self, caller: &Caller, id: &str) -> ProviderResult<()> {
        caller.require_role(Role::Admin)?;
        let key = self.api_key(caller, id).await?;
        let subject = Subject { id: &key.id, name: &key.name };
        let actor = Actor::of_caller(caller);
        let entry = self.activity_entry(&actor, Action::KeyRevoked, subject, ChangedValues::default());
        let deleted = self.store().delete_api_key(&caller.account, id, entry).await;
        self.api_key_cache().clear();
        if deleted? { Ok(()) } else { Err(ProviderError::NotFound) }
    }

    /// The text of a new key or token: prefix, random characters, and the region that clients read from it.
    pub(crate) fn new_secret(&self, prefix: &str) -> String {
        let secret = kit_runtime::ids::token(self.random(), SECRET_BYTES);
        let region = self.config().key_region.as_ref().map(|region| format!(".{region}")).unwrap_or_default();
        format!("{prefix}{secret}{region}")
    }
}

fn time(at: Option<Timestamp>) -> Option<String> {
    at.map(|at| at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}
