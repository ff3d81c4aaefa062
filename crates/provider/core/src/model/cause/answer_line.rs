//! The line of a response that describes an error best.

use serde_json::Value;

/// Maximum length of a shown line.
const LINE_CHARS_MAX: usize = 120;
const SEARCHED_BYTES_MAX: usize = 4_096;
/// Fields of JSON responses that contain an error text. The first one found is used.
const FIELDS: [&str; 5] = ["message", "detail", "error", "title", "msg"];

/// The message of a JSON error, the title of an HTML page, or the first line of a text. None if the response has no
/// such line or was expunged.
pub(super) fn answer_line(response: &str) -> Option<String> {
    if response == super::EXPUNGED {
        return None;
    }
    let text = match serde_json::from_str::<Value>(response) {
        Ok(json) => field(&json)?,
        Err(_) => {
            let begin = response.get(..response.floor_char_boundary(SEARCHED_BYTES_MAX)).unwrap_or(response);
            title(begin).or_else(|| first_line(begin))?
        }
    };
    let line: String = text.chars().map(|char| if changes_the_page(char) { ' ' } else { char }).collect();
    let line = line.trim();
    let short: String = line.chars().take(LINE_CHARS_MAX).collect();
    let cut = if short.len() < line.len() { "…" } else { "" };
    (!short.is_empty()).then(|| format!("{short}{cut}"))
}

/// Control characters, and those that set the direction of the text around them (Unicode Standard Annex 9).
pub(crate) fn changes_the_page(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn field(json: &Value) -> Option<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    FIELDS.iter().find_map(|name| json.get(name)).and_then(|value| text(value).or_else(|| field(value)))
}

fn title(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let from = lower.find("<title")?;
    let from = from + lower[from..].find('>')? + 1;
    let to = from + lower[from..].find("</title")?;
    Some(decoded(&html[from..to]))
}

/// The text with the signs that its character references name. Titles have few others than these.
fn decoded(html: &str) -> String {
    let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'"), ("&nbsp;", " ")];
    let text = named.iter().fold(html.to_owned(), |text, (name, sign)| text.replace(name, sign));
    // The last one, so that the signs of another reference are not taken for one.
    text.replace("&amp;", "&")
}

/// The first line that is no markup.
fn first_line(text: &str) -> Option<String> {
    let is_text = |line: &&str| !line.is_empty() && !line.starts_with('<');
    text.lines().map(str::trim).find(is_text).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_describes_the_error_is_found() {
        let long = "a".repeat(LINE_CHARS_MAX + 1);
        for (response, line) in [
            ("KeyError: 'status'\n  at hook.py:7", Some("KeyError: 'status'")),
            ("\n\n  boom  \n", Some("boom")),
            ("a \u{202e}reversed\u{2069} line", Some("a  reversed  line")),
            (r#"{"error": {"message": "no such table"}}"#, Some("no such table")),
            (r#"{"title": "Conflict", "status": 500}"#, Some("Conflict")),
            ("<!doctype html>\n<html><head><title>Application error</title>", Some("Application error")),
            ("<title>Tom &amp; Ann&#39;s &lt;app&gt; &amp;lt;</title>", Some("Tom & Ann's <app> &lt;")),
            ("<b>x</b>", None),
            (r#"{"ok": false}"#, None),
            ("a\u{1b}[31mb", Some("a [31mb")),
            ("", None),
            ("EXPUNGED", None),
        ] {
            assert_eq!(answer_line(response).as_deref(), line, "{response}");
        }
        assert_eq!(answer_line(&long), Some(format!("{}…", &long[1..])));
    }
}
