//! Code in the colours of its syntax. The server writes the elements, so that pages need no script for it.
//!
//! Guarantee: the text of the elements is the text that was given, escaped.

use std::fmt;

use askama::filters::HtmlSafe;

/// Bytes of a text that is coloured. A longer one is shown without colours, because elements make it several times as long.
const COLOURED_BYTES_MAX: usize = 48 * 1024;

/// The kinds of text, which differ in their colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Name of a property or of a header.
    Name,
    Text,
    /// Number, `true`, `false` or `null`.
    Value,
    Comment,
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Self::Name => "code-name",
            Self::Text => "code-text",
            Self::Value => "code-value",
            Self::Comment => "code-comment",
        }
    }
}

/// HTML of a text with colours. Write it with `{{ code }}` within `<code>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColouredCode(String);

impl HtmlSafe for ColouredCode {}

impl fmt::Display for ColouredCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ColouredCode {
    /// JSON, also the beginning of a longer one. Another text stays without colours.
    pub fn json(text: &str) -> Self {
        let is_json = text.trim_start().starts_with(['{', '[']);
        Self::coloured(text, |rest| if is_json { json_part(rest) } else { (rest.len(), None) })
    }

    /// Headers, one `name: value` a line.
    pub fn headers(text: &str) -> Self {
        let mut html = Html::default();
        for line in text.split_inclusive('\n') {
            let (name, value) = line.split_once(':').map_or(("", line), |(name, _)| line.split_at(name.len()));
            html.push(name, (!name.is_empty()).then_some(Kind::Name));
            html.push(value, None);
        }
        Self(html.0)
    }

    /// Sample code or a command: comments and texts in quotation marks.
    pub fn program(text: &str) -> Self {
        let mut begins_word = true;
        Self::coloured(text, |rest| {
            let part = program_part(rest, begins_word);
            begins_word = rest[..part.0].ends_with(char::is_whitespace);
            part
        })
    }

    /// The parts that `next` finds: the length of the next one, at least 1, and its kind.
    fn coloured(text: &str, mut next: impl FnMut(&str) -> (usize, Option<Kind>)) -> Self {
        let (mut html, mut rest) = (Html::default(), text);
        if text.len() > COLOURED_BYTES_MAX {
            html.push(text, None);
            return Self(html.0);
        }
        while !rest.is_empty() {
            let (length, kind) = next(rest);
            let (part, further) = rest.split_at(length);
            html.push(part, kind);
            rest = further;
        }
        Self(html.0)
    }
}

#[derive(Default)]
struct Html(String);

impl Html {
    fn push(&mut self, text: &str, kind: Option<Kind>) {
        if let Some(kind) = kind {
            self.0.extend(["<span class=\"", kind.class(), "\">"]);
        }
        for character in text.chars() {
            match character {
                '<' => self.0.push_str("&#60;"),
                '>' => self.0.push_str("&#62;"),
                '&' => self.0.push_str("&#38;"),
                '"' => self.0.push_str("&#34;"),
                '\'' => self.0.push_str("&#39;"),
                plain => self.0.push(plain),
            }
        }
        if kind.is_some() {
            self.0.push_str("</span>");
        }
    }
}

/// Bytes of the characters at the beginning that fit.
fn run(text: &str, fits: impl Fn(char) -> bool) -> usize {
    text.find(|character| !fits(character)).unwrap_or(text.len())
}

/// Bytes of a text in quotation marks, with both of them. None without the second one.
fn quoted(text: &str, mark: char) -> Option<usize> {
    let mut is_escaped = false;
    for (index, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            end if end == mark => return Some(index + end.len_utf8()),
            _ => {}
        }
    }
    None
}

fn json_part(rest: &str) -> (usize, Option<Kind>) {
    let is_in_value = |character: char| character.is_ascii_alphanumeric() || "+-.".contains(character);
    match rest.chars().next() {
        Some('"') => {
            let length = quoted(rest, '"').unwrap_or(rest.len());
            let is_name = rest[length..].trim_start().starts_with(':');
            (length, Some(if is_name { Kind::Name } else { Kind::Text }))
        }
        Some(first) if is_in_value(first) => (run(rest, is_in_value), Some(Kind::Value)),
        _ => (run(rest, |character| character != '"' && !is_in_value(character)).max(1), None),
    }
}

/// `begins_word`: the part before ends with white space. A `#` or `//` within a word begins no comment.
fn program_part(rest: &str, begins_word: bool) -> (usize, Option<Kind>) {
    match rest.chars().next() {
        Some(mark @ ('"' | '\'' | '`')) => {
            // A lone apostrophe, as of a lifetime or of prose, has its next one on another line, or none. JSON may have many lines.
            let is_text = |text: &str| mark == '`' || !text.contains('\n') || text.starts_with("'{");
            match quoted(rest, mark) {
                Some(length) if is_text(&rest[..length]) => (length, Some(Kind::Text)),
                _ => (1, None),
            }
        }
        Some('#' | '/') if begins_word && ["# ", "#!", "//"].iter().any(|mark| rest.starts_with(mark)) => {
            (run(rest, |character| character != '\n'), Some(Kind::Comment))
        }
        Some('#' | '/') => (1, None),
        Some(first) if first.is_whitespace() => (run(rest, char::is_whitespace), None),
        _ => {
            let is_plain = |character: char| !character.is_whitespace() && !"\"'`#/".contains(character);
            (run(rest, is_plain).max(1), None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of the HTML, as a browser shows it.
    fn text_of(html: &str) -> String {
        let mut text = String::new();
        for part in html.split('<') {
            text.push_str(part.rsplit_once('>').map_or(part, |(_, text)| text));
        }
        ["&#60;<", "&#62;>", "&#34;\"", "&#39;'", "&#38;&"].iter().fold(text, |text, escape| {
            let (escaped, plain) = escape.split_at(5);
            text.replace(escaped, plain)
        })
    }

    #[test]
    fn json_has_names_texts_and_values() {
        let html = ColouredCode::json("{\"a\": [\"<b>\\\"\", -1.5e3, true]}").to_string();
        let expected = "{<span class=\"code-name\">&#34;a&#34;</span>: [<span class=\"code-text\">&#34;&#60;b&#62;\\&#34;&#34;\
                        </span>, <span class=\"code-value\">-1.5e3</span>, <span class=\"code-value\">true</span>]}";
        assert_eq!(html, expected);
        assert_eq!(ColouredCode::json("OK 200 & \"x\"").to_string(), "OK 200 &#38; &#34;x&#34;");
    }

    #[test]
    fn headers_have_names_and_programs_comments_and_texts() {
        let headers = ColouredCode::headers("webhook-id: msg_1\nodd line\n").to_string();
        assert_eq!(headers, "<span class=\"code-name\">webhook-id</span>: msg_1\nodd line\n");
        let program =
            ColouredCode::program("# Runs\ncurl 'http://a.example/#b' # sends\nlet a: &'a str = x / y;").to_string();
        let comment = |text: &str| format!("<span class=\"code-comment\">{text}</span>");
        let expected = format!(
            "{}\ncurl <span class=\"code-text\">&#39;http://a.example/#b&#39;</span> {}\nlet a: &#38;&#39;a str = x / y;",
            comment("# Runs"),
            comment("# sends"),
        );
        assert_eq!(program, expected);
    }

    #[test]
    fn the_text_is_kept_whatever_it_is() {
        let long = format!("{{\"a\": \"{}\"}}", "é<".repeat(COLOURED_BYTES_MAX));
        for text in [
            "",
            "{",
            "{\"",
            "{\"\\",
            "[1,",
            "{\"é\": \"\\u00e9 & <script>'\"}",
            "a: b: c\r\n",
            ": x",
            "'",
            "\"a\nb\"",
            "//",
            "é#",
            "`a\n`b",
            &long,
        ] {
            for coloured in [ColouredCode::json(text), ColouredCode::headers(text), ColouredCode::program(text)] {
                let html = coloured.to_string();
                assert_eq!(text_of(&html), text);
                assert!(!html.contains("<script"), "{html}");
            }
        }
        assert!(!ColouredCode::json(&long).to_string().contains("<span"));
    }
}
