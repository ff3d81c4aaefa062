//! Times in the log always have milliseconds. The default format omits trailing zeros, which readers with a fixed
//! format can't parse.

use jiff::Timestamp;
use kit_runtime::clock::rfc3339_ms;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// Members of states and changes that contain a time.
const NAMES: [&str; 12] = [
    "at",
    "createdAt",
    "updatedAt",
    "startsAt",
    "endsAt",
    "endTime",
    "effectiveEndTime",
    "end",
    "planned",
    "target",
    "reached",
    "keptUntil",
];

/// Rewrites every time in the value with milliseconds.
pub(crate) fn widen(value: &mut Value) {
    match value {
        Value::Array(members) => members.iter_mut().for_each(widen),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if NAMES.contains(&name.as_str()) => {
                        if let Ok(at) = text.parse::<Timestamp>() {
                            *text = rfc3339_ms(at);
                        }
                    }
                    Value::Array(_) | Value::Object(_) => widen(member),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// For `serialize_with`.
pub(crate) fn write<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    rfc3339_ms(*at).serialize(serializer)
}

/// For `serialize_with` of an optional time.
pub(crate) fn write_option<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(rfc3339_ms).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_get_milliseconds_at_every_depth_and_other_texts_stay() {
        let mut change = json!({
            "change": "endExtended", "end": "2026-11-21T19:24:10.94Z", "title": "2026-11-21T19:24:10Z",
            "state": { "endTime": "2026-11-21T19:24:10Z", "standing": { "at": "2026-11-21T19:24:10.123Z" } },
            "pending": [{ "at": "2026-11-21T19:24:10.1Z" }], "to": "SOLD", "createdAt": "soon", "endsAt": null
        });
        widen(&mut change);
        let wide = json!({
            "change": "endExtended", "end": "2026-11-21T19:24:10.940Z", "title": "2026-11-21T19:24:10Z",
            "state": { "endTime": "2026-11-21T19:24:10.000Z", "standing": { "at": "2026-11-21T19:24:10.123Z" } },
            "pending": [{ "at": "2026-11-21T19:24:10.100Z" }], "to": "SOLD", "createdAt": "soon", "endsAt": null
        });
        assert_eq!(change, wide);
    }
}
