//! Creates an API key, once for each idempotency key.
//!
//! The response contains the key itself. It is stored sealed: a repeated request gets the same key, and the database
//! never shows it.

use jiff::Timestamp;
use kit_runtime::vault::{Sealed, Secret};
use uuid::Uuid;

use super::{CreatedApiKey, KEY_PREFIX, NewApiKey, hash};
use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::{AccessChange, ApiKey, IdempotentAnswer, StoreError};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::steps::input::{check_text, require_usable};
use crate::{Caller, Platform, Scope, Scopes};

const KEY_RANDOM_BYTES: usize = 24;
const KEY_NAME_CHARS_MAX: usize = 100;

impl Platform {
    /// [`Platform::create_api_key`] for a request that may come again: within 24 h the caller receives the same key.
    pub async fn create_api_key_once(
        &self,
        caller: &Caller,
        new: &NewApiKey,
        answering: Option<IdempotentRequest<'_, CreatedApiKey>>,
    ) -> PlatformResult<Outcome<CreatedApiKey>> {
        caller.require(Scope::KeysWrite)?;
        if !caller.scopes.covers(new.scopes) {
            return Err(PlatformError::Forbidden("a key can't have scopes that its creator does not have".into()));
        }
        match new.customer {
            Some(customer) => drop(self.visible_customer(caller, customer).await?),
            None => caller.require_staff()?,
        }
        if let Some(answer) = self.replay_sealed(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        let now = self.now();
        require_usable(new.problems(now), None)?;
        let key = format!("{KEY_PREFIX}{}", self.ids().token(KEY_RANDOM_BYTES));
        let record = ApiKey {
            uuid: self.ids().uuid_v7(),
            hash: hash(&key),
            customer: new.customer,
            name: new.name.clone(),
            scopes: new.scopes.iter().map(|scope| scope.name().to_owned()).collect(),
            created_at: now,
            expires_at: new.expires_at,
            last_used_at: None,
            revoked_at: None,
        };
        let created = CreatedApiKey { record: record.clone(), key: Secret::new(key.into_bytes()) };
        let answer = answering.as_ref().map(|answering| self.seal_answer(answering.answer(&created, now)));
        let event = AccessEvent::KeyCreated {
            key: record.uuid,
            name: record.name.clone(),
            customer: record.customer,
            scopes: record.scopes.clone(),
        };
        let note = self.note(caller, event)?;
        match self.store().apply_access_change(AccessChange::CreateApiKey(record, answer), note).await {
            Ok(_) => Ok(Outcome::Fresh(created)),
            Err(StoreError::Replayed) => {
                self.replay_sealed(answering.as_ref()).await?.map(Outcome::Replayed).ok_or(PlatformError::Busy)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Seals the body of a stored answer that contains a secret.
    pub(crate) fn seal_answer(&self, answer: IdempotentAnswer) -> IdempotentAnswer {
        let sealed = self.vault().seal(self.random().as_ref(), &context(&answer), answer.body.as_bytes());
        IdempotentAnswer { body: sealed.as_str().to_owned(), ..answer }
    }

    /// [`Platform::replay`] of a sealed answer.
    pub(crate) async fn replay_sealed<T>(
        &self,
        answering: Option<&IdempotentRequest<'_, T>>,
    ) -> PlatformResult<Option<IdempotentAnswer>> {
        let Some(answer) = self.replay(answering).await? else { return Ok(None) };
        let opened = self.vault().open(&context(&answer), &Sealed::from_text(answer.body.clone()));
        let opened =
            opened.map_err(|error| PlatformError::Internal(format!("a stored answer can't be opened: {error}")))?;
        let body = opened.expose_str().map(str::to_owned);
        let body = body.ok_or_else(|| PlatformError::Internal("a stored answer is not text".into()))?;
        Ok(Some(IdempotentAnswer { body, ..answer }))
    }
}

fn context(answer: &IdempotentAnswer) -> String {
    sealed_answer_context(answer.caller, &answer.key)
}

/// The context that a stored answer is sealed for.
pub(crate) fn sealed_answer_context(caller: Uuid, key: &str) -> String {
    format!("answer/{caller}/{key}")
}

impl NewApiKey {
    /// All problems of the values.
    pub fn problems(&self, now: Timestamp) -> Vec<Problem> {
        let mut problems = Vec::new();
        if let Err(message) = check_text(&self.name, KEY_NAME_CHARS_MAX) {
            problems.push(Problem::new("/name", message));
        }
        if self.scopes == Scopes::default() {
            problems.push(Problem::new("/scopes", "is empty: name at least one scope"));
        }
        if self.expires_at.is_some_and(|at| at <= now) {
            problems.push(Problem::new("/expiresAt", "is not in the future"));
        }
        problems
    }
}
