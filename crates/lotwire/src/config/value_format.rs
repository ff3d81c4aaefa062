//! The format and the limits of each setting's value, for error messages and the reference page.

use super::settings::{Setting, SettingKind};

/// The values that a setting accepts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueFormat {
    /// Completes "It must be …".
    pub(crate) words: &'static str,
    /// An example as a variable contains it. Empty: no example is shown.
    pub(crate) example: &'static str,
}

const ADDRESS: &str = "an IP address or a host name, with a port";
const SUBNETS: ValueFormat = value_format("a list of subnets in CIDR notation", "127.0.0.0/8,10.1.0.0/16");
const DURATION: ValueFormat = value_format("a duration of up to 30 days", "30s");
const TIMEOUT: ValueFormat = value_format("a duration from 1ms to 5m", "30s");

const fn value_format(words: &'static str, example: &'static str) -> ValueFormat {
    ValueFormat { words, example }
}

impl Setting {
    /// The format of the setting's value.
    pub(crate) fn value_format(&self) -> ValueFormat {
        match self.path {
            "roles" => value_format("`platform`, `provider` or both", "platform,provider"),
            "worker_threads" => value_format("a whole number from 0 to 1024", "4"),
            "connections_per_address" => value_format("a whole number from 1 to 20000", "256"),
            "disk_reserve_mib" => value_format("a whole number from 0 to 1000000000", "512"),
            "platform.purchases_kept_days" => value_format("a whole number from 0 to 36500", "3650"),
            "platform.mail_retention_days" => value_format("a whole number from 1 to 3650", "30"),
            "platform.house_mails_per_hour" => value_format("a whole number from 1 to 1000000", "1000"),
            "platform.house_mails_per_day" => value_format("a whole number from 1 to 1000000", "5000"),
            "provider.message_retention_days" => value_format("a whole number from 3 to 3650", "90"),
            "provider.payload_retention_days" => value_format("a whole number from 1 to 3650", "90"),
            "provider.activity_retention_days" => value_format("a whole number from 30 to 3650", "400"),
            "request_bodies_mib" => value_format("a whole number from 16 to 65536", "256"),
            "database.url" => value_format("a PostgreSQL URL, or empty", "postgres://user:password@host/database"),
            "database.pool_size" => value_format("a whole number from 2 to 1000", "16"),
            "database.statement_timeout" => value_format("a duration from 1s to 10m", "60s"),
            "platform.listen" => value_format(ADDRESS, "127.0.0.1:8080"),
            "provider.listen" => value_format(ADDRESS, "127.0.0.1:8071"),
            "saleroom.listen" => value_format(ADDRESS, "127.0.0.1:8073"),
            "saleroom.public_url" => value_format("an http or https URL, or empty", "https://bid.example.com"),
            "saleroom.dns_servers" => {
                value_format("a list of IP addresses with a port", "192.0.2.53:53,[2001:db8::53]:53")
            }
            "mail.smtp_url" => value_format("an smtp or smtps URL, or empty", "smtps://user:password@mail.example.com"),
            "mail.from" => {
                value_format("an e-mail address with or without a name, or empty", "Lotwire <alerts@example.com>")
            }
            "tracing.otlp_endpoint" => {
                value_format("an http or https URL, or empty", "http://collector.example.com:4318")
            }
            "tracing.sample_percent" => value_format("a whole number from 0 to 100", "10"),
            "metrics.listen" => value_format("an IP address or a host name, with a port; or empty", "127.0.0.1:9090"),
            "platform.tls_listen" | "provider.tls_listen" | "saleroom.tls_listen" => {
                value_format("an IP address or a host name, with a port; or empty", "0.0.0.0:443")
            }
            "tls.certificates" => value_format(
                "a list of PEM files with chain and key, of folders with `fullchain.pem` and `privkey.pem`, or with `tls.crt` and `tls.key`, or of folders of such folders",
                "/etc/lotwire/tls/auctions.example.com,/etc/lotwire/tls/hooks.pem",
            ),
            "platform.public_url" => value_format("an http or https URL, or empty", "https://auctions.example.com"),
            "platform.environment" => value_format("at most 24 characters, or empty", "Staging"),
            "platform.provider_url" | "provider.public_url" | "provider.node_url" => {
                value_format("an http or https URL, or empty", "https://hooks.example.com")
            }
            "platform.rate_limit" => value_format("a whole number from 0 to 100000000", "600000"),
            "platform.publish_concurrency" | "provider.endpoint_concurrency" => {
                value_format("a whole number from 1 to 1000", "64")
            }
            "platform.publish_timeout" | "provider.request_timeout" => TIMEOUT,
            "platform.session_ttl" => value_format("a duration from 1m to 30 days", "12h"),
            "platform.session_idle" => value_format("a duration from 2m to 30 days", "1h"),
            "platform.sign_in_attempts" => value_format("a whole number from 3 to 1000", "10"),
            "platform.trusted_proxies"
            | "platform.allowed_provider_networks"
            | "provider.trusted_proxies"
            | "provider.allow_subnets"
            | "saleroom.push_networks" => SUBNETS,
            "provider.retry_schedule" => value_format("a list of at most 50 durations, each up to 30 days", "5s,5m,2h"),
            "provider.proxy" => {
                value_format("an http or socks5 URL, or empty", "http://user:password@proxy.example.com:3128")
            }
            "provider.tls_roots" => value_format("the path of a readable PEM file, or empty", "/etc/lotwire/roots.pem"),
            "platform_openid.tls_roots" | "provider_openid.tls_roots" => {
                value_format("the path of a readable PEM file, or empty", "/etc/lotwire/roots.pem")
            }
            "platform_openid.issuer" | "provider_openid.issuer" => {
                value_format("an https URL, an http URL on this machine, or empty", "https://id.example.com")
            }
            "platform_openid.client_id" | "provider_openid.client_id" => {
                value_format("a text without spaces at its ends", "lotwire")
            }
            "platform_openid.client_secret" | "provider_openid.client_secret" => {
                value_format("a text without spaces at its ends, or empty", "secret")
            }
            "platform_openid.name" | "provider_openid.name" => {
                value_format("at most 40 characters, or empty", "Example Auctions")
            }
            "platform_openid.scopes" | "provider_openid.scopes" => value_format("a list of scopes", "email,profile"),
            "platform_openid.groups_claim" | "provider_openid.groups_claim" => {
                value_format("the name of a claim", "groups")
            }
            "platform_openid.roles" => value_format(
                "a list of entries `group=role` with the roles `administrator`, `operator`, `clerk`, `support` and `viewer`",
                "it-admins=administrator,sales=operator",
            ),
            "provider_openid.roles" => value_format(
                "a list of entries `group=role` with the roles `admin`, `member`, `support` and `viewer`",
                "it-admins=admin,engineers=member",
            ),
            "provider_openid.account" => {
                value_format("the id of an account, or empty", "org_2Yb1mVOZPfBOvFr9dkF4bBJsVqH")
            }
            "provider.drain_timeout" => value_format("a duration from 0s to 10m", "20s"),
            "provider.signature" => value_format("`hmac256` or `ed25519`", "hmac256"),
            "provider.key_region" => value_format("lower-case letters and digits, or empty", "eu"),
            "provider.requests_per_second" => value_format("a whole number from 1 to 1000000", "50000"),
            "provider.endpoints_per_application" => value_format("a whole number from 1 to 10000", "1000"),
            // No example: a printed key might be copied and used.
            "secrets.key" => value_format(
                "one or more keys, separated by commas: each 32 random bytes as base64 or hexadecimal (`openssl rand -hex 32`)",
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

    /// The example as a line of the configuration file.
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

/// Whether the setting is a duration, which its default shows: a duration is a text in the file.
fn is_duration(path: &str) -> bool {
    let defaults = super::table_of(&super::Config::default());
    let default = super::look_up(&defaults, path).and_then(toml::Value::as_str);
    default.is_some_and(|text| text.parse::<super::ConfigDuration>().is_ok())
}
