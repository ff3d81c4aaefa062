//! Checks what the compiler does not: the arrows between crates, and the house rules that can be read off the text.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Failure, say};

/// Which of our crates each crate may depend on. An arrow that is not here is an error, and so is a crate.
const ARROWS: &[(&str, &[&str])] = &[
    ("contract", &[]),
    ("auction", &["contract"]),
    ("runtime", &[]),
    ("outbound", &[]),
    ("platform", &["auction", "contract", "outbound", "runtime"]),
    ("provider", &["outbound", "runtime"]),
    ("store", &["auction", "contract", "platform", "provider", "runtime"]),
    ("http-kit", &["runtime"]),
    ("api", &["auction", "contract", "http-kit", "platform", "runtime"]),
    ("provider-api", &["http-kit", "provider", "runtime"]),
    ("web", &["http-kit", "provider", "runtime"]),
    ("consumer", &["contract", "outbound", "runtime"]),
    (
        "lotwire",
        &[
            "api",
            "auction",
            "consumer",
            "contract",
            "http-kit",
            "outbound",
            "platform",
            "provider",
            "provider-api",
            "runtime",
            "store",
            "web",
        ],
    ),
    ("testkit", &["consumer", "contract", "outbound", "runtime"]),
    ("rigs", &["consumer", "contract", "outbound", "runtime", "testkit"]),
    ("tests", &[]),
    ("xtask", &[]),
];

/// Libraries that only one crate of ours may name.
const ONLY_IN: &[(&str, &str)] = &[
    ("rusqlite", "store"),
    ("tokio-postgres", "store"),
    ("tokio-postgres-rustls", "store"),
    ("deadpool-postgres", "store"),
    ("refinery", "store"),
    ("chacha20poly1305", "runtime"),
];

/// Words that say that something is not finished; written in halves, so that this file does not hold them.
const UNFINISHED: &[&str] = &[concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
const UNFINISHED_CALLS: &[&str] = &[concat!("todo", "!("), concat!("unimplemented", "!(")];

const FILE_LINES_MAX: usize = 400;

/// Runs every check and reports all that they find.
pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    let found = findings(root)?;
    if found.is_empty() {
        say("tidy: the house is in order");
        return Ok(());
    }
    Err(format!("tidy found {}:\n  {}", found.len(), found.join("\n  ")))
}

fn findings(root: &Path) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for manifest in manifests(root)? {
        check_manifest(&manifest, &mut found)?;
    }
    for file in sources(root)? {
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        check_source(&file.strip_prefix(root).unwrap_or(&file).display().to_string(), &text, &mut found);
    }
    Ok(found)
}

fn manifests(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut manifests = vec![root.join("xtask/Cargo.toml")];
    for entry in fs::read_dir(root.join("crates")).map_err(|error| error.to_string())? {
        let manifest = entry.map_err(|error| error.to_string())?.path().join("Cargo.toml");
        if manifest.exists() {
            manifests.push(manifest);
        }
    }
    manifests.sort();
    Ok(manifests)
}

fn check_manifest(path: &Path, found: &mut Vec<String>) -> Result<(), Failure> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let manifest: toml::Table = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let name = manifest["package"]["name"].as_str().unwrap_or_default();
    let names_of = |section: &str| -> Vec<String> {
        let table = manifest.get(section).and_then(toml::Value::as_table);
        table.map(|table| table.keys().cloned().collect()).unwrap_or_default()
    };
    found.extend(wrong_arrows(name, &names_of("dependencies")));
    let everything = ["dependencies", "dev-dependencies"].iter().flat_map(|section| names_of(section));
    for library in everything {
        for (confined, home) in ONLY_IN {
            if library == *confined && name != *home {
                found.push(format!("{name} names {confined}, which only {home} may"));
            }
        }
    }
    if manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool) != Some(true) {
        found.push(format!("{name} does not take the workspace's lints"));
    }
    Ok(())
}

fn wrong_arrows(name: &str, dependencies: &[String]) -> Vec<String> {
    let arrows: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    let Some(allowed) = arrows.get(name) else {
        return vec![format!("crate {name} has no place in the arrows of xtask/src/tidy.rs")];
    };
    dependencies
        .iter()
        .filter(|dependency| arrows.contains_key(dependency.as_str()) && !allowed.contains(&dependency.as_str()))
        .map(|dependency| format!("{name} must not depend on {dependency}"))
        .collect()
}

fn sources(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let mut folders = vec![root.join("crates"), root.join("xtask")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
            let path = entry.map_err(|error| error.to_string())?.path();
            if path.is_dir() && !path.ends_with("target") && !path.ends_with("node_modules") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn check_source(name: &str, text: &str, found: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > FILE_LINES_MAX {
        found.push(format!("{name} has {lines} lines; a file has one subject and at most {FILE_LINES_MAX} lines"));
    }
    if !text.trim_start().starts_with("//!") && !text.trim_start().starts_with("#!") {
        found.push(format!("{name} does not open with what it is for (//!)"));
    }
    for (number, line) in (1..).zip(text.lines()) {
        // `XX` and one more is a currency code, too: in comments it is none.
        let comment = line.split_once("//").map_or("", |(_, comment)| comment);
        if UNFINISHED.iter().any(|word| comment.contains(word))
            || UNFINISHED_CALLS.iter().any(|call| line.contains(call))
        {
            found.push(format!("{name}:{number} says that it is not finished"));
        }
        if line.trim_start().starts_with("#[ignore") {
            found.push(format!("{name}:{number} ignores a test; mend it or delete it"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_is_in_order() {
        assert_eq!(findings(&crate::root()), Ok(Vec::new()));
    }

    #[test]
    fn an_arrow_against_the_plan_is_found() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(wrong_arrows("platform", &names(&["auction", "serde"])), Vec::<String>::new());
        assert_eq!(wrong_arrows("platform", &names(&["provider"])), ["platform must not depend on provider"]);
        assert_eq!(wrong_arrows("auction", &names(&["runtime"])), ["auction must not depend on runtime"]);
        assert_eq!(wrong_arrows("attic", &[]), ["crate attic has no place in the arrows of xtask/src/tidy.rs"]);
    }

    #[test]
    fn a_source_that_breaks_a_house_rule_is_found() {
        let check = |text: &str| {
            let mut found = Vec::new();
            check_source("a.rs", text, &mut found);
            found
        };
        assert_eq!(check("//! Fine.\nfn a() {}\n"), Vec::<String>::new());
        assert_eq!(check("fn a() {}\n").len(), 1);
        assert_eq!(check(&format!("//! Long.\n{}", "\n".repeat(401))).len(), 1);
        assert_eq!(check(&format!("//! Later.\n{}x)\n", concat!("todo", "!("))).len(), 1);
        assert_eq!(check(&format!("//! Skipped.\n#[{}]\n", "ignore")).len(), 1);
    }
}
