//! Licences and sources of all crates that can be built in, held against `deny.toml`; and advisories, as far as they can be had.
//!
//! The file is cargo-deny's. Licences, sources and banned crates are read from `cargo metadata` here, in a second: cargo-deny has to
//! be compiled first, which takes some minutes of two cores wherever CI starts anew. Advisories are its own matter: `--advisories`
//! installs it below `target`, and CI asks it where it is installed. A database that can't be fetched is said, and is no failure.

mod expression;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{Failure, cargo, root, run, say};

const HELP: &str = "\
cargo xtask deny [--advisories]

Holds licences and sources of all crates against deny.toml. With --advisories, RustSec's advisories are asked as well, by cargo-deny,
which is installed below target/cargo-deny (some minutes the first time); without, only where it is installed.
";

/// Workspaces, each with a lock file of its own.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "fuzz/Cargo.toml"];
const CARGO_DENY_VERSION: &str = "0.20.2";
/// Seconds in which a server that sends nothing is given up.
const STALLED_S: &str = "20";

/// What `deny.toml` allows.
struct Rules {
    licences: Vec<String>,
    /// Of a crate, further ones.
    exceptions: Vec<(String, Vec<String>)>,
    registries: Vec<String>,
    banned: Vec<String>,
}

/// Whether cargo-deny is installed when it is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Install {
    Yes,
    No,
}

/// `--advisories`, or nothing.
pub(crate) fn run_task(arguments: &[String]) -> Result<(), Failure> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let install = match arguments[..] {
        [] => Install::No,
        ["--advisories"] => Install::Yes,
        ["--help" | "-h"] => {
            say(HELP);
            return Ok(());
        }
        _ => return Err(format!("there is no {}\n\n{HELP}", arguments.join(" "))),
    };
    let rules = Rules::read(&root().join("deny.toml"))?;
    let mut problems = Vec::new();
    for manifest in MANIFESTS {
        let packages = packages(manifest)?;
        say(&format!("deny: {} crates of {manifest}", packages.len()));
        problems.extend(packages.iter().flat_map(|package| rules.problems(package)));
    }
    problems.sort();
    problems.dedup();
    if !problems.is_empty() {
        return Err(format!("deny.toml does not allow:\n  {}", problems.join("\n  ")));
    }
    advisories(install)
}

/// For CI: advisories where cargo-deny is installed.
pub(crate) fn check() -> Result<(), Failure> {
    run_task(&[])
}

impl Rules {
    fn read(path: &Path) -> Result<Self, Failure> {
        let failed = |error: String| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        Self::of(&text).map_err(failed)
    }

    fn of(text: &str) -> Result<Self, String> {
        let file: toml::Table = toml::from_str(text).map_err(|error| error.to_string())?;
        let list = |section: &str, name: &str| {
            let list = file.get(section).and_then(|section| section.get(name)).and_then(toml::Value::as_array);
            list.ok_or_else(|| format!("has no list `{name}` in [{section}]"))
        };
        let text = |value: &toml::Value| value.as_str().map(str::to_owned);
        let exception = |entry: &toml::Value| {
            let allowed = entry.get("allow").and_then(toml::Value::as_array)?;
            Some((entry.get("name").and_then(text)?, allowed.iter().filter_map(text).collect()))
        };
        Ok(Rules {
            licences: list("licenses", "allow")?.iter().filter_map(text).collect(),
            exceptions: list("licenses", "exceptions")?.iter().filter_map(exception).collect(),
            registries: list("sources", "allow-registry")?.iter().filter_map(text).collect(),
            banned: list("bans", "deny")?.iter().filter_map(|entry| entry.get("name").and_then(text)).collect(),
        })
    }

    fn licences_of(&self, package: Option<&str>) -> Vec<String> {
        let exceptions = self.exceptions.iter().filter(|(name, _)| Some(name.as_str()) == package);
        self.licences.iter().chain(exceptions.flat_map(|(_, allowed)| allowed)).cloned().collect()
    }

    /// What is not allowed about a package of `cargo metadata`.
    fn problems(&self, package: &Value) -> Vec<String> {
        let text = |name: &str| package[name].as_str();
        let called = format!("{} {}", text("name").unwrap_or_default(), text("version").unwrap_or_default());
        let mut problems = Vec::new();
        match text("license") {
            None => problems.push(format!("{called}: it names no licence")),
            Some(licence) => match expression::allows(licence, &self.licences_of(text("name"))) {
                Ok(true) => {}
                Ok(false) => problems.push(format!("{called}: the licence {licence}")),
                Err(why) => problems.push(format!("{called}: the licence {licence:?}: {why}")),
            },
        }
        // What has no source is in this repository.
        if let Some(source) = text("source") {
            let registry = source.strip_prefix("registry+");
            if !registry.is_some_and(|registry| self.registries.iter().any(|allowed| allowed == registry)) {
                problems.push(format!("{called}: the source {source}"));
            }
        }
        if self.banned.iter().any(|banned| Some(banned.as_str()) == text("name")) {
            problems.push(format!("{called}: it is banned"));
        }
        problems
    }
}

/// All packages that a workspace's lock file has, for whatever platform.
fn packages(manifest: &str) -> Result<Vec<Value>, Failure> {
    let mut metadata = Command::new(cargo());
    metadata.args(["metadata", "--format-version", "1", "--locked", "--all-features", "--manifest-path", manifest]);
    let output = metadata.current_dir(root()).output().map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata of {manifest}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    metadata["packages"].as_array().cloned().ok_or_else(|| "cargo metadata lists no packages".to_owned())
}

fn advisories(install: Install) -> Result<(), Failure> {
    let Some(program) = cargo_deny(install)? else {
        say(
            "deny: advisories were not looked at: cargo-deny is not installed (cargo xtask deny --advisories installs it)",
        );
        return Ok(());
    };
    let mut fetch = Command::new(&program);
    fetch.args(["fetch", "db"]).env("GIT_HTTP_LOW_SPEED_LIMIT", "1").env("GIT_HTTP_LOW_SPEED_TIME", STALLED_S);
    let fetched = fetch.current_dir(root()).output().map_err(|error| format!("cargo-deny: {error}"))?;
    if !fetched.status.success() {
        let why = String::from_utf8_lossy(&fetched.stderr);
        let why = why.trim().lines().last().unwrap_or_default();
        say(&format!("deny: advisories were not looked at: their database can't be fetched ({why})"));
        return Ok(());
    }
    for manifest in MANIFESTS {
        let mut check = Command::new(&program);
        check.args(["--manifest-path", manifest, "--config", "deny.toml", "--offline", "check", "advisories"]);
        run(&mut check)?;
    }
    Ok(())
}

/// The program, if it is there or is to be.
fn cargo_deny(install: Install) -> Result<Option<PathBuf>, Failure> {
    let folder = root().join("target/cargo-deny");
    let ours = folder.join("bin/cargo-deny");
    let is_there =
        |program: &Path| Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    if let Some(program) = [ours.clone(), PathBuf::from("cargo-deny")].into_iter().find(|program| is_there(program)) {
        return Ok(Some(program));
    }
    if install == Install::No {
        return Ok(None);
    }
    say(&format!("installing cargo-deny {CARGO_DENY_VERSION} in {}", folder.display()));
    let mut command = Command::new(cargo());
    command.args(["install", "cargo-deny", "--locked", "--quiet", "--version", CARGO_DENY_VERSION, "--root"]);
    run(command.arg(&folder))?;
    Ok(Some(ours))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const RULES: &str = "[licenses]\nallow = [\"MIT\"]\nexceptions = [{ name = \"fuzzer\", allow = [\"NCSA\"] }]\n[bans]\ndeny = [{ name = \"openssl\" }]\n[sources]\n\
                         allow-registry = [\"https://crates.example\"]\n";

    #[test]
    fn a_crate_is_refused_for_its_licence_its_source_or_its_name() {
        let rules = Rules::of(RULES).unwrap();
        let (ours, theirs) = (Value::Null, json!("registry+https://crates.example"));
        for (name, licence, source, refused) in [
            ("lots", json!("MIT"), &ours, &[][..]),
            ("rand", json!("MIT OR GPL-3.0"), &theirs, &[]),
            ("rand", json!("GPL-3.0"), &theirs, &["rand 1.0.0: the licence GPL-3.0"]),
            ("fuzzer", json!("MIT AND NCSA"), &theirs, &[]),
            ("rand", json!("MIT AND NCSA"), &theirs, &["rand 1.0.0: the licence MIT AND NCSA"]),
            ("rand", Value::Null, &theirs, &["rand 1.0.0: it names no licence"]),
            (
                "rand",
                json!("MIT OR"),
                &theirs,
                &["rand 1.0.0: the licence \"MIT OR\": a licence is missing at its end"],
            ),
            ("openssl", json!("MIT"), &theirs, &["openssl 1.0.0: it is banned"]),
            (
                "rand",
                json!("MIT"),
                &json!("git+https://git.example/rand"),
                &["rand 1.0.0: the source git+https://git.example/rand"],
            ),
        ] {
            let package = json!({ "name": name, "version": "1.0.0", "license": licence, "source": source });
            assert_eq!(rules.problems(&package), refused, "{package}");
        }
    }

    #[test]
    fn rules_without_a_list_are_no_rules() {
        assert!(
            Rules::of("[licenses]\nallow = []\nexceptions = []\n").is_err_and(|why| why.contains("`allow-registry`"))
        );
        assert!(Rules::read(&root().join("deny.toml")).is_ok_and(|rules| rules.licences.contains(&"MIT".to_owned())));
    }
}
