//! Configuration: defaults, a TOML file, `LOTWIRE_SECTION__KEY` variables, and flags. An unknown setting is an error.
//!
//! The loader checks each source alone first, so that an error names the line of the file, the variable or the flag.
//! Then a later source overrides an earlier one. [`settings`] describes every setting.

mod duration;
pub(crate) mod listen_address;
mod openid;
mod saleroom;
mod setting_error;
pub(crate) mod settings;
mod sources;
mod tls;
mod value_format;

use std::net::SocketAddr;
use std::path::PathBuf;

use ipnet::IpNet;
use kit_engine::OlderTables;
use kit_engine::postgres::PostgresConfig;
use provider_core::config::retention::RETENTION_DAYS_MAX;
use serde::{Deserialize, Serialize};

use self::openid::{OpenId, ProviderOpenId};
use self::saleroom::Saleroom;
use self::tls::Tls;
pub(crate) use self::tls::TlsPort;
pub(crate) use duration::ConfigDuration;
pub(crate) use sources::{Overrides, Resolved, load, look_up, table_of};

/// Characters of the badge of an environment.
const ENVIRONMENT_CHARS_MAX: usize = 24;
/// Bytes of a mebibyte.
const MIB: usize = 1024 * 1024;

/// A role of this process.
/// 100 years.
const PURCHASES_KEPT_DAYS_MAX: u32 = 36_500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    /// The auction platform with its API and the publisher.
    Platform,
    /// The embedded delivery provider.
    Provider,
}

impl Role {
    /// The name in the configuration, and the section of its settings.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Provider => "provider",
        }
    }
}

/// The whole configuration in effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) data_dir: PathBuf,
    pub(crate) disk_reserve_mib: u32,
    pub(crate) upgrade_copy: bool,
    pub(crate) roles: Vec<Role>,
    pub(crate) worker_threads: usize,
    pub(crate) request_bodies_mib: u32,
    pub(crate) connections_per_address: usize,
    pub(crate) database: Database,
    pub(crate) platform: Platform,
    pub(crate) platform_openid: OpenId,
    pub(crate) provider: Provider,
    pub(crate) provider_openid: ProviderOpenId,
    pub(crate) saleroom: Saleroom,
    pub(crate) tls: Tls,
    pub(crate) mail: Mail,
    pub(crate) metrics: Metrics,
    pub(crate) tracing: Tracing,
    pub(crate) secrets: Secrets,
    pub(crate) log: Log,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Database {
    pub(crate) url: String,
    pub(crate) pool_size: u16,
    pub(crate) statement_timeout: ConfigDuration,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Platform {
    #[serde(deserialize_with = "listen_address::deserialize")]
    pub(crate) listen: SocketAddr,
    pub(crate) tls_listen: String,
    pub(crate) public_url: String,
    pub(crate) environment: String,
    pub(crate) provider_url: String,
    pub(crate) allowed_provider_networks: Vec<IpNet>,
    pub(crate) rate_limit: u32,
    pub(crate) publish_concurrency: usize,
    pub(crate) publish_timeout: ConfigDuration,
    pub(crate) publish_backoff_base: ConfigDuration,
    pub(crate) publish_backoff_cap: ConfigDuration,
    pub(crate) downtime_grace: ConfigDuration,
    pub(crate) purchases_kept_days: u32,
    pub(crate) mail_retention_days: u32,
    pub(crate) house_mails_per_hour: u32,
    pub(crate) house_mails_per_day: u32,
    pub(crate) session_ttl: ConfigDuration,
    pub(crate) session_idle: ConfigDuration,
    pub(crate) sign_in_attempts: u32,
    pub(crate) trusted_proxies: Vec<IpNet>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Provider {
    #[serde(deserialize_with = "listen_address::deserialize")]
    pub(crate) listen: SocketAddr,
    pub(crate) tls_listen: String,
    pub(crate) node_url: String,
    pub(crate) allow_subnets: Vec<IpNet>,
    pub(crate) retry_schedule: Vec<ConfigDuration>,
    pub(crate) request_timeout: ConfigDuration,
    pub(crate) endpoint_concurrency: usize,
    pub(crate) signature: Signature,
    pub(crate) public_url: String,
    pub(crate) key_region: String,
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) requests_per_second: u32,
    pub(crate) endpoints_per_application: usize,
    pub(crate) alert_after: ConfigDuration,
    pub(crate) disable_after: ConfigDuration,
    pub(crate) message_retention_days: u32,
    pub(crate) payload_retention_days: u32,
    pub(crate) activity_retention_days: u32,
    pub(crate) https_only: bool,
    pub(crate) proxy: String,
    pub(crate) tls_roots: String,
    pub(crate) drain_timeout: ConfigDuration,
}

/// The kind of signing secret that is generated for a new endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Signature {
    /// An HMAC-SHA256 key, shared with the receiver.
    #[default]
    Hmac256,
    /// An Ed25519 key pair, of which the receiver has the public key.
    Ed25519,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Mail {
    pub(crate) smtp_url: String,
    pub(crate) from: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Metrics {
    pub(crate) listen: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Tracing {
    pub(crate) otlp_endpoint: String,
    pub(crate) sample_percent: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Secrets {
    pub(crate) key: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Log {
    pub(crate) level: String,
    pub(crate) format: LogFormat,
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            data_dir: PathBuf::from("./lotwire-data"),
            disk_reserve_mib: 512,
            upgrade_copy: true,
            roles: vec![Role::Platform, Role::Provider],
            worker_threads: 0,
            request_bodies_mib: (kit_http::body_memory::BYTES_MAX / MIB) as u32,
            connections_per_address: kit_http::serve::CONNECTIONS_PER_ADDRESS_MAX,
            database: Database::default(),
            platform: Platform::default(),
            platform_openid: OpenId::default(),
            provider: Provider::default(),
            provider_openid: ProviderOpenId::default(),
            saleroom: Saleroom::default(),
            tls: Tls::default(),
            mail: Mail::default(),
            metrics: Metrics::default(),
            tracing: Tracing::default(),
            secrets: Secrets::default(),
            log: Log::default(),
        }
    }
}

impl Default for Database {
    fn default() -> Self {
        Database { url: String::new(), pool_size: 16, statement_timeout: ConfigDuration::from_secs(60) }
    }
}

impl Default for Platform {
    fn default() -> Self {
        Platform {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            tls_listen: String::new(),
            public_url: String::new(),
            environment: String::new(),
            provider_url: String::new(),
            allowed_provider_networks: Vec::new(),
            rate_limit: 600_000,
            publish_concurrency: 64,
            publish_timeout: ConfigDuration::from_secs(30),
            publish_backoff_base: ConfigDuration::from_millis(500),
            publish_backoff_cap: ConfigDuration::from_secs(60),
            downtime_grace: ConfigDuration::from_secs(0),
            purchases_kept_days: 3_650,
            mail_retention_days: 30,
            house_mails_per_hour: 1_000,
            house_mails_per_day: 5_000,
            session_ttl: ConfigDuration::from_secs(12 * 3_600),
            session_idle: ConfigDuration::from_secs(3_600),
            sign_in_attempts: 10,
            trusted_proxies: Vec::new(),
        }
    }
}

impl Default for Provider {
    fn default() -> Self {
        let (minute, hour) = (60, 3_600);
        Provider {
            listen: SocketAddr::from(([127, 0, 0, 1], 8071)),
            tls_listen: String::new(),
            node_url: String::new(),
            allow_subnets: Vec::new(),
            retry_schedule: [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour]
                .map(ConfigDuration::from_secs)
                .to_vec(),
            request_timeout: ConfigDuration::from_secs(30),
            endpoint_concurrency: 64,
            signature: Signature::default(),
            public_url: String::new(),
            key_region: String::new(),
            trusted_proxies: Vec::new(),
            requests_per_second: 50_000,
            endpoints_per_application: 1_000,
            alert_after: ConfigDuration::from_secs(10 * minute),
            disable_after: ConfigDuration::from_secs(120 * hour),
            message_retention_days: 90,
            payload_retention_days: 90,
            activity_retention_days: 400,
            https_only: false,
            proxy: String::new(),
            tls_roots: String::new(),
            drain_timeout: ConfigDuration::from_secs(20),
        }
    }
}

impl Default for Tracing {
    fn default() -> Self {
        Tracing { otlp_endpoint: String::new(), sample_percent: 100 }
    }
}

impl Default for Log {
    fn default() -> Self {
        Log { level: "info".to_owned(), format: LogFormat::Text }
    }
}

impl Database {
    /// How to connect to PostgreSQL.
    pub(crate) fn postgres(&self, older_tables: OlderTables) -> PostgresConfig {
        PostgresConfig {
            url: self.url.clone(),
            pool_size: self.pool_size.into(),
            statement_timeout: self.statement_timeout.get(),
            older_tables,
        }
    }
}

impl Config {
    /// Checks what the types can't express, and returns every mistake as `setting: reason`; [`setting_error`] adds
    /// value, format and example.
    pub(crate) fn mistakes(&self) -> Vec<String> {
        let checks = [
            self.check_database(),
            self.check_urls(),
            self.check_files(),
            self.check_tls(),
            self.check_addresses(),
            self.check_numbers(),
            self.check_durations(),
            self.check_texts(),
            self.platform_openid.mistakes("platform_openid", |role| platform_core::Role::parse(role).is_some()),
            self.provider_openid.mistakes("provider_openid", |role| provider_core::model::Role::parse(role).is_some()),
        ];
        checks.into_iter().flatten().collect()
    }

    fn check_database(&self) -> Vec<String> {
        let url = &self.database.url;
        if url.is_empty() {
            return Vec::new();
        }
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return vec!["database.url: it does not begin with postgres://".to_owned()];
        }
        refusal("database.url", self.database.postgres(OlderTables::Refuse).check()).into_iter().collect()
    }

    fn check_urls(&self) -> Vec<String> {
        let urls = [
            ("platform.public_url", &self.platform.public_url),
            ("platform.provider_url", &self.platform.provider_url),
            ("provider.node_url", &self.provider.node_url),
            ("provider.public_url", &self.provider.public_url),
            ("saleroom.public_url", &self.saleroom.public_url),
            ("tracing.otlp_endpoint", &self.tracing.otlp_endpoint),
        ];
        let is_valid = |url: &str| {
            let parsed = url::Url::parse(url).ok();
            parsed.is_some_and(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
        };
        let wrong = urls.into_iter().filter(|(_, url)| !url.is_empty() && !is_valid(url));
        let mut mistakes: Vec<String> =
            wrong.map(|(path, _)| format!("{path}: it is not an http or https URL")).collect();
        let otlp = self.tracing.otlp_endpoint.as_str();
        if otlp.ends_with("/v1/traces") || otlp.contains(['?', '#']) {
            mistakes
                .push("tracing.otlp_endpoint: it is not a base URL, to which the server adds /v1/traces".to_owned());
        }
        // These settings are shown, and nothing would use the password.
        let with_login = urls.into_iter().filter(|(_, url)| setting_error::has_login(url));
        mistakes.extend(
            with_login.map(|(path, _)| format!("{path}: it has a user name or a password, which are not used")),
        );
        if !self.provider.proxy.is_empty() {
            mistakes.extend(refusal("provider.proxy", self.provider.proxy.parse::<kit_outbound::Proxy>()));
        }
        mistakes.extend(self.check_saleroom());
        mistakes.extend(self.check_film_origins());
        mistakes.extend(self.check_mail());
        if !self.metrics.listen.is_empty() {
            mistakes.extend(refusal("metrics.listen", listen_address::resolve(&self.metrics.listen)));
        }
        mistakes
    }

    /// A mail server needs a sender. Without one the sender is checked alone, with a server of no importance.
    fn check_mail(&self) -> Option<String> {
        let Mail { smtp_url, from } = &self.mail;
        match (smtp_url.as_str(), from.as_str()) {
            ("", "") => None,
            ("", from) => refusal("mail.from", kit_mail::check_sender(from)),
            (url, "") => refusal("mail.smtp_url", kit_mail::check_server(url))
                .or_else(|| Some("mail.from: it is needed with mail.smtp_url".to_owned())),
            (url, from) => refusal("mail.smtp_url", kit_mail::check_server(url))
                .or_else(|| refusal("mail.from", kit_mail::check_sender(from))),
        }
    }

    fn check_files(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        let file = &self.provider.tls_roots;
        if !file.is_empty() {
            let pem = std::fs::read(file).map_err(|error| format!("can't read {file}: {error}"));
            let roots = pem.and_then(|pem| {
                kit_outbound::roots_from_pem(&pem).map(drop).map_err(|error| format!("{file}: {error}"))
            });
            mistakes.extend(refusal("provider.tls_roots", roots));
        }
        if !self.secrets.key.is_empty() {
            let (key, random) = (Some(self.secrets.key.as_str()), kit_runtime::random::SystemRandom);
            mistakes
                .extend(refusal("secrets.key", kit_runtime::vault::Vault::from_config(key, &self.data_dir, &random)));
        }
        mistakes
    }

    fn check_numbers(&self) -> Vec<String> {
        let (platform, provider) = (&self.platform, &self.provider);
        let days_max = u64::from(RETENTION_DAYS_MAX);
        let ranges = [
            ("worker_threads", self.worker_threads as u64, 0, 1_024),
            ("disk_reserve_mib", self.disk_reserve_mib.into(), 0, 1_000_000_000),
            ("request_bodies_mib", self.request_bodies_mib.into(), 16, 65_536),
            ("connections_per_address", self.connections_per_address as u64, 1, 20_000),
            ("database.pool_size", self.database.pool_size.into(), 2, 1_000),
            ("platform.rate_limit", platform.rate_limit.into(), 0, kit_http::rate_limit::QUOTA_MAX.into()),
            ("platform.sign_in_attempts", platform.sign_in_attempts.into(), 3, 1_000),
            ("platform.purchases_kept_days", platform.purchases_kept_days.into(), 0, PURCHASES_KEPT_DAYS_MAX.into()),
            ("platform.mail_retention_days", platform.mail_retention_days.into(), 1, days_max),
            ("platform.house_mails_per_hour", platform.house_mails_per_hour.into(), 1, 1_000_000),
            ("platform.house_mails_per_day", platform.house_mails_per_day.into(), 1, 1_000_000),
            ("platform.publish_concurrency", platform.publish_concurrency as u64, 1, 1_000),
            ("provider.endpoint_concurrency", provider.endpoint_concurrency as u64, 1, 1_000),
            ("provider.requests_per_second", provider.requests_per_second.into(), 1, 1_000_000),
            ("provider.endpoints_per_application", provider.endpoints_per_application as u64, 1, 10_000),
            ("provider.retry_schedule", provider.retry_schedule.len() as u64, 0, 50),
            ("provider.message_retention_days", provider.message_retention_days.into(), 3, days_max),
            ("provider.payload_retention_days", provider.payload_retention_days.into(), 1, days_max),
            ("provider.activity_retention_days", provider.activity_retention_days.into(), 30, days_max),
            ("tracing.sample_percent", self.tracing.sample_percent.into(), 0, 100),
        ];
        out_of_range(&ranges)
    }

    fn check_durations(&self) -> Vec<String> {
        let (platform, provider) = (&self.platform, &self.provider);
        let (minute_ms, month_ms) = (60_000, 31 * 24 * 3_600_000);
        let ranges = [
            ("database.statement_timeout", self.database.statement_timeout.as_millis(), 1_000, 600_000),
            ("platform.publish_timeout", platform.publish_timeout.as_millis(), 1, 300_000),
            ("platform.session_ttl", platform.session_ttl.as_millis(), minute_ms, month_ms),
            // The platform records the use of a session once a minute.
            ("platform.session_idle", platform.session_idle.as_millis(), 2 * minute_ms, month_ms),
            ("provider.request_timeout", provider.request_timeout.as_millis(), 1, 300_000),
            ("provider.drain_timeout", provider.drain_timeout.as_millis(), 0, 600_000),
        ];
        let mut mistakes = out_of_range(&ranges);
        // Messages are deleted with their unfinished deliveries.
        let retries_ms: u64 = provider.retry_schedule.iter().map(|pause| pause.as_millis()).sum();
        let day_ms = 24 * 3_600_000;
        // A delivery begins up to a day after the message, and a pause is up to a fifth longer.
        if day_ms + retries_ms + retries_ms / 5 > u64::from(provider.message_retention_days) * day_ms {
            mistakes.push(
                "provider.message_retention_days: messages would be deleted before the last attempt of \
                 provider.retry_schedule"
                    .to_owned(),
            );
        }
        if platform.publish_backoff_base > platform.publish_backoff_cap {
            let cap = platform.publish_backoff_cap;
            mistakes
                .push(format!("platform.publish_backoff_base: it is longer than platform.publish_backoff_cap, {cap}"));
        }
        mistakes
    }

    fn check_texts(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        if self.roles.is_empty() {
            mistakes.push("roles: the process would run nothing".to_owned());
        }
        if !self.provider.key_region.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
            let reason = "it has characters other than lower-case letters and digits";
            mistakes.push(format!("provider.key_region: {reason}"));
        }
        let characters = self.platform.environment.chars();
        if characters.clone().count() > ENVIRONMENT_CHARS_MAX || characters.clone().any(char::is_control) {
            mistakes
                .push("platform.environment: it is longer than 24 characters, or has control characters".to_owned());
        }
        mistakes.extend(refusal("log.level", tracing_subscriber::EnvFilter::try_new(&self.log.level)));
        mistakes
    }

    /// Base URL of the provider for customers without a provider URL of their own; none for the embedded provider.
    pub(crate) fn configured_provider_url(&self) -> Option<String> {
        let url = self.platform.provider_url.trim_end_matches('/');
        (!url.is_empty()).then(|| url.to_owned())
    }

    /// Base URL at which other nodes reach this node's provider, if one is known.
    pub(crate) fn provider_node_url(&self) -> Option<String> {
        let listen = self.provider.listen;
        match self.provider.node_url.trim_end_matches('/') {
            "" if listen.ip().is_unspecified() => None,
            "" => Some(format!("http://{listen}")),
            url => Some(url.to_owned()),
        }
    }

    /// Base URL at which people reach the platform.
    pub(crate) fn platform_public_url(&self) -> String {
        if self.platform.public_url.is_empty() {
            listen_address::local_url(self.platform.listen)
        } else {
            self.platform.public_url.trim_end_matches('/').to_owned()
        }
    }

    /// Base URL at which customers reach the embedded provider.
    pub(crate) fn provider_public_url(&self) -> String {
        if self.provider.public_url.is_empty() {
            format!("http://{}", self.provider.listen)
        } else {
            self.provider.public_url.trim_end_matches('/').to_owned()
        }
    }

    /// Base URL at which people reach a role.
    pub(crate) fn public_url(&self, role: Role) -> String {
        match role {
            Role::Platform => self.platform_public_url(),
            Role::Provider => self.provider_public_url(),
        }
    }

    /// Whether the operator set that URL.
    pub(crate) fn has_public_url(&self, role: Role) -> bool {
        match role {
            Role::Platform => !self.platform.public_url.is_empty(),
            Role::Provider => !self.provider.public_url.is_empty(),
        }
    }

    /// Number of worker threads on a machine with this many cores. SQLite's writer thread is as busy as a worker, so
    /// with SQLite one core is left to it.
    pub(crate) fn threads(&self, cores: usize) -> usize {
        match self.worker_threads {
            0 if self.database.url.is_empty() => cores.saturating_sub(1).max(1),
            0 => cores.max(1),
            threads => threads,
        }
    }

    /// Limit on request bodies in memory, in bytes.
    pub(crate) fn request_bodies_bytes_max(&self) -> usize {
        (self.request_bodies_mib as usize).saturating_mul(MIB)
    }

    /// Free disk in bytes below which new work is refused; 0 for none. With PostgreSQL the data is on the disk of its
    /// server, which reports when it is full.
    pub(crate) fn disk_reserve_bytes(&self) -> u64 {
        if self.database.url.is_empty() { u64::from(self.disk_reserve_mib) * MIB as u64 } else { 0 }
    }

    pub(crate) fn runs(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }
}

/// The mistake of a setting whose value was refused.
fn refusal<T, E: std::fmt::Display>(path: &str, checked: Result<T, E>) -> Option<String> {
    checked.err().map(|error| format!("{path}: {error}"))
}

/// The settings whose value is not between its two limits: path, value, least, most.
fn out_of_range(ranges: &[(&str, u64, u64, u64)]) -> Vec<String> {
    let wrong = ranges.iter().filter(|(_, value, min, max)| !(min..=max).contains(&value));
    wrong.map(|(path, ..)| format!("{path}: it is out of range")).collect()
}
