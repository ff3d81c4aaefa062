//! What a started server prints: where it listens and keeps its data, and what to do next on an empty installation.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use crate::config::{Config, Role};

/// The commands that set up a customer on an installation with both roles, up to the first webhook.
const FIRST_COMMANDS: &[&str] = &[
    "account=$(lotwire provider account create \"Hartley & Sons\")",
    "key=$(lotwire provider key create --account \"$account\" --name platform)",
    "app=$(lotwire provider application create \"Web site\" --account \"$account\")",
    "customer=$(lotwire customer create \"Hartley & Sons\")",
    "printf %s \"$key\" | lotwire customer connect \"$customer\" --application \"$app\" --api-key-stdin --register-event-types",
];

pub(super) fn text(config: &Config, platform_url: &str, provider_url: &str, is_empty: bool) -> String {
    let store = if config.database.url.is_empty() { "SQLite" } else { "databases in PostgreSQL" };
    let mut lines = vec![
        format!("Lotwire {} is ready.", env!("CARGO_PKG_VERSION")),
        format!("  data directory  {} ({store})", absolute(&config.data_dir).display()),
    ];
    for (role, name, url) in [(Role::Platform, "platform", platform_url), (Role::Provider, "provider", provider_url)] {
        if config.runs(role) {
            lines.push(format!("  {name:<14}  {url}  (API documentation: {url}/docs)"));
        }
    }
    if config.runs(Role::Platform) {
        lines.push(format!("  administration  {platform_url}{}", platform_admin::PATH));
    }
    if config.opens_saleroom() {
        lines.push(match config.saleroom_hindrance() {
            Some(hindrance) => format!("  saleroom        {hindrance}"),
            None => {
                format!("  saleroom        {}/<address of a house>", config.saleroom.public_url.trim_end_matches('/'))
            }
        });
    }
    if config.runs(Role::Provider) {
        lines.push(format!("  dashboard       {provider_url}{}", provider_pages::dashboard::PATH));
    }
    if is_empty {
        lines.push(String::new());
        lines.extend(next_steps(config));
    }
    lines.join("\n")
}

fn next_steps(config: &Config) -> Vec<String> {
    let mut lines =
        vec!["The installation is empty. To create the first customer, run in another terminal:".to_owned()];
    lines.push(format!("  export LOTWIRE_DATA_DIR={}", quoted(&absolute(&config.data_dir).display().to_string())));
    if !config.database.url.is_empty() {
        // The URL contains a password.
        lines.push("  export LOTWIRE_DATABASE__URL='the URL that this server has'".to_owned());
    }
    match (config.runs(Role::Platform), config.runs(Role::Provider)) {
        (true, true) => lines.extend(FIRST_COMMANDS.iter().map(|command| format!("  {command}"))),
        (false, _) => lines.push(format!("  {}", FIRST_COMMANDS[0])),
        (true, false) => lines.push(format!("  {}", FIRST_COMMANDS[3])),
    }
    if config.runs(Role::Provider) {
        lines.push("To open the dashboard: lotwire provider account sign-in-code \"$account\"".to_owned());
    }
    if config.runs(Role::Platform) && config.runs(Role::Provider) {
        lines.push("To receive its events on this machine: lotwire listen --application \"$app\"".to_owned());
        let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
        if !config.provider.allow_subnets.iter().any(|subnet| subnet.contains(&loopback)) {
            lines.push(
                "The provider delivers to this machine only if you start the server with \
                 LOTWIRE_PROVIDER__ALLOW_SUBNETS=127.0.0.0/8."
                    .to_owned(),
            );
        }
    }
    lines
}

/// The path from the root, so that it holds in another directory too.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.components().collect())
}

/// The text as one word of a shell command.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config { data_dir: "/var/lib/lot wire".into(), ..Config::default() }
    }

    #[test]
    fn the_text_names_version_data_directory_and_addresses() {
        let text = text(&config(), "http://127.0.0.1:8080", "http://127.0.0.1:8071", false);
        for part in [
            env!("CARGO_PKG_VERSION"),
            "/var/lib/lot wire (SQLite)",
            "http://127.0.0.1:8080/docs",
            "http://127.0.0.1:8071/docs",
            "dashboard       http://127.0.0.1:8071/dashboard",
        ] {
            assert!(text.contains(part), "{part} is not in: {text}");
        }
        assert!(!text.contains("account create"), "{text}");
    }

    #[test]
    fn an_empty_installation_shows_the_commands_for_its_roles() {
        let empty = |config: &Config| text(config, "http://127.0.0.1:1", "http://127.0.0.1:2", true);
        let mut config = config();
        let both = empty(&config);
        assert!(both.contains("export LOTWIRE_DATA_DIR='/var/lib/lot wire'"), "{both}");
        assert!(FIRST_COMMANDS.iter().all(|command| both.contains(command)), "{both}");
        assert!(both.contains("LOTWIRE_PROVIDER__ALLOW_SUBNETS=127.0.0.0/8"), "{both}");
        config.provider.allow_subnets = vec!["127.0.0.0/8".parse().unwrap()];
        assert!(!empty(&config).contains("ALLOW_SUBNETS"));
        config.roles = vec![Role::Platform];
        config.database.url = "postgres://user:hush@db/lotwire".to_owned();
        let platform = empty(&config);
        assert!(platform.contains("lotwire customer create") && !platform.contains("provider account"), "{platform}");
        assert!(platform.contains("LOTWIRE_DATABASE__URL") && !platform.contains("hush"), "{platform}");
        assert!(!platform.contains("dashboard"), "{platform}");
        config.roles = vec![Role::Provider];
        let provider = empty(&config);
        assert!(
            provider.contains("lotwire provider account create") && provider.contains("sign-in-code"),
            "{provider}"
        );
    }

    #[test]
    fn the_commands_are_those_of_the_readme() {
        let readme = include_str!("../../../../../README.md");
        for command in FIRST_COMMANDS {
            assert!(readme.lines().any(|line| line == *command), "{command}");
        }
    }
}
