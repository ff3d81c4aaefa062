//! Settings of accounts, use of keys, tokens of applications.

use ::provider::model::{Account, AppToken};
use ::provider::port::{AccessStore, StoreError, StoreResult};
use async_trait::async_trait;
use jiff::Timestamp;

use super::Memory;
use super::config::NOBODY;
use super::lists::{self, key};

#[async_trait]
impl AccessStore for Memory {
    async fn update_account(&self, account: Account) -> StoreResult<()> {
        let mut tables = self.tables();
        let kept = tables.config.accounts.get_mut(&key(NOBODY, &account.id)).ok_or(StoreError::NotFound)?;
        let created_at = kept.created_at;
        *kept = Account { created_at, ..account };
        Ok(())
    }

    async fn api_key_used(&self, id: &str, at: Timestamp) -> StoreResult<()> {
        if let Some(key) = self.tables().config.api_keys.values_mut().find(|key| &*key.id == id) {
            key.last_used_at = key.last_used_at.max(Some(at));
        }
        Ok(())
    }

    async fn create_app_token(&self, token: AppToken, tokens_max: usize) -> StoreResult<()> {
        let mut tables = self.tables();
        if tables.config.application_by_id(&token.application).is_none() {
            return Err(StoreError::NotFound);
        }
        let tokens = &mut tables.config.app_tokens;
        let application = token.application.clone();
        tokens.insert(key(&application, &token.id), token);
        let of_application = key(&application, "")..lists::after(&application);
        let surplus = tokens.range(of_application.clone()).count().saturating_sub(tokens_max);
        let oldest: Vec<_> = tokens.range(of_application).map(|(key, _)| key.clone()).take(surplus).collect();
        for key in &oldest {
            tokens.remove(key);
        }
        Ok(())
    }

    async fn app_token_by_hash(&self, hash: [u8; 32]) -> StoreResult<Option<AppToken>> {
        Ok(self.tables().config.app_tokens.values().find(|token| token.hash == hash).cloned())
    }

    async fn delete_app_token(&self, application: &str, id: &str) -> StoreResult<bool> {
        Ok(self.tables().config.app_tokens.remove(&key(application, id)).is_some())
    }

    async fn end_app_tokens(&self, application: &str, sessions: Option<Vec<String>>, at: Timestamp) -> StoreResult<()> {
        let mut tables = self.tables();
        let tokens = tables.config.app_tokens.range_mut(key(application, "")..lists::after(application));
        for (_, token) in tokens {
            let is_meant =
                |sessions: &Vec<String>| token.session_id.as_ref().is_some_and(|session| sessions.contains(session));
            if sessions.as_ref().is_none_or(is_meant) {
                token.expires_at = token.expires_at.min(at);
            }
        }
        Ok(())
    }

    async fn forget_app_tokens(&self, before: Timestamp, limit: usize) -> StoreResult<usize> {
        let tokens = &mut self.tables().config.app_tokens;
        let over = tokens.iter().filter(|(_, token)| token.expires_at < before);
        let over: Vec<_> = over.map(|(key, _)| key.clone()).take(limit).collect();
        for key in &over {
            tokens.remove(key);
        }
        Ok(over.len())
    }

    async fn event_type_count(&self, account: &str, count_max: usize) -> StoreResult<usize> {
        let of_account = key(account, "")..lists::after(account);
        Ok(self.tables().config.event_types.range(of_account).take(count_max).count())
    }
}
