//! Checks of what callers enter.

use crate::error::{PlatformError, PlatformResult, Problem};

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

/// Checks lines of text: not empty, without control characters but line breaks, and not too long.
pub(crate) fn check_lines(value: &str, chars_max: usize) -> Result<(), String> {
    if value.trim().is_empty() {
        return Err("is empty: fill it in".into());
    }
    if value.chars().any(|char| char.is_control() && char != '\n') {
        return Err("holds a control character other than a line break: remove it".into());
    }
    let chars = value.chars().count();
    if chars > chars_max {
        return Err(format!("has {chars} characters: shorten it to at most {chars_max}"));
    }
    Ok(())
}

/// Checks the name of a person that others see: a line of text without characters that are invisible or change the order in which
/// text is shown (Unicode Standard Annex 9), so that no name passes for another one.
pub(crate) fn check_shown_name(value: &str, chars_max: usize) -> Result<(), String> {
    check_text(value, chars_max)?;
    unseen(value)?;
    // Pages show the e-mail address of a user without a name.
    if value.contains('@') {
        return Err("holds the character @: write a name, not an e-mail address".into());
    }
    Ok(())
}

/// Refuses characters that are invisible or change the order in which text is shown.
pub(crate) fn unseen(value: &str) -> Result<(), String> {
    match value.chars().find(|char| is_unseen(*char)) {
        Some(unseen) => Err(format!("holds the invisible character U+{:04X}: remove it", u32::from(unseen))),
        None => Ok(()),
    }
}

fn is_unseen(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// True for the name of an IANA time zone. Without time zone data on the machine only its form is checked, because the
/// platform uses the name for display.
pub(crate) fn is_time_zone(name: &str) -> bool {
    let database = jiff::tz::db();
    if !database.is_definitively_empty() {
        // The look-up ignores case; other programs don't.
        return database.get(name).is_ok_and(|zone| zone.iana_name() == Some(name));
    }
    let part = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_+-".contains(&b));
    name.len() <= 64 && name.split('/').all(part)
}

/// A value that is refused with a code of its error: the error when it is alone, a problem of the value among others.
pub(crate) type CodedProblem = (Problem, PlatformError);

/// Refuses an input with all its problems at once.
pub(crate) fn require_usable(
    problems: Vec<Problem>,
    coded: impl IntoIterator<Item = CodedProblem>,
) -> PlatformResult<()> {
    let mut coded: Vec<_> = coded.into_iter().collect();
    if problems.is_empty() && coded.len() < 2 {
        return coded.pop().map_or(Ok(()), |(_, error)| Err(error));
    }
    Err(PlatformError::Invalid(coded.into_iter().map(|(problem, _)| problem).chain(problems).collect()))
}

/// The last part of the name, without control characters.
pub(crate) fn shown_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    last.chars().filter(|char| !char.is_control()).take(FILE_NAME_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(problems: &[&str], coded: &[&str]) -> PlatformResult<()> {
        let problem = |pointer: &&str| Problem::new(*pointer, "is wrong");
        let coded = coded.iter().map(|pointer| (problem(pointer), PlatformError::ApiKeyRequired));
        require_usable(problems.iter().map(problem).collect(), coded)
    }

    #[test]
    fn a_shown_name_has_only_characters_that_are_seen() {
        for name in ["Ann Hartley", "Zoë Müller-O’Neill", "山田 太郎", "محمد", "می\u{200c}نا"] {
            assert_eq!(check_shown_name(name, 100), Ok(()), "{name}");
        }
        for (name, wrong) in [
            ("", "is empty"),
            (" Ann", "begins or ends"),
            ("Ann\nHartley", "control character"),
            ("Ann\u{202e}yeltraH", "U+202E"),
            ("Ann\u{2066}", "U+2066"),
            ("A\u{200b}nn", "U+200B"),
            ("A\u{ad}nn", "U+00AD"),
            ("A\u{e0041}nn", "U+E0041"),
            ("ann@hartley.example", "not an e-mail address"),
            (&"n".repeat(101), "at most 100"),
        ] {
            let refused = check_shown_name(name, 100).unwrap_err();
            assert!(refused.contains(wrong), "{name:?}: {refused}");
        }
    }

    #[test]
    fn a_coded_problem_keeps_its_code_when_it_is_alone() {
        assert!(refused(&[], &[]).is_ok());
        assert_eq!(refused(&[], &["/key"]).unwrap_err().code(), "api_key_required");
        for (problems, coded, pointers) in [
            (&["/name"][..], &["/key"][..], &["/key", "/name"][..]),
            (&[], &["/key", "/start"], &["/key", "/start"]),
            (&["/name", "/url"], &[], &["/name", "/url"]),
        ] {
            let Err(PlatformError::Invalid(found)) = refused(problems, coded) else { panic!("{pointers:?}") };
            assert_eq!(found.iter().map(|problem| problem.pointer.as_str()).collect::<Vec<_>>(), pointers);
        }
    }
}
