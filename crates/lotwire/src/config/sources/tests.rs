//! Tests: the precedence of the sources, and the error messages for invalid settings.

use std::io::Write as _;

use super::*;

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn flags_win_over_variables_and_variables_over_the_file() {
    let file =
        file("[platform]\nlisten = \"127.0.0.1:1\"\n[provider]\nlisten = \"127.0.0.1:2\"\nrequest_timeout = \"3s\"\n");
    let environment = variables(&[
        ("LOTWIRE_PROVIDER__LISTEN", "127.0.0.1:22"),
        ("LOTWIRE_PROVIDER__RETRY_SCHEDULE", "5ms, 1s"),
        ("LOTWIRE_TEST_POSTGRES_URL", "ignored"),
        ("PATH", "/bin"),
    ]);
    let mut flags = Overrides::default();
    flags.set("provider.listen", Some("127.0.0.1:222"));
    flags.set("data_dir", None::<String>);
    let resolved = load(Some(file.path()), environment, flags).unwrap();
    let config = resolved.config;
    assert_eq!(config.platform.listen.port(), 1);
    assert_eq!(config.provider.listen.port(), 222);
    assert_eq!(config.provider.request_timeout.as_millis(), 3_000);
    assert_eq!(config.provider.retry_schedule.iter().map(|span| span.as_millis()).collect::<Vec<_>>(), [5, 1_000]);
    assert_eq!(resolved.origins["provider.listen"], "flag");
    assert_eq!(resolved.origins["provider.retry_schedule"], "LOTWIRE_PROVIDER__RETRY_SCHEDULE");
    assert!(!resolved.origins.contains_key("data_dir"));
}

fn in_file(text: &str) -> String {
    load(Some(file(text).path()), [], Overrides::default()).unwrap_err().to_string()
}

fn in_variable(name: &str, value: &str) -> String {
    load(None, variables(&[(name, value)]), Overrides::default()).unwrap_err().to_string()
}

/// Settings with an invalid value, and a part of the error message.
#[rustfmt::skip]
const REFUSED: &[(&str, &str, &str)] = &[
    ("roles",                          "platform,clerk",   "entry \"clerk\": unknown variant"),
    ("roles",                          "",                 "the process would run nothing"),
    ("worker_threads",                 "1025",             "out of range"),
    ("request_bodies_mib",             "15",               "out of range"),
    ("connections_per_address",        "0",                "out of range"),
    ("database.pool_size",             "many",             "not a whole number"),
    ("database.pool_size",             "1",                "out of range"),
    ("database.pool_size",             "70000",            "out of range"),
    ("database.pool_size",             "-1",               "out of range"),
    ("database.statement_timeout",     "999ms",            "out of range"),
    ("platform.listen",                "8080",             "not a host and a port"),
    ("provider.listen",                "localhost",        "not a host and a port"),
    ("saleroom.listen",                "8073",             "not a host and a port"),
    ("saleroom.public_url",            "bid.example.com",  "not an http or https URL"),
    ("saleroom.public_url",            "http://127.0.0.1:8073", "has the host of the platform, 127.0.0.1"),
    ("metrics.listen",                 "9090",             "not a host and a port"),
    ("platform.tls_listen",            "443",              "not a host and a port"),
    ("provider.tls_listen",            "0.0.0.0",          "not a host and a port"),
    ("saleroom.tls_listen",            ":8443",            "not a host and a port"),
    ("tls.certificates",               "/nowhere.pem",     "/nowhere.pem can't be read"),
    ("platform.public_url",            "example.com",      "not an http or https URL"),
    ("platform.environment",           "a name that is too long for a badge", "longer than 24 characters"),
    ("platform.provider_url",          "api.example.com",  "not an http or https URL"),
    ("provider.node_url",              "http://u:p@10.0.0.5", "has a user name or a password"),
    ("provider.public_url",            "ftp://x",          "not an http or https URL"),
    ("tracing.otlp_endpoint",          "collector:4318",   "not an http or https URL"),
    ("tracing.otlp_endpoint",          "http://u:p@collector:4318", "has a user name or a password"),
    ("tracing.otlp_endpoint",          "http://collector:4318/v1/traces", "not a base URL"),
    ("tracing.sample_percent",         "101",              "out of range"),
    ("platform.rate_limit",            "100000001",        "out of range"),
    ("platform.rate_limit",            "1e6",              "not a whole number"),
    ("platform.publish_concurrency",   "0",                "out of range"),
    ("provider.endpoint_concurrency",  "1001",             "out of range"),
    ("platform.publish_timeout",       "30",               "\"30\" is not a duration"),
    ("platform.publish_timeout",       "6m",               "out of range"),
    ("provider.request_timeout",       "0s",               "out of range"),
    ("provider.drain_timeout",         "11m",              "out of range"),
    ("platform.publish_backoff_base",  "2m",               "longer than platform.publish_backoff_cap, 1m"),
    ("platform.publish_backoff_cap",   "1 fortnight",      "is not a duration"),
    ("platform.downtime_grace",        "-5s",              "is not a duration"),
    ("provider.alert_after",           "soon",             "is not a duration"),
    ("mail.smtp_url",                  "http://u:hush@h",  "not valid"),
    ("mail.from",                      "nobody",           "not an address"),
    ("provider.disable_after",         "31d",              "is not a duration"),
    ("platform.session_ttl",           "30s",              "out of range"),
    ("platform.session_idle",          "1m",               "out of range"),
    ("platform.sign_in_attempts",      "2",                "out of range"),
    ("saleroom.push_networks",         "10.0.0.0/40",      "entry \"10.0.0.0/40\""),
    ("saleroom.film_origins",          "http://a.example", "entry \"http://a.example\""),
    ("saleroom.film_origins",          "https://a.example/live", "is not an https origin"),
    ("saleroom.film_origins",          "https://*.example", "is not an https origin"),
    ("saleroom.dns_servers",           "192.0.2.53",       "entry \"192.0.2.53\""),
    ("platform.allowed_provider_networks", "10.0.0.0/40", "entry \"10.0.0.0/40\""),
    ("provider.node_url",              "10.0.0.5:8071",    "not an http or https URL"),
    ("platform.trusted_proxies",       "10.0.0.0/8,proxy", "entry \"proxy\": invalid IP address syntax"),
    ("provider.trusted_proxies",       "::1",              "entry \"::1\""),
    ("provider.allow_subnets",         "10.0.0.0/40",      "entry \"10.0.0.0/40\""),
    ("provider.retry_schedule",        "5s,later",         "entry \"later\": \"later\" is not a duration"),
    ("provider.https_only",            "yes",              "neither"),
    ("provider.signature",             "rsa",              "unknown variant `rsa`"),
    ("provider.key_region",            "EU-1",             "lower-case letters and digits"),
    ("provider.requests_per_second",   "0",                "out of range"),
    ("provider.endpoints_per_application", "10001",        "out of range"),
    ("disk_reserve_mib",               "-1",               "out of range"),
    ("upgrade_copy",                   "later",            "neither"),
    ("platform.purchases_kept_days",   "36501",            "out of range"),
    ("platform.mail_retention_days",   "0",                "out of range"),
    ("platform.house_mails_per_hour",  "0",                "out of range"),
    ("platform.house_mails_per_day",   "1000001",          "out of range"),
    ("provider.message_retention_days", "3651",            "out of range"),
    ("provider.payload_retention_days", "0",               "out of range"),
    ("provider.activity_retention_days", "29",             "out of range"),
    ("provider.tls_roots",             "/nowhere.pem",     "can't read /nowhere.pem"),
    ("platform_openid.issuer",         "http://id.example.com", "allowed for an issuer on this machine only"),
    ("platform_openid.issuer",         "https://id.example.com?a=b", "without query"),
    ("platform_openid.client_id",      " lotwire",         "begins or ends with a space"),
    ("platform_openid.client_secret",  "hush ",            "begins or ends with a space"),
    ("platform_openid.name",           "a name that is too long for a button of any width", "longer than 40 characters"),
    ("platform_openid.scopes",         "email profile",    "entry \"email profile\" is empty or has a space"),
    ("platform_openid.groups_claim",   "",                 "it is empty"),
    ("platform_openid.roles",          "admins",           "entry \"admins\" is not a group and a role"),
    ("platform_openid.roles",          "admins=king",      "\"king\" is not a role"),
    ("platform_openid.create_users",   "yes",              "neither"),
    ("platform_openid.tls_roots",      "/nowhere.pem",     "can't read /nowhere.pem"),
    ("provider_openid.issuer",         "http://id.example.com", "allowed for an issuer on this machine only"),
    ("provider_openid.issuer",         "https://id.example.com?a=b", "without query"),
    ("provider_openid.client_id",      " lotwire",         "begins or ends with a space"),
    ("provider_openid.client_secret",  "hush ",            "begins or ends with a space"),
    ("provider_openid.name",           "a name that is too long for a button of any width", "longer than 40 characters"),
    ("provider_openid.scopes",         "email profile",    "entry \"email profile\" is empty or has a space"),
    ("provider_openid.groups_claim",   "",                 "it is empty"),
    ("provider_openid.roles",          "admins",           "entry \"admins\" is not a group and a role"),
    ("provider_openid.roles",          "admins=king",      "\"king\" is not a role"),
    ("provider_openid.create_users",   "yes",              "neither"),
    ("provider_openid.tls_roots",      "/nowhere.pem",     "can't read /nowhere.pem"),
    ("provider_openid.account",        "house",            "not the id of an account"),
    ("log.format",                     "xml",              "unknown variant `xml`"),
    ("log.level",                      "platform=loud",    "error parsing level filter"),
    ("database.url",                   "mysql://u:hush@h", "does not begin with postgres://"),
    ("provider.proxy",                 "ftp://u:hush@h",   ""),
    ("secrets.key",                    "hush",             "must be 32 bytes"),
];

#[test]
fn the_error_for_a_refused_value_names_the_setting_the_reason_the_format_and_an_example() {
    for (path, value, why) in REFUSED {
        let key = SETTINGS.iter().find(|key| key.path == *path).unwrap();
        let (variable, form) = (key.variable(), key.value_format());
        let error = in_variable(&variable, value);
        let given = if key.is_secret() {
            assert!(!error.contains("hush"), "{error}");
            "(not shown)".to_owned()
        } else if value.contains("u:p@") {
            assert!(!error.contains("u:p@"), "{error}");
            "(not shown)".to_owned()
        } else if key.kind == SettingKind::List && value.is_empty() {
            "[]".to_owned()
        } else {
            (*value).to_owned()
        };
        let begins = format!("variable {variable}: {path} is ");
        let example =
            if form.example.is_empty() { String::new() } else { format!(", such as {variable}={}", form.example) };
        let ends = format!(". It must be {}{example}", form.words);
        assert!(error.starts_with(&begins) && error.ends_with(&ends), "{error}");
        for part in [given.as_str(), why] {
            assert!(error.contains(part), "{part:?} is not in: {error}");
        }
    }
}

#[test]
fn every_setting_has_a_tested_invalid_value_and_a_valid_example() {
    for key in SETTINGS {
        let free_text = ["data_dir"].contains(&key.path);
        assert!(
            free_text || REFUSED.iter().any(|(path, ..)| *path == key.path),
            "no invalid value of {} is tested",
            key.path
        );
        // The example files need not exist on this machine, `secrets.key` has no example, and `smtp_url` needs a sender too, as
        // `tls_listen` needs a certificate and `issuer` a client.
        let needs_others = ["provider.tls_roots", "secrets.key", "mail.smtp_url", "tls.certificates"];
        let is_of_others = [".tls_listen", ".tls_roots", "_openid.issuer"].iter().any(|end| key.path.ends_with(end));
        if needs_others.contains(&key.path) || is_of_others {
            continue;
        }
        let (example, name) = (key.value_format().example, key.variable());
        let resolved = load(None, variables(&[(name.as_str(), example)]), Overrides::default());
        assert!(resolved.is_ok(), "{:?}", resolved.map(drop));
        let line = key.example_line();
        let text = key.path.split_once('.').map_or(line.clone(), |(section, _)| format!("[{section}]\n{line}\n"));
        assert!(load(Some(file(&text).path()), [], Overrides::default()).is_ok(), "{text}");
    }
}

#[test]
fn single_sign_on_needs_a_client_and_groups_for_what_they_decide() {
    let load = |pairs: &[(&str, &str)]| {
        load(None, variables(pairs), Overrides::default())
            .map(|resolved| resolved.config)
            .map_err(|error| error.to_string())
    };
    let issuer = ("LOTWIRE_PLATFORM_OPENID__ISSUER", "https://id.example.com");
    let client = ("LOTWIRE_PLATFORM_OPENID__CLIENT_ID", "lotwire");
    let create = ("LOTWIRE_PLATFORM_OPENID__CREATE_USERS", "true");
    let roles = ("LOTWIRE_PLATFORM_OPENID__ROLES", "cn=it,admins=administrator, clerks=clerk");
    assert!(load(&[issuer]).unwrap_err().contains("needed with platform_openid.issuer"));
    assert!(load(&[issuer, client, create]).unwrap_err().contains("needs platform_openid.roles"));
    let error = load(&[issuer, client, create, roles]).unwrap_err();
    assert!(error.contains("entry \"cn=it\": \"it\" is not a role"), "a variable separates entries by commas: {error}");
    let given = ("LOTWIRE_PLATFORM_OPENID__ROLES", "cn=admins=administrator, clerks=clerk");
    let config = load(&[issuer, client, create, given]).unwrap();
    let roles = config.platform_openid.roles(platform_core::Role::parse);
    let expected = [("cn=admins", platform_core::Role::Administrator), ("clerks", platform_core::Role::Clerk)];
    assert_eq!(roles, expected.map(|(group, role)| (group.to_owned(), role)));
    let dashboard = [
        ("LOTWIRE_PROVIDER_OPENID__ISSUER", "https://id.example.com"),
        ("LOTWIRE_PROVIDER_OPENID__CLIENT_ID", "lotwire"),
        ("LOTWIRE_PROVIDER_OPENID__ROLES", "engineers=member"),
    ];
    assert!(load(&dashboard).unwrap_err().contains("groups give roles in one account"));
}

#[test]
fn messages_are_kept_until_their_last_attempt() {
    let load = |days: &str, schedule: &str| {
        let set = [("LOTWIRE_PROVIDER__MESSAGE_RETENTION_DAYS", days), ("LOTWIRE_PROVIDER__RETRY_SCHEDULE", schedule)];
        load(None, variables(&set), Overrides::default())
    };
    // A day, and the pauses with their jitter.
    assert!(load("7", "60h,60h").is_ok());
    let error = load("7", "60h,61h").map(drop).unwrap_err().to_string();
    assert!(error.contains("deleted before the last attempt of provider.retry_schedule"), "{error}");
}

#[test]
fn the_documented_range_of_a_number_is_the_accepted_range() {
    for key in SETTINGS.iter().filter(|key| key.kind == SettingKind::Number) {
        let range =
            key.value_format().words.strip_prefix("a whole number from ").and_then(|range| range.split_once(" to "));
        let (least, most) =
            range.map(|(least, most)| (least.parse::<i64>().unwrap(), most.parse::<i64>().unwrap())).unwrap();
        let is_accepted = |number: i64| {
            load(None, variables(&[(&key.variable(), &number.to_string())]), Overrides::default()).is_ok()
        };
        let accepted = [least - 1, least, most, most + 1].map(is_accepted);
        assert_eq!(accepted, [false, true, true, false], "{}", key.path);
    }
}

#[test]
fn an_error_in_a_file_names_the_line() {
    for (text, says) in [
        (
            "roles = [\"platform\"]\n\n[provider]\nallow_subnets = [\"127.0.0.0/8\", \"10.0.0.0/40\"]\n",
            ", line 4: provider.allow_subnets is [\"127.0.0.0/8\", \"10.0.0.0/40\"]: entry \"10.0.0.0/40\": invalid IP address \
             syntax. It must be a list of subnets in CIDR notation, such as \
             allow_subnets = [\"127.0.0.0/8\", \"10.1.0.0/16\"]",
        ),
        ("[provider]\nrequest_timeout = 30\n", ", line 2: provider.request_timeout is 30: invalid type: integer `30`"),
        ("[platform]\nlisten = 8080\n", ", line 2: platform.listen is 8080: invalid type"),
        ("[database]\npool_size = \"16\"\n", ", line 2: database.pool_size is \"16\": invalid type: string"),
        ("[database]\npool_size = 1\n", ", line 2: database.pool_size is 1: it is out of range"),
        ("[secrets]\nkey = 4711\n", ", line 2: secrets.key is (not shown): it is not a text"),
        ("[provider]\nhttps_only = \"true\"\n", ", line 2: provider.https_only is \"true\": invalid type"),
        ("provider = 5\n", ", line 1: provider is a section. Write its settings on the lines after [provider]"),
        ("[provider\n", "TOML parse error at line 1"),
        ("roles = [\"platform\"]\nroles = [\"provider\"]\n", "duplicate key"),
    ] {
        let error = in_file(text);
        assert!(
            error.starts_with("in the configuration file /") && error.contains(says),
            "{says:?} is not in: {error}"
        );
        assert!(!error.contains("4711"), "{error}");
    }
}

#[test]
fn the_error_for_an_unknown_name_suggests_a_similar_one() {
    for (error, says) in [
        (
            in_file("[provider]\nlissten = \"x\"\n"),
            "line 2: unknown setting provider.lissten. Did you mean provider.listen?",
        ),
        (in_file("[providr]\nlisten = \"x\"\n"), "line 1: unknown setting providr. Did you mean provider?"),
        (in_file("data-dir = \"x\"\n"), "line 1: unknown setting data-dir. Did you mean data_dir?"),
        (
            in_file("colour = \"red\"\n"),
            "line 1: unknown setting colour. `lotwire config reference` lists all settings",
        ),
        (
            in_variable("LOTWIRE_PROVIDER__LISTN", "x"),
            "variable LOTWIRE_PROVIDER__LISTN: unknown setting LOTWIRE_PROVIDER__LISTN. Did you mean LOTWIRE_PROVIDER__LISTEN?",
        ),
        (in_variable("LOTWIRE_PROVIDER_ALLOW_SUBNET", "x"), "Did you mean LOTWIRE_PROVIDER__ALLOW_SUBNETS?"),
        (in_variable("LOTWIRE_POOL", "x"), "unknown setting LOTWIRE_POOL. `lotwire"),
    ] {
        assert!(error.contains(says), "{says:?} is not in: {error}");
    }
}

#[test]
fn every_mistake_is_reported_with_its_line_variable_or_flag() {
    let file = file(
        "colour = \"red\"\n[platform]\nlisten = \"8080\"\nrate_limit = -1\n[provider]\nendpoint_concurrency = 0\n",
    );
    let environment = variables(&[("LOTWIRE_LOG__FORMAT", "xml"), ("LOTWIRE_PROVIDER__HTTPS_ONLY", "yes")]);
    let mut flags = Overrides::default();
    flags.set("provider.listen", Some("nowhere"));
    let error = load(Some(file.path()), environment, flags).unwrap_err().to_string();
    assert!(error.starts_with("the configuration has 7 mistakes:\n  in the configuration file /"), "{error}");
    for part in [
        "line 1: unknown setting colour",
        "line 3: platform.listen is \"8080\": it is not a host and a port. It must be",
        "line 4: platform.rate_limit is -1: it is out of range. It must be",
        "line 6: provider.endpoint_concurrency is 0: it is out of range. It must be",
        "variable LOTWIRE_LOG__FORMAT: log.format is \"xml\"",
        "variable LOTWIRE_PROVIDER__HTTPS_ONLY: provider.https_only is \"yes\"",
        "a flag: provider.listen is \"nowhere\": it is not a host and a port",
    ] {
        assert_eq!(error.lines().filter(|line| line.contains(part)).count(), 1, "{part:?} is not in: {error}");
    }
}

#[test]
fn a_refused_value_causes_no_second_mistake_in_a_setting_that_is_compared_with_it() {
    let environment = variables(&[
        ("LOTWIRE_PLATFORM__PUBLISH_BACKOFF_BASE", "2m"),
        ("LOTWIRE_PLATFORM__PUBLISH_BACKOFF_CAP", "1 fortnight"),
    ]);
    let error = load(None, environment, Overrides::default()).unwrap_err().to_string();
    assert!(error.starts_with("variable LOTWIRE_PLATFORM__PUBLISH_BACKOFF_CAP: "), "{error}");
}

#[test]
fn a_host_name_is_accepted_in_every_listen_address() {
    let environment = variables(&[
        ("LOTWIRE_PLATFORM__LISTEN", "localhost:1"),
        ("LOTWIRE_PROVIDER__LISTEN", "localhost:2"),
        ("LOTWIRE_METRICS__LISTEN", "localhost:3"),
    ]);
    let config = load(None, environment, Overrides::default()).unwrap().config;
    assert_eq!(config.platform.listen.to_string(), "127.0.0.1:1");
    assert_eq!(config.provider.listen.to_string(), "127.0.0.1:2");
    assert_eq!(config.metrics.listen, "localhost:3");
}

#[test]
fn the_configuration_of_the_packages_is_valid_and_so_are_the_settings_in_its_comments() {
    let text = include_str!("../../../../../packaging/lotwire.toml");
    let shipped = load(Some(file(text).path()), [], Overrides::default()).unwrap().config;
    let expected = Config { data_dir: PathBuf::from("/var/lib/lotwire"), ..Config::default() };
    assert_eq!(shipped, expected);
    // A setting or a section in a comment; prose is no TOML.
    let uncommented: Vec<&str> = text
        .lines()
        .map(|line| line.strip_prefix("# ").filter(|rest| toml::from_str::<Table>(rest).is_ok()).unwrap_or(line))
        .collect();
    let file = file(&uncommented.join("\n"));
    let full = load(Some(file.path()), [], Overrides::default()).unwrap_or_else(|error| panic!("{error}")).config;
    assert!(!full.mail.from.is_empty() && !full.database.url.is_empty() && !full.metrics.listen.is_empty(), "{full:?}");
}
