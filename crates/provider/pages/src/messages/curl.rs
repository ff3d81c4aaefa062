//! An attempt's request as a cURL command, without secrets.

use provider_core::model::Attempt;

/// Bytes of a payload that the command contains: a page has a command for each of its attempts. The command names a file for a
/// larger payload.
const PAYLOAD_BYTES_MAX: usize = 1_024;

/// The command that repeats the attempt's request. The signature and custom headers are masked.
pub(super) fn command(attempt: &Attempt, media_type: &str, payload: &str) -> String {
    let media_type = if media_type.is_empty() { "application/json" } else { media_type };
    let data = if payload.len() > PAYLOAD_BYTES_MAX { "@payload.json" } else { payload };
    let mut lines = vec![format!("curl -X POST {}", quoted(&attempt.url))];
    for header in [
        format!("Content-Type: {media_type}"),
        format!("webhook-id: {}", attempt.message),
        format!("webhook-timestamp: {}", attempt.at.as_second()),
        "webhook-signature: v1,MASKED".to_owned(),
    ] {
        lines.push(format!("  -H {}", quoted(&header)));
    }
    let flag = if payload.len() > PAYLOAD_BYTES_MAX { "--data-binary" } else { "--data-raw" };
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
