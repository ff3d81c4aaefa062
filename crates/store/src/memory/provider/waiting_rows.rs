//! What waits for one endpoint: what for, and what somebody may do about it.

use std::time::Duration;

use ::provider::model::{Attempt, Id};
use ::provider::port::supervision::{WaitingFor, WaitingRows};
use ::provider::port::{StoreError, StoreResult};
use async_trait::async_trait;
use jiff::Timestamp;

use super::deliveries::{Row, Work};
use super::lists::{self, key};
use super::{Memory, Tables};

#[async_trait]
impl WaitingRows for Memory {
    async fn waiting_for(&self, endpoint: &str, now: Timestamp, count_max: usize) -> StoreResult<WaitingFor> {
        let tables = self.tables();
        let mut waiting = WaitingFor::default();
        for (row_key, row) in tables.work.rows_of(endpoint).take(count_max) {
            let count = match row {
                _ if row.owner.is_some() => &mut waiting.in_hand,
                _ if tables.work.is_held(row_key) => &mut waiting.key,
                _ if row.next_at <= now => &mut waiting.due,
                _ if row.attempts > 0 => &mut waiting.retry,
                _ => &mut waiting.later,
            };
            *count += 1;
        }
        Ok(waiting)
    }

    async fn hasten(&self, endpoint: &str, now: Timestamp, limit: usize) -> StoreResult<usize> {
        let mut tables = self.tables();
        let work = &mut tables.work;
        let later = work.rows_of(endpoint).filter(|(row_key, row)| work.waits_for_retry(row_key, row, now));
        let later: Vec<(Id, Id)> = later.map(|(row_key, _)| row_key.clone()).take(limit).collect();
        later.iter().for_each(|row_key| work.wait(row_key, now, None));
        Ok(later.len())
    }

    async fn forgive(&self, endpoint: &str, now: Timestamp) -> StoreResult<()> {
        self.tables().forgive(endpoint, now).ok_or(StoreError::NotFound)
    }

    async fn waiting_messages(&self, endpoint: &str, before: &str, limit: usize) -> StoreResult<Vec<Id>> {
        let tables = self.tables();
        let rows = tables
            .work
            .rows_of(endpoint)
            .filter(|((_, message), row)| &**message < before && (row.key.is_none() || row.owner.is_none()));
        let mut messages: Vec<Id> = rows.map(|((_, message), _)| message.clone()).collect();
        messages.reverse();
        messages.truncate(limit);
        Ok(messages)
    }

    async fn give_up(&self, endpoint: &str, attempts: Vec<Attempt>) -> StoreResult<usize> {
        let mut tables = self.tables();
        let work = &mut tables.work;
        let mut ended = 0;
        for attempt in attempts {
            let row_key = (Id::from(endpoint), attempt.message.clone());
            if work.rows.get(&row_key).is_some_and(|row| row.key.is_none() || row.owner.is_none()) {
                work.remove(&row_key);
                work.keep_attempt(attempt);
                ended += 1;
            }
        }
        Ok(ended)
    }
}

impl Work {
    fn rows_of(&self, endpoint: &str) -> impl Iterator<Item = (&(Id, Id), &Row)> {
        self.rows.range(key(endpoint, "")..lists::after(endpoint))
    }

    /// Makes the message's row due if it waits for its next attempt; whether it did.
    pub(super) fn hasten(&mut self, endpoint: &Id, message: &Id, now: Timestamp) -> bool {
        let row_key = (endpoint.clone(), message.clone());
        let waits = self.rows.get(&row_key).is_some_and(|row| self.waits_for_retry(&row_key, row, now));
        if waits {
            self.wait(&row_key, now, None);
        }
        waits
    }

    /// Makes what waits of some messages of an application due.
    pub(super) fn hasten_of(&mut self, application: &str, concerns: impl Fn(&Id) -> bool, now: Timestamp) {
        let waits =
            self.rows.iter().filter(|((_, message), row)| *row.application == *application && concerns(message));
        let waits = waits.filter(|(row_key, row)| self.is_later(row_key, row, now));
        let waits: Vec<(Id, Id)> = waits.map(|(row_key, _)| row_key.clone()).collect();
        for row_key in &waits {
            self.wait(row_key, now, None);
        }
    }

    /// Whether a row is nobody's, is not held, and is to be tried again after `now`.
    fn waits_for_retry(&self, row_key: &(Id, Id), row: &Row, now: Timestamp) -> bool {
        row.attempts > 0 && self.is_later(row_key, row, now)
    }

    /// Whether a row is nobody's, is not held, and its time comes after `now`.
    fn is_later(&self, row_key: &(Id, Id), row: &Row, now: Timestamp) -> bool {
        row.owner.is_none() && row.next_at > now && !self.is_held(row_key)
    }
}

impl Tables {
    fn forgive(&mut self, endpoint: &str, now: Timestamp) -> Option<()> {
        let endpoint = self.config.endpoints.values_mut().find(|known| &*known.id == endpoint)?;
        endpoint.updated_at = now.max(endpoint.updated_at + Duration::from_millis(1));
        let application = endpoint.application.clone();
        self.config.raise_version(&application);
        Some(())
    }
}
