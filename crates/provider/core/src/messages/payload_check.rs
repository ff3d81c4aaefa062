//! Checks the payload of a message against the schemas of its event type, for accounts that enable it. For other accounts
//! the check costs one comparison.
//!
//! A payload is right when it matches any version of the schema: a message does not say which it was made by, and versions
//! live beside each other. What is wrong is said of the newest. A version is compiled once and kept; whether it changed is
//! looked up when the copy is older than the caches of the provider may be.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jsonschema::Validator;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::accounts::Caller;
use crate::error::{FieldError, ProviderError, ProviderResult};
use crate::event_types::schema::cost::{self, Shape};
use crate::messages::payload::Payload;
use crate::model::{Id, PayloadCheck};
use crate::provider::Provider;

/// Event types whose schemas are held at most.
const EVENT_TYPES_MAX: usize = 10_000;
/// Accounts that are counted for at most.
const ACCOUNTS_MAX: usize = 10_000;
/// Upper bound on the faults of one payload in a response.
const FAULTS_MAX: usize = 20;
/// Time between two lines in the log about one event type.
const LOG_EVERY_MS: i64 = 60_000;

/// Messages of an account whose payload did not match, since this process began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PayloadCounts {
    /// Accepted all the same.
    pub warned: u64,
    /// Refused.
    pub rejected: u64,
}

pub(crate) struct PayloadSchemas {
    max_age: Duration,
    entries: Mutex<SchemaCache>,
    counts: Mutex<HashMap<Id, PayloadCounts>>,
}

#[derive(Default)]
struct SchemaCache {
    /// Rises with each drop, so that what was read before one is not put in after it.
    generation: u64,
    by_name: HashMap<(Id, String), Arc<CachedSchemas>>,
}

/// An event type as of `read_at`.
struct CachedSchemas {
    read_at: Instant,
    schemas: Arc<Schemas>,
    logged_at_ms: Arc<AtomicI64>,
}

/// The schemas of an event type, ready to use, the newest first. None are right for every payload.
struct Schemas {
    source: Option<Value>,
    compiled: Vec<CompiledSchema>,
}

struct CompiledSchema {
    version: String,
    validator: Validator,
    shape: Shape,
}

impl PayloadSchemas {
    pub(crate) fn new(max_age: Duration) -> Self {
        Self { max_age, entries: Mutex::default(), counts: Mutex::default() }
    }

    /// Drops what is held of an event type: it was changed. What another node changed is seen when the copy is too old.
    pub(crate) fn invalidate(&self, account: &Id, name: &str) {
        let mut entries = self.entries();
        entries.generation += 1;
        entries.by_name.remove(&(account.clone(), name.to_owned()));
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, SchemaCache> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, account: &Id, check: PayloadCheck) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= ACCOUNTS_MAX && !counts.contains_key(account) {
            return;
        }
        let counts = counts.entry(account.clone()).or_default();
        match check {
            PayloadCheck::Reject => counts.rejected += 1,
            PayloadCheck::Warn | PayloadCheck::Off => counts.warned += 1,
        }
    }
}

impl Provider {
    /// How many messages of the account did not match, on this node since it began.
    pub fn payload_counts(&self, caller: &Caller) -> PayloadCounts {
        let counts = self.payload_schemas().counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.get(&caller.account).copied().unwrap_or_default()
    }

    /// 422 with where in the payload, when it does not match and the account wants such messages refused.
    pub(crate) async fn check_payload(
        &self,
        caller: &Caller,
        event_type: &str,
        payload: &Payload,
    ) -> ProviderResult<()> {
        let check = caller.settings.payload_check;
        if check == PayloadCheck::Off {
            return Ok(());
        }
        let entry = self.schemas_of(caller, event_type).await?;
        if entry.schemas.compiled.is_empty() {
            return Ok(());
        }
        let found = match serde_json::from_slice::<Value>(payload.as_bytes()) {
            Ok(payload) => entry.schemas.faults(&payload),
            Err(_) => entry.schemas.unreadable(payload),
        };
        let Some(found) = found else { return Ok(()) };
        self.payload_schemas().count(&caller.account, check);
        self.log_mismatch(caller, event_type, &entry, &found);
        match check {
            PayloadCheck::Reject => Err(ProviderError::Validation(found.faults)),
            PayloadCheck::Warn | PayloadCheck::Off => Ok(()),
        }
    }

    /// Names the rule that is broken, which is the schema's, and nothing of the payload.
    fn log_mismatch(&self, caller: &Caller, event_type: &str, entry: &CachedSchemas, found: &Mismatch<'_>) {
        let now_ms = kit_runtime::clock::to_ms(self.now());
        let logged_at_ms = entry.logged_at_ms.load(Ordering::Relaxed);
        if now_ms - logged_at_ms < LOG_EVERY_MS {
            return;
        }
        entry.logged_at_ms.store(now_ms, Ordering::Relaxed);
        let (account, version, rule) = (&*caller.account, found.version, &*found.rule);
        tracing::warn!(account, event_type, version, rule, "payloads do not match the schema of their event type");
    }

    async fn schemas_of(&self, caller: &Caller, event_type: &str) -> ProviderResult<Arc<CachedSchemas>> {
        let (schemas, now) = (self.payload_schemas(), self.clock().monotonic());
        let key = (caller.account.clone(), event_type.to_owned());
        let (held, generation) = {
            let entries = schemas.entries();
            (entries.by_name.get(&key).cloned(), entries.generation)
        };
        if let Some(held) = &held
            && now.saturating_duration_since(held.read_at) < schemas.max_age
        {
            return Ok(Arc::clone(held));
        }
        let read = self.store().event_type(&caller.account, event_type).await?.and_then(|read| read.schemas);
        let entry = Arc::new(match held {
            Some(held) if held.schemas.source == read => CachedSchemas {
                read_at: now,
                schemas: Arc::clone(&held.schemas),
                logged_at_ms: Arc::clone(&held.logged_at_ms),
            },
            _ => CachedSchemas { read_at: now, schemas: Arc::new(Schemas::new(read)), logged_at_ms: Arc::default() },
        });
        let mut entries = schemas.entries();
        if entries.generation == generation {
            if entries.by_name.len() >= EVENT_TYPES_MAX {
                entries.by_name.clear();
            }
            entries.by_name.insert(key, Arc::clone(&entry));
        }
        Ok(entry)
    }
}

/// What is wrong with a payload.
struct Mismatch<'a> {
    /// The version that it is said of.
    version: &'a str,
    /// Where in the schema the first broken rule is.
    rule: String,
    faults: Vec<FieldError>,
}

impl Schemas {
    fn new(source: Option<Value>) -> Self {
        let versions = source.as_ref().and_then(Value::as_object).into_iter().flatten();
        // They were compiled when they were taken in; one that can't be used any more checks nothing.
        let compiled = versions.filter_map(|(version, schema)| {
            jsonschema::validator_for(schema)
                .inspect_err(|error| tracing::error!(%error, version, "a stored schema can't be used"))
                .ok()
                .map(|validator| {
                    let shape = cost::shape(schema).unwrap_or(Shape::Recursive);
                    CompiledSchema { version: version.clone(), validator, shape }
                })
        });
        let mut compiled: Vec<_> = compiled.collect();
        compiled.sort_by(|one, other| age(&other.version).cmp(&age(&one.version)));
        Self { source, compiled }
    }

    /// Of what can't be held against a schema: a text that is no JSON, or a number that is too large, or there is no character
    /// of such a code.
    fn unreadable(&self, payload: &Payload) -> Option<Mismatch<'_>> {
        let CompiledSchema { version, .. } = self.compiled.first()?;
        let msg = match serde_json::from_slice::<&RawValue>(payload.as_bytes()) {
            Ok(_) => "holds a number or text that can't be read, and so can't be held against the schema",
            Err(_) => "is a text that is no JSON, and so can't be held against the schema of its event type",
        };
        let faults = vec![FieldError::in_body(["payload".into()], msg)];
        Some(Mismatch { version, rule: "unreadable".to_owned(), faults })
    }

    /// None when the payload matches a version.
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

/// Checks a payload against schemas that were taken.
#[cfg(feature = "fuzzing")]
pub(crate) fn try_schemas(schemas: Value, payload: &Value) {
    let versions = schemas.as_object().map_or(0, serde_json::Map::len);
    let schemas = Schemas::new(Some(schemas));
    assert_eq!(schemas.compiled.len(), versions, "a schema that was taken can be used");
    if let Some(found) = schemas.faults(payload) {
        assert!((1..=FAULTS_MAX).contains(&found.faults.len()));
    }
}

/// Versions are numbers by custom, and older than all others when they are not.
fn age(version: &str) -> (Option<u64>, &str) {
    (version.parse().ok(), version)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_payload_matches_any_version_and_is_told_what_the_newest_wants() {
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
    fn no_schema_is_right_for_everything() {
        for source in [None, Some(json!({}))] {
            assert!(Schemas::new(source).faults(&json!({"a": 1})).is_none());
        }
    }

    #[test]
    fn a_recursive_schema_is_checked_in_a_moment_whatever_it_is_asked() {
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
