//! Licence expressions (SPDX): `(MIT OR Apache-2.0) AND Unicode-3.0`.

use std::iter::Peekable;
use std::str::SplitWhitespace;

type Words<'a> = Peekable<SplitWhitespace<'a>>;

/// True when all that has to be kept to is among `allowed`. Before SPDX, crates wrote `/` for OR.
///
/// Errors: what is wrong with an expression that can't be read.
pub(super) fn allows(expression: &str, allowed: &[String]) -> Result<bool, String> {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let is_allowed = either(&mut words, allowed)?;
    match words.next() {
        None => Ok(is_allowed),
        Some(word) => Err(format!("{word} stands where AND or OR would")),
    }
}

fn either(words: &mut Words<'_>, allowed: &[String]) -> Result<bool, String> {
    let mut is_allowed = all(words, allowed)?;
    while words.next_if_eq(&"OR").is_some() {
        is_allowed |= all(words, allowed)?;
    }
    Ok(is_allowed)
}

fn all(words: &mut Words<'_>, allowed: &[String]) -> Result<bool, String> {
    let mut is_allowed = one(words, allowed)?;
    while words.next_if_eq(&"AND").is_some() {
        is_allowed &= one(words, allowed)?;
    }
    Ok(is_allowed)
}

fn one(words: &mut Words<'_>, allowed: &[String]) -> Result<bool, String> {
    match words.next() {
        None => Err("a licence is missing at its end".to_owned()),
        Some("(") => {
            let is_allowed = either(words, allowed)?;
            words.next_if_eq(&")").map(|_| is_allowed).ok_or_else(|| "a parenthesis is not closed".to_owned())
        }
        Some(word @ (")" | "AND" | "OR" | "WITH")) => Err(format!("{word} stands where a licence would")),
        Some(licence) => {
            let named = match words.next_if_eq(&"WITH") {
                None => licence.to_owned(),
                Some(_) => format!("{licence} WITH {}", words.next().ok_or("an exception is missing at its end")?),
            };
            Ok(allowed.contains(&named))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_what_is_offered_and_all_of_what_is_asked_has_to_be_allowed() {
        let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        for (expression, is_allowed) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0/MIT", true),
            ("MIT AND GPL-3.0", false),
            ("MIT AND ISC", true),
            ("GPL-3.0 OR MIT AND ISC", true),
            ("(GPL-3.0 OR MIT) AND ISC", true),
            ("(GPL-3.0 OR MIT) AND Zlib", false),
            ("ISC AND (Zlib OR (MIT AND (ISC)))", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0", false),
            ("MIT WITH LLVM-exception", false),
        ] {
            assert_eq!(allows(expression, &allowed), Ok(is_allowed), "{expression}");
        }
    }

    #[test]
    fn what_is_no_expression_is_not_guessed_at() {
        for expression in ["", "MIT OR", "OR MIT", "MIT ISC", "(MIT", "MIT)", "MIT WITH", "AND"] {
            assert!(allows(expression, &["MIT".to_owned()]).is_err(), "{expression}");
        }
    }
}
