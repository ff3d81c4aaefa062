//! Whether a lane may send: its connection, parking, closing and pausing.

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
            tracing::warn!(customer_id = %self.customer, reason, "the customer's queue is parked");
            if self.parked(reason, now).await {
                self.close();
            }
        }
        // The event is published with the new connection, or released with the other events of a closed lane.
        self.queue.insert(queued.event.cursor, queued);
    }

    pub(super) fn replaced(&self, used: Timestamp) -> bool {
        self.connection.as_ref().is_some_and(|(connection, _)| connection.updated_at != used)
    }

    /// True when the store has recorded the parking. Otherwise the lane pauses, and its next request meets the same failure.
    async fn parked(&mut self, reason: String, now: Timestamp) -> bool {
        let parked = Parked { reason, at: now };
        let Err(error) = self.shared.parts.store.park_queue(self.customer, Some(parked)).await else { return true };
        tracing::error!(customer_id = %self.customer, %error, "a queue could not be parked");
        self.pause(now);
        false
    }

    /// True when the lane has a usable connection. If only support can make it usable, the lane closes.
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
                // A pause that another provider requested, or that another key caused, does not apply to this connection.
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
                tracing::error!(customer_id = %self.customer, error = %error, "a connection could not be used; its events wait");
                self.pause(now);
            }
        }
        false
    }

    /// Records whether a request succeeded with its connection. Only a change is written, so that a working connection costs
    /// no write.
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
                tracing::warn!(customer_id = %self.customer, %error, "a connection's state could not be recorded")
            }
        }
    }

    /// Closes the lane until support acts, and returns its waiting events to the table.
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
