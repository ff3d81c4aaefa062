//! What is sealed: with which keys, and sealing it again.

use std::collections::BTreeMap;

use ::platform::port::{Consumer, Page, Resealed, SealedAnswer, SealedPlace, Sealings, StoreError, StoreResult};
use async_trait::async_trait;
use runtime::vault::Sealed;
use uuid::Uuid;

use super::{Memory, Tables, slice};
use crate::sealings::same_texts;

/// What a sealed answer begins with, and no JSON text.
const SEALED: &str = "v1.";

#[async_trait]
impl Sealings for Memory {
    async fn sentinels(&self) -> StoreResult<Vec<Sealed>> {
        Ok(self.tables().sentinels.clone())
    }

    async fn replace_sentinels(&self, old: Vec<Sealed>, new: Vec<Sealed>) -> StoreResult<()> {
        let mut tables = self.tables();
        if !same_texts(&tables.sentinels, &old) {
            return Err(StoreError::Conflict);
        }
        tables.sentinels = new;
        Ok(())
    }

    async fn consumers(&self, page: Page<Uuid>) -> StoreResult<Vec<Consumer>> {
        let tables = self.tables();
        let in_order: BTreeMap<Uuid, &Consumer> = tables.outbox.consumers().map(|one| (one.customer, one)).collect();
        Ok(slice(in_order.into_iter(), page))
    }

    async fn sealed_answers(&self, page: Page<(Uuid, String)>) -> StoreResult<Vec<SealedAnswer>> {
        let tables = self.tables();
        let answers = tables.access.answers.iter().filter(|(_, answer)| answer.body.starts_with(SEALED));
        let in_order: BTreeMap<_, _> = answers.map(|(place, answer)| (place.clone(), answer.body.as_str())).collect();
        let after = in_order.into_iter().filter(|(place, _)| page.after.as_ref().is_none_or(|after| place > after));
        let sealed = |((caller, key), body)| SealedAnswer { caller, key, body: Sealed::from_text(body) };
        Ok(after.take(page.limit).map(sealed).collect())
    }

    async fn reseal(&self, texts: Vec<Resealed>) -> StoreResult<usize> {
        let mut tables = self.tables();
        Ok(texts.into_iter().filter(|text| tables.reseal(text)).count())
    }
}

impl Tables {
    /// True when the old text was still there.
    fn reseal(&mut self, Resealed { place, old, new }: &Resealed) -> bool {
        match place {
            SealedPlace::Connection(customer) => {
                let key = self.outbox.consumer_mut(*customer).and_then(|consumer| consumer.api_key.as_mut());
                key.filter(|key| *key == old).map(|key| *key = new.clone()).is_some()
            }
            SealedPlace::Answer { caller, key } => {
                let answer = self.access.answers.get_mut(&(*caller, key.clone()));
                let answer = answer.filter(|answer| answer.body == old.as_str());
                answer.map(|answer| new.as_str().clone_into(&mut answer.body)).is_some()
            }
            SealedPlace::Totp(user) => self.people.reseal(*user, old, new),
        }
    }
}
