//! Accepting messages: the hot way in. Each statement is prepared once for a batch, and a message that nothing speaks against
//! costs one insert for itself, one for its answer and one for each endpoint, without a look-up before.

use std::collections::HashMap;

use ::provider::model::{AttemptTrigger, Id, Message};
use ::provider::ordering::OrderingKey;
use ::provider::payload::StoredPayload;
use ::provider::port::{IdempotentAnswer, NewDelivery, NewMessage, NodeId, StoreError, StoreResult};
use jiff::Timestamp;
use rusqlite::{CachedStatement, Connection, params};

use super::rows::{Fault, Outcome, ms};
use super::{answers, applications, nodes, ordering, resend};
use crate::provider_codec::{fingerprint, optional_to_json};

const INSERT_MESSAGE: &str = "INSERT INTO messages (application, id, event_type, event_id, event_key, payload, channels, tags, \
     created_at, payload_expires_at, deliver_at, ordering_key) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
     ON CONFLICT (event_key) WHERE event_key IS NOT NULL DO NOTHING";
const INSERT_DELIVERY: &str =
    "INSERT INTO deliveries (endpoint, message, owner, attempts, next_at) VALUES (?1, ?2, ?3, 0, ?4)";

/// One result for each message, in order. A failing one leaves nothing behind and the others stand.
pub(super) fn accept(db: &Connection, batch: &[NewMessage], now: Timestamp) -> Outcome<Vec<StoreResult<()>>> {
    let mut accepting = Accepting {
        db,
        now,
        keep_answer: db.prepare_cached(answers::KEEP)?,
        insert_message: db.prepare_cached(INSERT_MESSAGE)?,
        insert_delivery: db.prepare_cached(INSERT_DELIVERY)?,
        versions: HashMap::new(),
        nodes: HashMap::new(),
    };
    let results = batch.iter().map(|new| match accepting.accept(new) {
        Ok(()) => Ok(Ok(())),
        Err(Fault::Store(error)) => Ok(Err(error)),
        Err(fault) => Err(fault),
    });
    results.collect()
}

struct Accepting<'db> {
    db: &'db Connection,
    now: Timestamp,
    keep_answer: CachedStatement<'db>,
    insert_message: CachedStatement<'db>,
    insert_delivery: CachedStatement<'db>,
    /// Versions of the batch's applications; none for one that is not there.
    versions: HashMap<Id, Option<i64>>,
    /// Numbers of the batch's nodes.
    nodes: HashMap<NodeId, i64>,
}

impl Accepting<'_> {
    fn accept(&mut self, new: &NewMessage) -> Outcome<()> {
        let message = &new.message;
        if let Err(refused) = self.check_version(&message.application, new.application_version)? {
            return Err(self.unless_replayed(new.answer.as_ref(), refused)?.into());
        }
        let mut kept = None;
        if let Some(answer) = &new.answer {
            if !answers::keep(&mut self.keep_answer, answer)? {
                return Err(StoreError::Replayed.into());
            }
            kept = Some(self.db.last_insert_rowid());
        }
        if !self.insert_message(new)? {
            if let Some(no) = kept {
                self.db.execute("DELETE FROM answers WHERE no = ?1", [no])?;
            }
            return Err(StoreError::Taken("eventId").into());
        }
        for delivery in &new.deliveries {
            self.insert_delivery(message, delivery)?;
        }
        Ok(())
    }

    fn check_version(&mut self, application: &Id, expected: i64) -> Outcome<StoreResult<()>> {
        let version = match self.versions.get(application) {
            Some(version) => *version,
            None => {
                let version = applications::version(self.db, application)?;
                self.versions.insert(application.clone(), version);
                version
            }
        };
        Ok(match version {
            None => Err(StoreError::NotFound),
            Some(version) if version != expected => Err(StoreError::Stale),
            Some(_) => Ok(()),
        })
    }

    /// An answer that is there goes before any other reason.
    fn unless_replayed(&self, answer: Option<&IdempotentAnswer>, refused: StoreError) -> Outcome<StoreError> {
        match answer {
            Some(answer) if answers::is_kept(self.db, answer)? => Ok(StoreError::Replayed),
            _ => Ok(refused),
        }
    }

    /// False when the event id is taken.
    fn insert_message(&mut self, new: &NewMessage) -> Outcome<bool> {
        let message = &new.message;
        let event_key = message.event_id.as_ref().map(|event_id| fingerprint(&message.application, event_id));
        let inserted = self.insert_message.execute(params![
            &*message.application,
            &*message.id,
            &*message.event_type,
            message.event_id,
            event_key,
            message.payload.as_ref().map(StoredPayload::as_stored),
            optional_to_json(message.channels.as_ref())?,
            optional_to_json(message.tags.as_ref())?,
            ms(message.created_at),
            ms(message.payload_expires_at),
            message.deliver_at.map(ms),
            new.key.as_ref().map(OrderingKey::as_str)
        ])?;
        Ok(inserted == 1)
    }

    fn insert_delivery(&mut self, message: &Message, delivery: &NewDelivery) -> Outcome<()> {
        if let Some(key) = &delivery.key {
            let due = message.deliver_at.unwrap_or(self.now);
            return ordering::enter(self.db, &delivery.endpoint, &message.id, key, due);
        }
        if delivery.trigger == AttemptTrigger::Manual {
            return resend::enter_row(self.db, &delivery.endpoint, &message.id);
        }
        let owner = match &delivery.owner {
            None => None,
            Some(node) => Some(match self.nodes.get(node) {
                Some(no) => *no,
                None => {
                    let no = nodes::number(self.db, node, self.now)?;
                    self.nodes.insert(node.clone(), no);
                    no
                }
            }),
        };
        let due = message.deliver_at.unwrap_or(self.now);
        self.insert_delivery.execute(params![&*delivery.endpoint, &*message.id, owner, ms(due)])?;
        Ok(())
    }
}
