//! Messages and attempts: taking them in and reading them.

use ::provider::model::{Attempt, Message};
use ::provider::port::{NewMessage, Order, Page, StoreError, StoreResult};
use jiff::Timestamp;

use super::Tables;
use super::lists::{self, key};

impl Tables {
    /// Accepts a message as a whole or not at all.
    pub(super) fn accept(&mut self, new: NewMessage, now: Timestamp) -> StoreResult<()> {
        self.config.check_answer(new.answer.as_ref())?;
        let application = self.config.application_by_id(&new.message.application).ok_or(StoreError::NotFound)?;
        if application.version != new.application_version {
            return Err(StoreError::Stale);
        }
        if let Some(event_id) = &new.message.event_id
            && self.work.event_ids.contains_key(&key(&new.message.application, event_id))
        {
            return Err(StoreError::Taken("eventId"));
        }
        self.config.keep_answer(new.answer);
        if let Some(ordering) = new.key {
            self.work.ordering_keys.insert((new.message.application.clone(), new.message.id.clone()), ordering);
        }
        self.work.enter(new.message, new.deliveries, now);
        Ok(())
    }

    pub(super) fn message(&self, application: &str, id_or_event_id: &str) -> Option<Message> {
        self.config.application_by_id(application)?;
        let key = key(application, id_or_event_id);
        let by_event_id = || {
            let id = self.work.event_ids.get(&key)?;
            self.work.messages.get(&(key.0.clone(), id.clone()))
        };
        self.work.messages.get(&key).or_else(by_event_id).cloned()
    }

    pub(super) fn messages(&self, application: &str, page: &Page) -> Vec<Message> {
        match self.config.application_by_id(application) {
            Some(_) => lists::slice(&self.work.messages, application, page),
            None => Vec::new(),
        }
    }

    pub(super) fn attempts_of_message(&self, application: &str, message: &str, page: &Page) -> Vec<Attempt> {
        if self.message(application, message).is_none() {
            return Vec::new();
        }
        lists::slice(&self.work.attempts_of_message, message, &newest_first(page))
    }

    pub(super) fn attempts_at_endpoint(&self, application: &str, endpoint: &str, page: &Page) -> Vec<Attempt> {
        if self.config.endpoint(application, endpoint).is_none() {
            return Vec::new();
        }
        lists::slice(&self.work.attempts_at_endpoint, endpoint, &newest_first(page))
    }

    pub(super) fn attempt(&self, application: &str, message: &str, id: &str) -> Option<Attempt> {
        self.message(application, message)?;
        self.work.attempts_of_message.get(&key(message, id)).cloned()
    }
}

/// Lists of attempts have one direction.
fn newest_first(page: &Page) -> Page {
    Page { order: Order::Descending, ..page.clone() }
}
