//! Compiled schemas of event types, and how a payload is matched against them.
//!
//! A payload matches when it matches any version of the schema: a message does not name a version, and several versions
//! can be in use. The faults in a response refer to the newest version.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jsonschema::Validator;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::FieldError;
use crate::model::{EventType, Id, PayloadCheck};
use crate::payload::Payload;
use crate::schema::cost::{self, Shape};

/// Maximum number of event types whose schemas are in memory.
const EVENT_TYPES_MAX: usize = 10_000;
const ACCOUNTS_MAX: usize = 10_000;
/// Upper bound on the faults of one payload in a response.
const FAULTS_MAX: usize = 20;
/// Maximum number of broken rules of an account; the latest are kept.
const FINDINGS_MAX: usize = 50;

/// Messages of an account whose payload did not match, since this process started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PayloadCounts {
    /// Accepted with a warning in the log.
    pub warned: u64,
    /// Rejected.
    pub rejected: u64,
}

/// A rule of a schema that payloads of the account broke, since this process started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadFinding {
    /// The event type.
    pub event_type: String,
    /// Version of the schema.
    pub version: String,
    /// Location of the first broken rule in the schema.
    pub rule: String,
    /// Messages that broke it, accepted or rejected.
    pub messages: u64,
    /// When the latest of them was sent.
    pub at: Timestamp,
}

/// Caches the schemas of event types, and counts the messages that do not match them.
pub(crate) struct PayloadSchemas {
    max_age: Duration,
    cache: Mutex<SchemaCache>,
    counts: Mutex<HashMap<Id, PayloadCounts>>,
    /// Latest first.
    findings: Mutex<HashMap<Id, VecDeque<PayloadFinding>>>,
}

#[derive(Default)]
struct SchemaCache {
    /// Increases with each invalidation, so that a schema that was read before one is not cached after it.
    generation: u64,
    by_name: HashMap<(Id, String), Arc<CachedSchemas>>,
}

/// The schemas of an event type as of `read_at`.
#[derive(Clone)]
pub(crate) struct CachedSchemas {
    read_at: Instant,
    /// Whether the account has the event type.
    pub(crate) is_registered: bool,
    pub(crate) schemas: Arc<Schemas>,
    /// When a mismatch was last logged.
    pub(crate) logged_at_ms: Arc<AtomicI64>,
}

/// State of an event type in the cache.
pub(crate) enum CacheState {
    /// Schemas that are recent enough.
    Fresh(Arc<CachedSchemas>),
    /// The schemas must be read again, and stored with this generation.
    Expired(Option<Arc<CachedSchemas>>, u64),
}

/// The schemas of an event type, compiled, newest first. Without schemas every payload matches.
pub(crate) struct Schemas {
    source: Option<Value>,
    compiled: Vec<CompiledSchema>,
}

struct CompiledSchema {
    version: String,
    validator: Validator,
    shape: Shape,
}

/// Why a payload does not match.
pub(crate) struct Mismatch<'a> {
    /// The version that the faults refer to.
    pub(crate) version: &'a str,
    /// Location of the first broken rule in the schema.
    pub(crate) rule: String,
    pub(crate) faults: Vec<FieldError>,
}

impl PayloadSchemas {
    pub(crate) fn new(max_age: Duration) -> Self {
        Self { max_age, cache: Mutex::default(), counts: Mutex::default(), findings: Mutex::default() }
    }

    /// Removes an event type from the cache after a change. A change on another node takes effect when the entry
    /// expires.
    pub(crate) fn invalidate(&self, account: &Id, name: &str) {
        let mut cache = self.cache();
        cache.generation += 1;
        cache.by_name.remove(&(account.clone(), name.to_owned()));
    }

    /// The event type in the cache. Of concurrent callers after its time, one reads it again; until then the others use
    /// the cached one.
    pub(crate) fn get(&self, account: &Id, name: &str, now: Instant) -> CacheState {
        let mut cache = self.cache();
        let generation = cache.generation;
        let Some(cached) = cache.by_name.get_mut(&(account.clone(), name.to_owned())) else {
            return CacheState::Expired(None, generation);
        };
        if now.saturating_duration_since(cached.read_at) < self.max_age {
            return CacheState::Fresh(Arc::clone(cached));
        }
        let previous = Arc::clone(cached);
        *cached = Arc::new(CachedSchemas { read_at: now, ..CachedSchemas::clone(cached) });
        CacheState::Expired(Some(previous), generation)
    }

    /// Caches an event type that was read at `now`; none if there is no such event type. Unchanged schemas are not compiled again.
    pub(crate) fn put(
        &self,
        account: &Id,
        name: &str,
        read: Option<EventType>,
        previous: Option<&CachedSchemas>,
        generation: u64,
        now: Instant,
    ) -> Arc<CachedSchemas> {
        let is_registered = read.is_some();
        let source = read.and_then(|read| read.schemas);
        let entry = Arc::new(match previous {
            Some(previous) if previous.schemas.source == source => CachedSchemas {
                read_at: now,
                is_registered,
                schemas: Arc::clone(&previous.schemas),
                logged_at_ms: Arc::clone(&previous.logged_at_ms),
            },
            _ => CachedSchemas {
                read_at: now,
                is_registered,
                schemas: Arc::new(Schemas::new(source)),
                logged_at_ms: Arc::default(),
            },
        });
        let mut cache = self.cache();
        if cache.generation == generation {
            if cache.by_name.len() >= EVENT_TYPES_MAX {
                cache.by_name.clear();
            }
            cache.by_name.insert((account.clone(), name.to_owned()), Arc::clone(&entry));
        }
        entry
    }

    pub(crate) fn counts(&self, account: &Id) -> PayloadCounts {
        self.locked_counts().get(account).copied().unwrap_or_default()
    }

    pub(crate) fn count(&self, account: &Id, check: PayloadCheck) {
        let mut counts = self.locked_counts();
        if counts.len() >= ACCOUNTS_MAX && !counts.contains_key(account) {
            return;
        }
        let counts = counts.entry(account.clone()).or_default();
        match check {
            PayloadCheck::Reject => counts.rejected += 1,
            PayloadCheck::Warn | PayloadCheck::Off => counts.warned += 1,
        }
    }

    /// Records that a payload did not match.
    pub(crate) fn record(&self, account: &Id, event_type: &str, found: &Mismatch<'_>, at: Timestamp) {
        let mut findings = self.locked_findings();
        if findings.len() >= ACCOUNTS_MAX && !findings.contains_key(account) {
            return;
        }
        let findings = findings.entry(account.clone()).or_default();
        let place = findings.iter().position(|known| {
            known.event_type == event_type && known.version == found.version && known.rule == found.rule
        });
        let counted_before = place.and_then(|place| findings.remove(place)).map_or(0, |known| known.messages);
        findings.push_front(PayloadFinding {
            event_type: event_type.to_owned(),
            version: found.version.to_owned(),
            rule: found.rule.clone(),
            messages: counted_before + 1,
            at,
        });
        findings.truncate(FINDINGS_MAX);
    }

    pub(crate) fn findings(&self, account: &Id) -> Vec<PayloadFinding> {
        self.locked_findings().get(account).into_iter().flatten().cloned().collect()
    }

    fn locked_findings(&self) -> MutexGuard<'_, HashMap<Id, VecDeque<PayloadFinding>>> {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cache(&self) -> MutexGuard<'_, SchemaCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn locked_counts(&self) -> MutexGuard<'_, HashMap<Id, PayloadCounts>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Schemas {
    fn new(source: Option<Value>) -> Self {
        let versions = source.as_ref().and_then(Value::as_object).into_iter().flatten();
        // Each version was compiled before it was stored. A version that no longer compiles checks nothing.
        let compiled = versions.filter_map(|(version, schema)| {
            jsonschema::validator_for(schema)
                .inspect_err(
                    |error| tracing::error!(%error, version, "a stored schema does not compile; it is ignored"),
                )
                .ok()
                .map(|validator| {
                    let shape = cost::shape(schema).unwrap_or(Shape::Recursive);
                    CompiledSchema { version: version.clone(), validator, shape }
                })
        });
        let mut compiled: Vec<_> = compiled.collect();
        compiled.sort_by(|left, right| version_order(&right.version).cmp(&version_order(&left.version)));
        Self { source, compiled }
    }

    /// The mismatch of a payload; none when it matches a version, or there are no schemas.
    pub(crate) fn mismatch(&self, payload: &Payload) -> Option<Mismatch<'_>> {
        let newest = self.compiled.first()?;
        match serde_json::from_slice::<Value>(payload.as_bytes()) {
            Ok(payload) => self.faults(&payload),
            Err(_) => Some(newest.unreadable(payload)),
        }
    }

    fn faults(&self, payload: &Value) -> Option<Mismatch<'_>> {
        let CompiledSchema { version, validator: newest, shape } = self.compiled.first()?;
        if self.compiled.iter().any(|schema| schema.validator.is_valid(payload)) {
            return None;
        }
        if *shape == Shape::Recursive {
            let faults = vec![FieldError::in_body(["payload".into()], "does not match the schema of its event type")];
            return Some(Mismatch { version, rule: "recursive".to_owned(), faults });
        }
        let mut rule = String::new();
        let mut faults = Vec::new();
        for error in newest.iter_errors(payload).take(FAULTS_MAX) {
            if faults.is_empty() {
                rule = error.schema_path().to_string();
            }
            let path = error.instance_path().to_string();
            let path = path.split('/').skip(1).map(|word| word.replace("~1", "/").replace("~0", "~").into());
            // The text masks the value, which may be the whole payload: callers may log the response.
            faults.push(FieldError::in_body(std::iter::once("payload".into()).chain(path), error.masked().to_string()));
        }
        Some(Mismatch { version, rule, faults })
    }
}

impl CompiledSchema {
    /// The mismatch of a payload that can't be parsed: plain text, or a number or character escape out of range.
    fn unreadable(&self, payload: &Payload) -> Mismatch<'_> {
        let msg = match serde_json::from_slice::<&RawValue>(payload.as_bytes()) {
            Ok(_) => "contains a number or text that can't be read, so it can't be checked against the schema",
            Err(_) => "is not JSON, so it can't be checked against the schema of its event type",
        };
        let faults = vec![FieldError::in_body(["payload".into()], msg)];
        Mismatch { version: &self.version, rule: "unreadable".to_owned(), faults }
    }
}

/// Checks a payload against schemas that were accepted for an event type.
#[cfg(feature = "fuzzing")]
pub(crate) fn try_schemas(schemas: Value, payload: &Value) {
    let versions = schemas.as_object().map_or(0, serde_json::Map::len);
    let schemas = Schemas::new(Some(schemas));
    assert_eq!(schemas.compiled.len(), versions, "an accepted schema compiles");
    if let Some(found) = schemas.faults(payload) {
        assert!((1..=FAULTS_MAX).contains(&found.faults.len()));
    }
}

/// Versions are usually numbers. Versions that are not numbers count as older.
fn version_order(version: &str) -> (Option<u64>, &str) {
    (version.parse().ok(), version)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_payload_matches_any_version_and_faults_refer_to_the_newest() {
        let schemas = Schemas::new(Some(json!({
            "2": {"properties": {"a/b": {"items": {"type": "string"}}}, "required": ["status"]},
            "10": {"properties": {"lot": {"type": "integer"}}, "required": ["lot"]},
            "draft": {"required": ["draft"]},
        })));
        let versions: Vec<_> = schemas.compiled.iter().map(|schema| schema.version.as_str()).collect();
        assert_eq!(versions, ["10", "2", "draft"]);
        for right in [json!({"lot": 1}), json!({"status": "SOLD"}), json!({"draft": 1})] {
            assert!(schemas.faults(&right).is_none(), "{right}");
        }
        let wrong = schemas.faults(&json!({"lot": "secret"})).unwrap();
        assert_eq!((wrong.version, wrong.rule.as_str()), ("10", "/properties/lot/type"));
        let [fault] = wrong.faults.as_slice() else { panic!("{:?}", wrong.faults) };
        assert_eq!(
            (fault.loc.join("."), fault.msg.as_str()),
            ("body.payload.lot".into(), "value is not of type \"integer\"")
        );
    }

    #[test]
    fn without_a_schema_every_payload_matches() {
        for source in [None, Some(json!({}))] {
            assert!(Schemas::new(source).faults(&json!({"a": 1})).is_none());
        }
    }

    #[test]
    fn a_mismatch_with_a_recursive_schema_has_one_fault() {
        let schemas = Schemas::new(Some(json!({"1": {
            "type": "object", "properties": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}},
        }})));
        let nested = |inner| (0..100).fold(inner, |inner, _| json!({"a": inner}));
        assert!(schemas.faults(&nested(json!({}))).is_none());
        let wrong = nested(json!(5));
        let found = schemas.faults(&wrong).unwrap();
        assert_eq!((found.rule.as_str(), found.faults.len()), ("recursive", 1));
    }
}
