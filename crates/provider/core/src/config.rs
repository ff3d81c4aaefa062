//! Settings of the provider; every setting has a default.

pub mod endpoint_address;
pub mod retention;
pub mod retry_schedule;
pub mod single_sign_on;
pub mod users;

use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use ipnet::IpNet;
pub use kit_identity::IdentityConfig;
use kit_mail::Mailer;
use kit_runtime::disk_space::DiskReserve;
use kit_runtime::trace::Tracer;

use crate::config::endpoint_address::EndpointAddressPolicy;
use crate::config::retention::RetentionConfig;
use crate::config::retry_schedule::RetrySchedule;
use crate::config::single_sign_on::DashboardSignOn;
use crate::config::users::UserConfig;
use crate::model::cause::seconds;
use crate::signing::secret::SecretKind;

/// Settings of the provider.
#[derive(Debug, Clone)]
pub struct ProviderConfig {
    /// Pauses between the attempts of a delivery.
    pub retry_schedule: RetrySchedule,
    /// Deadline of an attempt: connect, headers and body together.
    pub request_timeout: Duration,
    /// An endpoint that has failed for this long without a success is disabled.
    pub disable_after: Duration,
    /// The owners of an endpoint are alerted when it has failed for this long without a success.
    pub alert_after: Duration,
    /// Sends alerts by e-mail; no mails are sent when none.
    pub mailer: Option<Mailer>,
    /// The addresses that endpoints may have.
    pub address_policy: EndpointAddressPolicy,
    /// Which other processes may work on the same store.
    pub nodes: Nodes,
    /// A node without a heartbeat for this long is dead, and its deliveries become due. Nodes send a heartbeat ten
    /// times in this time.
    pub node_dead_after: Duration,
    /// [`Provider::ping`](crate::Provider::ping) fails while an attempt has waited longer than this for its record.
    pub recording_late_after: Duration,
    /// Limits of the dispatcher.
    pub lanes: LaneConfig,
    /// Region in new API keys (`eu`), from which clients derive the server's address. It follows a `.` at the end of
    /// the key.
    pub key_region: Option<String>,
    /// Kind of the signing secret that is generated for a new endpoint.
    pub secret_kind: SecretKind,
    /// Base address at which other nodes and management commands reach this node's API; not published when none.
    pub node_url: Option<String>,
    /// Base address at which customers reach this server. Links to the App Portal begin with it.
    pub public_url: String,
    /// Whether the operator set `public_url`. Otherwise it is the address on which the server listens, and browsers may
    /// use other names of the host.
    pub has_public_url: bool,
    /// Reverse proxies that are trusted to report the client's address.
    pub trusted_proxies: Vec<IpNet>,
    /// Maximum requests a second of an account on each node. The account's own setting overrides it.
    pub requests_per_second_max: u32,
    /// Maximum number of endpoints of an application: a message has a row for each. The account's own setting overrides
    /// it.
    pub endpoints_max: usize,
    /// Maximum number of event types of an account.
    pub event_types_max: usize,
    /// API keys and snapshots of applications are cached for at most this long. Changes on this node, and changes that
    /// other nodes signal, take effect at once.
    pub cache_for: Duration,
    /// Limits of sessions and sign-in attempts.
    pub identity: IdentityConfig,
    /// Single sign-on to the dashboard, if there is an issuer.
    pub single_sign_on: Option<DashboardSignOn>,
    /// Limits of users and their links.
    pub users: UserConfig,
    /// How long messages, payloads and the activity log are kept.
    pub retention: RetentionConfig,
    /// Free disk that is kept for accepted work.
    pub disk_reserve: Arc<DiskReserve>,
    /// Makes the spans of attempts.
    pub tracer: Tracer,
}

/// The processes that work on one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nodes {
    /// This process only (an embedded database). It takes over the work of an earlier process at once.
    Sole,
    /// Any number of processes. The work of a node is taken over when it has sent no heartbeat for ten seconds.
    Many,
}

/// Limits of the dispatcher. A zero counts as one.
#[derive(Debug, Clone)]
pub struct LaneConfig {
    /// Maximum number of attempts under way at one endpoint.
    pub under_way_max: usize,
    /// Number of attempts that every endpoint may have under way, independent of other endpoints.
    pub under_way_guaranteed: usize,
    /// Number of attempts that an endpoint may have under way before its first response, within its share of
    /// `under_way_shared_max`. Each success allows one more.
    pub under_way_initial: usize,
    /// Maximum number of attempts under way beyond the guaranteed ones, over all endpoints; shared evenly.
    pub under_way_shared_max: usize,
    /// Maximum number of deliveries of one endpoint that wait in memory. Further deliveries wait in the table.
    pub queued_max: usize,
    /// Maximum number of payload bytes that wait in memory, over all endpoints; shared evenly.
    pub queued_bytes_max: usize,
    /// Maximum number of messages that are accepted in one transaction.
    pub accept_batch_max: usize,
    /// Minimum interval between transactions that accept messages, so that each accepts more.
    pub accept_apart: Duration,
    /// Maximum number of attempts that are recorded in one transaction.
    pub record_batch_max: usize,
    /// How long a finished attempt waits for others to be recorded in the same transaction. The store may let the batch
    /// wait as long again, to commit it together with other changes. No caller waits for the record, but a crash during
    /// these waits repeats the delivery.
    pub record_linger: Duration,
    /// Concurrent store transactions of each of these kinds: 1 for a store with one writer, more for a database server.
    pub store_calls_max: usize,
}

impl Default for ProviderConfig {
    fn default() -> Self {
        Self {
            retry_schedule: RetrySchedule::default(),
            request_timeout: Duration::from_secs(30),
            disable_after: Duration::from_secs(120 * 60 * 60),
            alert_after: Duration::from_secs(10 * 60),
            mailer: None,
            address_policy: EndpointAddressPolicy::default(),
            nodes: Nodes::Many,
            node_dead_after: Duration::from_secs(10),
            recording_late_after: Duration::from_secs(10),
            lanes: LaneConfig::default(),
            key_region: None,
            secret_kind: SecretKind::default(),
            node_url: None,
            public_url: "http://127.0.0.1:8071".to_owned(),
            has_public_url: false,
            trusted_proxies: Vec::new(),
            requests_per_second_max: 50_000,
            endpoints_max: 1_000,
            event_types_max: 10_000,
            cache_for: Duration::from_secs(5),
            identity: IdentityConfig::default(),
            single_sign_on: None,
            users: UserConfig::default(),
            retention: RetentionConfig::default(),
            disk_reserve: Arc::default(),
            tracer: Tracer::off(),
        }
    }
}

/// Paths of the provider's own server, below its base address.
const OWN_PATHS: [&str; 3] = ["/api/v1/", "/app-portal/", "/dashboard/"];

impl ProviderConfig {
    /// Time that a receiver has to answer, such as `30 s`.
    pub fn request_limit(&self) -> String {
        format!("{} s", seconds(u64::try_from(self.request_timeout.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Whether an address is the provider's own API or page, so that a delivery would return to the provider.
    pub(crate) fn is_own_address(&self, to: &Uri) -> bool {
        if !OWN_PATHS.iter().any(|path| to.path().contains(path)) {
            return false;
        }
        self.path_at_own_server(to).is_some_and(|path| OWN_PATHS.iter().any(|own| path.starts_with(own)))
    }

    /// Whether an address has the scheme, host and port of the provider's own server, and is below its base path. A proxy
    /// may still pass it to another server.
    pub(crate) fn is_at_own_server(&self, to: &Uri) -> bool {
        self.path_at_own_server(to).is_some()
    }

    /// The path of an address below the base address of the provider's own server; none for another server.
    fn path_at_own_server<'a>(&self, to: &'a Uri) -> Option<&'a str> {
        let bases = [Some(&self.public_url), self.node_url.as_ref()];
        bases.into_iter().flatten().find_map(|base| path_below(&base.parse().ok()?, to))
    }
}

fn path_below<'a>(base: &Uri, to: &'a Uri) -> Option<&'a str> {
    let origin = |uri: &Uri| {
        let usual_port = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        // Names of this machine. The address policy decides whether an endpoint may have one.
        let host = match uri.host().unwrap_or_default().to_lowercase() {
            host if host == "localhost" || host == "[::1]" => "127.0.0.1".to_owned(),
            host => host,
        };
        (uri.scheme().cloned(), host, uri.port_u16().unwrap_or(usual_port))
    };
    let path = to.path().strip_prefix(base.path().trim_end_matches('/'))?;
    (origin(base) == origin(to) && (path.is_empty() || path.starts_with('/'))).then_some(path)
}

impl Default for LaneConfig {
    fn default() -> Self {
        Self {
            under_way_max: 64,
            under_way_guaranteed: 4,
            under_way_initial: 16,
            under_way_shared_max: 2_048,
            queued_max: 4_096,
            queued_bytes_max: 64 * 1_024 * 1_024,
            accept_batch_max: 1_024,
            accept_apart: Duration::from_millis(2),
            record_batch_max: 1_024,
            record_linger: Duration::from_millis(4),
            store_calls_max: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_paths_of_the_providers_own_server_are_its_own() {
        let config = ProviderConfig {
            public_url: "https://example.com/hooks".to_owned(),
            node_url: Some("http://10.0.0.5:8071".to_owned()),
            ..ProviderConfig::default()
        };
        for (to, is_own) in [
            ("https://example.com/hooks/api/v1/app/a/msg", true),
            ("https://EXAMPLE.com:443/hooks/app-portal/login", true),
            ("http://10.0.0.5:8071/api/v1/health", true),
            ("https://example.com/hooks/receive", false),
            ("https://example.com/api/v1/receive", false),
            ("http://example.com/hooks/api/v1/app", false),
            ("https://other.example/hooks/api/v1/app", false),
        ] {
            assert_eq!(config.is_own_address(&to.parse().unwrap()), is_own, "{to}");
        }
        for (to, is_at_own_server) in [
            ("https://example.com/hooks/receive", true),
            ("https://example.com/hooks", true),
            ("https://example.com/hooksmith", false),
            ("https://example.com/receive", false),
            ("http://10.0.0.5:8071/", true),
            ("http://10.0.0.5:8072/", false),
        ] {
            assert_eq!(config.is_at_own_server(&to.parse().unwrap()), is_at_own_server, "{to}");
        }
        let local = ProviderConfig::default();
        assert!(local.is_own_address(&"http://localhost:8071/api/v1/app".parse().unwrap()));
    }
}
