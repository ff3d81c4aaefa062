//! What can be set about the provider; every value has a default.

use std::time::Duration;

use http::Uri;
use ipnet::IpNet;
use kit_mail::Mailer;

use crate::dispatcher::retry::RetrySchedule;
use crate::endpoints::address::EndpointAddressPolicy;
use crate::people::PeopleConfig;
use crate::signing::secret::SecretKind;

/// Settings of the provider.
#[derive(Debug, Clone)]
pub struct ProviderConfig {
    /// Pauses between the attempts of a delivery.
    pub retry_schedule: RetrySchedule,
    /// One deadline over connect, headers and body of an attempt.
    pub request_timeout: Duration,
    /// An endpoint that has failed this long without a success is disabled.
    pub disable_after: Duration,
    /// The owners of an endpoint that has failed this long without a success are alerted.
    pub alert_after: Duration,
    /// Sends alerts by e-mail; none to send none.
    pub mailer: Option<Mailer>,
    /// Which addresses endpoints may have.
    pub address_policy: EndpointAddressPolicy,
    /// Which other processes may work on the same store.
    pub nodes: Nodes,
    /// A node that was not heard of for this long is dead, and what it held becomes due. Said every tenth of it.
    pub node_dead_after: Duration,
    /// [`Provider::ping`](crate::Provider::ping) fails while an attempt that ended longer ago than this is not recorded.
    pub recording_late_after: Duration,
    /// Bounds of the dispatcher.
    pub lanes: LaneConfig,
    /// The text after `.` in a new API key, by which clients find their region (`eu`); nothing when none.
    pub key_region: Option<String>,
    /// Which kind of secret is made for a new endpoint that comes without one.
    pub secret_kind: SecretKind,
    /// Base address at which other nodes and management commands reach this node's API; none to tell none.
    pub node_url: Option<String>,
    /// Base address under which customers reach this server; links to the App Portal begin with it.
    pub public_url: String,
    /// The operator set that address; otherwise it is where the server listens, and people may use other names of the host.
    pub has_public_url: bool,
    /// Reverse proxies: their word for where a call came from is taken.
    pub trusted_proxies: Vec<IpNet>,
    /// Requests a second of an account at most, on each node, unless its own settings say otherwise.
    pub requests_per_second_max: u32,
    /// Endpoints of an application at most, unless the account's settings say otherwise: a message has a row for each.
    pub endpoints_max: usize,
    /// Event types of an account at most.
    pub event_types_max: usize,
    /// API keys, and snapshots of applications, used without looking at the store for at most this long. What is
    /// changed here, or signalled from elsewhere, is seen at once.
    pub cache_for: Duration,
    /// Limits of people, sessions and sign-in attempts.
    pub people: PeopleConfig,
}

/// Which processes work on one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nodes {
    /// This one only (an embedded database): what an earlier process left is taken up at once.
    Sole,
    /// Any number: what a node left is taken up when nothing has been heard of it for ten seconds.
    Many,
}

/// Bounds of the dispatcher. A zero counts as one.
#[derive(Debug, Clone)]
pub struct LaneConfig {
    /// Attempts under way at one endpoint at most.
    pub under_way_max: usize,
    /// Attempts that every endpoint may have under way whatever the others do.
    pub under_way_guaranteed: usize,
    /// Attempts that an endpoint may have under way before its first response, within its share of the shared ones. Each
    /// success allows one more.
    pub under_way_initial: usize,
    /// Attempts under way beyond the guaranteed ones, over all endpoints; shared evenly.
    pub under_way_shared_max: usize,
    /// Deliveries of one endpoint that wait in memory at most; more wait in the table.
    pub queued_max: usize,
    /// Payload bytes that wait in memory at most, over all endpoints; shared evenly.
    pub queued_bytes_max: usize,
    /// Messages accepted in one transaction at most.
    pub accept_batch_max: usize,
    /// Transactions that accept many messages each begin at least this far apart, so that each carries more.
    pub accept_apart: Duration,
    /// Attempts recorded in one transaction at most.
    pub record_batch_max: usize,
    /// How long a finished attempt waits for others to be recorded with, and then these, where a transaction is dear, for
    /// another transaction to go along with. Nothing waits for the record; a crash within this time, twice, makes that
    /// delivery once more.
    pub record_linger: Duration,
    /// Store transactions of each of these kinds under way at the same time (1 for one writer, some for a server).
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
            people: PeopleConfig::default(),
        }
    }
}

/// Paths of the provider's own server, below its base address.
const OWN_PATHS: [&str; 3] = ["/api/v1/", "/app-portal/", "/dashboard/"];

impl ProviderConfig {
    /// Whether an address is one of the provider's own API or pages, so that a delivery would come back to it.
    pub(crate) fn is_own_address(&self, to: &Uri) -> bool {
        if !OWN_PATHS.iter().any(|path| to.path().contains(path)) {
            return false;
        }
        let bases = [Some(&self.public_url), self.node_url.as_ref()];
        bases.into_iter().flatten().any(|base| base.parse().is_ok_and(|base| is_below(&base, to)))
    }
}

fn is_below(base: &Uri, to: &Uri) -> bool {
    let origin = |uri: &Uri| {
        let usual_port = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        (uri.scheme().cloned(), uri.host().map(str::to_lowercase), uri.port_u16().unwrap_or(usual_port))
    };
    let below = to.path().strip_prefix(base.path().trim_end_matches('/'));
    origin(base) == origin(to) && below.is_some_and(|path| OWN_PATHS.iter().any(|own| path.starts_with(own)))
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
    }
}
