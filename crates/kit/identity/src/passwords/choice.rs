//! Which passwords a user may choose: long enough, not among the most common, not one repeated character, and not the
//! user's own e-mail address.
//!
//! Attempts at a password are limited, so it has to resist as many guesses as an attacker can send, who begins with these.

use std::collections::HashSet;
use std::sync::LazyLock;

use kit_runtime::vault::Secret;

use super::BYTES_MAX;

const CHARS_MIN: usize = 12;
/// Digits and signs around a common password that do not make it another one, at most: `Password123!` is a common password.
const ADDED_CHARS_MAX: usize = 8;
/// Characters of the longest part of an address that a password may contain.
const ADDRESS_PART_CHARS_MAX: usize = 3;

static COMMON: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("common.txt").lines().filter(|line| !line.starts_with('#')).collect());

/// The fault of a password that a user with this e-mail address chose, or none.
pub fn problem(password: &Secret, email: &str) -> Option<String> {
    let text = password.expose_str().unwrap_or_default();
    if text.chars().count() < CHARS_MIN || text.len() > BYTES_MAX {
        return Some(format!("must have at least {CHARS_MIN} characters and at most {BYTES_MAX} bytes"));
    }
    let text = text.to_lowercase();
    let wrong = if is_one_character(&text) {
        "is one character again and again"
    } else if is_address(&text, &email.trim().to_lowercase()) {
        "is the e-mail address, or little more than a part of it"
    } else if is_common(&text) {
        "is one of the most common passwords, or one with digits and signs around it"
    } else {
        return None;
    };
    Some(format!("{wrong}: choose another one, such as four words that do not belong together"))
}

fn is_one_character(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| chars.all(|next| next == first))
}

fn is_common(text: &str) -> bool {
    let word = text.trim_matches(|c: char| !c.is_alphabetic());
    let added = text.chars().count() - word.chars().count();
    COMMON.contains(text) || (added <= ADDED_CHARS_MAX && COMMON.contains(word))
}

/// True if at most [`ADDED_CHARS_MAX`] characters remain of the text without the address, its name or its host.
fn is_address(text: &str, email: &str) -> bool {
    let (name, host) = email.split_once('@').unwrap_or((email, ""));
    let parts = [email, name, host].into_iter().filter(|part| part.chars().count() > ADDRESS_PART_CHARS_MAX);
    let mut found = parts.filter_map(|part| text.find(part).map(|_| text.replacen(part, "", 1)));
    found.any(|rest| rest.chars().filter(|c| c.is_alphabetic()).count() == 0 && rest.chars().count() <= ADDED_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(password: &str) -> Option<String> {
        problem(&Secret::new(password.as_bytes().to_vec()), "Ann.Hartley@auction-house.example")
    }

    #[track_caller]
    fn check(refused_for: &str, passwords: &[&str]) {
        for password in passwords {
            let found = refused(password).unwrap_or_default();
            assert!(found.contains(refused_for), "{password:?}: {found:?}");
        }
    }

    #[test]
    fn a_chosen_password_has_twelve_characters_and_a_limit() {
        assert_eq!(refused("twelve chärs"), None);
        check("at least 12", &["", "eleven char", &"x".repeat(BYTES_MAX + 1)]);
        let longest: String = "not one character ".chars().cycle().take(BYTES_MAX).collect();
        assert_eq!(refused(&longest), None);
        assert!(problem(&Secret::new(vec![0xff; 20]), "").is_some(), "not text");
    }

    #[test]
    fn the_most_common_passwords_are_refused_also_with_digits_around_them() {
        let common =
            ["123456789012", "1qaz2wsx3edc", "QWERTYqwerty", "Password123!", "2026-Sunshine!", "administrator1"];
        check("most common", &common);
    }

    #[test]
    fn one_character_again_and_again_is_refused() {
        check("one character", &["aaaaaaaaaaaa", "AAAAaaaaAAAA", "            ", "ßßßßßßßßßßßßß", &"7".repeat(100)]);
    }

    #[test]
    fn ones_own_address_is_refused() {
        let own = [
            "ann.hartley@auction-house.example",
            "Ann.Hartley@Auction-House.Example",
            "Ann.Hartley1",
            "ann.hartley-2026",
        ];
        check("the e-mail address", &own);
        check("the e-mail address", &["auction-house.example", "!auction-house.example!"]);
        assert_eq!(problem(&Secret::new(b"ann-knits-quietly".to_vec()), "ann@a.example"), None);
        assert_eq!(problem(&Secret::new(b"twelve chars or more".to_vec()), ""), None);
    }

    #[test]
    fn what_is_hard_to_guess_is_accepted() {
        let accepted = [
            "correct horse battery",
            "a long enough passphrase",
            "dragon carpet nine",
            "4FhxQm2w8ZpK",
            "ann.hartley likes violets",
        ];
        for password in accepted {
            assert_eq!(refused(password), None, "{password}");
        }
    }

    #[test]
    fn the_list_is_sorted_in_lower_case_and_without_what_other_rules_refuse() {
        let lines: Vec<&str> = include_str!("common.txt").lines().filter(|line| !line.starts_with('#')).collect();
        assert!(lines.is_sorted_by(|one, next| one < next));
        assert!(lines.iter().all(|line| line.to_lowercase() == *line && line.trim() == *line && line.len() >= 5));
    }
}
