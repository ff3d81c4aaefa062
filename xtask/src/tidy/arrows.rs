//! The arrows between crates: which of ours each may depend on, and who may name a library.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::Findings;
use crate::Failure;

/// Which of our crates each crate may depend on, by folder below `crates`. An arrow that is not here is an error, and so is
/// a crate. No arrow leads from `platform` to `provider` or back, and none from `kit` to either.
const ALLOWED_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("contract", &[]),
    ("kit-colour", &[]),
    ("kit-runtime", &[]),
    ("kit-outbound", &[]),
    ("kit-push", &[]),
    ("kit-http", &["kit-runtime"]),
    ("kit-design", &["kit-colour", "kit-http", "kit-runtime"]),
    ("kit-engine", &["kit-runtime"]),
    ("kit-identity", &["kit-runtime"]),
    ("kit-mail", &["kit-runtime"]),
    ("kit-openid", &["kit-identity", "kit-outbound", "kit-runtime"]),
    ("platform-rules", &["contract"]),
    (
        "platform-core",
        &[
            "contract",
            "kit-colour",
            "kit-identity",
            "kit-mail",
            "kit-openid",
            "kit-outbound",
            "kit-push",
            "kit-runtime",
            "platform-rules",
        ],
    ),
    ("platform-store", &["contract", "kit-engine", "kit-identity", "kit-runtime", "platform-core", "platform-rules"]),
    ("platform-api", &["contract", "kit-http", "kit-runtime", "platform-core", "platform-rules"]),
    (
        "platform-admin",
        &[
            "contract",
            "kit-design",
            "kit-http",
            "kit-identity",
            "kit-runtime",
            "platform-core",
            "platform-rules",
            "platform-words",
        ],
    ),
    (
        "platform-saleroom",
        &["contract", "kit-design", "kit-http", "kit-runtime", "platform-core", "platform-rules", "platform-words"],
    ),
    ("platform-words", &["contract", "kit-design", "platform-core", "platform-rules"]),
    ("provider-core", &["kit-colour", "kit-identity", "kit-mail", "kit-openid", "kit-outbound", "kit-runtime"]),
    ("provider-store", &["kit-engine", "kit-identity", "kit-runtime", "provider-core"]),
    ("provider-api", &["kit-http", "kit-runtime", "provider-core"]),
    ("provider-pages", &["kit-design", "kit-http", "kit-runtime", "provider-core"]),
    ("consumer", &["contract", "kit-outbound", "kit-runtime"]),
    (
        "lotwire",
        &[
            "consumer",
            "contract",
            "kit-design",
            "kit-engine",
            "kit-http",
            "kit-mail",
            "kit-openid",
            "kit-outbound",
            "kit-runtime",
            "platform-admin",
            "platform-api",
            "platform-core",
            "platform-rules",
            "platform-saleroom",
            "platform-store",
            "provider-api",
            "provider-core",
            "provider-pages",
            "provider-store",
        ],
    ),
    ("testkit", &["consumer", "contract", "kit-http", "kit-outbound", "kit-runtime"]),
    ("rigs", &["consumer", "contract", "kit-outbound", "kit-runtime", "testkit"]),
    ("stories", &[]),
    ("adversary", &[]),
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
    ("openidconnect", &["kit-openid"]),
    ("chrono", &["kit-openid"]),
];
const STORES: &[&str] = &["kit-engine", "platform-store", "provider-store"];

/// Checks the dependencies of one manifest.
pub(super) fn check(path: &Path, found: &mut Findings) -> Result<(), Failure> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let manifest: toml::Table = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let name = manifest["package"]["name"].as_str().unwrap_or_default();
    let names_of = |section: &str| -> Vec<String> {
        let table = manifest.get(section).and_then(toml::Value::as_table);
        table.map(|table| table.keys().cloned().collect()).unwrap_or_default()
    };
    let dependencies = names_of("dependencies");
    found.errors(wrong_arrows(name, &dependencies));
    for library in dependencies.into_iter().chain(names_of("dev-dependencies")) {
        if crosses_wings(name, &library) {
            found.error(format!(
                "{name} must not depend on {library}: the platform and the provider meet over HTTP only"
            ));
        }
        for (confined, homes) in SINGLE_USER_LIBRARIES {
            if library == *confined && !homes.contains(&name) {
                found.error(format!("{name} depends on {confined}; only {} may", homes.join(", ")));
            }
        }
    }
    if manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool) != Some(true) {
        found.error(format!("{name} does not use the workspace's lints: add [lints] workspace = true"));
    }
    Ok(())
}

fn wrong_arrows(name: &str, dependencies: &[String]) -> Vec<String> {
    let arrows: BTreeMap<&str, &[&str]> = ALLOWED_DEPENDENCIES.iter().copied().collect();
    let Some(allowed) = arrows.get(name) else {
        return vec![format!("crate {name} is missing from the table in xtask/src/tidy/arrows.rs")];
    };
    dependencies
        .iter()
        .filter(|dependency| arrows.contains_key(dependency.as_str()) && !allowed.contains(&dependency.as_str()))
        .map(|dependency| format!("{name} must not depend on {dependency}"))
        .collect()
}

/// An arrow between the wings is refused for tests, too.
fn crosses_wings(name: &str, dependency: &str) -> bool {
    let is_arrow = |from: &str, to: &str| name.starts_with(from) && dependency.starts_with(to);
    is_arrow("platform-", "provider-") || is_arrow("provider-", "platform-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_that_is_not_in_the_table_is_an_error() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(wrong_arrows("platform-core", &names(&["platform-rules", "serde"])), Vec::<String>::new());
        assert_eq!(
            wrong_arrows("platform-core", &names(&["provider-core"])),
            ["platform-core must not depend on provider-core"]
        );
        assert_eq!(
            wrong_arrows("platform-rules", &names(&["kit-runtime"])),
            ["platform-rules must not depend on kit-runtime"]
        );
        assert_eq!(wrong_arrows("attic", &[]), ["crate attic is missing from the table in xtask/src/tidy/arrows.rs"]);
    }

    #[test]
    fn no_arrow_leads_from_one_wing_to_the_other() {
        assert!(crosses_wings("platform-api", "provider-core"));
        assert!(crosses_wings("provider-pages", "platform-core"));
        assert!(!crosses_wings("provider-pages", "provider-core"));
        assert!(!crosses_wings("lotwire", "provider-core"));
    }
}
