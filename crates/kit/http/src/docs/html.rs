//! Renders text and JSON as HTML.

use std::fmt::Write as _;

use serde_json::Value;

/// Escapes text, so that it contains no markup.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A line of a description, with text between backticks as code. An unclosed backtick stays as it is.
pub(super) fn inline(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, (code, after))) =
        rest.split_once('`').and_then(|(before, after)| Some((before, after.split_once('`')?)))
    {
        let _ = write!(out, "{}<code>{}</code>", escape(before), escape(code));
        rest = after;
    }
    out + &escape(rest)
}

/// A description as paragraphs, which empty lines separate.
pub(super) fn paragraphs(text: &str) -> String {
    let parts = text.split("\n\n").map(str::trim).filter(|part| !part.is_empty());
    parts.fold(String::new(), |mut out, part| {
        let _ = write!(out, "<p>{}</p>", inline(part));
        out
    })
}

/// Indented JSON with highlighted names and values.
pub(super) fn json(value: &Value) -> String {
    let mut out = String::from("<pre tabindex=\"0\"><code>");
    write_json(value, 0, &mut out);
    out + "</code></pre>"
}

fn write_json(value: &Value, depth: usize, out: &mut String) {
    let line = |depth: usize, out: &mut String| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    match value {
        Value::Object(object) if !object.is_empty() => {
            out.push('{');
            for (index, (name, inner)) in object.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                line(depth + 1, out);
                let _ = write!(out, "<b>{}</b>: ", escape(&Value::from(name.as_str()).to_string()));
                write_json(inner, depth + 1, out);
            }
            line(depth, out);
            out.push('}');
        }
        Value::Array(list) if !list.is_empty() => {
            out.push('[');
            for (index, inner) in list.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                line(depth + 1, out);
                write_json(inner, depth + 1, out);
            }
            line(depth, out);
            out.push(']');
        }
        Value::String(_) => drop(write!(out, "<i>{}</i>", escape(&value.to_string()))),
        other => drop(write!(out, "<em>{}</em>", escape(&other.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(inline("a <b> `<c>` & 'd'"), "a &lt;b&gt; <code>&lt;c&gt;</code> &amp; &#39;d&#39;");
        assert_eq!(inline("one ` alone"), "one ` alone");
        assert_eq!(paragraphs("one\n\n two\nlines \n\n"), "<p>one</p><p>two\nlines</p>");
        assert_eq!(json(&json!({"<": [1, "&"], "e": {}})).matches("&lt;").count(), 1);
    }
}
