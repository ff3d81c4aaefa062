//! References that must resolve: links and anchors of Markdown, and paths, source files and modules of this repository wherever
//! prose names them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::{Findings, Kind};
use crate::Failure;

/// Folders of the repository: a path in prose that begins with one of them must exist.
const FOLDERS: &[&str] = &["crates/", "docs/", "fuzz/", "packaging/", "xtask/"];
/// Paths below these appear when a task runs.
const GENERATED: &[&str] = &["fuzz/artifacts", "fuzz/corpus"];

pub(super) struct References {
    /// Files and folders, relative to the root.
    paths: BTreeSet<PathBuf>,
    /// Names of all Markdown files.
    documents: BTreeSet<String>,
    /// Anchors of each Markdown file.
    anchors: BTreeMap<PathBuf, BTreeSet<String>>,
}

impl References {
    pub(super) fn new(root: &Path, files: &[PathBuf]) -> Result<Self, Failure> {
        let mut paths = BTreeSet::new();
        let mut documents = BTreeSet::new();
        let mut anchors = BTreeMap::new();
        for file in files {
            let path = file.strip_prefix(root).unwrap_or(file).to_owned();
            paths.extend(path.ancestors().map(Path::to_owned));
            if path.extension().is_some_and(|extension| extension == "md") {
                let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
                anchors.insert(path.clone(), anchors_of(&text));
                documents.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
            }
        }
        Ok(Self { paths, documents, anchors })
    }

    pub(super) fn check(&self, name: &str, kind: Kind, text: &str, found: &mut Findings) {
        let mut is_code_block = false;
        for (number, line) in (1..).zip(text.lines()) {
            if kind == Kind::Markdown && line.trim_start().starts_with("```") {
                is_code_block = !is_code_block;
            }
            let prose = kind.prose(line);
            if prose.is_empty() {
                continue;
            }
            if kind == Kind::Markdown && !is_code_block {
                for target in link_targets(prose) {
                    if let Some(why) = self.dead_link(Path::new(name), target) {
                        found.error(format!("{name}:{number} links to {target}: {why}"));
                    }
                }
            }
            // A dead path in a link is one error, not two.
            let is_link_target = |path: &str| kind == Kind::Markdown && prose.contains(&format!("]({path}"));
            for path in named_paths(prose) {
                if !self.exists(path) && !is_link_target(path) {
                    found.error(format!("{name}:{number} names {path}, which does not exist"));
                }
            }
            for source in named_sources(prose) {
                if !self.paths.iter().any(|path| path.ends_with(source)) {
                    found.error(format!("{name}:{number} names {source}, and no source file has that name"));
                }
            }
            // A changelog tells of documents that moved later.
            if kind != Kind::Markdown {
                for document in named_documents(prose) {
                    if !self.documents.contains(document) {
                        found.error(format!("{name}:{number} names {document}, which is not in this repository"));
                    }
                }
            }
        }
    }

    fn exists(&self, path: &str) -> bool {
        let is_generated = GENERATED.iter().any(|folder| path.starts_with(folder));
        is_generated || self.paths.contains(Path::new(path.trim_end_matches('/')))
    }

    fn dead_link(&self, from: &Path, target: &str) -> Option<&'static str> {
        if target.contains("://") || target.starts_with("mailto:") {
            return None;
        }
        let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
        let path = if file.is_empty() { from.to_owned() } else { joined(from.parent().unwrap_or(Path::new("")), file) };
        if !self.paths.contains(&path) {
            return Some("there is no such file");
        }
        let is_dead = anchor.is_some_and(|anchor| self.anchors.get(&path).is_some_and(|known| !known.contains(anchor)));
        is_dead.then_some("the file has no such heading")
    }
}

/// The modules that a file with modules names in the paragraph "Actors:" of its description are declared there.
pub(super) fn check_actors(name: &str, text: &str, found: &mut Findings) {
    if !text.lines().any(|line| line.contains("mod ") && line.ends_with(';')) {
        return;
    }
    let description = text.lines().map_while(|line| line.strip_prefix("//!"));
    let is_actors = |line: &&str| !line.is_empty();
    for line in description.skip_while(|line| !line.starts_with(" Actors:")).take_while(is_actors) {
        for module in line.split('`').skip(1).step_by(2) {
            let is_name = module.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
            if is_name && !text.contains(&format!("mod {module};")) && !text.contains(&format!("fn {module}(")) {
                found.error(format!("{name} names the actor {module}, which is no module of it"));
            }
        }
    }
}

/// `folder` and a relative path, without `.` and `..`.
fn joined(folder: &Path, relative: &str) -> PathBuf {
    let mut path = folder.to_owned();
    for component in Path::new(relative).components() {
        match component {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

/// Targets of `[text](target)`.
fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// Paths of this repository that a line names. One with a placeholder (`<`, `*`, `…`, capitals as in `NNNN`) names none.
fn named_paths(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "/._-{}*<>…".contains(letter);
    line.split(move |letter: char| !is_part(letter))
        .map(|word| word.trim_end_matches(['.', '-']))
        .filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder) && word.len() > folder.len()))
        .filter(|word| !word.contains(['{', '*', '<', '…']) && !word.contains("NNNN"))
}

/// Markdown files that a line names without a folder.
fn named_documents(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    line.split(move |letter: char| !is_part(letter))
        .map(|word| word.trim_end_matches('.'))
        .filter_map(|word| word.rsplit('/').next())
        .filter(|word| word.len() > 3 && word.ends_with(".md") && !word.contains("NNNN"))
}

/// Rust files that a line names, with or without folders, but not from the root of the repository.
fn named_sources(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "/._-*<>{}…".contains(letter);
    line.split(move |letter: char| !is_part(letter))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| word.len() > 3 && word.ends_with(".rs") && !word.contains(['{', '*', '<', '…']))
        .filter(|word| !word.starts_with('.') && !FOLDERS.iter().any(|folder| word.starts_with(folder)))
}

/// Anchors as the common hosts of Git repositories make them of headings.
fn anchors_of(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut is_code_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code_block = !is_code_block;
        }
        if is_code_block || !line.starts_with('#') {
            continue;
        }
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || "-_ ".contains(*letter));
        let anchor: String = kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect();
        let mut unique = anchor.clone();
        let mut number = 0;
        while !anchors.insert(unique.clone()) {
            number += 1;
            unique = format!("{anchor}-{number}");
        }
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references() -> References {
        let paths = ["docs/a.md", "docs/b/c.md", "crates/x/src/lib.rs"].map(PathBuf::from);
        let all = paths.iter().flat_map(|path| path.ancestors().map(Path::to_owned)).collect();
        let anchors = BTreeMap::from([(paths[0].clone(), anchors_of("# One: two\n## Same\n## Same\n"))]);
        References { paths: all, documents: BTreeSet::from(["a.md".to_owned(), "c.md".to_owned()]), anchors }
    }

    fn errors(name: &str, kind: Kind, text: &str) -> Vec<String> {
        let mut found = Findings::default();
        references().check(name, kind, text, &mut found);
        found.errors
    }

    #[test]
    fn a_dead_link_is_an_error() {
        let link = |target: &str| errors("docs/b/c.md", Kind::Markdown, &format!("See [it]({target})."));
        for target in ["../a.md", "../a.md#one-two", "../a.md#same-1", "https://example.org", "c.md"] {
            assert_eq!(link(target), Vec::<String>::new(), "{target}");
        }
        assert_eq!(link("../gone.md"), ["docs/b/c.md:1 links to ../gone.md: there is no such file"]);
        assert_eq!(link("../a.md#three"), ["docs/b/c.md:1 links to ../a.md#three: the file has no such heading"]);
    }

    #[test]
    fn a_path_that_does_not_exist_is_an_error_in_a_comment_and_in_prose() {
        assert_eq!(errors("x.rs", Kind::Rust, "// See docs/a.md, and `crates/x/src/lib.rs`."), Vec::<String>::new());
        assert_eq!(errors("x.rs", Kind::Rust, "// docs/decisions/NNNN-title.md, crates/*/src"), Vec::<String>::new());
        assert_eq!(
            errors("docs/a.md", Kind::Markdown, "In `crates/y/src`."),
            ["docs/a.md:1 names crates/y/src, which does not exist"]
        );
    }

    #[test]
    fn a_source_file_that_does_not_exist_is_an_error() {
        assert_eq!(errors("x.rs", Kind::Rust, "// In `lib.rs`, `src/lib.rs` and *.rs."), Vec::<String>::new());
        assert_eq!(
            errors("docs/a.md", Kind::Markdown, "In `gone.rs`."),
            ["docs/a.md:1 names gone.rs, and no source file has that name"]
        );
    }

    #[test]
    fn an_actor_that_is_no_module_is_an_error() {
        let mut found = Findings::default();
        let text = "//! Purpose.\n//!\n//! Actors: `worker` and\n//! `gone`.\n//!\n//! `other`.\nmod worker;\n";
        check_actors("x.rs", text, &mut found);
        assert_eq!(found.errors, ["x.rs names the actor gone, which is no module of it"]);
    }

    #[test]
    fn a_document_that_is_not_in_the_repository_is_an_error_in_a_comment() {
        assert_eq!(errors("x.rs", Kind::Rust, "// As a.md says."), Vec::<String>::new());
        assert_eq!(
            errors("x.rs", Kind::Rust, "// As elsewhere.md says."),
            ["x.rs:1 names elsewhere.md, which is not in this repository"]
        );
    }
}
