//! The list of settings. The loader, `lotwire config show` and the reference page all use it.

use std::fmt::Write as _;

use super::Config;

/// The type of a value. It determines how the text of a variable is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingKind {
    Text,
    Number,
    /// `true` or `false`.
    Switch,
    /// Comma-separated in a variable.
    List,
    /// Text that is never printed.
    Secret,
}

/// A setting.
#[derive(Debug)]
pub(crate) struct Setting {
    /// `section.key`, or `key` at the top level.
    pub(crate) path: &'static str,
    pub(crate) kind: SettingKind,
    /// Purpose and unit, as the reference page prints them. [`Setting::value_format`] has the limits.
    pub(crate) meaning: &'static str,
}

impl Setting {
    /// The environment variable that sets it.
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

/// Every setting, in the order of the reference page.
pub(crate) const SETTINGS: &[Setting] = &[
    setting("data_dir", SettingKind::Text, "Directory of the SQLite files, the lock files and the file `secret.key`."),
    setting(
        "disk_reserve_mib",
        SettingKind::Number,
        "Free disk in MiB, in `data_dir`, that is kept for accepted work. With less, new messages, bulk replays, auctions, lots, catalogues and images receive 503 `disk_full` with `Retry-After`; running sales, publishing and deliveries go on ([disk.md](disk.md)). 0: no reserve. With PostgreSQL it has no effect.",
    ),
    setting(
        "upgrade_copy",
        SettingKind::Switch,
        "Whether the server of a new version copies the SQLite files into `data_dir`/before-upgrade before it changes their tables, so that you can [go back](install.md#go-back). It needs free disk of the files' size.",
    ),
    setting("roles", SettingKind::List, "What this process runs."),
    setting(
        "worker_threads",
        SettingKind::Number,
        "Threads that handle requests and deliveries, in addition to SQLite's own threads. 0: one for each core; with SQLite one less, because SQLite's writer thread uses as much CPU.",
    ),
    setting(
        "request_bodies_mib",
        SettingKind::Number,
        "Limit in MiB on request bodies in memory, over all ports. Each body counts beyond its first 16 KiB, until the response. Above the limit, requests receive 503 `too_many_bodies` with `Retry-After`. Images of one user or API key take at most half of it. Catalogues are stored while they arrive and do not count.",
    ),
    setting(
        "connections_per_address",
        SettingKind::Number,
        "Maximum number of open connections of one IPv4 address, or of one IPv6 network (/64), to each port. Further ones are closed. The machine itself and the subnets in `trusted_proxies` have no limit.",
    ),
    setting(
        "database.url",
        SettingKind::Secret,
        "PostgreSQL database. TLS parameters are those of libpq, such as `?sslmode=verify-full&sslrootcert=FILE` ([postgresql.md](postgresql.md)). Empty: SQLite in `data_dir`.",
    ),
    setting(
        "database.pool_size",
        SettingKind::Number,
        "Maximum number of PostgreSQL connections, for each of platform and provider.",
    ),
    setting(
        "database.statement_timeout",
        SettingKind::Text,
        "Time after which PostgreSQL ends a statement. If it has not answered 5 s later, or a commit after 30 s, the node gives the connection up, and requests that waited for it receive 503 `unavailable`.",
    ),
    setting("platform.listen", SettingKind::Text, "Address and port of the platform's API."),
    setting(
        "platform.tls_listen",
        SettingKind::Text,
        "Further address and port of the platform's API, with TLS and the certificates in `tls.certificates`. Needs an https `platform.public_url`. Empty: none.",
    ),
    setting(
        "platform.public_url",
        SettingKind::Text,
        "Base URL at which people reach the platform, used in addresses and links of the administration. With `https`, cookies are sent over HTTPS only. Forms of pages are accepted from this URL alone. Empty: `platform.listen`, and forms are accepted under every name of the host.",
    ),
    setting(
        "platform.environment",
        SettingKind::Text,
        "Name that the administration shows as a badge, so that a test installation is not taken for the real one, such as `Staging`. Empty: none.",
    ),
    setting(
        "platform.provider_url",
        SettingKind::Text,
        "Base URL of the delivery provider for customers without a provider URL of their own. Empty: the embedded provider, at whatever address one of its nodes has.",
    ),
    setting(
        "platform.allowed_provider_networks",
        SettingKind::List,
        "Private subnets in which a customer's provider may be, such as `10.20.0.0/16`. The platform sends to no other address that is not public, except `platform.provider_url` and the embedded provider.",
    ),
    setting(
        "platform.rate_limit",
        SettingKind::Number,
        "Maximum number of requests a minute for each API key, counted by each node. Above it, requests receive 429 with `Retry-After`. 0: no limit.",
    ),
    setting(
        "platform.publish_concurrency",
        SettingKind::Number,
        "Maximum number of requests that publish one customer's events at the same time.",
    ),
    setting(
        "platform.publish_timeout",
        SettingKind::Text,
        "Timeout of a request that publishes an event to a provider.",
    ),
    setting(
        "platform.publish_backoff_base",
        SettingKind::Text,
        "First pause after the provider failed. The pause doubles with each further failure.",
    ),
    setting(
        "platform.publish_backoff_cap",
        SettingKind::Text,
        "Longest pause of the backoff. A longer `Retry-After` of the provider is honoured in full up to 24 hours.",
    ),
    setting(
        "platform.downtime_grace",
        SettingKind::Text,
        "Extension for items whose end passed while no node was running: they end this long after the first node starts. `0s`: they end immediately. The choice that a house made in its saleroom's settings counts before this one.",
    ),
    setting(
        "platform.purchases_kept_days",
        SettingKind::Number,
        "Days for which name, addresses and VAT number of an erased person are kept after the last purchase or sale, because invoices need them ([register.md](../run-sales/register.md#erase-a-person)). 0: they are deleted with the rest.",
    ),
    setting(
        "platform.mail_retention_days",
        SettingKind::Number,
        "Days for which a mail to a bidder is kept after it was sent or given up ([mails.md](../run-sales/mails.md)).",
    ),
    setting(
        "platform.house_mails_per_hour",
        SettingKind::Number,
        "Mails to bidders that a house sends in an hour, test mails included; further ones wait ([mails.md](../run-sales/mails.md#limits)).",
    ),
    setting(
        "platform.house_mails_per_day",
        SettingKind::Number,
        "Mails to bidders that a house sends in 24 hours, test mails included; further ones wait.",
    ),
    setting("platform.session_ttl", SettingKind::Text, "Maximum duration of a user's session."),
    setting(
        "platform.session_idle",
        SettingKind::Text,
        "Time without a request after which a session ends. The platform records the use of a session once a minute.",
    ),
    setting(
        "platform.sign_in_attempts",
        SettingKind::Number,
        "Maximum number of sign-in attempts for one user in 15 minutes; five times as many from one address. Above it, attempts receive 429 with `Retry-After`.",
    ),
    setting(
        "platform.trusted_proxies",
        SettingKind::List,
        "Subnets of reverse proxies whose `X-Forwarded-For` is trusted. Sign-in attempts are then counted for the caller's own address.",
    ),
    setting(
        "platform_openid.issuer",
        SettingKind::Text,
        "Issuer of OpenID Connect at which the platform's users can sign in, exactly as its discovery document names it ([single-sign-on.md](single-sign-on.md)). Empty: no single sign-on.",
    ),
    setting("platform_openid.client_id", SettingKind::Text, "Id of the client that is registered at the issuer."),
    setting(
        "platform_openid.client_secret",
        SettingKind::Secret,
        "Secret of that client. Empty: a public client, which proves itself by PKCE only.",
    ),
    setting(
        "platform_openid.name",
        SettingKind::Text,
        "What the button calls the issuer: `Sign in with …`. Empty: the issuer's host.",
    ),
    setting("platform_openid.scopes", SettingKind::List, "Scopes to ask the issuer for, besides `openid`."),
    setting(
        "platform_openid.groups_claim",
        SettingKind::Text,
        "Claim with the groups of a person: a list of texts in the ID token or at the userinfo endpoint.",
    ),
    setting(
        "platform_openid.roles",
        SettingKind::List,
        "Groups with the role that each gives, the most powerful first: the first entry whose group a person is in counts, at each sign-in. Who is in none of them is refused. Empty: roles are given in the administration only.",
    ),
    setting(
        "platform_openid.create_users",
        SettingKind::Switch,
        "Whether a person without a user gets one, if the issuer verified their e-mail address and one of their groups gives a role.",
    ),
    setting(
        "platform_openid.tls_roots",
        SettingKind::Text,
        "PEM file of certificate authorities that requests to the issuer trust in addition to the public ones. Empty: none.",
    ),
    setting("provider.listen", SettingKind::Text, "Address and port of the provider's API."),
    setting(
        "provider.tls_listen",
        SettingKind::Text,
        "Further address and port of the provider's API, with TLS and the certificates in `tls.certificates`. Needs an https `provider.public_url`. Empty: none.",
    ),
    setting(
        "provider.node_url",
        SettingKind::Text,
        "Base URL at which the other nodes and the management commands reach this node's provider. Empty: `provider.listen`, if it is the address of one interface.",
    ),
    setting(
        "provider.allow_subnets",
        SettingKind::List,
        "Private subnets that deliveries may reach, such as `127.0.0.0/8`. Deliveries to other addresses that are not public are refused.",
    ),
    setting(
        "provider.retry_schedule",
        SettingKind::List,
        "Pauses between the attempts of a delivery, each with ±20 % jitter. After the last attempt, the delivery fails. Empty: one attempt and no retries.",
    ),
    setting(
        "provider.request_timeout",
        SettingKind::Text,
        "Deadline of a delivery attempt, from resolving the host name to reading the response. Connecting (DNS, TCP and TLS) may take at most 10 s of it.",
    ),
    setting(
        "provider.endpoint_concurrency",
        SettingKind::Number,
        "Maximum number of attempts under way to one endpoint.",
    ),
    setting(
        "provider.alert_after",
        SettingKind::Text,
        "Time after which the owners of an endpoint that only fails are alerted ([alerts.md](../receive-events/alerts.md)).",
    ),
    setting("provider.disable_after", SettingKind::Text, "Time after which an endpoint that only fails is disabled."),
    setting(
        "provider.message_retention_days",
        SettingKind::Number,
        "Days after which messages are deleted, with their attempts and payloads. At least a day more than `provider.retry_schedule` takes. Journal, audit log and access log of the platform are never deleted by age ([disk.md](disk.md#what-is-kept-how-long)).",
    ),
    setting(
        "provider.payload_retention_days",
        SettingKind::Number,
        "Days after which the payload of a message is removed, if the message does not ask for less. It counts for messages that are accepted from then on.",
    ),
    setting(
        "provider.activity_retention_days",
        SettingKind::Number,
        "Days after which entries of an account's activity log are deleted.",
    ),
    setting(
        "provider.https_only",
        SettingKind::Switch,
        "`true`: endpoint URLs must begin with `https`. Deliveries to existing `http` endpoints are refused.",
    ),
    setting(
        "provider.proxy",
        SettingKind::Secret,
        "Proxy for deliveries: HTTP (`CONNECT`) or SOCKS5. The provider resolves and checks the host name itself and gives the proxy an IP address. Empty: none.",
    ),
    setting(
        "provider.tls_roots",
        SettingKind::Text,
        "PEM file of certificate authorities that deliveries trust in addition to the public ones. Empty: none.",
    ),
    setting(
        "provider.drain_timeout",
        SettingKind::Text,
        "Time for requests and attempts under way to finish during a shutdown. Unfinished deliveries are released to other nodes or to the next start.",
    ),
    setting(
        "provider.signature",
        SettingKind::Text,
        "Kind of signing secret generated for a new endpoint: `hmac256`, shared with the receiver, or `ed25519`, a key pair. A rotation keeps the kind.",
    ),
    setting(
        "provider.public_url",
        SettingKind::Text,
        "Base URL at which customers reach the provider, used in App Portal links. Forms of pages are accepted from this URL alone. Empty: `provider.listen`, and forms are accepted under every name of the host.",
    ),
    setting(
        "provider.key_region",
        SettingKind::Text,
        "Region suffix of new API keys and tokens: `eu` makes `lwp_….eu`. Client libraries choose the server's address by it. Empty: none.",
    ),
    setting(
        "provider.trusted_proxies",
        SettingKind::List,
        "Subnets of reverse proxies whose `X-Forwarded-For` is trusted. Failed sign-ins are then counted for the caller's own address.",
    ),
    setting(
        "provider.requests_per_second",
        SettingKind::Number,
        "Maximum number of API requests a second for each account, counted by each node. Above it, requests receive 429. `lotwire provider account set` overrides it for an account.",
    ),
    setting(
        "provider.endpoints_per_application",
        SettingKind::Number,
        "Maximum number of endpoints of an application. `lotwire provider account set` overrides it for an account.",
    ),
    setting(
        "provider_openid.issuer",
        SettingKind::Text,
        "Issuer of OpenID Connect at which users of the provider's dashboard can sign in, exactly as its discovery document names it ([single-sign-on.md](single-sign-on.md)). Empty: no single sign-on.",
    ),
    setting("provider_openid.client_id", SettingKind::Text, "Id of the client that is registered at the issuer."),
    setting(
        "provider_openid.client_secret",
        SettingKind::Secret,
        "Secret of that client. Empty: a public client, which proves itself by PKCE only.",
    ),
    setting(
        "provider_openid.name",
        SettingKind::Text,
        "What the button calls the issuer: `Sign in with …`. Empty: the issuer's host.",
    ),
    setting("provider_openid.scopes", SettingKind::List, "Scopes to ask the issuer for, besides `openid`."),
    setting(
        "provider_openid.groups_claim",
        SettingKind::Text,
        "Claim with the groups of a person: a list of texts in the ID token or at the userinfo endpoint.",
    ),
    setting(
        "provider_openid.roles",
        SettingKind::List,
        "Groups with the role that each gives in `provider_openid.account`, the most powerful first: the first entry whose group a person is in counts, at each sign-in. Who is in none of them is refused. Empty: roles are given in the dashboard only.",
    ),
    setting(
        "provider_openid.create_users",
        SettingKind::Switch,
        "Whether a person without a user gets one, if the issuer verified their e-mail address and one of their groups gives a role.",
    ),
    setting(
        "provider_openid.tls_roots",
        SettingKind::Text,
        "PEM file of certificate authorities that requests to the issuer trust in addition to the public ones. Empty: none.",
    ),
    setting(
        "provider_openid.account",
        SettingKind::Text,
        "Account whose users can sign in with it. Empty: users of every account, whose roles are given in the dashboard.",
    ),
    setting(
        "saleroom.listen",
        SettingKind::Text,
        "Address and port of the pages for bidders. It is used when `saleroom.public_url` is set.",
    ),
    setting(
        "saleroom.tls_listen",
        SettingKind::Text,
        "Further address and port of the pages for bidders, with TLS and the certificates in `tls.certificates`, those of houses' own domains among them. Needs an https `saleroom.public_url`. Empty: none.",
    ),
    setting(
        "saleroom.public_url",
        SettingKind::Text,
        "URL at which bidders reach the pages of the houses, with a host that neither the platform nor the provider has. The server answers this host and the proven domains of houses. Empty: no saleroom ([saleroom.md](saleroom.md)).",
    ),
    setting(
        "saleroom.push_networks",
        SettingKind::List,
        "Private subnets in which push services of bidders' browsers may be, such as `10.20.0.0/16`. Notices for browsers are sent to no other address that is not public.",
    ),
    setting(
        "saleroom.dns_servers",
        SettingKind::List,
        "Name servers that are asked for the records that prove domains of houses, each with its port. Empty: those of the operating system.",
    ),
    setting(
        "tls.certificates",
        SettingKind::List,
        "Certificates for `platform.tls_listen`, `provider.tls_listen` and `saleroom.tls_listen`, with their chains and keys. The first one that is for the requested host name is used, else the first of all. The server reads them again every 30 s and on SIGHUP, and finds those that were added to a folder of folders.",
    ),
    setting(
        "mail.smtp_url",
        SettingKind::Secret,
        "Mail server for alerts of the provider and for mails to bidders: `smtps://USER:PASSWORD@HOST`, or `smtp://HOST:587?tls=required` for STARTTLS. Empty: no mail is sent.",
    ),
    setting(
        "mail.from",
        SettingKind::Text,
        "Sender of mails, such as `Lotwire <alerts@example.com>`. Required with `mail.smtp_url`.",
    ),
    setting(
        "metrics.listen",
        SettingKind::Text,
        "Address and port of `/metrics` for Prometheus. It needs no authentication. Empty: off.",
    ),
    setting(
        "tracing.otlp_endpoint",
        SettingKind::Text,
        "Base URL of an OpenTelemetry collector, to which traces are sent (OTLP over HTTP: `/v1/traces` is appended). Empty: no traces ([tracing.md](tracing.md)).",
    ),
    setting(
        "tracing.sample_percent",
        SettingKind::Number,
        "Percentage of traces that are recorded if a request has no `traceparent`. A request with one is recorded if its caller records it.",
    ),
    setting(
        "secrets.key",
        SettingKind::Secret,
        "Keys that encrypt secrets at rest. The first key seals; every key can open. Empty: the key in the file `secret.key` in `data_dir`, generated at first use.",
    ),
    setting("log.level", SettingKind::Text, "Lowest level to log, or a filter by module."),
    setting(
        "log.format",
        SettingKind::Text,
        "Format of log lines on standard error: `text` for people, `json` for programs.",
    ),
];

/// Renders the reference page from [`SETTINGS`] and the defaults.
pub(crate) fn reference() -> String {
    let defaults = super::sources::table_of(&Config::default());
    let mut page = String::from(
        "# Configuration\n\n<!-- Made by `cargo xtask generate` from crates/lotwire/src/config/settings.rs. -->\n\n\
         To check a configuration, run `lotwire config check --config FILE`. To see every value in effect and its source, run\n\
         `lotwire config show`.\n\n\
         A TOML file (`--config FILE`) overrides the defaults, environment variables (`LOTWIRE_SECTION__KEY`) override the\n\
         file, and flags override variables. An unknown key is an error. Durations are written as `250ms`, `5s`, `30m` or `2h`.\n\
         In a variable, commas separate the entries of a list.\n\n\
         | key | variable | default | values | meaning |\n|---|---|---|---|---|\n",
    );
    for key in SETTINGS {
        let default = super::sources::look_up(&defaults, key.path).map_or(String::new(), |value| format!("`{value}`"));
        let (variable, values) = (key.variable(), key.value_format().words);
        let _ = writeln!(page, "| `{}` | `{variable}` | {default} | {values} | {} |", key.path, key.meaning);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects the paths of all values of a table, depth first.
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
    fn the_settings_of_a_section_stand_together() {
        let mut sections: Vec<&str> =
            SETTINGS.iter().map(|key| key.path.split_once('.').map_or("", |parts| parts.0)).collect();
        sections.dedup();
        let mut unique = sections.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(sections.len(), unique.len(), "{sections:?}");
    }

    #[test]
    fn the_list_describes_every_setting_once() {
        let mut in_config = Vec::new();
        paths(&super::super::sources::table_of(&Config::default()), "", &mut in_config);
        let mut described: Vec<String> = SETTINGS.iter().map(|key| key.path.to_owned()).collect();
        in_config.sort();
        described.sort();
        assert_eq!(in_config, described);
    }
}
