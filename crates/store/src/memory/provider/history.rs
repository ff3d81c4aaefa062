//! Searching what happened.

use std::collections::BTreeMap;

use ::provider::model::{Attempt, AttemptStatus, Id, Message};
use ::provider::port::{
    AttemptFilter, Attempted, AttemptsOf, Content, Destination, Found, History, MessageFilter, Scan, Standing,
    StoreResult,
};
use async_trait::async_trait;

use super::lists::{self, key};
use super::{Memory, Tables};
use crate::provider_scan::{Go, Watch};

#[async_trait]
impl History for Memory {
    async fn find_messages(
        &self,
        application: &str,
        filter: &MessageFilter,
        scan: &Scan,
        content: Content,
    ) -> StoreResult<Found<Message>> {
        let tables = self.tables();
        Ok(tables.find(application, scan, content, |message| filter.admits_message(message).then(|| message.clone())))
    }

    async fn messages_of_ids(&self, application: &str, ids: &[Id]) -> StoreResult<Vec<Message>> {
        let tables = self.tables();
        let found = ids.iter().filter_map(|id| tables.work.messages.get(&key(application, id)));
        Ok(found.map(|message| Message { payload: None, ..message.clone() }).collect())
    }

    async fn find_attempts(
        &self,
        application: &str,
        of: &AttemptsOf,
        filter: &AttemptFilter,
        scan: &Scan,
    ) -> StoreResult<Found<Attempt>> {
        let tables = self.tables();
        let work = &tables.work;
        let open = MessageFilter::default();
        let (rows, owner, of_messages) = match of {
            AttemptsOf::Message(id) => (&work.attempts_of_message, id, &open),
            AttemptsOf::Endpoint(id) => (&work.attempts_at_endpoint, id, &filter.message),
        };
        let delivers = |attempt: &Attempt| {
            let message = work.messages.get(&key(application, &attempt.message));
            of_messages.is_open() || message.is_some_and(|message| of_messages.admits_message(message))
        };
        let (mut watch, mut found) = (Watch::new(scan), Vec::new());
        for (id, attempt) in lists::scan(rows, owner, scan) {
            let admitted = filter.admits(attempt.status, attempt.response_status_code, &attempt.endpoint);
            let admitted = admitted && delivers(attempt);
            if admitted {
                found.push(attempt.clone());
            }
            if watch.looked_at(id, admitted.then_some(0)) == Go::Home {
                break;
            }
        }
        Ok(watch.found(found))
    }

    async fn find_attempted(
        &self,
        application: &str,
        endpoint: &str,
        filter: &MessageFilter,
        status: Option<AttemptStatus>,
        scan: &Scan,
        content: Content,
    ) -> StoreResult<Found<Attempted>> {
        let tables = self.tables();
        Ok(tables.find(application, scan, content, |message| {
            let standing = tables.standing(endpoint, &message.id);
            let counts = standing.latest.is_some() && status.is_none_or(|status| standing.counts_as(status));
            let wanted = counts && filter.admits_message(message);
            wanted.then(|| Attempted { message: message.clone(), standing })
        }))
    }

    async fn destinations(&self, application: &str, message: &str) -> StoreResult<Vec<Destination>> {
        let tables = self.tables();
        let work = &tables.work;
        if !work.messages.contains_key(&key(application, message)) {
            return Ok(Vec::new());
        }
        let mut found: BTreeMap<Id, Destination> = BTreeMap::new();
        for ((endpoint, of), row) in &work.rows {
            if **of == *message {
                let next_at = Some(row.next_at);
                let waits = Destination { endpoint: endpoint.clone(), latest: None, next_at, url: None };
                found.insert(endpoint.clone(), waits);
            }
        }
        for (_, attempt) in work.attempts_of_message.range(key(message, "")..lists::after(message)) {
            let endpoint = attempt.endpoint.clone();
            let next_at = found.get(&endpoint).and_then(|waits| waits.next_at);
            let (latest, url) = (Some(attempt.status), Some(attempt.url.clone()));
            found.insert(endpoint.clone(), Destination { endpoint, latest, next_at, url });
        }
        Ok(found.into_values().collect())
    }
}

/// What can be cut down to what is read of it.
trait HasMessage {
    fn message(&mut self) -> &mut Message;
}

impl HasMessage for Message {
    fn message(&mut self) -> &mut Message {
        self
    }
}

impl HasMessage for Attempted {
    fn message(&mut self) -> &mut Message {
        &mut self.message
    }
}

impl Tables {
    fn find<T: HasMessage>(
        &self,
        application: &str,
        scan: &Scan,
        content: Content,
        wanted: impl Fn(&Message) -> Option<T>,
    ) -> Found<T> {
        let (mut watch, mut found) = (Watch::new(scan), Vec::new());
        if self.config.application_by_id(application).is_none() {
            return watch.found(found);
        }
        for (id, message) in lists::scan(&self.work.messages, application, scan) {
            let mut row = wanted(message);
            if let Some(row) = &mut row
                && content == Content::Left
            {
                row.message().payload = None;
            }
            let bytes = row.as_mut().map(|row| row.message().payload.as_ref().map_or(0, |payload| payload.len()));
            found.extend(row);
            if watch.looked_at(id, bytes) == Go::Home {
                break;
            }
        }
        watch.found(found)
    }

    fn standing(&self, endpoint: &str, message: &str) -> Standing {
        let attempts = self.work.attempts_of_message.range(key(message, "")..lists::after(message));
        let mut standing = Standing::default();
        for (_, attempt) in attempts.rev().filter(|(_, attempt)| *attempt.endpoint == *endpoint) {
            standing.latest = standing.latest.or(Some(attempt.status));
            standing.succeeded |= attempt.status == AttemptStatus::Success;
        }
        if standing.latest.is_some() {
            standing.next_at = self.work.rows.get(&key(endpoint, message)).map(|row| row.next_at);
        }
        standing
    }
}
