//! Licences, sources and banned crates of all dependencies, checked against `deny.toml`.
//!
//! The file is cargo-deny's, and `cargo deny check` reads it as well. This check reads the same three sections from
//! `cargo metadata` in a second, so that CI on a new machine does not compile cargo-deny first. Advisories need cargo-deny and
//! a network: `cargo deny check advisories`.

use serde_json::Value;
use spdx::{Expression, ParseMode};

use crate::{Failure, cargo, root, say};

/// The policy in `deny.toml`.
struct Policy {
    licences: Vec<String>,
    /// Further licences of one crate.
    exceptions: Vec<(String, Vec<String>)>,
    registries: Vec<String>,
    banned: Vec<String>,
}

/// Checks every crate of the lock file.
pub(crate) fn check() -> Result<(), Failure> {
    let text = std::fs::read_to_string(root().join("deny.toml")).map_err(|error| format!("deny.toml: {error}"))?;
    let policy = Policy::parse(&text).map_err(|error| format!("deny.toml: {error}"))?;
    let packages = packages()?;
    say(&format!("licences: {} crates", packages.len()));
    let mut problems: Vec<String> = packages.iter().flat_map(|package| policy.problems(package)).collect();
    problems.sort();
    problems.dedup();
    if problems.is_empty() { Ok(()) } else { Err(format!("deny.toml does not allow:\n  {}", problems.join("\n  "))) }
}

impl Policy {
    fn parse(text: &str) -> Result<Self, String> {
        let file: toml::Table = toml::from_str(text).map_err(|error| error.to_string())?;
        let list = |section: &str, name: &str| {
            let list = file.get(section).and_then(|section| section.get(name)).and_then(toml::Value::as_array);
            list.ok_or_else(|| format!("[{section}] has no list `{name}`"))
        };
        let text = |value: &toml::Value| value.as_str().map(str::to_owned);
        let exception = |entry: &toml::Value| {
            let allowed = entry.get("allow").and_then(toml::Value::as_array)?;
            Some((entry.get("name").and_then(text)?, allowed.iter().filter_map(text).collect()))
        };
        Ok(Policy {
            licences: list("licenses", "allow")?.iter().filter_map(text).collect(),
            exceptions: list("licenses", "exceptions")?.iter().filter_map(exception).collect(),
            registries: list("sources", "allow-registry")?.iter().filter_map(text).collect(),
            banned: list("bans", "deny")?.iter().filter_map(|entry| entry.get("name").and_then(text)).collect(),
        })
    }

    fn allows_licence(&self, package: &str, licence: &str) -> bool {
        let exceptions = self.exceptions.iter().filter(|(name, _)| name == package).flat_map(|(_, allowed)| allowed);
        self.licences.iter().chain(exceptions).any(|allowed| allowed == licence)
    }

    /// The violations of the policy by one package of `cargo metadata`.
    fn problems(&self, package: &Value) -> Vec<String> {
        let text = |name: &str| package[name].as_str();
        let name = text("name").unwrap_or_default();
        let title = format!("{name} {}", text("version").unwrap_or_default());
        let mut problems = Vec::new();
        match text("license").map(|licence| (licence, Expression::parse_mode(licence, ParseMode::LAX))) {
            None => problems.push(format!("{title}: it names no licence")),
            Some((licence, Err(error))) => problems.push(format!("{title}: licence {licence:?}: {}", error.reason)),
            Some((licence, Ok(expression))) => {
                if !expression.evaluate(|requirement| self.allows_licence(name, &requirement.license.to_string())) {
                    problems.push(format!("{title}: licence {licence}"));
                }
            }
        }
        // A package without a source is in this repository.
        if let Some(source) = text("source") {
            let registry = source.strip_prefix("registry+");
            if !registry.is_some_and(|registry| self.registries.iter().any(|allowed| allowed == registry)) {
                problems.push(format!("{title}: source {source}"));
            }
        }
        if self.banned.iter().any(|banned| banned == name) {
            problems.push(format!("{title}: it is banned"));
        }
        problems
    }
}

/// All packages of a workspace's lock file, for every platform.
fn packages() -> Result<Vec<Value>, Failure> {
    let mut metadata = cargo();
    metadata.args(["metadata", "--format-version", "1", "--locked", "--all-features"]);
    let output = metadata.current_dir(root()).output().map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    metadata["packages"].as_array().cloned().ok_or_else(|| "cargo metadata lists no packages".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const POLICY: &str = "[licenses]\nallow = [\"MIT\"]\nexceptions = [{ name = \"fuzzer\", allow = [\"NCSA\"] }]\n\
                          [bans]\ndeny = [{ name = \"openssl\" }]\n\
                          [sources]\nallow-registry = [\"https://crates.example\"]\n";

    #[test]
    fn a_crate_is_refused_for_its_licence_its_source_or_its_name() {
        let policy = Policy::parse(POLICY).unwrap();
        let ours = Value::Null;
        let theirs = json!("registry+https://crates.example");
        for (name, licence, source, expected) in [
            ("lots", json!("MIT"), &ours, None),
            ("rand", json!("MIT OR GPL-3.0-only"), &theirs, None),
            ("rand", json!("MIT/GPL-3.0-only"), &theirs, None),
            ("rand", json!("GPL-3.0-only"), &theirs, Some("rand 1.0.0: licence GPL-3.0-only")),
            ("fuzzer", json!("MIT AND NCSA"), &theirs, None),
            ("rand", json!("MIT AND NCSA"), &theirs, Some("rand 1.0.0: licence MIT AND NCSA")),
            ("rand", Value::Null, &theirs, Some("rand 1.0.0: it names no licence")),
            ("rand", json!("MIT OR"), &theirs, Some("rand 1.0.0: licence \"MIT OR\"")),
            ("openssl", json!("MIT"), &theirs, Some("openssl 1.0.0: it is banned")),
            ("rand", json!("MIT"), &json!("git+https://git.example/rand"), Some("rand 1.0.0: source git+")),
        ] {
            let package = json!({ "name": name, "version": "1.0.0", "license": licence, "source": source });
            let problems = policy.problems(&package);
            match expected {
                None => assert_eq!(problems, Vec::<String>::new(), "{package}"),
                Some(expected) => assert!(problems.len() == 1 && problems[0].starts_with(expected), "{problems:?}"),
            }
        }
    }

    #[test]
    fn a_policy_without_a_list_is_refused() {
        let incomplete = "[licenses]\nallow = []\nexceptions = []\n";
        assert!(Policy::parse(incomplete).is_err_and(|why| why.contains("`allow-registry`")));
    }
}
