//! When a lane may send at all: its connection, parking, closing and pausing.

use std::sync::atomic::Ordering;

use jiff::Timestamp;

use super::Lane;
use crate::port::{Contact, ContactRecord, Parked, PublishResult};
use crate::publishing::QueuedEvent;
use crate::publishing::connection::{ConnectionError, open};

impl Lane {
    /// Parks the customer's queue, unless the request was made with a connection that support has replaced meanwhile.
    pub(super) async fn park(&mut self, queued: QueuedEvent, reason: String, used: Timestamp, now: Timestamp) {
        self.connection = None;
        if self.connect().await && !self.replaced(used) {
            tracing::warn!(customer = %self.customer, reason, "the customer's queue is parked");
            if self.parked(reason, now).await {
                self.close();
            }
        }
        // Published with the new connection, or given back with the rest of a closed lane.
        self.queue.insert(queued.event.cursor, queued);
    }

    pub(super) fn replaced(&self, used: Timestamp) -> bool {
        self.connection.as_ref().is_some_and(|(connection, _)| connection.updated_at != used)
    }

    /// True when the store has it; else the lane pauses and meets the same again.
    async fn parked(&mut self, reason: String, now: Timestamp) -> bool {
        let parked = Parked { reason, at: now };
        let Err(error) = self.shared.parts.store.park_queue(self.customer, Some(parked)).await else { return true };
        tracing::error!(customer = %self.customer, %error, "a queue could not be parked");
        self.pause(now);
        false
    }

    /// True when there is a connection to publish with. Without one that a person would have to mend, the lane closes.
    pub(super) async fn connect(&mut self) -> bool {
        let parts = &self.shared.parts;
        let now = parts.clock.now();
        let oldest = now - parts.config.connection_ttl;
        if self.connection.as_ref().is_some_and(|(_, read_at)| *read_at > oldest) {
            return true;
        }
        let opened = match parts.store.consumer(self.customer).await {
            Ok(consumer) => open(&parts.vault, self.customer, consumer),
            Err(error) => Err(ConnectionError::Store(error)),
        };
        match opened {
            Ok(connection) => {
                // What another provider, or another key, asked for doesn't hold for this one.
                if self
                    .breaker_connection
                    .replace(connection.updated_at)
                    .is_some_and(|before| before != connection.updated_at)
                {
                    self.breaker.reset();
                }
                self.connection = Some((connection, now));
                self.control.open.store(true, Ordering::Release);
                return true;
            }
            Err(ConnectionError::Closed) => self.close(),
            Err(ConnectionError::Unusable(reason)) => {
                if self.parked(reason, now).await {
                    self.close();
                }
            }
            Err(error) => {
                tracing::error!(customer = %self.customer, error = %error, "a connection could not be used; its events wait");
                self.pause(now);
            }
        }
        false
    }

    /// Records what a request showed about the connection that it used. Only a difference is written, so that a working
    /// connection costs no write.
    pub(super) async fn record_contact(&mut self, used: Timestamp, contact: Contact, detail: Option<&str>) {
        let parts = &self.shared.parts;
        let Some((connection, _)) = self.connection.as_mut().filter(|(connection, _)| connection.updated_at == used)
        else {
            return;
        };
        if connection.contact == contact {
            return;
        }
        let record = ContactRecord { contact, since: parts.clock.now(), detail: detail.map(str::to_owned) };
        match parts.store.record_contact(self.customer, used, record).await {
            Ok(()) => connection.contact = contact,
            // The next request of the lane records it.
            Err(error) => {
                tracing::warn!(customer = %self.customer, %error, "a connection's state could not be recorded")
            }
        }
    }

    /// Nothing can pass until support has done something: what waits here goes back to the table.
    pub(super) fn close(&mut self) {
        self.connection = None;
        self.control.open.store(false, Ordering::Release);
        for queued in std::mem::take(&mut self.queue).into_values() {
            self.settle(queued, PublishResult::Released);
        }
    }

    pub(super) fn pause(&mut self, now: Timestamp) {
        let ticket = self.breaker.start();
        self.breaker.failed(ticket, now, None, self.shared.parts.random.unit_f64());
    }
}
