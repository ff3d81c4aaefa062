//! The commands that error texts, pages and the documentation name exist.

use std::path::Path;

use clap::{Command, CommandFactory as _};

use super::Cli;

/// The texts of all files with these endings below a folder.
fn texts(folder: &Path, endings: &[&str], found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, endings, found);
        } else if endings.iter().any(|ending| path.extension().is_some_and(|own| own == *ending)) {
            // A text that continues on the next line.
            let text = std::fs::read_to_string(&path).unwrap().replace("\\\n", " ");
            found.push((path.display().to_string(), text));
        }
    }
}

/// The word of a command that is no subcommand, where one has to be.
fn unknown_word(command: &Command, words: &str) -> Option<String> {
    let mut command = command;
    for word in words.split_whitespace() {
        let is_name = word.chars().all(|char| char.is_ascii_lowercase() || char == '-') && !word.starts_with('-');
        if !command.has_subcommands() || !is_name {
            return None;
        }
        match command.find_subcommand(word) {
            Some(next) => command = next,
            None => return Some(word.to_owned()),
        }
    }
    None
}

#[test]
fn every_named_command_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in ["crates/lotwire/src", "crates/provider", "crates/platform", "docs"] {
        texts(&root.join(folder), &["rs", "html", "md"], &mut found);
    }
    let cli = Cli::command();
    let mut named = 0;
    for (file, text) in &found {
        for command in text.split("`lotwire ").skip(1) {
            let command = command.split('`').next().unwrap();
            named += 1;
            assert_eq!(unknown_word(&cli, command), None, "`lotwire {command}` in {file}");
        }
    }
    assert!(named > 100, "{named}");
    assert_eq!(unknown_word(&cli, "provider endpoint mend ep_1"), Some("mend".to_owned()));
}
