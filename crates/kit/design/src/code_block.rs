//! Blocks of code on a page: JSON with line breaks and indentation, other texts unchanged, both up to a limit.

use super::code_colours::ColouredCode;

/// Bytes of a text that a page shows. The limit counts the indented text, which can be far longer than the original.
pub const TEXT_BYTES_MAX: usize = 200 * 1024;
const INDENT: &str = "  ";
/// Bytes of a line that fits where a block stands beside another one, and on a phone.
const LINE_BYTES_MAX: usize = 44;

/// Whether a line of the text is long, so that a page offers to wrap it.
pub fn has_long_lines(text: &str) -> bool {
    text.lines().any(|line| line.len() > LINE_BYTES_MAX)
}

/// A text as a page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeBlock {
    /// The text, cut after [`TEXT_BYTES_MAX`] bytes.
    pub text: String,
    /// The text is complete: nothing was cut.
    pub is_whole: bool,
}

impl CodeBlock {
    /// JSON, indented; a text that is not JSON, unchanged. Only the white space between values changes: a number keeps
    /// its digits and a string its escapes.
    pub fn json(text: &str) -> Self {
        if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() { indent(text) } else { Self::text(text) }
    }

    /// JSON in the colours of its syntax; another text without colours.
    pub fn coloured(&self) -> ColouredCode {
        ColouredCode::json(&self.text)
    }

    /// Whether a line is long, so that a page offers to wrap it.
    pub fn has_long_lines(&self) -> bool {
        has_long_lines(&self.text)
    }

    /// A text, unchanged up to [`TEXT_BYTES_MAX`] bytes.
    pub fn text(text: &str) -> Self {
        let end = text.floor_char_boundary(TEXT_BYTES_MAX);
        Self { text: text[..end].to_owned(), is_whole: end == text.len() }
    }
}

/// Valid JSON with one entry a line.
fn indent(json: &str) -> CodeBlock {
    let mut out = String::new();
    let (mut depth, mut rest, mut is_whole) = (0_usize, json.trim_start(), true);
    while let Some(first) = rest.chars().next() {
        if out.len() > TEXT_BYTES_MAX {
            return CodeBlock { text: out, is_whole: false };
        }
        let length = match first {
            '{' | '[' => {
                out.push(first);
                let inner = rest[1..].trim_start();
                if let Some(close) = inner.chars().next().filter(|close| matches!(close, '}' | ']')) {
                    out.push(close);
                    rest = inner[1..].trim_start();
                    continue;
                }
                depth += 1;
                new_line(&mut out, depth);
                1
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(first);
                1
            }
            ',' => {
                out.push(first);
                new_line(&mut out, depth);
                1
            }
            ':' => {
                out.push_str(": ");
                1
            }
            _ => {
                let length = scalar_length(rest);
                let shown = rest[..length].floor_char_boundary(TEXT_BYTES_MAX);
                out.push_str(&rest[..shown]);
                is_whole &= shown == length;
                length
            }
        };
        rest = rest[length..].trim_start();
    }
    CodeBlock { text: out, is_whole }
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(INDENT, depth));
}

/// Bytes of the string, number or literal at the beginning; at least one.
fn scalar_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    if bytes[0] != b'"' {
        let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b':' | b' ' | b'\n' | b'\r' | b'\t');
        return bytes.iter().position(ends).unwrap_or(bytes.len()).max(1);
    }
    let mut escaped = false;
    for (index, byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_and_keeps_its_values() {
        let written =
            r#" {"a":1.0,"big":12345678901234567890123,"list":[ 1 ,{"é":"\u00e9, \"}{"}],"none":[],"o":{ }} "#;
        let shown = CodeBlock::json(written);
        let expected = "{\n  \"a\": 1.0,\n  \"big\": 12345678901234567890123,\n  \"list\": [\n    1,\n    {\n      \
             \"é\": \"\\u00e9, \\\"}{\"\n    }\n  ],\n  \"none\": [],\n  \"o\": {}\n}";
        assert_eq!(shown, CodeBlock { text: expected.to_owned(), is_whole: true });
    }

    #[test]
    fn a_text_that_is_not_json_is_unchanged() {
        for text in ["", "{", "<html>", "a: b", "{\"a\": }"] {
            assert_eq!(CodeBlock::json(text), CodeBlock { text: text.to_owned(), is_whole: true });
        }
    }

    #[test]
    fn a_long_text_is_cut_at_the_limit() {
        let deep = format!("{}{}{}", "[".repeat(100), "1,".repeat(1_000_000) + "1", "]".repeat(100));
        let long = format!("{{\"a\":\"{}\"}}", "é".repeat(1_000_000));
        for text in [deep, long, "é".repeat(1_000_000), format!("\"{}\"", "é".repeat(1_000_000))] {
            let shown = CodeBlock::json(&text);
            assert!(!shown.is_whole && shown.text.len() < 2 * TEXT_BYTES_MAX + 1_000, "{}", shown.text.len());
        }
    }
}
