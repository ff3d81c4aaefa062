//! Records the changes of a decision for the audit log, and seals them as entries.

use jiff::Timestamp;
use kit_runtime::random::Random;
use platform_rules::{Auction, Cause, Item, LogHead};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::commitments::commit_private_fields;
use super::entry::{Content, chain, chain_begin};
use super::times;
use crate::port::{
    Change, LogEntry, LogKind, Party, PartyChange, Registration, RegistrationChange, StoreError, StoreResult,
    SubjectChanges, UnloggedChanges,
};

/// The `change` of a subject's first entry.
pub(crate) const OPENED: &str = "opened";

/// Cause, reason and change of an entry that is not sealed yet.
type PendingEntry = (Cause, Option<String>, Value);

/// Seals the change's unlogged changes as entries, and advances the heads of their subjects. Changes that can't be
/// sealed stay in `unlogged`.
pub(crate) fn append_entries(change: &mut Change, random: &dyn Random) -> StoreResult<()> {
    let mut unlogged = std::mem::take(&mut change.unlogged).into_iter();
    while let Some(changes) = unlogged.next() {
        if let Err(error) = append_subject(change, &changes, random) {
            change.unlogged = std::iter::once(changes).chain(unlogged).collect();
            return Err(error);
        }
    }
    Ok(())
}

fn append_subject(
    change: &mut Change,
    UnloggedChanges { actor, at, what }: &UnloggedChanges,
    random: &dyn Random,
) -> StoreResult<()> {
    let (kind, subject, version, is_new, head, pending) = match what {
        SubjectChanges::Auction { opening, changes } => {
            let Some(auction) = &mut change.auction else { return Err(missing_subject()) };
            let opening = opening.as_deref().map(|opening| Auction { log: LogHead::default(), ..opening.clone() });
            let pending =
                pending_entries(opening, changes, |change| (change.cause(), change.reason().map(str::to_owned)))?;
            let state = &mut auction.state;
            let is_new = auction.expected_version == 0;
            (LogKind::Auction, state.uuid, state.version, is_new, &mut state.log, pending)
        }
        SubjectChanges::Item { place, opening, changes } => {
            let Some(item) = change.items.get_mut(*place) else { return Err(missing_subject()) };
            let opening = opening.as_deref().map(|opening| Item { log: LogHead::default(), ..opening.clone() });
            let pending =
                pending_entries(opening, changes, |change| (change.cause(), change.reason().map(str::to_owned)))?;
            let state = &mut item.state;
            let is_new = item.expected_version == 0;
            (LogKind::Item, state.uuid, state.version, is_new, &mut state.log, pending)
        }
    };
    if is_new {
        *head = LogHead::default();
    }
    change.log.extend(chained((subject, kind, version), pending, (actor, *at), head, random)?);
    Ok(())
}

/// Seals the changes of a registration as entries and advances its head. A new registration begins with an entry of its
/// state.
pub(crate) fn registration_entries(
    state: &mut Registration,
    changes: &[RegistrationChange],
    random: &dyn Random,
) -> StoreResult<Vec<LogEntry>> {
    let is_new = state.log.is_empty();
    let opening = is_new.then(|| state.clone());
    let pending = pending_entries(opening, changes, |change| (change.cause(), change.reason().map(str::to_owned)))?;
    let subject = (state.uuid, LogKind::Registration, state.version);
    let circumstances = (state.actor.clone(), state.updated_at);
    chained(subject, pending, (&circumstances.0, circumstances.1), &mut state.log, random)
}

/// As [`registration_entries`], for a party. No reason stands in the open, because it can name the person.
pub(crate) fn party_entries(
    state: &mut Party,
    changes: &[PartyChange],
    random: &dyn Random,
) -> StoreResult<Vec<LogEntry>> {
    let opening = state.log.is_empty().then(|| state.clone());
    let pending = pending_entries(opening, changes, |change| (change.cause(), None))?;
    let subject = (state.uuid, LogKind::Party, state.version);
    let circumstances = (state.actor.clone(), state.updated_at);
    chained(subject, pending, (&circumstances.0, circumstances.1), &mut state.log, random)
}

/// Seals entries of one subject after `head`.
fn chained(
    (subject, kind, version): (Uuid, LogKind, i64),
    pending: Vec<PendingEntry>,
    (actor, at): (&str, Timestamp),
    head: &mut LogHead,
    random: &dyn Random,
) -> StoreResult<Vec<LogEntry>> {
    let mut entries = Vec::with_capacity(pending.len());
    for (cause, reason, change) in pending {
        let number = head.number + 1;
        let circumstances = (cause, reason, actor.to_owned(), at);
        let entry = entry((subject, kind, number, version), circumstances, change, head, random)?;
        *head = LogHead { number, hash: entry.hash };
        entries.push(entry);
    }
    Ok(entries)
}

fn missing_subject() -> StoreError {
    StoreError::Corrupt("a change has audit entries of a subject that it does not contain".to_owned())
}

fn pending_entries<S: Serialize, C: Serialize>(
    opening: Option<S>,
    changes: &[C],
    why: impl Fn(&C) -> (Cause, Option<String>),
) -> StoreResult<Vec<PendingEntry>> {
    let mut pending = Vec::with_capacity(changes.len() + 1);
    if let Some(state) = opening {
        let is_imported = changes.iter().any(|change| why(change).0 == Cause::Imported);
        let cause = if is_imported { Cause::Imported } else { Cause::Created };
        pending.push((cause, None, json!({ "change": OPENED, "state": value(&state)? })));
    }
    for change in changes {
        let (cause, reason) = why(change);
        pending.push((cause, reason, value(change)?));
    }
    Ok(pending)
}

fn value(of: &impl Serialize) -> StoreResult<Value> {
    serde_json::to_value(of).map_err(|error| StoreError::Corrupt(error.to_string()))
}

fn entry(
    (subject, kind, number, version): (Uuid, LogKind, i64, i64),
    (cause, reason, actor, at): (Cause, Option<String>, String, Timestamp),
    mut change: Value,
    head: &LogHead,
    random: &dyn Random,
) -> StoreResult<LogEntry> {
    times::widen(&mut change);
    let concealed = commit_private_fields(kind, &mut change, random);
    let kind = kind.as_str().to_owned();
    let content = Content { subject, kind, number, version, at, actor, cause, reason, change };
    let text = |error: serde_json::Error| StoreError::Corrupt(error.to_string());
    let content = serde_json::to_string(&content).map_err(text)?;
    let concealed = if concealed.is_empty() { None } else { Some(serde_json::to_string(&concealed).map_err(text)?) };
    let previous = if head.is_empty() { chain_begin(subject) } else { head.hash };
    let hash = chain(previous, &content);
    Ok(LogEntry { subject, number, content, concealed, hash })
}
