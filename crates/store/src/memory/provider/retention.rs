//! Forgetting.

use ::provider::model::Id;
use ::provider::port::{EXPUNGED, Retention, StoreResult};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::Memory;
use super::lists::key;

/// Messages go after that long, and their payloads with them unless they are to go before.
const MESSAGE_KEPT_FOR: SignedDuration = SignedDuration::from_hours(90 * 24);

#[async_trait]
impl Retention for Memory {
    async fn expunge_payload(&self, application: &str, message: &str, now: Timestamp) -> StoreResult<bool> {
        let mut tables = self.tables();
        if tables.config.application_by_id(application).is_none() {
            return Ok(false);
        }
        let Some(found) = tables.work.messages.get_mut(&key(application, message)) else { return Ok(false) };
        found.payload = None;
        tables.config.note_purge(application);
        tables.work.hasten_of(application, |id| **id == *message, now);
        Ok(true)
    }

    async fn expunge_payloads(
        &self,
        application: &str,
        after: &str,
        before: &str,
        limit: usize,
        now: Timestamp,
    ) -> StoreResult<(usize, Option<Id>)> {
        let mut tables = self.tables();
        let span = tables.work.messages.range_mut(key(application, after)..key(application, before));
        let (mut removed, mut last) = (0, None);
        for ((_, id), message) in span.filter(|((_, id), _)| **id != *after).take(limit) {
            removed += usize::from(message.payload.take().is_some());
            last = Some(id.clone());
        }
        if let Some(last) = &last {
            tables.config.note_purge(application);
            tables.work.hasten_of(application, |id| **id > *after && *id <= *last, now);
        }
        Ok((removed, last))
    }

    async fn expunge_response(&self, application: &str, message: &str, attempt: &str) -> StoreResult<bool> {
        let mut tables = self.tables();
        if tables.message(application, message).is_none() {
            return Ok(false);
        }
        let work = &mut tables.work;
        let Some(of_message) = work.attempts_of_message.get_mut(&key(message, attempt)) else { return Ok(false) };
        of_message.response = EXPUNGED.to_owned();
        if let Some(at_endpoint) = work.attempts_at_endpoint.get_mut(&(of_message.endpoint.clone(), attempt.into())) {
            at_endpoint.response = EXPUNGED.to_owned();
        }
        Ok(true)
    }

    async fn forget_payloads(&self, now: Timestamp, limit: usize) -> StoreResult<usize> {
        let mut tables = self.tables();
        let work = &mut tables.work;
        let over = work.messages.iter_mut().filter(|(_, message)| {
            let kept_for = message.payload_expires_at.duration_since(message.created_at);
            message.payload.is_some() && kept_for < MESSAGE_KEPT_FOR && message.payload_expires_at <= now
        });
        let mut forgotten = Vec::new();
        for (key, message) in over.take(limit) {
            message.payload = None;
            forgotten.push(key.clone());
        }
        for (application, message) in &forgotten {
            work.hasten_of(application, |id| id == message, now);
        }
        Ok(forgotten.len())
    }

    async fn forget_attempts(&self, before_message: &str, limit: usize) -> StoreResult<usize> {
        let mut tables = self.tables();
        let work = &mut tables.work;
        let old: Vec<(Id, Id)> =
            work.attempts_of_message.range(..key(before_message, "")).take(limit).map(|(key, _)| key.clone()).collect();
        for old_key in &old {
            if let Some(attempt) = work.attempts_of_message.remove(old_key) {
                work.attempts_at_endpoint.remove(&(attempt.endpoint, attempt.id));
            }
        }
        Ok(old.len())
    }

    async fn forget_messages(&self, before_message: &str, limit: usize) -> StoreResult<usize> {
        let mut tables = self.tables();
        let work = &mut tables.work;
        let old = work.messages.extract_if(.., |(_, id), _| **id < *before_message);
        let old: Vec<_> = old.take(limit).collect();
        for ((application, id), message) in &old {
            work.ordering_keys.remove(&(application.clone(), id.clone()));
            if let Some(event_id) = &message.event_id {
                work.event_ids.remove(&key(application, event_id));
            }
        }
        if !old.is_empty() {
            // What waits of them would wait for ever.
            let waits: Vec<_> = work.rows.keys().filter(|(_, message)| **message < *before_message).cloned().collect();
            for row_key in &waits {
                work.remove(row_key);
            }
        }
        Ok(old.len())
    }
}
