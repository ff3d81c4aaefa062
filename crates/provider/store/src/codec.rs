//! Encoding of values in columns, and the SQL of pages, shared by both engines. Times are stored in milliseconds, the
//! resolution of the runtime's clocks.

use std::collections::BTreeSet;

use kit_runtime::trace::TraceParent;
use provider_core::Colour;
use provider_core::model::Role;
use provider_core::model::{
    ActivityEntry, ActorKind, AttemptStatus, AttemptTrigger, Capability, KeyScope, LogoType, PayloadCheck,
    UnknownEventTypes,
};
use provider_core::ordering::DeliveryOrder;
use provider_core::port::{
    AlertStage, ApplicationExclusion, Cursor, IdempotentAnswer, Order, Page, PauseReason, StoreError, StoreResult,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// Number of bytes at the beginning of a fingerprint that are copied from the text. Those of a UUID of version 7 or of
/// a KSUID contain the time.
const BEGINNING_BYTES: usize = 12;
/// Number of bytes of SHA-256 at the end of a fingerprint.
const HASH_BYTES: usize = 16;

/// Key of fixed length for a unique text: see [`fingerprint`].
pub(crate) type Fingerprint = [u8; BEGINNING_BYTES + HASH_BYTES];

/// One page of a list. Its statements have three parameters: the owner of the rows, `from` and `limit`.
pub(crate) struct PageQuery {
    /// The key next to the page; empty for the first page.
    pub(crate) from: String,
    pub(crate) limit: i64,
    compare: &'static str,
    direction: &'static str,
    is_reversed: bool,
}

impl PageQuery {
    pub(crate) fn new(page: &Page) -> Self {
        let (from, is_reversed) = match &page.from {
            None => (String::new(), false),
            Some(Cursor::After(key)) => (key.clone(), false),
            Some(Cursor::Before(key)) => (key.clone(), true),
        };
        // A page that ends before a key is read backwards from that key. `in_order` restores the order.
        let ascending = (page.order == Order::Ascending) != is_reversed;
        Self {
            compare: match (&page.from, ascending) {
                (None, _) => "=",
                (Some(_), true) => ">",
                (Some(_), false) => "<",
            },
            direction: if ascending { "ASC" } else { "DESC" },
            limit: i64::try_from(page.limit).unwrap_or(i64::MAX),
            from,
            is_reversed,
        }
    }

    /// The condition, order and limit of a statement that lists rows by `key`.
    pub(crate) fn sql(&self, key: &str) -> String {
        let Self { compare, direction, .. } = self;
        // The first page compares the second parameter with an empty text, so that each statement has three parameters.
        let left = if *compare == "=" { "''" } else { key };
        format!(" AND {left} {compare} $2 ORDER BY {key} {direction} LIMIT $3")
    }

    pub(crate) fn in_order<T>(&self, mut rows: Vec<T>) -> Vec<T> {
        if self.is_reversed {
            rows.reverse();
        }
        rows
    }
}

/// Lists of attempts always begin with the newest.
/// A stored position in a trace. An invalid one counts as none: nothing but traces depends on it.
pub(crate) fn trace_parent(stored: Option<&str>) -> Option<TraceParent> {
    stored?.parse().ok()
}

pub(crate) fn newest_first(page: Page) -> Page {
    Page { order: Order::Descending, ..page }
}

/// An SQL condition, beginning with AND, that excludes these applications. `application` is the table or its alias.
pub(crate) fn exclusion_sql(exclude: &[ApplicationExclusion], application: &str) -> String {
    let has = |condition: &str| {
        format!("EXISTS (SELECT 1 FROM endpoints own WHERE own.application = {application}.id{condition})")
    };
    let conditions = exclude.iter().map(|exclude| match exclude {
        ApplicationExclusion::WithoutEndpoints => format!(" AND {}", has("")),
        ApplicationExclusion::OnlyDisabledEndpoints => {
            format!(" AND (NOT {} OR {})", has(""), has(" AND NOT own.disabled"))
        }
        ApplicationExclusion::OnlyPlayEndpoints => {
            let elsewhere =
                ApplicationExclusion::PLAY_URLS.map(|url| format!(" AND own.url NOT LIKE '{url}%'")).concat();
            format!(" AND (NOT {} OR {})", has(""), has(&elsewhere))
        }
    });
    conditions.collect()
}

/// A key of fixed length for a text that is unique within its owner: the beginning of the text, and 128 bits of SHA-256
/// over owner and text. So the size of the unique index does not depend on the length of the texts. Texts that begin
/// with a time, such as the platform's event ids, are neighbours in the index, so inserting a batch changes few pages.
pub(crate) fn fingerprint(owner: &str, text: &str) -> Fingerprint {
    let mut hash = Sha256::new();
    hash.update(owner.as_bytes());
    hash.update([0]);
    hash.update(text.as_bytes());
    let mut key = Fingerprint::default();
    let beginning = text.len().min(BEGINNING_BYTES);
    key[..beginning].copy_from_slice(&text.as_bytes()[..beginning]);
    key[BEGINNING_BYTES..].copy_from_slice(&hash.finalize()[..HASH_BYTES]);
    key
}

pub(crate) fn answer_key(answer: &IdempotentAnswer) -> Fingerprint {
    fingerprint(&answer.account, &answer.key)
}

pub(crate) fn corrupt(what: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt(what.to_string())
}

pub(crate) fn to_json<T: Serialize + ?Sized>(value: &T) -> StoreResult<String> {
    serde_json::to_string(value).map_err(corrupt)
}

pub(crate) fn optional_to_json<T: Serialize>(value: Option<&T>) -> StoreResult<Option<String>> {
    value.map(to_json).transpose()
}

pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> StoreResult<T> {
    serde_json::from_str(text).map_err(corrupt)
}

pub(crate) fn optional_from_json<T: DeserializeOwned>(text: Option<&str>) -> StoreResult<Option<T>> {
    text.map(from_json).transpose()
}

pub(crate) fn status(number: i64) -> StoreResult<AttemptStatus> {
    match number {
        0 => Ok(AttemptStatus::Success),
        1 => Ok(AttemptStatus::Pending),
        2 => Ok(AttemptStatus::Fail),
        3 => Ok(AttemptStatus::Sending),
        4 => Ok(AttemptStatus::Cancelled),
        other => Err(corrupt(format_args!("attempt status {other}"))),
    }
}

pub(crate) fn pause_reason(name: &str) -> StoreResult<PauseReason> {
    PauseReason::parse(name).ok_or_else(|| corrupt(format_args!("pause reason {name}")))
}

pub(crate) fn unknown_event_types(name: &str) -> StoreResult<UnknownEventTypes> {
    UnknownEventTypes::parse(name).ok_or_else(|| corrupt(format_args!("unknown event types {name}")))
}

pub(crate) fn payload_check(name: &str) -> StoreResult<PayloadCheck> {
    PayloadCheck::parse(name).ok_or_else(|| corrupt(format_args!("payload check {name}")))
}

pub(crate) fn role(name: &str) -> StoreResult<Role> {
    Role::parse(name).ok_or_else(|| corrupt(format_args!("role {name}")))
}

pub(crate) fn colour(text: &str) -> StoreResult<Colour> {
    Colour::parse(text).ok_or_else(|| corrupt(format_args!("colour {text}")))
}

pub(crate) fn logo_type(name: &str) -> StoreResult<LogoType> {
    LogoType::parse(name).ok_or_else(|| corrupt(format_args!("logo of type {name}")))
}

pub(crate) fn actor_kind(name: &str) -> StoreResult<ActorKind> {
    ActorKind::parse(name).ok_or_else(|| corrupt(format_args!("actor kind {name:?}")))
}

/// Whether a change takes the role Admin from a user. `after` is `None` when the user is removed.
pub(crate) fn ends_admin(before: Role, after: Option<Role>) -> bool {
    before == Role::Admin && after != Some(Role::Admin)
}

/// Whether the actor, action or subject of the entry contains `text`, which must be in ASCII lower case.
pub(crate) fn activity_contains(entry: &ActivityEntry, text: &str) -> bool {
    let ActivityEntry { actor, actor_name, action, subject, subject_name, .. } = entry;
    let fields = [&**actor, actor_name, action, subject, subject_name];
    text.is_empty() || fields.iter().any(|field| field.to_ascii_lowercase().contains(text))
}

pub(crate) fn capabilities_to_json(capabilities: &BTreeSet<Capability>) -> StoreResult<String> {
    to_json(&capabilities.iter().map(|capability| capability.name()).collect::<Vec<_>>())
}

pub(crate) fn capabilities_from_json(text: &str) -> StoreResult<BTreeSet<Capability>> {
    let names: Vec<String> = from_json(text)?;
    let capability = |name: &String| Capability::parse(name).ok_or_else(|| corrupt(format_args!("capability {name}")));
    names.iter().map(capability).collect()
}

pub(crate) fn key_scopes(list: &str) -> StoreResult<BTreeSet<KeyScope>> {
    KeyScope::parse_list(list)
        .ok_or_else(|| StoreError::Corrupt(format!("{list:?} has an unknown scope of an API key")))
}

/// The stage of the last alert about an endpoint.
pub(crate) fn alert_stage(number: i64) -> StoreResult<AlertStage> {
    match number {
        1 => Ok(AlertStage::Failing),
        2 => Ok(AlertStage::DisablingSoon),
        3 => Ok(AlertStage::Disabled),
        _ => Err(StoreError::Corrupt(format!("{number} is not a stage of an alert"))),
    }
}

/// The number of a reported stage in the store.
pub(crate) fn notice_stage(stage: Option<AlertStage>) -> i32 {
    stage.map_or(0, |stage| stage as i32)
}

/// The stage that mails report; none when the endpoint has recovered.
pub(crate) fn reported_stage(number: i64) -> StoreResult<Option<AlertStage>> {
    if number == 0 { Ok(None) } else { alert_stage(number).map(Some) }
}

pub(crate) fn ordering(number: i64) -> StoreResult<DeliveryOrder> {
    match number {
        0 => Ok(DeliveryOrder::Any),
        1 => Ok(DeliveryOrder::PerKey),
        other => Err(corrupt(format_args!("delivery order {other}"))),
    }
}

pub(crate) fn trigger(number: i64) -> StoreResult<AttemptTrigger> {
    match number {
        0 => Ok(AttemptTrigger::Scheduled),
        1 => Ok(AttemptTrigger::Manual),
        other => Err(corrupt(format_args!("attempt trigger {other}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sql(from: Option<Cursor>, order: Order) -> String {
        PageQuery::new(&Page { from, order, limit: 3 }).sql("id")
    }

    #[test]
    fn a_slice_walks_in_the_lists_direction_or_away_from_its_key() {
        let after = Some(Cursor::After("k".to_owned()));
        let before = Some(Cursor::Before("k".to_owned()));
        assert_eq!(sql(None, Order::Ascending), " AND '' = $2 ORDER BY id ASC LIMIT $3");
        assert_eq!(sql(None, Order::Descending), " AND '' = $2 ORDER BY id DESC LIMIT $3");
        assert_eq!(sql(after.clone(), Order::Ascending), " AND id > $2 ORDER BY id ASC LIMIT $3");
        assert_eq!(sql(after, Order::Descending), " AND id < $2 ORDER BY id DESC LIMIT $3");
        assert_eq!(sql(before.clone(), Order::Ascending), " AND id < $2 ORDER BY id DESC LIMIT $3");
        assert_eq!(sql(before, Order::Descending), " AND id > $2 ORDER BY id ASC LIMIT $3");
    }

    #[test]
    fn one_text_of_two_owners_has_two_fingerprints() {
        assert_eq!(fingerprint("a", "b"), fingerprint("a", "b"));
        assert_ne!(fingerprint("a", "b"), fingerprint("c", "b"));
        assert_ne!(fingerprint("ab", "c"), fingerprint("a", "bc"));
        assert_ne!(fingerprint("a", "the same beginning 1"), fingerprint("a", "the same beginning 2"));
    }
}
