//! Accounts and their API keys (provider.md, "Keys and links").

use sha2::{Digest as _, Sha256};

use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::{Account, ApiKey, Id};
use crate::page::{PageRequest, Slice};
use crate::port::Order;
use crate::provider::Provider;
use crate::validation::Checks;

const KEY_PREFIX: &str = "lwp_";
/// Randomness of a key.
const KEY_BYTES: usize = 32;
/// Longer texts are no keys and are not hashed.
const KEY_CHARS_MAX: usize = 256;

/// Who calls, known by an API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The account that the key belongs to.
    pub account: Id,
    /// The key.
    pub key: Id,
}

/// A key just made.
#[derive(Debug, Clone)]
pub struct NewApiKey {
    /// What is kept of it.
    pub key: ApiKey,
    /// The key itself, to be shown this once.
    pub text: String,
}

impl Provider {
    /// Makes an account. 422 when the name is empty.
    pub async fn create_account(&self, name: &str) -> ProviderResult<Account> {
        let mut checks = Checks::default();
        checks.required_text("name", name);
        checks.finish()?;
        let account = Account { id: self.ids().make(ids::ACCOUNT), name: name.to_owned(), created_at: self.now() };
        self.store().create_account(account.clone()).await?;
        Ok(account)
    }

    /// All accounts, oldest first.
    pub async fn list_accounts(&self, page: &PageRequest) -> ProviderResult<Slice<Account>> {
        let rows = self.store().accounts(page.to_store(Order::Ascending)).await?;
        Ok(page.slice(rows, |account| &account.id))
    }

    /// Makes an API key of an account. 404 when the account is not there, 422 when the name is empty.
    pub async fn create_api_key(&self, account: &str, name: &str) -> ProviderResult<NewApiKey> {
        let mut checks = Checks::default();
        checks.required_text("name", name);
        checks.finish()?;
        let account = self.store().account(account).await?.ok_or(ProviderError::NotFound)?;
        let secret = runtime::ids::token(self.random(), KEY_BYTES);
        let region = self.config().key_region.as_ref().map(|region| format!(".{region}")).unwrap_or_default();
        let text = format!("{KEY_PREFIX}{secret}{region}");
        let key = ApiKey {
            id: self.ids().make(ids::API_KEY),
            account: account.id,
            name: name.to_owned(),
            hash: hash(&text),
            created_at: self.now(),
        };
        self.store().create_api_key(key.clone()).await?;
        Ok(NewApiKey { key, text })
    }

    /// Keys of an account, oldest first.
    pub async fn list_api_keys(&self, account: &str, page: &PageRequest) -> ProviderResult<Slice<ApiKey>> {
        let rows = self.store().api_keys(account, page.to_store(Order::Ascending)).await?;
        Ok(page.slice(rows, |key| &key.id))
    }

    /// Takes a key away. From then on it is refused: here at once, elsewhere when the change is signalled there.
    pub async fn delete_api_key(&self, account: &str, id: &str) -> ProviderResult<()> {
        let there = self.store().delete_api_key(account, id).await;
        self.keys().clear();
        if there? { Ok(()) } else { Err(ProviderError::NotFound) }
    }

    /// Who calls with this key. The key may carry any region suffix. 401 when it is not known.
    pub async fn authenticate(&self, key: &str) -> ProviderResult<Caller> {
        if key.len() > KEY_CHARS_MAX || !key.starts_with(KEY_PREFIX) {
            return Err(ProviderError::Unauthenticated);
        }
        let (hash, now) = (hash(key), self.clock().monotonic());
        let generation = match self.keys().get(&hash, now) {
            Ok(caller) => return Ok(caller),
            Err(generation) => generation,
        };
        let key = self.store().api_key_by_hash(hash).await?.ok_or(ProviderError::Unauthenticated)?;
        let caller = Caller { account: key.account, key: key.id };
        self.keys().put(hash, caller.clone(), now, generation);
        Ok(caller)
    }
}

/// A key has no dot in it, so what follows one is the region.
fn hash(key: &str) -> [u8; 32] {
    let secret = key.split_once('.').map_or(key, |(secret, _region)| secret);
    Sha256::digest(secret).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_region_of_a_key_does_not_matter() {
        assert_eq!(hash("lwp_abc"), hash("lwp_abc.eu"));
        assert_ne!(hash("lwp_abc"), hash("lwp_abd.eu"));
    }
}
