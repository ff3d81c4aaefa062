//! A state as JSON, edited in one place.

use serde_json::Value;

/// JSON pointers to all values of a state that are neither objects nor arrays.
pub(crate) fn leaves(state: &Value) -> Vec<String> {
    fn walk(value: &Value, pointer: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(field, value)| walk(value, &format!("{pointer}/{field}"), found));
            }
            Value::Array(values) if !values.is_empty() => {
                values.iter().enumerate().for_each(|(place, value)| walk(value, &format!("{pointer}/{place}"), found));
            }
            _ => found.push(pointer.to_owned()),
        }
    }
    let mut found = Vec::new();
    walk(state, "", &mut found);
    found
}

/// The state with another value at the pointer.
pub(crate) fn edited_state(mut state: Value, pointer: &str) -> Value {
    let leaf = state.pointer_mut(pointer).unwrap();
    *leaf = match leaf.take() {
        Value::Null => Value::from(1),
        Value::Bool(bool) => Value::Bool(!bool),
        Value::Number(number) => Value::from(number.as_i64().unwrap() + 1),
        Value::String(text) => edited_text(&text),
        Value::Array(_) | Value::Object(_) => Value::from("x"),
    };
    state
}

/// A different text; for a UUID or a hash, a different one that still parses.
fn edited_text(text: &str) -> Value {
    let last = if text.ends_with('0') { "1" } else { "0" };
    let is_hexadecimal = text.len() >= 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    Value::from(if is_hexadecimal { format!("{}{last}", &text[..text.len() - 1]) } else { format!("{text}x") })
}
