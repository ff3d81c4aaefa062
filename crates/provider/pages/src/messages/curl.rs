//! A request as a cURL command.

/// Bytes of a payload that the command of an attempt contains: a page has one for each. The command names a file for a larger
/// payload.
pub(super) const PAYLOAD_BYTES_MAX: usize = 1_024;
/// Bytes of a payload that the command of a signed request contains.
pub(super) const SIGNED_PAYLOAD_BYTES_MAX: usize = 16 * 1_024;

/// The command that posts the payload to this address with these headers. A payload of more than `bytes_max` is read from a
/// file.
pub(super) fn command(url: &str, headers: &[(String, String)], payload: &str, bytes_max: usize) -> String {
    let is_file = payload.len() > bytes_max;
    let mut lines = vec![format!("curl -X POST {}", quoted(url))];
    lines.extend(headers.iter().map(|(name, value)| format!("  -H {}", quoted(&format!("{name}: {value}")))));
    let (flag, data) = if is_file { ("--data-binary", "@payload.json") } else { ("--data-raw", payload) };
    lines.push(format!("  {flag} {}", quoted(data)));
    lines.join(" \\\n")
}

/// A word for a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_word_ends_at_its_own_end() {
        assert_eq!(quoted("it's $(rm) `x`"), r"'it'\''s $(rm) `x`'");
    }
}
