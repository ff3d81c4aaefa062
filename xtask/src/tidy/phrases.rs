//! Phrases that the project does not use in prose, from `xtask/phrases.txt`: each with what to write instead.

use std::fs;
use std::path::Path;

use super::{Findings, Kind};
use crate::Failure;

/// The list, relative to the root.
const LIST: &str = "xtask/phrases.txt";

pub(super) struct Phrases(Vec<(String, String)>);

impl Phrases {
    pub(super) fn read(root: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(root.join(LIST)).map_err(|error| format!("{LIST}: {error}"))?;
        Self::parse(&text)
    }

    /// One phrase a line, `phrase => what to write instead`; a line that begins with `#` is a comment.
    fn parse(text: &str) -> Result<Self, Failure> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let pair = |line: &str| {
            let (phrase, instead) = line.split_once("=>").ok_or_else(|| format!("{LIST}: {line:?} has no =>"))?;
            Ok((phrase.trim().to_lowercase(), instead.trim().to_owned()))
        };
        lines.map(pair).collect::<Result<_, _>>().map(Self)
    }

    /// Comments of sources and the text of Markdown outside code blocks. A phrase that a line break divides is not found.
    pub(super) fn check(&self, name: &str, kind: Kind, text: &str, found: &mut Findings) {
        let mut is_code_block = false;
        for (number, line) in (1..).zip(text.lines()) {
            if kind == Kind::Markdown && line.trim_start().starts_with("```") {
                is_code_block = !is_code_block;
            }
            let prose = kind.prose(line);
            if is_code_block || prose.is_empty() {
                continue;
            }
            let prose = prose.to_lowercase();
            for (phrase, instead) in &self.0 {
                if contains_words(&prose, phrase) {
                    found.error(format!("{name}:{number} says {phrase:?}; write {instead}"));
                }
            }
        }
    }
}

/// True when `text` contains `phrase` as whole words.
fn contains_words(text: &str, phrase: &str) -> bool {
    let is_letter = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    text.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + phrase.len()..]);
        !is_letter(before.chars().next_back()) && !is_letter(after.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_found_in_prose_as_whole_words() {
        let phrases = Phrases::parse("# comment\nsomebody => the role\n").unwrap();
        let errors = |kind: Kind, text: &str| {
            let mut found = Findings::default();
            phrases.check("a", kind, text, &mut found);
            found.errors
        };
        assert_eq!(errors(Kind::Rust, "// Somebody."), [r#"a:1 says "somebody"; write the role"#]);
        assert_eq!(errors(Kind::Rust, "let somebody = 1;"), Vec::<String>::new());
        assert_eq!(errors(Kind::Rust, "// somebody_else"), Vec::<String>::new());
        assert_eq!(errors(Kind::Markdown, "```\nsomebody\n```\nsomebody").len(), 1);
    }

    #[test]
    fn a_line_without_an_arrow_is_refused() {
        assert!(Phrases::parse("somebody").is_err());
    }
}
