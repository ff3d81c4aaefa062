//! Checks of text that callers enter.

/// Characters of a file name that are kept.
const FILE_NAME_CHARS_MAX: usize = 200;

/// Checks a line of text: not empty, without leading or trailing blanks and control characters, and not too long.
pub(crate) fn check_text(value: &str, chars_max: usize) -> Result<(), String> {
    if value.is_empty() {
        return Err("is empty: fill it in".into());
    }
    if value.trim() != value {
        return Err("begins or ends with a blank: remove it".into());
    }
    if value.chars().any(char::is_control) {
        return Err("holds a line break or another control character: remove it".into());
    }
    let chars = value.chars().count();
    if chars > chars_max {
        return Err(format!("has {chars} characters: shorten it to at most {chars_max}"));
    }
    Ok(())
}

/// The last part of the name, without control characters.
pub(crate) fn shown_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    last.chars().filter(|char| !char.is_control()).take(FILE_NAME_CHARS_MAX).collect()
}
