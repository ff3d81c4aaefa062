//! Accepts messages (a hot path). The number of statements does not depend on the number of messages.

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use provider_core::model::{AttemptTrigger, Id};
use provider_core::ordering::OrderingKey;
use provider_core::payload::StoredPayload;
use provider_core::port::{NewMessage, NodeId, StoreError, StoreResult};

use super::rows::{self, Client, SqlResult};
use super::{counts, deliveries, idempotency, nodes, ordering};
use crate::codec::{Fingerprint, answer_key, fingerprint, optional_to_json};
use crate::counts_codec::MessageAdditions;

/// A message of the batch with its unique keys.
struct PendingMessage<'batch> {
    new: &'batch NewMessage,
    answer_key: Option<Fingerprint>,
    event_fingerprint: Option<Fingerprint>,
}

/// Returns one result for each message, in order. A rejected message inserts no rows and does not affect the others.
pub(super) async fn accept(db: &impl Client, batch: &[NewMessage], now: Timestamp) -> SqlResult<Vec<StoreResult<()>>> {
    let versions = versions(db, batch).await?;
    let owners = owners(db, batch, now).await?;
    let entries: Vec<PendingMessage<'_>> = batch.iter().map(PendingMessage::new).collect();
    let mut results: Vec<Option<StoreResult<()>>> = batch.iter().map(|_| None).collect();
    let mut open: Vec<usize> = (0..batch.len()).collect();
    // Messages that share a key are accepted in separate rounds. Each round accepts at least one message.
    while !open.is_empty() {
        let (round, later) = without_shared_keys(&entries, open);
        let round_results = accept_round(db, &entries, &round, &versions, &owners, now).await?;
        for (index, result) in round.into_iter().zip(round_results) {
            results[index] = Some(result);
        }
        open = later;
    }
    let results: Vec<StoreResult<()>> = results.into_iter().flatten().collect();
    let mut additions = MessageAdditions::default();
    for (new, _) in batch.iter().zip(&results).filter(|(_, result)| result.is_ok()) {
        additions.message(&new.message);
    }
    counts::add_to_applications(db, &additions).await?;
    Ok(results)
}

impl<'batch> PendingMessage<'batch> {
    fn new(new: &'batch NewMessage) -> Self {
        let message = &new.message;
        Self {
            new,
            answer_key: new.answer.as_ref().map(answer_key),
            event_fingerprint: message.event_id.as_ref().map(|event_id| fingerprint(&message.application, event_id)),
        }
    }

    fn check_version(&self, versions: &HashMap<Id, i64>) -> StoreResult<()> {
        match versions.get(&self.new.message.application) {
            None => Err(StoreError::NotFound),
            Some(version) if *version != self.new.application_version => Err(StoreError::Conflict),
            Some(_) => Ok(()),
        }
    }
}

/// Splits the messages into the first message of each key, and the messages for a later round.
fn without_shared_keys(entries: &[PendingMessage<'_>], open: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
    let (mut answer_keys, mut event_keys) = (HashSet::new(), HashSet::new());
    open.into_iter().partition(|index| {
        let entry = &entries[*index];
        // A message that waits for a later round also reserves its other key, so that messages with that key wait, too.
        let new_answer = entry.answer_key.is_none_or(|key| answer_keys.insert(key));
        let new_event = entry.event_fingerprint.is_none_or(|key| event_keys.insert(key));
        new_answer && new_event
    })
}

/// Versions of the batch's applications, which are locked until the transaction ends.
async fn versions(db: &impl Client, batch: &[NewMessage]) -> SqlResult<HashMap<Id, i64>> {
    let applications: BTreeSet<&str> = batch.iter().map(|new| &*new.message.application).collect();
    let applications: Vec<&str> = applications.into_iter().collect();
    let select = "SELECT id, version FROM applications WHERE id = ANY ($1) ORDER BY id FOR SHARE";
    let found = rows::all(db, select, &[&applications], |row| Ok((rows::id(row, 0)?, rows::get(row, 1)?))).await?;
    Ok(found.into_iter().collect())
}

async fn owners(db: &impl Client, batch: &[NewMessage], now: Timestamp) -> SqlResult<HashMap<NodeId, i64>> {
    let deliveries = batch.iter().flat_map(|new| &new.deliveries);
    let named: BTreeSet<&Id> = deliveries.filter_map(|delivery| Some(&delivery.owner.as_ref()?.0)).collect();
    let mut owners = HashMap::new();
    for id in named {
        let node = NodeId(id.clone());
        let no = nodes::node_number(db, &node, now).await?;
        owners.insert(node, no);
    }
    Ok(owners)
}

/// Accepts messages that share no keys.
async fn accept_round(
    db: &impl Client,
    entries: &[PendingMessage<'_>],
    round: &[usize],
    versions: &HashMap<Id, i64>,
    owners: &HashMap<NodeId, i64>,
    now: Timestamp,
) -> SqlResult<Vec<StoreResult<()>>> {
    let round: Vec<&PendingMessage<'_>> = round.iter().map(|index| &entries[*index]).collect();
    let checked: Vec<StoreResult<()>> = round.iter().map(|entry| entry.check_version(versions)).collect();

    let mut new_answers = Vec::new();
    let mut keys_to_look_up = Vec::new();
    for (entry, checked) in round.iter().zip(&checked) {
        match (&entry.new.answer, entry.answer_key, checked) {
            (Some(answer), _, Ok(())) => new_answers.push(answer),
            (_, Some(key), Err(_)) => keys_to_look_up.push(key),
            _ => {}
        }
    }
    // A stored answer takes precedence over every other result.
    let mut used: HashSet<Fingerprint> = HashSet::new();
    if !keys_to_look_up.is_empty() {
        used.extend(idempotency::kept(db, &keys_to_look_up).await?);
    }
    if !new_answers.is_empty() {
        let kept: HashSet<Fingerprint> = idempotency::keep(db, &new_answers).await?.into_iter().collect();
        used.extend(new_answers.into_iter().map(answer_key).filter(|key| !kept.contains(key)));
    }
    let mut results: Vec<StoreResult<()>> = Vec::with_capacity(round.len());
    for (entry, checked) in round.iter().zip(checked) {
        let replayed = entry.answer_key.is_some_and(|key| used.contains(&key));
        results.push(if replayed { Err(StoreError::Replayed) } else { checked });
    }

    let entered = enter_messages(db, &accepted_so_far(&round, &results)).await?;
    let mut rejected_keys = Vec::new();
    for (entry, result) in round.iter().zip(&mut results) {
        if result.is_ok() && !entered.contains(&entry.new.message.id) {
            *result = Err(StoreError::Taken("eventId"));
            rejected_keys.extend(entry.answer_key);
        }
    }
    if !rejected_keys.is_empty() {
        idempotency::delete_answer(db, &rejected_keys).await?;
    }
    enter_deliveries(db, &accepted_so_far(&round, &results), owners, now).await?;
    Ok(results)
}

fn accepted_so_far<'entry, 'batch>(
    round: &[&'entry PendingMessage<'batch>],
    results: &[StoreResult<()>],
) -> Vec<&'entry PendingMessage<'batch>> {
    round.iter().zip(results).filter(|(_, result)| result.is_ok()).map(|(entry, _)| *entry).collect()
}

/// Inserts messages and returns the ids of those whose event id was not taken. Event ids are inserted in the order of
/// their keys, so that two calls with the same event ids can't deadlock.
async fn enter_messages(db: &impl Client, entries: &[&PendingMessage<'_>]) -> SqlResult<HashSet<Id>> {
    if entries.is_empty() {
        return Ok(HashSet::new());
    }
    let mut entries = entries.to_vec();
    entries.sort_by_key(|entry| (entry.event_fingerprint, &entry.new.message.id));
    let (mut applications, mut ids, mut types, mut event_ids) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut event_keys, mut payloads, mut channels, mut tags) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut created, mut expire, mut deliver, mut keys) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut senders, mut trace_parents) = (Vec::new(), Vec::new());
    for entry in &entries {
        let message = &entry.new.message;
        applications.push(&*message.application);
        ids.push(&*message.id);
        types.push(&*message.event_type);
        event_ids.push(message.event_id.as_deref());
        event_keys.push(entry.event_fingerprint.as_ref().map(Fingerprint::as_slice));
        payloads.push(message.payload.as_ref().map(StoredPayload::as_stored));
        channels.push(optional_to_json(message.channels.as_ref())?);
        tags.push(optional_to_json(message.tags.as_ref())?);
        created.push(message.created_at);
        expire.push(message.payload_expires_at);
        deliver.push(message.deliver_at);
        keys.push(entry.new.ordering_key.as_ref().map(OrderingKey::as_str));
        senders.push(message.sent_by.as_deref());
        trace_parents.push(message.trace_parent.map(|position| position.to_string()));
    }
    let insert = "INSERT INTO messages (application, id, event_type, event_id, event_fingerprint, payload, channels, tags, created_at, \
             payload_expires_at, deliver_at, ordering_key, sent_by, traceparent) \
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bytea[], $7::text[], \
             $8::text[], $9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::text[], $13::text[], \
             $14::text[]) \
         ON CONFLICT (event_fingerprint) WHERE event_fingerprint IS NOT NULL DO NOTHING RETURNING id";
    let entered: Vec<Id> = rows::all(
        db,
        insert,
        &[
            &applications,
            &ids,
            &types,
            &event_ids,
            &event_keys,
            &payloads,
            &channels,
            &tags,
            &created,
            &expire,
            &deliver,
            &keys,
            &senders,
            &trace_parents,
        ],
        |row| rows::id(row, 0),
    )
    .await?;
    Ok(entered.into_iter().collect())
}

async fn enter_deliveries(
    db: &impl Client,
    entries: &[&PendingMessage<'_>],
    owners: &HashMap<NodeId, i64>,
    now: Timestamp,
) -> SqlResult<()> {
    let (mut endpoints, mut messages, mut numbers, mut due) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut ordered = Vec::new();
    for entry in entries {
        for delivery in &entry.new.deliveries {
            if let Some(key) = &delivery.ordering_key {
                let due = entry.new.message.deliver_at.unwrap_or(now);
                ordered.push(ordering::OrderedDelivery {
                    endpoint: &delivery.endpoint,
                    key,
                    message: &entry.new.message.id,
                    due,
                });
                continue;
            }
            if delivery.trigger == AttemptTrigger::Manual {
                deliveries::enter_manual(db, &delivery.endpoint, &entry.new.message.id).await?;
                continue;
            }
            endpoints.push(&*delivery.endpoint);
            messages.push(&*entry.new.message.id);
            numbers.push(delivery.owner.as_ref().and_then(|owner| owners.get(owner)));
            due.push(entry.new.message.deliver_at.unwrap_or(now));
        }
    }
    if !ordered.is_empty() {
        ordering::enter(db, &ordered).await?;
    }
    if endpoints.is_empty() {
        return Ok(());
    }
    let insert = "INSERT INTO deliveries (endpoint, message, owner, attempts, next_at) \
         SELECT endpoint, message, owner, 0, due FROM unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[]) \
             AS new (endpoint, message, owner, due)";
    rows::write(db, insert, &[&endpoints, &messages, &numbers, &due]).await.map(drop)
}

#[cfg(test)]
mod tests {
    use provider_core::model::Message;

    use super::*;

    fn rounds(keys: &[(u8, u8)]) -> Vec<Vec<usize>> {
        let new = NewMessage {
            message: Message {
                id: "msg_1".into(),
                application: "app_1".into(),
                event_type: "ITEM_STATUS_CHANGE".into(),
                event_id: None,
                payload: None,
                channels: None,
                tags: None,
                created_at: Timestamp::UNIX_EPOCH,
                payload_expires_at: Timestamp::UNIX_EPOCH,
                deliver_at: None,
                sent_by: None,
                trace_parent: None,
            },
            application_version: 1,
            deliveries: Vec::new(),
            ordering_key: None,
            answer: None,
        };
        let key = |number: u8| (number > 0).then_some([number; 28]);
        let entry = |(answer, event): &(u8, u8)| PendingMessage {
            new: &new,
            answer_key: key(*answer),
            event_fingerprint: key(*event),
        };
        let entries: Vec<PendingMessage<'_>> = keys.iter().map(entry).collect();
        let mut open: Vec<usize> = (0..keys.len()).collect();
        let mut rounds = Vec::new();
        while !open.is_empty() {
            let (round, later) = without_shared_keys(&entries, open);
            rounds.push(round);
            open = later;
        }
        rounds
    }

    #[test]
    fn messages_that_share_a_key_are_taken_one_after_the_other() {
        assert_eq!(rounds(&[(0, 0), (0, 0), (1, 1), (2, 2)]), [vec![0, 1, 2, 3]]);
        assert_eq!(rounds(&[(1, 0), (2, 0), (1, 0), (1, 0)]), [vec![0, 1], vec![2], vec![3]]);
        // The second message shares a key with the first, and the third with the second.
        assert_eq!(rounds(&[(1, 1), (1, 2), (3, 2)]), [vec![0], vec![1], vec![2]]);
    }
}
