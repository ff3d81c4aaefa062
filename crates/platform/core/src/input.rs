//! Checks of text that callers enter.

/// A word or line for people: not empty, not padded, no control characters, not too long.
pub(crate) fn check_text(value: &str, chars_max: usize) -> Result<(), String> {
    if value.is_empty() {
        return Err("is empty: fill it in".into());
    }
    if value.trim() != value {
        return Err("begins or ends with a blank: take it away".into());
    }
    if value.chars().any(char::is_control) {
        return Err("holds a line break or another control character: take it away".into());
    }
    let chars = value.chars().count();
    if chars > chars_max {
        return Err(format!("has {chars} characters, at most {chars_max} are possible: shorten it"));
    }
    Ok(())
}
