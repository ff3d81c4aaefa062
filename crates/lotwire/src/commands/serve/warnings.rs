//! Warnings about valid settings that are usually mistakes.

use std::net::{IpAddr, SocketAddr};

use url::{Host, Url};

use crate::config::{Config, Role};
use crate::node::redirect_uri;

pub(crate) fn of(config: &Config) -> Vec<String> {
    let mut warnings = Vec::new();
    if !config.database.url.is_empty() && config.secrets.key.is_empty() {
        warnings.push(
            "secrets.key is not set, so the file secret.key in this node's data directory seals secrets. Nodes that \
             share a database need the same secrets.key"
                .to_owned(),
        );
    }
    if config.runs(Role::Provider) {
        warnings.extend(of_provider(config));
    }
    for (role, is_on) in
        [(Role::Platform, config.platform_openid.is_on()), (Role::Provider, config.provider_openid.client.is_on())]
    {
        if is_on && config.runs(role) && !config.has_public_url(role) {
            let name = role.name();
            warnings.push(format!(
                "{name}_openid.issuer is set and {name}.public_url is empty: the issuer sends browsers back to {}, which leads only \
                 to this machine. Set {name}.public_url to the URL at which people reach the {name}",
                redirect_uri(config, role)
            ));
        }
    }
    if config.runs(Role::Platform) {
        let platform = &config.platform;
        if !platform.listen.ip().is_loopback() && platform.trusted_proxies.is_empty() {
            warnings.push(plain_http("platform.listen", platform.listen, "API keys and passwords", "platform"));
        }
        if platform.listen.ip().is_unspecified() && platform.public_url.is_empty() {
            warnings.push(format!(
                "platform.listen is {} and platform.public_url is empty: links that the administration shows lead only to \
                 this machine. Set platform.public_url to the URL at which people reach the platform, such as \
                 https://auctions.example.com",
                platform.listen
            ));
        }
        if is_plain_http_elsewhere(&platform.provider_url) {
            warnings.push(format!(
                "platform.provider_url is {}: the platform sends API keys there over plain HTTP. Use an https URL",
                platform.provider_url
            ));
        }
    }
    warnings
}

fn of_provider(config: &Config) -> Vec<String> {
    let mut warnings = Vec::new();
    let provider = &config.provider;
    if provider.retry_schedule.is_empty() {
        warnings.push(
            "provider.retry_schedule is empty: a delivery fails with its first failed attempt. Remove the setting to \
             retry for about 28 hours"
                .to_owned(),
        );
    }
    if provider.listen.ip().is_unspecified() && provider.public_url.is_empty() {
        warnings.push(format!(
            "provider.listen is {} and provider.public_url is empty: no browser can follow App Portal links. Set \
             provider.public_url to the URL at which customers reach the provider, such as https://hooks.example.com",
            provider.listen
        ));
    }
    if provider.listen.ip().is_unspecified() && provider.node_url.is_empty() && !config.database.url.is_empty() {
        warnings.push(format!(
            "provider.listen is {} and provider.node_url is empty: other nodes do not find this node's provider. Set \
             provider.node_url to the URL at which they reach it, such as http://10.0.0.5:{}",
            provider.listen,
            provider.listen.port()
        ));
    }
    let has_proxy = provider.public_url.starts_with("https:") || !provider.trusted_proxies.is_empty();
    if !provider.listen.ip().is_loopback() && !has_proxy {
        warnings.push(plain_http("provider.listen", provider.listen, "API keys and magic links", "provider"));
    }
    warnings
}

fn plain_http(setting: &str, listen: SocketAddr, secrets: &str, section: &str) -> String {
    format!(
        "{setting} is {listen}: {secrets} travel over plain HTTP. Listen on 127.0.0.1 with {section}.tls_listen or a reverse \
         proxy with TLS, or name the proxy in {section}.trusted_proxies"
    )
}

/// Whether requests to this URL leave the machine without TLS.
fn is_plain_http_elsewhere(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let is_here = match url.host() {
        Some(Host::Ipv4(ip)) => IpAddr::from(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::from(ip).is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => true,
    };
    url.scheme() == "http" && !is_here
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The warnings after a change of the defaults.
    fn after(change: impl FnOnce(&mut Config)) -> Vec<String> {
        let mut config = Config::default();
        change(&mut config);
        of(&config)
    }

    fn assert_one(warnings: &[String], parts: &[&str]) {
        let naming = |warning: &&String| parts.iter().all(|part| warning.contains(part));
        assert_eq!(warnings.iter().filter(naming).count(), 1, "{parts:?}: {warnings:?}");
    }

    #[test]
    fn settings_that_are_usually_mistakes_cause_a_warning() {
        assert_eq!(after(|_| ()), [""; 0]);
        assert_one(&after(|config| config.provider.retry_schedule.clear()), &["retry_schedule"]);
        let postgres = after(|config| {
            config.roles = vec![Role::Platform];
            config.database.url = "postgres://db/lotwire".to_owned();
        });
        assert!(postgres.len() == 1 && postgres[0].contains("secrets.key"), "{postgres:?}");
    }

    #[test]
    fn links_that_nobody_outside_can_follow_cause_a_warning() {
        let everywhere = SocketAddr::from(([0, 0, 0, 0], 8071));
        let warnings = after(|config| {
            config.provider.listen = everywhere;
            config.database.url = "postgres://db/lotwire".to_owned();
        });
        assert_one(&warnings, &["0.0.0.0:8071", "provider.public_url"]);
        assert_one(&warnings, &["0.0.0.0:8071", "provider.node_url", "http://10.0.0.5:8071"]);
        let named = after(|config| {
            config.provider.listen = everywhere;
            config.provider.public_url = "https://hooks.example.com".to_owned();
        });
        assert_eq!(named, [""; 0]);
        let warnings = after(|config| config.platform.listen = SocketAddr::from(([0, 0, 0, 0], 8080)));
        assert_one(&warnings, &["0.0.0.0:8080", "platform.public_url", "https://auctions.example.com"]);
    }

    #[test]
    fn an_issuer_that_can_not_send_people_back_causes_a_warning() {
        let set = |config: &mut Config| {
            config.platform_openid.issuer = "https://id.example.com".to_owned();
            config.provider_openid.client.issuer = "https://id.example.com".to_owned();
        };
        let warnings = after(set);
        assert_one(&warnings, &["platform_openid.issuer", "http://127.0.0.1:8080/admin/sign-in/openid/callback"]);
        assert_one(&warnings, &["provider_openid.issuer", "http://127.0.0.1:8071/dashboard/sign-in/openid/callback"]);
        let reachable = after(|config| {
            set(config);
            config.platform.public_url = "https://auctions.example.com".to_owned();
            config.provider.public_url = "https://hooks.example.com".to_owned();
        });
        assert_eq!(reachable, [""; 0]);
    }

    #[test]
    fn plain_http_beyond_this_machine_causes_a_warning_unless_a_proxy_is_configured() {
        let outside = |port: u16| SocketAddr::from(([10, 0, 0, 5], port));
        let warnings = after(|config| {
            config.platform.listen = outside(8080);
            config.provider.listen = outside(8071);
            config.platform.provider_url = "http://provider.example.com".to_owned();
        });
        assert_one(&warnings, &["platform.listen is 10.0.0.5:8080", "plain HTTP", "platform.trusted_proxies"]);
        assert_one(&warnings, &["provider.listen is 10.0.0.5:8071", "plain HTTP", "provider.trusted_proxies"]);
        assert_one(&warnings, &["platform.provider_url is http://provider.example.com", "plain HTTP"]);
        let proxied = after(|config| {
            config.platform.listen = outside(8080);
            config.provider.listen = outside(8071);
            config.platform.trusted_proxies = vec!["10.0.0.1/32".parse().unwrap()];
            config.provider.trusted_proxies = vec!["10.0.0.1/32".parse().unwrap()];
            config.platform.provider_url = "http://localhost:8071".to_owned();
        });
        assert_eq!(proxied, [""; 0]);
    }
}
