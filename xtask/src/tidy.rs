//! Checks what the compiler does not: the arrows between crates, and the house rules that can be read off the text.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Failure, say};

/// Which of our crates each crate may depend on, by folder below `crates`. An arrow that is not here is an error, and so is
/// a crate. No arrow leads from `platform` to `provider` or back, and none from `kit` to either.
const ALLOWED_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("contract", &[]),
    ("kit-runtime", &[]),
    ("kit-outbound", &[]),
    ("kit-http", &["kit-runtime"]),
    ("kit-engine", &["kit-runtime"]),
    ("platform-rules", &["contract"]),
    ("platform-core", &["contract", "kit-outbound", "kit-runtime", "platform-rules"]),
    ("platform-store", &["contract", "kit-engine", "kit-runtime", "platform-core", "platform-rules"]),
    ("platform-api", &["contract", "kit-http", "kit-runtime", "platform-core", "platform-rules"]),
    ("provider-core", &["kit-outbound", "kit-runtime"]),
    ("provider-store", &["kit-engine", "kit-runtime", "provider-core"]),
    ("provider-api", &["kit-http", "kit-runtime", "provider-core"]),
    ("provider-pages", &["kit-http", "kit-runtime", "provider-core"]),
    ("consumer", &["contract", "kit-outbound", "kit-runtime"]),
    (
        "lotwire",
        &[
            "consumer",
            "contract",
            "kit-engine",
            "kit-http",
            "kit-outbound",
            "kit-runtime",
            "platform-api",
            "platform-core",
            "platform-rules",
            "platform-store",
            "provider-api",
            "provider-core",
            "provider-pages",
            "provider-store",
        ],
    ),
    ("testkit", &["consumer", "contract", "kit-outbound", "kit-runtime"]),
    ("rigs", &["consumer", "contract", "kit-outbound", "kit-runtime", "testkit"]),
    ("stories", &[]),
    ("xtask", &[]),
];

/// Libraries that only these crates of ours may name.
const SINGLE_USER_LIBRARIES: &[(&str, &[&str])] = &[
    ("rusqlite", STORES),
    ("tokio-postgres", STORES),
    ("deadpool-postgres", STORES),
    ("refinery", STORES),
    ("tokio-postgres-rustls", &["kit-engine"]),
    ("chacha20poly1305", &["kit-runtime"]),
];
const STORES: &[&str] = &["kit-engine", "platform-store", "provider-store"];

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
    let is_manifest = |path: &Path| path.file_name().is_some_and(|name| name == "Cargo.toml");
    let mut manifests = files_below(&[root.join("crates"), root.join("xtask")], is_manifest)?;
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
    found.extend(forbidden_dependencies(name, &names_of("dependencies")));
    let everything = ["dependencies", "dev-dependencies"].iter().flat_map(|section| names_of(section));
    for library in everything {
        for (confined, homes) in SINGLE_USER_LIBRARIES {
            if library == *confined && !homes.contains(&name) {
                found.push(format!("{name} names {confined}, which only {} may", homes.join(", ")));
            }
        }
    }
    if manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool) != Some(true) {
        found.push(format!("{name} does not take the workspace's lints"));
    }
    Ok(())
}

fn forbidden_dependencies(name: &str, dependencies: &[String]) -> Vec<String> {
    let arrows: BTreeMap<&str, &[&str]> = ALLOWED_DEPENDENCIES.iter().copied().collect();
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
    let is_source = |path: &Path| path.extension().is_some_and(|extension| extension == "rs");
    files_below(&[root.join("crates"), root.join("xtask")], is_source)
}

/// All files below some folders that `is_wanted` accepts, sorted; build output and installed packages are skipped.
fn files_below(folders: &[PathBuf], is_wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, Failure> {
    let (mut files, mut folders) = (Vec::new(), folders.to_vec());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
            let path = entry.map_err(|error| error.to_string())?.path();
            if path.is_dir() && !path.ends_with("target") && !path.ends_with("node_modules") {
                folders.push(path);
            } else if is_wanted(&path) {
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
        assert_eq!(forbidden_dependencies("platform-core", &names(&["platform-rules", "serde"])), Vec::<String>::new());
        assert_eq!(
            forbidden_dependencies("platform-core", &names(&["provider-core"])),
            ["platform-core must not depend on provider-core"]
        );
        assert_eq!(
            forbidden_dependencies("platform-rules", &names(&["kit-runtime"])),
            ["platform-rules must not depend on kit-runtime"]
        );
        assert_eq!(
            forbidden_dependencies("attic", &[]),
            ["crate attic has no place in the arrows of xtask/src/tidy.rs"]
        );
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
