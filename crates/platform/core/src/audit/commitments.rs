//! Commitments: the confidential values of an entry, which its content does not show. These are maxima, reserves,
//! vendors, pending bids, and the personal data of bidders and consignors.
//!
//! The content contains `concealed:` and the SHA-256 of a domain, a salt of 16 random bytes and the value's JSON.
//! Without the salt, a reader can't find the value by trying amounts. With salt and value, every reader can check that
//! the value is the logged one. Each value has its own salt, so that one value can be revealed without the others.

use std::collections::{BTreeMap, BTreeSet};

use kit_runtime::random::Random;
use platform_rules::LogHash;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::entry::hash;
use crate::port::LogKind;

const DOMAIN: &[u8] = b"lotwire.log.concealed.1\0";
const PREFIX: &str = "concealed:";
const SALT_BYTES: usize = 16;

/// The concealed values of an entry by JSON pointer into `change`.
pub(crate) type Commitments = BTreeMap<String, Opening>;

/// A concealed value with the salt of its commitment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Opening {
    /// 32 hexadecimal digits.
    salt: String,
    value: Value,
}

impl Opening {
    fn commitment(&self) -> String {
        let value = self.value.to_string();
        format!("{PREFIX}{}", hash(&[DOMAIN, self.salt.as_bytes(), value.as_bytes()]))
    }
}

/// True for a confidential field with a value; null and an empty list conceal nothing.
fn is_private(kind: LogKind, object: &Map<String, Value>, field: &str, value: &Value) -> bool {
    let by_absentee = || object.get("source").and_then(Value::as_str) == Some("absentee");
    let named = match (kind, field) {
        (LogKind::Registration, "party" | "name" | "email" | "limit" | "note") => true,
        (LogKind::Party, "details" | "identity" | "reason") => true,
        (LogKind::Registration | LogKind::Party, _) => false,
        (_, "maximum" | "reserve" | "vendor" | "pending") => true,
        // The number of bids is public, so a reader knows that a commission bid exists, but not which bidder left it.
        (_, "bidder" | "registration") => by_absentee(),
        _ => false,
    };
    named && !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())
}

/// Replaces the private fields of `change` by commitments. Returns salt and value of each replaced field.
pub(crate) fn commit_private_fields(kind: LogKind, change: &mut Value, random: &dyn Random) -> Commitments {
    let mut concealed = Commitments::new();
    walk(kind, change, &mut String::new(), &mut |pointer, value| {
        let mut salt = [0; SALT_BYTES];
        random.fill(&mut salt);
        let opening = Opening { salt: hexadecimal(&salt), value: value.take() };
        *value = Value::String(opening.commitment());
        concealed.insert(pointer.to_owned(), opening);
    });
    concealed
}

/// True for a value that describes a person, so that an erasure removes it.
pub(crate) fn is_erasable(kind: LogKind, pointer: &str) -> bool {
    let field = pointer.rsplit('/').next().unwrap_or_default();
    match kind {
        LogKind::Party => matches!(field, "details" | "identity" | "reason"),
        LogKind::Registration => matches!(field, "name" | "email" | "note"),
        LogKind::Auction | LogKind::Item => false,
    }
}

/// Takes the values that describe a person out of the concealed values of an entry, and returns their pointers.
pub(crate) fn take_erasable(kind: LogKind, concealed: &mut Commitments) -> Vec<String> {
    let taken = concealed.keys().filter(|pointer| is_erasable(kind, pointer)).cloned().collect();
    concealed.retain(|pointer, _| !is_erasable(kind, pointer));
    taken
}

/// Puts the concealed values in the place of their commitments, without a check.
pub(crate) fn put_values(change: &mut Value, concealed: &Commitments) {
    for (pointer, opening) in concealed {
        if let Some(value) = change.pointer_mut(pointer) {
            value.clone_from(&opening.value);
        }
    }
}

/// Replaces the commitments by their values, and those of the values that were erased by placeholders. Returns the
/// pointers of the values that are stored and can be erased. Errors: what is wrong with a value.
pub(crate) fn open_commitments(
    kind: LogKind,
    change: &mut Value,
    concealed: &Commitments,
    erased: &BTreeSet<String>,
) -> Result<Vec<String>, String> {
    let (mut wrong, mut erasable) = (None, Vec::new());
    let (mut revealed, mut missing) = (0, 0);
    walk(kind, change, &mut String::new(), &mut |pointer, value| match concealed.get(pointer) {
        Some(_) if erased.contains(pointer) => {
            let what = || format!("the concealed value of {pointer} was erased by a later entry, and is still stored");
            wrong = wrong.take().or_else(|| Some(what()));
        }
        Some(opening) if value.as_str() == Some(&opening.commitment()) => {
            *value = opening.value.clone();
            revealed += 1;
            if is_erasable(kind, pointer) {
                erasable.push(pointer.to_owned());
            }
        }
        None if erased.contains(pointer) && is_erasable(kind, pointer) && is_commitment(value) => {
            *value = placeholder(kind, pointer);
            missing += 1;
        }
        None if is_commitment(value) && !erased.contains(pointer) => {
            let what = || format!("the concealed value of {pointer} is missing, and no later entry erases it");
            wrong = wrong.take().or_else(|| Some(what()));
        }
        _ => {
            let what = || format!("the concealed value of {pointer} does not match the commitment in the content");
            wrong = wrong.take().or_else(|| Some(what()));
        }
    });
    match wrong {
        Some(what) => Err(what),
        None if revealed < concealed.len() => {
            Err("a value without a commitment in the content is stored with it".to_owned())
        }
        None if missing < erased.len() => {
            Err("a later entry erased a value that this entry does not conceal".to_owned())
        }
        None => Ok(erasable),
    }
}

/// Replaces the commitments by placeholders, so that the content can be replayed without the values. Errors: the
/// pointer of a value that should be concealed and is not.
pub(crate) fn blank_commitments(kind: LogKind, change: &mut Value) -> Result<(), String> {
    let mut wrong = None;
    walk(kind, change, &mut String::new(), &mut |pointer, value| {
        if !is_commitment(value) {
            wrong = wrong.take().or_else(|| Some(pointer.to_owned()));
        }
        *value = placeholder(kind, pointer);
    });
    wrong.map_or(Ok(()), Err)
}

fn is_commitment(value: &Value) -> bool {
    value.as_str().and_then(|text| text.strip_prefix(PREFIX)).and_then(LogHash::parse).is_some()
}

/// A value in place of one that is not known, with which the change can be replayed.
fn placeholder(kind: LogKind, pointer: &str) -> Value {
    match (kind, pointer.rsplit('/').next().unwrap_or_default()) {
        (LogKind::Party, "details") => Value::Object(Map::new()),
        (LogKind::Party, "reason") => Value::String(String::new()),
        (LogKind::Party | LogKind::Registration, _) | (_, "vendor" | "registration") => Value::Null,
        (_, "pending") => Value::Array(Vec::new()),
        (_, "bidder") => Value::String("concealed".to_owned()),
        _ => Value::from(0),
    }
}

fn walk(kind: LogKind, value: &mut Value, pointer: &mut String, visit: &mut impl FnMut(&str, &mut Value)) {
    let length = pointer.len();
    match value {
        Value::Object(object) => {
            let fields: Vec<(String, bool)> =
                object.iter().map(|(field, value)| (field.clone(), is_private(kind, object, field, value))).collect();
            for (field, is_private) in fields {
                let Some(value) = object.get_mut(&field) else { continue };
                pointer.push('/');
                pointer.push_str(&field);
                if is_private {
                    visit(pointer, value)
                } else {
                    walk(kind, value, pointer, visit)
                }
                pointer.truncate(length);
            }
        }
        Value::Array(values) => {
            for (place, value) in values.iter_mut().enumerate() {
                pointer.push_str(&format!("/{place}"));
                walk(kind, value, pointer, visit);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use kit_runtime::random::SeededRandom;
    use serde_json::json;

    use super::*;

    fn bid() -> Value {
        json!({ "change": "bidAccepted", "record": { "bidder": "12", "source": "internet", "amount": 100, "maximum": 777 },
            "standing": { "bidder": "12", "maximum": 777, "reserve": null, "pending": [] } })
    }

    #[test]
    fn concealed_values_are_not_in_the_content_and_can_be_opened() {
        let mut value = bid();
        let concealed = commit_private_fields(LogKind::Item, &mut value, &SeededRandom::new(1));
        assert_eq!(concealed.keys().collect::<Vec<_>>(), ["/record/maximum", "/standing/maximum"]);
        assert!(!value.to_string().contains("777"));
        assert_ne!(value["record"]["maximum"], value["standing"]["maximum"], "equal values don't look equal");
        let mut blanked = value.clone();
        blank_commitments(LogKind::Item, &mut blanked).unwrap();
        assert_eq!(blanked["record"]["maximum"], 0);
        open_commitments(LogKind::Item, &mut value, &concealed, &BTreeSet::new()).unwrap();
        assert_eq!(value, bid());
    }

    #[test]
    fn absentees_and_pending_bids_are_concealed() {
        let mut value = json!({ "record": { "bidder": "12", "source": "absentee", "amount": 0, "maximum": 5,
            "registration": { "uuid": "r", "entry": 1 } },
            "pending": [{ "bidder": "13", "amount": 6 }], "vendor": "v" });
        let concealed = commit_private_fields(LogKind::Item, &mut value, &SeededRandom::new(1));
        assert_eq!(concealed.len(), 5);
        blank_commitments(LogKind::Item, &mut value).unwrap();
        assert_eq!((&value["record"]["bidder"], &value["record"]["registration"]), (&json!("concealed"), &Value::Null));
        assert_eq!((&value["pending"], &value["vendor"]), (&json!([]), &Value::Null));
    }

    #[test]
    fn personal_data_of_a_registration_is_concealed_and_its_reference_in_a_bid_is_not() {
        let mut value = json!({ "state": { "paddle": "12", "name": "Ada", "email": "a@b", "limit": 7, "note": null } });
        let concealed = commit_private_fields(LogKind::Registration, &mut value, &SeededRandom::new(1));
        assert_eq!(concealed.keys().collect::<Vec<_>>(), ["/state/email", "/state/limit", "/state/name"]);
        let mut taken = bid();
        taken["record"]["registration"] = json!({ "uuid": "r", "entry": 1 });
        let concealed = commit_private_fields(LogKind::Item, &mut taken, &SeededRandom::new(1));
        assert!(concealed.keys().all(|pointer| pointer.ends_with("/maximum")));
    }

    #[test]
    fn another_value_or_salt_does_not_match_the_commitment() {
        let mut value = bid();
        let concealed = commit_private_fields(LogKind::Item, &mut value, &SeededRandom::new(1));
        for edit in [
            |opening: &mut Opening| opening.value = json!(778),
            |opening: &mut Opening| opening.salt.replace_range(0..1, "z"),
        ] {
            let mut edited = concealed.clone();
            edited.values_mut().for_each(edit);
            let opened = open_commitments(LogKind::Item, &mut value.clone(), &edited, &BTreeSet::new());
            let wanted = "the concealed value of /record/maximum does not match the commitment in the content";
            assert_eq!(opened, Err(wanted.to_owned()));
        }
        let mut more = concealed;
        more.insert("/other".to_owned(), Opening { salt: String::new(), value: json!(1) });
        assert!(open_commitments(LogKind::Item, &mut value, &more, &BTreeSet::new()).is_err());
        assert_eq!(blank_commitments(LogKind::Item, &mut bid()), Err("/record/maximum".to_owned()));
    }
}
