//! The line of a value in a JSON text, for errors about it.

use serde::de::IgnoredAny;

/// The line, from 1, of the value that the JSON pointer names; none when the text has no such value.
pub(super) fn line_of(json: &str, pointer: &str) -> Option<usize> {
    let mut place = Place { json, at: 0 };
    for part in pointer.split('/').skip(1) {
        place.enter(&part.replace("~1", "/").replace("~0", "~"))?;
    }
    place.skip_space();
    Some(json[..place.at].matches('\n').count() + 1)
}

struct Place<'a> {
    json: &'a str,
    at: usize,
}

impl Place<'_> {
    /// Moves to the value of a key, or of an index, of the value that begins here.
    fn enter(&mut self, key: &str) -> Option<()> {
        match self.next_sign()? {
            '{' => loop {
                if self.peek()? == '}' {
                    return None;
                }
                let start = self.at;
                self.skip_value()?;
                let own: String = serde_json::from_str(&self.json[start..self.at]).ok()?;
                (self.next_sign()? == ':').then_some(())?;
                if own == key {
                    return Some(());
                }
                self.skip_value()?;
                (self.next_sign()? == ',').then_some(())?;
            },
            '[' => {
                let index: usize = key.parse().ok()?;
                for _ in 0..index {
                    self.skip_value()?;
                    (self.next_sign()? == ',').then_some(())?;
                }
                (self.peek()? != ']').then_some(())
            }
            _ => None,
        }
    }

    fn skip_value(&mut self) -> Option<()> {
        let rest = &self.json[self.at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(())
    }

    fn skip_space(&mut self) {
        let rest = &self.json[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.json[self.at..].chars().next()
    }

    fn next_sign(&mut self) -> Option<char> {
        let sign = self.peek()?;
        self.at += sign.len_utf8();
        Some(sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_leads_to_the_line_of_its_value() {
        let json = "{\n  \"type\": \"object\",\n  \"required\": [\"a\",\n    7],\n  \"properties\": {\n    \"a/b\": {\"type\": \"x\"}\n  }\n}";
        for (pointer, line) in [
            ("", Some(1)),
            ("/type", Some(2)),
            ("/required/0", Some(3)),
            ("/required/1", Some(4)),
            ("/properties/a~1b/type", Some(6)),
            ("/required/2", None),
            ("/none", None),
            ("/type/none", None),
        ] {
            assert_eq!(line_of(json, pointer), line, "{pointer}");
        }
    }
}
