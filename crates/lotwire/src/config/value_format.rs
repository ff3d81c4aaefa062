//! How the value of each key is written: what errors tell whoever wrote another one.

use super::settings::{Setting, SettingKind};

/// What a key takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueFormat {
    /// Completes "it takes …".
    pub(crate) words: &'static str,
    /// A value as a variable has it; empty where none is given.
    pub(crate) example: &'static str,
}

const ADDRESS: ValueFormat = value_format("an IP address and a port", "127.0.0.1:8080");
const SUBNETS: ValueFormat =
    value_format("a list of subnets, each an address, a slash and how many bits count", "127.0.0.0/8,10.1.0.0/16");
const DURATION: ValueFormat = value_format("a duration, as 250ms, 5s, 30m or 2h, up to 30 days", "30s");
const PUBLISHING: ValueFormat = value_format("a duration from 1ms to 5m", "30s");

const fn value_format(words: &'static str, example: &'static str) -> ValueFormat {
    ValueFormat { words, example }
}

impl Setting {
    /// How its value is written.
    pub(crate) fn value_format(&self) -> ValueFormat {
        match self.path {
            "roles" => value_format("`platform`, `provider` or both", "platform,provider"),
            "worker_threads" => value_format("a whole number from 0 to 1024", "4"),
            "request_bodies_mib" => value_format("a whole number from 16 to 65536", "256"),
            "database.url" => value_format(
                "an address of PostgreSQL, or nothing for SQLite",
                "postgres://user:password@host/database",
            ),
            "database.pool_size" => value_format("a whole number from 2 to 1000", "16"),
            "platform.listen" | "provider.listen" => ADDRESS,
            "metrics.listen" => value_format("an IP address and a port, or nothing", "127.0.0.1:9090"),
            "platform.provider_url" | "provider.public_url" => {
                value_format("an http or https address, or nothing", "https://hooks.example.com")
            }
            "platform.rate_limit" => value_format("a whole number from 0 to 100000000", "600000"),
            "platform.publish_concurrency" | "provider.endpoint_concurrency" => {
                value_format("a whole number from 1 to 1000", "64")
            }
            "platform.publish_timeout" | "provider.request_timeout" => PUBLISHING,
            "platform.session_ttl" => value_format("a duration from 1m to 30 days", "12h"),
            "platform.session_idle" => value_format("a duration from 2m to 30 days", "1h"),
            "platform.sign_in_attempts" => value_format("a whole number from 3 to 1000", "10"),
            "platform.trusted_proxies" | "provider.trusted_proxies" | "provider.allow_subnets" => SUBNETS,
            "provider.retry_schedule" => value_format("a list of at most 50 durations, each up to 30 days", "5s,5m,2h"),
            "provider.proxy" => {
                value_format("an http or socks5 address, or nothing", "http://user:password@proxy.example.com:3128")
            }
            "provider.tls_roots" => {
                value_format("the path of a PEM file that can be read, or nothing", "/etc/lotwire/roots.pem")
            }
            "provider.drain_timeout" => value_format("a duration from 0s to 10m", "20s"),
            "provider.signature" => value_format("`hmac256` or `ed25519`", "hmac256"),
            "provider.key_region" => value_format("small letters and digits, or nothing", "eu"),
            "provider.requests_per_second" => value_format("a whole number from 1 to 1000000", "50000"),
            "provider.endpoints_per_application" => value_format("a whole number from 1 to 10000", "50"),
            // No key that works is printed for somebody to copy.
            "secrets.key" => value_format(
                "32 random bytes as base64 or hexadecimal, as `openssl rand -hex 32` prints them; several with commas between",
                "",
            ),
            "log.level" => value_format("`error`, `warn`, `info`, `debug`, `trace` or a filter", "info,platform=debug"),
            "log.format" => value_format("`text` or `json`", "json"),
            _ if is_duration(self.path) => DURATION,
            _ => match self.kind {
                SettingKind::Number => value_format("a whole number", "10"),
                SettingKind::Switch => value_format("`true` or `false`", "true"),
                SettingKind::List => value_format("a list of texts", "one,other"),
                SettingKind::Text | SettingKind::Secret => value_format("a text", "text"),
            },
        }
    }

    /// The example as the file has it.
    pub(crate) fn example_line(&self) -> String {
        let (name, example) =
            (self.path.rsplit_once('.').map_or(self.path, |(_, name)| name), self.value_format().example);
        match self.kind {
            SettingKind::Number | SettingKind::Switch => format!("{name} = {example}"),
            SettingKind::List => {
                let entries: Vec<String> = example.split(',').map(|entry| format!("\"{entry}\"")).collect();
                format!("{name} = [{}]", entries.join(", "))
            }
            SettingKind::Text | SettingKind::Secret => format!("{name} = \"{example}\""),
        }
    }
}

/// By their defaults: all durations are texts in the file.
fn is_duration(path: &str) -> bool {
    let defaults = super::table_of(&super::Config::default());
    let default = super::look_up(&defaults, path).and_then(toml::Value::as_str);
    default.is_some_and(|text| text.parse::<super::ConfigDuration>().is_ok())
}
