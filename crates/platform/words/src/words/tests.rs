//! Tests of the message files against each other, and against the sources that name messages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use fluent_syntax::ast::{CallArguments, Entry, Expression, InlineExpression, Pattern, PatternElement};

use super::*;

/// The messages of a language with the names of their variables.
fn messages(language: Language) -> BTreeMap<String, BTreeSet<String>> {
    let file = fluent_syntax::parser::parse(source(language)).expect("a message file without errors");
    let mut found = BTreeMap::new();
    for entry in file.body {
        let Entry::Message(message) = entry else { continue };
        let mut variables = BTreeSet::new();
        collect(message.value.as_ref().expect("a message with a text"), &mut variables);
        assert!(found.insert(message.id.name.to_owned(), variables).is_none(), "{} is there twice", message.id.name);
    }
    found
}

fn collect(pattern: &Pattern<&str>, variables: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        let PatternElement::Placeable { expression } = element else { continue };
        match expression {
            Expression::Inline(inline) => collect_inline(inline, variables),
            Expression::Select { selector, variants } => {
                collect_inline(selector, variables);
                variants.iter().for_each(|variant| collect(&variant.value, variables));
            }
        }
    }
}

fn collect_inline(inline: &InlineExpression<&str>, variables: &mut BTreeSet<String>) {
    match inline {
        InlineExpression::VariableReference { id } => {
            variables.insert(id.name.to_owned());
        }
        InlineExpression::FunctionReference { arguments: CallArguments { positional, .. }, .. } => {
            positional.iter().for_each(|inline| collect_inline(inline, variables));
        }
        _ => {}
    }
}

#[test]
fn every_language_has_the_messages_of_english_with_the_same_variables() {
    let english = messages(Language::English);
    for language in Language::ALL {
        let own = messages(language);
        let missing: Vec<_> = english.keys().filter(|key| !own.contains_key(*key)).collect();
        let others: Vec<_> = own.keys().filter(|key| !english.contains_key(*key)).collect();
        assert!(
            missing.is_empty() && others.is_empty(),
            "{language:?} lacks {missing:?} and has only itself {others:?}"
        );
        for (key, variables) in &english {
            assert_eq!(&own[key], variables, "variables of {key} in {language:?}");
        }
    }
}

/// Every source file that shows messages.
fn sources() -> Vec<(PathBuf, String)> {
    let platform = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    let mut folders = vec![platform.join("words/src"), platform.join("saleroom/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_source = path.extension().is_some_and(|kind| kind == "rs" || kind == "html");
            if path.is_dir() {
                folders.push(path);
            } else if is_source && !path.ends_with("words/tests.rs") {
                found.push((path.clone(), std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    assert!(found.len() > 20, "{found:?}");
    found
}

/// The literals after a call that names a message.
fn named(source: &str) -> Vec<&str> {
    let mut names = Vec::new();
    // A call may begin on the line after its subject.
    for call in [".of(", ".fill(", ".with(", "key("] {
        for (at, _) in source.match_indices(call) {
            let rest = source.get(at + call.len()..).unwrap_or_default().trim_start();
            let name = rest.strip_prefix('"').and_then(|rest| rest.split('"').next());
            let is_words =
                call == "key(" || source[..at].trim_end().ends_with("words") || source[..at].ends_with("of_request()");
            names.extend(name.filter(|name| is_words && !name.is_empty()));
        }
    }
    names
}

#[test]
fn every_message_that_a_source_names_exists_and_every_message_is_named() {
    let english = messages(Language::English);
    let sources = sources();
    for (path, source) in &sources {
        for name in named(source) {
            assert!(english.contains_key(name), "{} names the message {name}, which no file has", path.display());
        }
    }
    let is_used = |key: &str| sources.iter().any(|(_, source)| named(source).contains(&key));
    let unused: Vec<_> = english.keys().filter(|key| !is_used(key)).collect();
    assert!(unused.is_empty(), "no page shows {unused:?}");
}

#[test]
fn a_number_chooses_the_plural_of_its_language() {
    let bids = |language, n: i64| Words(language).with("lot-bid-count", [("n", n.into())]);
    assert_eq!(bids(Language::English, 1), "Current bid, 1 bid");
    assert_eq!(bids(Language::English, 7), "Current bid, 7 bids");
    assert_eq!(bids(Language::German, 7), "Aktuelles Gebot, 7 Gebote");
    let script = Words(Language::German).with("lot-bid-count", [("n", "{n}".into())]);
    assert_eq!(script, "Aktuelles Gebot, {n} Gebote", "a placeholder of a script stays");
}

#[test]
fn a_missing_message_is_shown_by_its_name_and_never_fails() {
    assert_eq!(Words(Language::German).of("no-such-message"), "no-such-message");
    assert_eq!(Words(Language::German).of("lot-ends"), "Endet {$time}", "a message without its value");
}

#[test]
fn a_rate_has_the_decimal_mark_of_its_language() {
    assert_eq!(Words(Language::English).percent(1_750), "17.5\u{a0}%");
    assert_eq!(Words(Language::French).percent(1_750), "17,5\u{a0}%");
}
