//! Accepts messages (a hot path). Each statement is prepared once for a batch and inserts many rows. A message without
//! a conflict needs no lookup.

use std::collections::HashMap;

use jiff::Timestamp;
use provider_core::model::{AttemptTrigger, Id};
use provider_core::ordering::OrderingKey;
use provider_core::payload::StoredPayload;
use provider_core::port::{IdempotentAnswer, NewMessage, NodeId, StoreError, StoreResult};
use rusqlite::{CachedStatement, Connection};

use super::insert::{Insert, ROWS, Sql, Values};
use super::rows::{SqlResult, ms};
use super::{applications, counts, deliveries, idempotency, nodes, ordering};
use crate::codec::{fingerprint, optional_to_json};
use crate::counts_codec::MessageAdditions;

const MESSAGES: Sql = Sql {
    head: "INSERT OR FAIL INTO messages (application, id, event_type, event_id, event_fingerprint, payload, channels, tags, created_at, \
         payload_expires_at, deliver_at, ordering_key, sent_by, traceparent)",
    values: "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    tail: "ON CONFLICT (event_fingerprint) WHERE event_fingerprint IS NOT NULL DO NOTHING",
};

const DELIVERIES: Sql = Sql {
    head: "INSERT OR FAIL INTO deliveries (endpoint, message, owner, attempts, next_at)",
    values: "(?, ?, ?, 0, ?)",
    tail: "",
};

/// Returns one result for each message, in order. A rejected message inserts no rows and does not affect the others.
pub(super) fn accept(db: &Connection, batch: &[NewMessage], now: Timestamp) -> SqlResult<Vec<StoreResult<()>>> {
    let mut accepting = AcceptBatch {
        db,
        now,
        keep_answer: db.prepare_cached(idempotency::KEEP)?,
        messages: Insert::prepare(db, &MESSAGES)?,
        deliveries: Insert::prepare(db, &DELIVERIES)?,
        versions: HashMap::new(),
        nodes: HashMap::new(),
    };
    let mut additions = MessageAdditions::default();
    let mut results = Vec::with_capacity(batch.len());
    // Messages with an answer are accepted one by one, because their answers decide on later messages with the same
    // key.
    for run in batch.chunk_by(|one, next| one.answer.is_none() && next.answer.is_none()) {
        match run {
            [NewMessage { answer: Some(answer), .. }] => results.push(accepting.accept_once(&run[0], answer)?),
            _ => results.extend(accepting.accept(run)?),
        }
    }
    for (new, _) in batch.iter().zip(&results).filter(|(_, result)| result.is_ok()) {
        additions.message(&new.message);
    }
    counts::add_to_applications(db, &additions)?;
    Ok(results)
}

struct AcceptBatch<'db> {
    db: &'db Connection,
    now: Timestamp,
    keep_answer: CachedStatement<'db>,
    messages: Insert<'db>,
    deliveries: Insert<'db>,
    /// Versions of the batch's applications; `None` for an application that does not exist.
    versions: HashMap<Id, Option<i64>>,
    nodes: HashMap<NodeId, i64>,
}

impl AcceptBatch<'_> {
    /// Accepts a message with an idempotency key. A stored answer takes precedence over every other result.
    fn accept_once(&mut self, new: &NewMessage, answer: &IdempotentAnswer) -> SqlResult<StoreResult<()>> {
        if let Err(refused) = self.check_version(new)? {
            let is_replayed = idempotency::is_kept(self.db, answer)?;
            return Ok(Err(if is_replayed { StoreError::Replayed } else { refused }));
        }
        if !idempotency::keep(&mut self.keep_answer, answer)? {
            return Ok(Err(StoreError::Replayed));
        }
        let answer_number = self.db.last_insert_rowid();
        let accepted = self.enter(&[new])?.remove(0);
        if accepted.is_err() {
            self.db.execute("DELETE FROM idempotent_answers WHERE no = ?1", [answer_number])?;
        }
        Ok(accepted)
    }

    fn accept(&mut self, run: &[NewMessage]) -> SqlResult<Vec<StoreResult<()>>> {
        let checked: Vec<_> = run.iter().map(|new| self.check_version(new)).collect::<SqlResult<_>>()?;
        let valid: Vec<_> = run.iter().zip(&checked).filter(|(_, check)| check.is_ok()).map(|(new, _)| new).collect();
        let mut entered = self.enter(&valid)?.into_iter();
        // A message that was not inserted must not be acknowledged.
        let mut next_result =
            || entered.next().unwrap_or_else(|| Err(StoreError::Corrupt("a message was not inserted".into())));
        Ok(checked.into_iter().map(|check| check.and_then(|()| next_result())).collect())
    }

    fn check_version(&mut self, new: &NewMessage) -> SqlResult<StoreResult<()>> {
        let application = &new.message.application;
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
            Some(version) if version != new.application_version => Err(StoreError::Conflict),
            Some(_) => Ok(()),
        })
    }

    /// Inserts messages whose only possible conflict is a taken event id.
    fn enter(&mut self, messages: &[&NewMessage]) -> SqlResult<Vec<StoreResult<()>>> {
        let mut entered = Vec::with_capacity(messages.len());
        for chunk in messages.chunks(ROWS) {
            let all_inserted = self.messages.rows(chunk, bind_message)? == chunk.len();
            for new in chunk {
                let is_inserted = all_inserted || is_inserted(self.db, new)?;
                entered.push(if is_inserted { Ok(()) } else { Err(StoreError::Taken("eventId")) });
            }
        }
        self.enter_deliveries(
            messages.iter().zip(&entered).filter(|(_, entered)| entered.is_ok()).map(|(new, _)| *new),
        )?;
        Ok(entered)
    }

    fn enter_deliveries<'a>(&mut self, messages: impl Iterator<Item = &'a NewMessage>) -> SqlResult<()> {
        let mut rows = Vec::new();
        for new in messages {
            let message = &new.message;
            let due = message.deliver_at.unwrap_or(self.now);
            for delivery in &new.deliveries {
                if let Some(key) = &delivery.ordering_key {
                    ordering::enter(self.db, &delivery.endpoint, &message.id, key, due)?;
                } else if delivery.trigger == AttemptTrigger::Manual {
                    deliveries::enter_manual(self.db, &delivery.endpoint, &message.id)?;
                } else {
                    let owner = delivery.owner.as_ref().map(|node| self.number(node)).transpose()?;
                    rows.push((&*delivery.endpoint, &*message.id, owner, ms(due)));
                }
            }
        }
        self.deliveries.rows(&rows, |values, (endpoint, message, owner, due)| {
            values.bind(endpoint)?;
            values.bind(message)?;
            values.bind(owner)?;
            values.bind(due)
        })?;
        Ok(())
    }

    fn number(&mut self, node: &NodeId) -> SqlResult<i64> {
        if let Some(no) = self.nodes.get(node) {
            return Ok(*no);
        }
        let no = nodes::node_number(self.db, node, self.now)?;
        self.nodes.insert(node.clone(), no);
        Ok(no)
    }
}

fn bind_message(values: &mut Values<'_, '_>, new: &&NewMessage) -> SqlResult<()> {
    let message = &new.message;
    values.bind(&*message.application)?;
    values.bind(&*message.id)?;
    values.bind(&*message.event_type)?;
    values.bind(&message.event_id)?;
    values.bind(message.event_id.as_ref().map(|event_id| fingerprint(&message.application, event_id)))?;
    values.bind(message.payload.as_ref().map(StoredPayload::as_stored))?;
    values.bind(optional_to_json(message.channels.as_ref())?)?;
    values.bind(optional_to_json(message.tags.as_ref())?)?;
    values.bind(ms(message.created_at))?;
    values.bind(ms(message.payload_expires_at))?;
    values.bind(message.deliver_at.map(ms))?;
    values.bind(new.ordering_key.as_ref().map(OrderingKey::as_str))?;
    values.bind(message.sent_by.as_deref())?;
    values.bind(message.trace_parent.map(|position| position.to_string()))
}

/// True when the statement, which skips conflicting rows, inserted this message. A conflicting row has another id.
fn is_inserted(db: &Connection, new: &NewMessage) -> SqlResult<bool> {
    let select = "SELECT 1 FROM messages WHERE application = ?1 AND id = ?2";
    Ok(db.prepare_cached(select)?.exists((&*new.message.application, &*new.message.id))?)
}
