//! Accounts, keys, answers, applications, event types and endpoints.

use std::collections::HashMap;
use std::time::Duration;

use ::provider::model::{Account, ApiKey, AppToken, Application, Endpoint, EventType, Id};
use ::provider::port::{AttemptRecord, EndpointEffect, IdempotentAnswer, Page, StoreError, StoreResult};
use jiff::Timestamp;

use super::lists::{self, Owned, key};

/// Accounts belong to nobody.
pub(super) const NOBODY: &str = "";

/// What changes seldom.
#[derive(Default)]
pub(super) struct Config {
    pub(super) accounts: Owned<Account>,
    pub(super) api_keys: Owned<ApiKey>,
    /// By application and id.
    pub(super) app_tokens: Owned<AppToken>,
    answers: HashMap<(Id, String), IdempotentAnswer>,
    pub(super) applications: Owned<Application>,
    pub(super) event_types: Owned<EventType>,
    pub(super) endpoints: Owned<Endpoint>,
}

impl Config {
    pub(super) fn create_account(&mut self, account: Account) -> StoreResult<()> {
        let key = key(NOBODY, &account.id);
        if self.accounts.contains_key(&key) {
            return Err(StoreError::Taken("id"));
        }
        self.accounts.insert(key, account);
        Ok(())
    }

    pub(super) fn account(&self, id: &str) -> Option<Account> {
        self.accounts.get(&key(NOBODY, id)).cloned()
    }

    pub(super) fn accounts(&self, page: &Page) -> Vec<Account> {
        lists::slice(&self.accounts, NOBODY, page)
    }

    pub(super) fn create_api_key(&mut self, new: ApiKey) -> StoreResult<()> {
        if self.account(&new.account).is_none() {
            return Err(StoreError::NotFound);
        }
        if self.api_keys.values().any(|other| other.id == new.id || other.hash == new.hash) {
            return Err(StoreError::Taken("id"));
        }
        self.api_keys.insert(key(&new.account, &new.id), new);
        Ok(())
    }

    pub(super) fn api_key_by_hash(&self, hash: [u8; 32]) -> Option<ApiKey> {
        self.api_keys.values().find(|key| key.hash == hash).cloned()
    }

    pub(super) fn api_keys(&self, account: &str, page: &Page) -> Vec<ApiKey> {
        lists::slice(&self.api_keys, account, page)
    }

    pub(super) fn delete_api_key(&mut self, account: &str, id: &str) -> bool {
        self.api_keys.remove(&key(account, id)).is_some()
    }

    pub(super) fn answer(&self, account: &str, key: &str) -> Option<IdempotentAnswer> {
        self.answers.get(&(Id::from(account), key.to_owned())).cloned()
    }

    /// `Replayed` when the key of `answer` was used before.
    pub(super) fn check_answer(&self, answer: Option<&IdempotentAnswer>) -> StoreResult<()> {
        match answer {
            Some(answer) if self.answers.contains_key(&(answer.account.clone(), answer.key.clone())) => {
                Err(StoreError::Replayed)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn keep_answer(&mut self, answer: Option<IdempotentAnswer>) {
        if let Some(answer) = answer {
            self.answers.insert((answer.account.clone(), answer.key.clone()), answer);
        }
    }

    pub(super) fn forget_answers(&mut self, before: Timestamp, limit: usize) -> usize {
        let old = self.answers.iter().filter(|(_, answer)| answer.at < before);
        let old: Vec<_> = old.map(|(key, _)| key.clone()).take(limit).collect();
        for key in &old {
            self.answers.remove(key);
        }
        old.len()
    }

    pub(super) fn create_application(&mut self, new: Application, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.check_answer(answer.as_ref())?;
        self.check_application_uid(&new)?;
        self.keep_answer(answer);
        self.applications.insert(key(&new.account, &new.id), new);
        Ok(())
    }

    pub(super) fn application(&self, account: &str, id_or_uid: &str) -> Option<Application> {
        let by_id = self.applications.get(&key(account, id_or_uid));
        let by_uid = || {
            let mut of_account = self.applications.values().filter(|application| &*application.account == account);
            of_account.find(|application| application.uid.as_deref() == Some(id_or_uid))
        };
        by_id.or_else(by_uid).cloned()
    }

    /// Whatever account it belongs to.
    pub(super) fn application_by_id(&self, id: &str) -> Option<&Application> {
        self.applications.values().find(|application| &*application.id == id)
    }

    pub(super) fn applications(&self, account: &str, page: &Page) -> Vec<Application> {
        lists::slice(&self.applications, account, page)
    }

    pub(super) fn update_application(&mut self, new: Application) -> StoreResult<()> {
        let key = key(&new.account, &new.id);
        let Some(old) = self.applications.get(&key) else {
            return Err(StoreError::NotFound);
        };
        let (version, purges, created_at) = (old.version + 1, old.purges, old.created_at);
        self.check_application_uid(&new)?;
        self.applications.insert(key, Application { version, purges, created_at, ..new });
        Ok(())
    }

    fn check_application_uid(&self, new: &Application) -> StoreResult<()> {
        let taken = self.applications.values().any(|other| {
            other.account == new.account && other.id != new.id && new.uid.is_some() && other.uid == new.uid
        });
        if taken { Err(StoreError::Taken("uid")) } else { Ok(()) }
    }

    /// The ids of the endpoints that went with it; none when it was not there.
    pub(super) fn delete_application(&mut self, account: &str, id: &str) -> Option<Vec<Endpoint>> {
        self.applications.remove(&key(account, id))?;
        self.app_tokens.retain(|(application, _), _| &**application != id);
        let gone = self.endpoints.extract_if(key(id, "")..lists::after(id), |_, _| true);
        Some(gone.map(|(_, endpoint)| endpoint).collect())
    }

    pub(super) fn create_event_type(&mut self, new: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.check_answer(answer.as_ref())?;
        if self.event_type(&new.account, &new.name).is_some() {
            return Err(StoreError::Taken("name"));
        }
        self.put_event_type(new, answer)
    }

    pub(super) fn event_type(&self, account: &str, name: &str) -> Option<EventType> {
        self.event_types.get(&key(account, name)).cloned()
    }

    pub(super) fn event_types(&self, account: &str, page: &Page) -> Vec<EventType> {
        lists::slice(&self.event_types, account, page)
    }

    pub(super) fn put_event_type(&mut self, new: EventType, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.check_answer(answer.as_ref())?;
        self.keep_answer(answer);
        self.event_types.insert(key(&new.account, &new.name), new);
        Ok(())
    }

    pub(super) fn delete_event_type(&mut self, account: &str, name: &str) -> bool {
        self.event_types.remove(&key(account, name)).is_some()
    }

    pub(super) fn create_endpoint(&mut self, new: Endpoint, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.check_answer(answer.as_ref())?;
        if self.application_by_id(&new.application).is_none() {
            return Err(StoreError::NotFound);
        }
        self.check_endpoint_uid(&new)?;
        self.keep_answer(answer);
        self.raise_version(&new.application);
        self.endpoints.insert(key(&new.application, &new.id), new);
        Ok(())
    }

    pub(super) fn endpoint(&self, application: &str, id_or_uid: &str) -> Option<Endpoint> {
        let by_id = self.endpoints.get(&key(application, id_or_uid));
        let by_uid = || {
            let mut of_application = self.endpoints.values().filter(|endpoint| &*endpoint.application == application);
            of_application.find(|endpoint| endpoint.uid.as_deref() == Some(id_or_uid))
        };
        by_id.or_else(by_uid).cloned()
    }

    pub(super) fn endpoints(&self, application: &str, page: &Page) -> Vec<Endpoint> {
        lists::slice(&self.endpoints, application, page)
    }

    pub(super) fn update_endpoint(&mut self, new: Endpoint) -> StoreResult<()> {
        let key = key(&new.application, &new.id);
        let Some(created_at) = self.endpoints.get(&key).map(|old| old.created_at) else {
            return Err(StoreError::NotFound);
        };
        self.check_endpoint_uid(&new)?;
        self.raise_version(&new.application);
        self.endpoints.insert(key, Endpoint { created_at, ..new });
        Ok(())
    }

    fn check_endpoint_uid(&self, new: &Endpoint) -> StoreResult<()> {
        let taken = self.endpoints.values().any(|other| {
            other.application == new.application && other.id != new.id && new.uid.is_some() && other.uid == new.uid
        });
        if taken { Err(StoreError::Taken("uid")) } else { Ok(()) }
    }

    pub(super) fn delete_endpoint(&mut self, application: &str, id: &str) -> bool {
        let deleted = self.endpoints.remove(&key(application, id)).is_some();
        if deleted {
            self.raise_version(application);
        }
        deleted
    }

    pub(super) fn snapshot(&self, application: &str) -> Option<(Application, Vec<Endpoint>)> {
        let found = self.application_by_id(application)?.clone();
        let endpoints = self.endpoints.range(key(application, "")..lists::after(application));
        Some((found, endpoints.map(|(_, endpoint)| endpoint.clone()).collect()))
    }

    /// What a finished attempt says of its endpoint.
    pub(super) fn take_effect(&mut self, record: &AttemptRecord) {
        let attempt = &record.attempt;
        let Some(endpoint) = self.endpoints.get_mut(&(attempt.application.clone(), attempt.endpoint.clone())) else {
            return;
        };
        match record.endpoint {
            EndpointEffect::None => {}
            EndpointEffect::Working => endpoint.failing_since = None,
            EndpointEffect::Failing => endpoint.failing_since = endpoint.failing_since.or(Some(attempt.at)),
            EndpointEffect::Disable if endpoint.disabled => {}
            EndpointEffect::Disable => {
                endpoint.disabled = true;
                endpoint.updated_at = attempt.ended_at().max(endpoint.updated_at + Duration::from_millis(1));
                self.raise_version(&attempt.application);
            }
        }
    }

    pub(super) fn note_purge(&mut self, application: &str) {
        self.applications.values_mut().filter(|found| &*found.id == application).for_each(|found| found.purges += 1);
    }

    pub(super) fn raise_version(&mut self, application: &str) {
        if let Some(found) = self.applications.values_mut().find(|found| &*found.id == application) {
            found.version += 1;
        }
    }
}
