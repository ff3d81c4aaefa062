//! Customers, auctioneers, keys, and answers kept.

use std::collections::{BTreeMap, HashMap};

use ::platform::port::{
    Address, ApiKey, Auctioneer, Customer, IdempotentAnswer, NewAuctioneer, Page, StoreError, StoreResult, Versioned,
};
use jiff::Timestamp;
use uuid::Uuid;

use super::slice;

#[derive(Default)]
pub(super) struct Access {
    customers: BTreeMap<Uuid, Customer>,
    auctioneers: BTreeMap<Uuid, Auctioneer>,
    /// The last id of an auctioneer that was drawn or given.
    last_auctioneer_id: i64,
    pub(super) api_keys: HashMap<[u8; 32], ApiKey>,
    pub(super) answers: HashMap<(Uuid, String), IdempotentAnswer>,
}

impl Access {
    pub(super) fn create_customer(&mut self, customer: Customer, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.check_answer(answer.as_ref())?;
        if self.customers.values().any(|other| other.name == customer.name) {
            return Err(StoreError::Taken("name"));
        }
        if let Some(answer) = answer {
            self.keep_answer(answer);
        }
        self.customers.insert(customer.uuid, customer);
        Ok(())
    }

    pub(super) fn customer(&self, uuid: Uuid) -> Option<Customer> {
        self.customers.get(&uuid).cloned()
    }

    pub(super) fn customers(&self, page: Page<Uuid>) -> Vec<Customer> {
        slice(self.customers.iter().map(|(uuid, customer)| (*uuid, customer)), page)
    }

    pub(super) fn create_auctioneer(&mut self, new: NewAuctioneer) -> StoreResult<(Auctioneer, Option<Address>)> {
        self.check_answer(new.answer.as_ref())?;
        if self.auctioneers.values().any(|other| other.customer == new.customer && other.name == new.name) {
            return Err(StoreError::Taken("name"));
        }
        let id = new.id.unwrap_or_else(|| self.next_auctioneer_id());
        if let Some(answer) = new.answer.clone() {
            self.keep_answer(answer);
        }
        let (auctioneer, address) = new.with_id(id);
        self.auctioneers.insert(auctioneer.uuid, auctioneer.clone());
        Ok((auctioneer, address))
    }

    pub(super) fn next_auctioneer_id(&mut self) -> i64 {
        self.last_auctioneer_id += 1;
        self.last_auctioneer_id
    }

    pub(super) fn change_auctioneer(&mut self, change: Versioned<Auctioneer>) -> StoreResult<()> {
        let Versioned { expected_version, state } = change;
        let namesake = |other: &Auctioneer| other.uuid != state.uuid && other.name == state.name;
        if self.auctioneers.get(&state.uuid).is_none_or(|found| found.version != expected_version) {
            return Err(StoreError::Conflict);
        }
        if self.auctioneers.values().any(|other| other.customer == state.customer && namesake(other)) {
            return Err(StoreError::Taken("name"));
        }
        self.auctioneers.insert(state.uuid, state);
        Ok(())
    }

    pub(super) fn auctioneer(&self, uuid: Uuid) -> Option<Auctioneer> {
        self.auctioneers.get(&uuid).cloned()
    }

    pub(super) fn auctioneer_by_id(&self, id: i64) -> Option<Auctioneer> {
        self.auctioneers.values().find(|auctioneer| auctioneer.id == id).cloned()
    }

    pub(super) fn auctioneers(&self, customer: Option<Uuid>, page: Page<Uuid>) -> Vec<Auctioneer> {
        let theirs = |auctioneer: &Auctioneer| customer.is_none_or(|customer| auctioneer.customer == customer);
        let rows = self.auctioneers.iter().filter(|(_, auctioneer)| theirs(auctioneer));
        slice(rows.map(|(uuid, auctioneer)| (*uuid, auctioneer)), page)
    }

    pub(super) fn create_api_key(&mut self, key: ApiKey, answer: Option<IdempotentAnswer>) -> StoreResult<()> {
        self.check_answer(answer.as_ref())?;
        if self.api_keys.contains_key(&key.hash) {
            return Err(StoreError::Taken("key"));
        }
        if let Some(answer) = answer {
            self.keep_answer(answer);
        }
        self.api_keys.insert(key.hash, key);
        Ok(())
    }

    pub(super) fn api_key_by_hash(&self, hash: [u8; 32]) -> Option<ApiKey> {
        self.api_keys.get(&hash).cloned()
    }

    pub(super) fn touch_api_key(&mut self, uuid: Uuid, at: Timestamp) {
        if let Some(key) = self.api_keys.values_mut().find(|key| key.uuid == uuid) {
            key.last_used_at = Some(at);
        }
    }

    pub(super) fn answer(&self, caller: Uuid, key: &str) -> Option<IdempotentAnswer> {
        self.answers.get(&(caller, key.to_owned())).cloned()
    }

    /// `Replayed` when the answer's key was used before.
    pub(super) fn check_answer(&self, answer: Option<&IdempotentAnswer>) -> StoreResult<()> {
        match answer {
            Some(answer) if self.answers.contains_key(&(answer.caller, answer.key.clone())) => {
                Err(StoreError::Replayed)
            }
            _ => Ok(()),
        }
    }

    /// Keeps an answer; one that is there stays.
    pub(super) fn keep_answer(&mut self, answer: IdempotentAnswer) {
        self.answers.entry((answer.caller, answer.key.clone())).or_insert(answer);
    }

    pub(super) fn forget_answers(&mut self, before: Timestamp, limit: usize) -> usize {
        let old = self.answers.iter().filter(|(_, answer)| answer.at < before);
        let old: Vec<_> = old.map(|(key, _)| key.clone()).take(limit).collect();
        for key in &old {
            self.answers.remove(key);
        }
        old.len()
    }
}
