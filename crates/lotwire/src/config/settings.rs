//! What each configuration key means: the one list behind `config show`, the environment and the reference page.

use std::fmt::Write as _;

use super::Config;

/// What a value is, which decides how a variable's text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingKind {
    Text,
    Number,
    /// `true` or `false`.
    Switch,
    /// Comma-separated in a variable.
    List,
    /// Text that is never shown.
    Secret,
}

/// A configuration key.
#[derive(Debug)]
pub(crate) struct Setting {
    /// `section.key`, or `key` at the top.
    pub(crate) path: &'static str,
    pub(crate) kind: SettingKind,
    pub(crate) meaning: &'static str,
}

impl Setting {
    /// The variable that sets it.
    pub(crate) fn variable(&self) -> String {
        format!("LOTWIRE_{}", self.path.replace('.', "__").to_uppercase())
    }

    pub(crate) fn is_secret(&self) -> bool {
        self.kind == SettingKind::Secret
    }
}

const fn setting(path: &'static str, kind: SettingKind, meaning: &'static str) -> Setting {
    Setting { path, kind, meaning }
}

/// Every key, in the order of the reference page.
pub(crate) const SETTINGS: &[Setting] = &[
    setting(
        "data_dir",
        SettingKind::Text,
        "Directory of the SQLite files and of the secret key that is made when none is configured.",
    ),
    setting("roles", SettingKind::List, "What this process runs: `platform`, `provider` or both."),
    setting(
        "worker_threads",
        SettingKind::Number,
        "Threads that serve, decide and deliver, beside those of SQLite. 0: one for each core, and with SQLite one less, since its writer needs as much.",
    ),
    setting(
        "request_bodies_mib",
        SettingKind::Number,
        "MiB of request bodies in memory at the same time, over all ports, beyond the first 16 KiB of each: until they are answered. More are answered 503 `too_many_bodies` with `Retry-After`. A catalogue is read in pieces and does not count.",
    ),
    setting(
        "database.url",
        SettingKind::Secret,
        "PostgreSQL to use, as `postgres://user:password@host/database`; TLS as with libpq: `?sslmode=verify-full&sslrootcert=FILE` ([postgresql.md](postgresql.md)). Empty: SQLite in `data_dir`.",
    ),
    setting(
        "database.pool_size",
        SettingKind::Number,
        "PostgreSQL connections at most, for each of platform and provider.",
    ),
    setting("platform.listen", SettingKind::Text, "Address and port of the platform's API."),
    setting(
        "platform.provider_url",
        SettingKind::Text,
        "Base address of the delivery provider for customers connected without one. Empty: the embedded provider at `provider.listen`.",
    ),
    setting(
        "platform.rate_limit",
        SettingKind::Number,
        "Requests of one API key in a minute, counted by each node; more are answered 429 with `Retry-After`. 0: no limit.",
    ),
    setting(
        "platform.publish_concurrency",
        SettingKind::Number,
        "Events of one customer on their way to its provider at the same time.",
    ),
    setting(
        "platform.publish_timeout",
        SettingKind::Text,
        "How long the provider may take to answer when an event is published.",
    ),
    setting(
        "platform.publish_backoff_base",
        SettingKind::Text,
        "First pause after the provider failed; doubles with each failure.",
    ),
    setting(
        "platform.publish_backoff_cap",
        SettingKind::Text,
        "Longest such pause. A longer `Retry-After` of the provider is kept in full.",
    ),
    setting(
        "platform.downtime_grace",
        SettingKind::Text,
        "After a time in which no node was running, items whose end passed in it end so long after the first one is there again. `0s`: at once.",
    ),
    setting("platform.session_ttl", SettingKind::Text, "How long a person stays signed in, whatever they do."),
    setting(
        "platform.session_idle",
        SettingKind::Text,
        "How long a person stays signed in who does nothing, to within a minute.",
    ),
    setting(
        "platform.sign_in_attempts",
        SettingKind::Number,
        "Attempts in 15 minutes to sign in as one person; from one address five times as many. Then 429 with `Retry-After`.",
    ),
    setting(
        "platform.trusted_proxies",
        SettingKind::List,
        "Subnets of reverse proxies whose `X-Forwarded-For` is believed, so that attempts to sign in are counted for the caller's own address.",
    ),
    setting("provider.listen", SettingKind::Text, "Address and port of the provider's API."),
    setting(
        "provider.allow_subnets",
        SettingKind::List,
        "Subnets that deliveries may go to although they are private, such as `127.0.0.0/8`. Everything else that is not public is refused.",
    ),
    setting(
        "provider.retry_schedule",
        SettingKind::List,
        "Pauses between the attempts of one delivery, each taken with ±20 %. After the last, the delivery is given up. Empty: one attempt, and no retries.",
    ),
    setting(
        "provider.request_timeout",
        SettingKind::Text,
        "One deadline over connecting, sending and reading the answer of a delivery. Of it, connecting (name, TCP and TLS) may take 10 s.",
    ),
    setting(
        "provider.endpoint_concurrency",
        SettingKind::Number,
        "Deliveries under way to one endpoint at the same time.",
    ),
    setting(
        "provider.disable_after",
        SettingKind::Text,
        "An endpoint that has failed for so long without a success is disabled.",
    ),
    setting(
        "provider.https_only",
        SettingKind::Switch,
        "`true`: endpoints must be `https`, and nothing is delivered to those that are not.",
    ),
    setting(
        "provider.proxy",
        SettingKind::Secret,
        "Proxy that deliveries go through: `http://user:password@host:port` (CONNECT) or `socks5://…`. Names are resolved and judged here, and the proxy is told the address. Empty: none.",
    ),
    setting(
        "provider.tls_roots",
        SettingKind::Text,
        "PEM file of certificate authorities that deliveries trust beside those of the public web. Empty: none.",
    ),
    setting(
        "provider.drain_timeout",
        SettingKind::Text,
        "How long requests and deliveries under way may take to finish when the process is told to end. What is left is given to other nodes.",
    ),
    setting(
        "metrics.listen",
        SettingKind::Text,
        "Address and port of `/metrics` for Prometheus, open to whoever reaches it. Empty: off.",
    ),
    setting(
        "provider.signature",
        SettingKind::Text,
        "Kind of secret that is made for a new endpoint: `hmac256`, shared with the receiver, or `ed25519`, a key pair. A rotation keeps the kind.",
    ),
    setting(
        "provider.public_url",
        SettingKind::Text,
        "Base address under which customers reach the provider; links to the App Portal begin with it. Empty: `provider.listen`.",
    ),
    setting(
        "provider.key_region",
        SettingKind::Text,
        "Region that new API keys and tokens end with (`eu` makes `lwp_….eu`), by which clients find their server. Empty: none.",
    ),
    setting(
        "provider.trusted_proxies",
        SettingKind::List,
        "Subnets of reverse proxies whose `X-Forwarded-For` is believed, so that failed sign-ins are counted for the caller's own address.",
    ),
    setting(
        "provider.requests_per_second",
        SettingKind::Number,
        "API requests of one account a second, on each node; more are answered 429. `lotwire provider account set` makes exceptions.",
    ),
    setting(
        "provider.endpoints_per_application",
        SettingKind::Number,
        "Endpoints of one application at most. `lotwire provider account set` makes exceptions.",
    ),
    setting(
        "secrets.key",
        SettingKind::Secret,
        "Key that seals secrets at rest: 32 random bytes as base64 or hexadecimal. Several, separated by commas: the first seals, all open. Empty: `secret.key` in `data_dir`, made at first use.",
    ),
    setting(
        "log.level",
        SettingKind::Text,
        "Least level that is logged: `error`, `warn`, `info`, `debug`, `trace`, or a filter such as `info,platform=debug`.",
    ),
    setting("log.format", SettingKind::Text, "`text` for people, `json` for machines."),
];

/// The reference page, made from [`SETTINGS`] and the defaults.
pub(crate) fn reference() -> String {
    let defaults = super::sources::table_of(&Config::default());
    let mut page = String::from(
        "# Configuration\n\n<!-- Made by `cargo xtask generate` from crates/lotwire/src/config/keys.rs. -->\n\n\
         One TOML file (`--config FILE`), then `LOTWIRE_SECTION__KEY` variables, then flags; the later wins. Unknown keys are\n\
         errors. `lotwire config show` prints what is in effect and where each value comes from; `lotwire config check` says\n\
         whether it can be used. Durations are written `250ms`, `5s`, `30m`, `2h`; a list in a variable is separated by commas.\n\n\
         | key | variable | default | meaning |\n|---|---|---|---|\n",
    );
    for key in SETTINGS {
        let default = super::sources::look_up(&defaults, key.path).map_or(String::new(), |value| format!("`{value}`"));
        let _ = writeln!(page, "| `{}` | `{}` | {default} | {} |", key.path, key.variable(), key.meaning);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths of all values of a table, depth first.
    fn paths(table: &toml::Table, prefix: &str, into: &mut Vec<String>) {
        for (name, value) in table {
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            match value {
                toml::Value::Table(inner) => paths(inner, &path, into),
                _ => into.push(path),
            }
        }
    }

    #[test]
    fn every_key_of_the_configuration_is_described_once() {
        let mut there = Vec::new();
        paths(&super::super::sources::table_of(&Config::default()), "", &mut there);
        let mut described: Vec<String> = SETTINGS.iter().map(|key| key.path.to_owned()).collect();
        there.sort();
        described.sort();
        assert_eq!(there, described);
    }
}
