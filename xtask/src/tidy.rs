//! Checks what the compiler does not: arrows between crates and inside the cores, references, alert
//! rules, migrations, settings, forbidden phrases, real sleeps, and the size of files.

mod alerts;
mod arrows;
mod layers;
mod migrations;
mod phrases;
mod references;
mod settings;
mod sources;

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Failure, say};

/// What the checks found. Errors fail the task, warnings are printed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Findings {
    errors: Vec<String>,
    warnings: Vec<String>,
}

impl Findings {
    fn error(&mut self, error: String) {
        self.errors.push(error);
    }

    fn errors(&mut self, errors: Vec<String>) {
        self.errors.extend(errors);
    }

    fn warning(&mut self, warning: String) {
        self.warnings.push(warning);
    }
}

/// Runs every check and reports all findings.
pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    let found = check(root)?;
    for warning in &found.warnings {
        say(&format!("tidy: warning: {warning}"));
    }
    if found.errors.is_empty() {
        say("tidy: no errors");
        return Ok(());
    }
    Err(format!("tidy found {} errors:\n  {}", found.errors.len(), found.errors.join("\n  ")))
}

fn check(root: &Path) -> Result<Findings, Failure> {
    let mut found = Findings::default();
    let files = files_below(root)?;
    for manifest in files.iter().filter(|file| file.ends_with("Cargo.toml") && !file.starts_with(root.join("fuzz"))) {
        if manifest.parent() != Some(root) {
            arrows::check(manifest, &mut found)?;
        }
    }
    layers::check(root, &mut found)?;
    alerts::check(root, &mut found)?;
    migrations::check(root, &mut found)?;
    settings::check(root, &mut found)?;
    let phrases = phrases::Phrases::read(root)?;
    let references = references::References::new(root, &files)?;
    for file in &files {
        let Some(kind) = Kind::of(file) else { continue };
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = file.strip_prefix(root).unwrap_or(file).display().to_string();
        phrases.check(&name, kind, &text, &mut found);
        references.check(&name, kind, &text, &mut found);
        if kind == Kind::Rust {
            sources::check(&name, &text, &mut found);
            references::check_actors(&name, &text, &mut found);
        }
    }
    Ok(found)
}

/// Kinds of files whose text is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rust,
    Markdown,
    Toml,
}

impl Kind {
    fn of(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()? {
            "rs" => Some(Self::Rust),
            "md" => Some(Self::Markdown),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }

    /// The prose of a line: all of Markdown, elsewhere the comment. A marker within a string (`"https://…"`) is no comment.
    fn prose(self, line: &str) -> &str {
        let marker = match self {
            Self::Markdown => return line,
            Self::Rust => "//",
            Self::Toml => "#",
        };
        let trimmed = line.trim_start();
        if let Some(comment) = trimmed.strip_prefix(marker) {
            return comment;
        }
        let spaced = format!(" {marker} ");
        line.split_once(spaced.as_str())
            .map_or("", |(code, comment)| if code.matches('"').count().is_multiple_of(2) { comment } else { "" })
    }
}

/// All files of the project, sorted. Build output, installed packages and hidden folders are skipped.
fn files_below(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
            let path = entry.map_err(|error| error.to_string())?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_skipped =
                name.starts_with('.') || ["target", "node_modules", "lotwire-data"].contains(&name.as_str());
            if is_skipped {
                continue;
            }
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prose_of_a_line_is_its_comment() {
        assert_eq!(Kind::Rust.prose("    /// Why."), "/ Why.");
        assert_eq!(Kind::Rust.prose("let a = 1; // One."), "One.");
        assert_eq!(Kind::Rust.prose(r#"let a = "b // c";"#), "");
        assert_eq!(Kind::Markdown.prose("Text."), "Text.");
    }
}
