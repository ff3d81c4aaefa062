//! Delivery rows that stay in order.

use std::collections::VecDeque;

use ::provider::model::Id;
use ::provider::ordering::OrderingKey;
use ::provider::port::StoreResult;
use ::provider::port::ordering::{BlockedKey, OrderedDeliveries, Skip, WAITING_COUNT_MAX};
use async_trait::async_trait;
use jiff::Timestamp;

use super::super::Memory;
use super::{Manual, Row, Work};

#[async_trait]
impl OrderedDeliveries for Memory {
    async fn blocked_keys(&self, endpoint: &str, after: Option<&str>, limit: usize) -> StoreResult<Vec<BlockedKey>> {
        let tables = self.tables();
        let accepted_at =
            |application: &str, message: &str| tables.message(application, message).map(|message| message.created_at);
        Ok(tables.work.blocked_keys(endpoint, after, limit, accepted_at))
    }

    async fn skip_head(&self, endpoint: &str, key: &str, message: &str) -> StoreResult<Skip> {
        Ok(self.tables().work.skip_head(endpoint, key, message))
    }
}

impl Work {
    /// Enters the row of a message, which is given as application and id, behind those of its key, or as its first.
    pub(super) fn enter_in_order(&mut self, message: &(Id, Id), endpoint: Id, key: OrderingKey, now: Timestamp) {
        let (application, message) = message.clone();
        let queue = self.ordered.entry((endpoint.clone(), key.clone())).or_default();
        queue.push_back(message.clone());
        if queue.len() == 1 {
            self.waiting.insert((endpoint.clone(), now, message.clone()));
        }
        let row = Row { application, owner: None, attempts: 0, next_at: now, manual: Manual::No, key: Some(key) };
        self.rows.insert((endpoint, message), row);
    }

    /// A background task made the row.
    pub(super) fn mark_replayed(&mut self, endpoint: &Id, message: &Id) {
        if let Some(row) = self.rows.get_mut(&(endpoint.clone(), message.clone())) {
            row.manual = Manual::Replayed;
        }
    }

    /// Whether a row waits for another of its key.
    pub(in super::super) fn is_held(&self, (endpoint, message): &(Id, Id)) -> bool {
        let key = self.rows.get(&(endpoint.clone(), message.clone())).and_then(|row| row.key.clone());
        let queue = key.and_then(|key| self.ordered.get(&(endpoint.clone(), key)));
        queue.is_some_and(|queue| queue.front() != Some(message))
    }

    /// A row of a key went: when it was the first, the next is due.
    pub(super) fn next_of_key(&mut self, endpoint: &Id, key: OrderingKey, went: &Id) {
        let place = (endpoint.clone(), key);
        let Some(queue) = self.ordered.get_mut(&place) else { return };
        let was_head = queue.front() == Some(went);
        queue.retain(|message| message != went);
        match queue.front() {
            None => drop(self.ordered.remove(&place)),
            Some(next) if was_head => {
                let row_key = (endpoint.clone(), next.clone());
                if let Some(row) = self.rows.get(&row_key) {
                    self.waiting.insert((row_key.0, row.next_at, row_key.1));
                }
            }
            Some(_) => {}
        }
    }

    fn blocked_keys(
        &self,
        endpoint: &str,
        after: Option<&str>,
        limit: usize,
        accepted_at: impl Fn(&str, &str) -> Option<Timestamp>,
    ) -> Vec<BlockedKey> {
        let of_endpoint = self.ordered.iter().filter(|((of, key), _)| &**of == endpoint && Some(key.as_str()) > after);
        let blocked = of_endpoint.filter_map(|((of, key), queue)| self.blocked_key(of, key, queue, &accepted_at));
        blocked.take(limit).collect()
    }

    fn blocked_key(
        &self,
        endpoint: &Id,
        key: &OrderingKey,
        queue: &VecDeque<Id>,
        accepted_at: impl Fn(&str, &str) -> Option<Timestamp>,
    ) -> Option<BlockedKey> {
        let message = queue.front()?;
        let row = self.rows.get(&(endpoint.clone(), message.clone()))?;
        let attempts = self.attempts_of_message.values();
        let of_head = attempts.filter(|attempt| attempt.message == *message && attempt.endpoint == *endpoint);
        let first_attempt = of_head.map(|attempt| attempt.at).min().filter(|_| row.attempts > 0);
        (row.attempts > 0 || row.owner.is_none() || queue.len() > 1).then(|| BlockedKey {
            key: key.clone(),
            message: message.clone(),
            attempts: row.attempts,
            since: first_attempt.or_else(|| accepted_at(&row.application, message)).unwrap_or(row.next_at),
            next_at: row.next_at,
            in_hand: row.owner.is_some(),
            waiting: (queue.len() - 1).min(WAITING_COUNT_MAX) as u64,
        })
    }

    fn skip_head(&mut self, endpoint: &str, key: &str, message: &str) -> Skip {
        let place = (Id::from(endpoint), OrderingKey::kept(key));
        let row_key = (Id::from(endpoint), Id::from(message));
        if self.ordered.get(&place).and_then(VecDeque::front) != Some(&row_key.1) {
            return Skip::NotThere;
        }
        match self.rows.get(&row_key) {
            None => Skip::NotThere,
            Some(row) if row.owner.is_some() => Skip::UnderWay,
            Some(_) => {
                self.remove(&row_key);
                Skip::Skipped
            }
        }
    }
}
