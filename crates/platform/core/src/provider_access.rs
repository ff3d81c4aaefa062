//! How the platform reaches a customer's provider: which addresses it may send to, and where the embedded provider is.
//!
//! Support enters provider addresses, so the address filter applies to them as it applies to addresses of endpoints.
//! The filter exempts the configured default and the addresses of the embedded provider's nodes, which are the
//! operator's.

pub(crate) mod answer_text;

use std::sync::Arc;

use async_trait::async_trait;
use kit_outbound::url::parse_server_url;
use kit_outbound::{AddressPolicy, Client, ClientConfig, TransportError};
use kit_runtime::vault::Secret;
use url::Url;
use uuid::Uuid;

use crate::port::ProviderAddress;

/// The setting that the texts for support name.
const SETTING: &str = "platform.allowed_provider_networks";

/// Finds the nodes of the embedded provider. The binary implements it, because the platform reads no table of the
/// provider.
#[async_trait]
pub trait EmbeddedProvider: Send + Sync {
    /// Base addresses of the nodes that run now, the best one first. Each of them belongs to this installation, so that
    /// API keys can be sent there. Empty if no node is known.
    async fn base_urls(&self) -> Vec<String>;
    /// The address to show while no node is known. The platform never sends to it.
    fn usual_url(&self) -> String;
    /// The accounts of the embedded provider, if this process runs it.
    fn accounts(&self) -> Option<&dyn EmbeddedAccounts> {
        None
    }
}

/// Opens accounts at the embedded provider for customers. The binary implements it, because the platform knows no type of the
/// provider.
#[async_trait]
pub trait EmbeddedAccounts: Send + Sync {
    /// The text of a new API key. Nothing is stored.
    fn new_key(&self) -> Secret;
    /// Opens the account of this customer, unless it exists, and makes `key` its API key, in place of one that an earlier call
    /// made. Repeating the call has the same effect. The error is a text for support; it holds no secret.
    async fn open(&self, customer: Uuid, name: &str, key: &Secret) -> Result<(), &'static str>;
    /// Revokes this API key of the customer's account, if a call of [`EmbeddedAccounts::open`] made it. The account and its
    /// other keys stay. Repeating the call has the same effect. The error is a text for support.
    async fn revoke(&self, customer: Uuid, key: &Secret) -> Result<(), &'static str>;
}

/// An installation without an embedded provider.
#[derive(Debug, Clone, Copy)]
pub struct NoEmbeddedProvider;

#[async_trait]
impl EmbeddedProvider for NoEmbeddedProvider {
    async fn base_urls(&self) -> Vec<String> {
        Vec::new()
    }

    fn usual_url(&self) -> String {
        "http://127.0.0.1:8071".to_owned()
    }
}

/// Clients and addresses for requests to providers. Clones share the connections.
#[derive(Clone)]
pub struct ProviderAccess {
    embedded: Arc<dyn EmbeddedProvider>,
    configured: Option<String>,
    policy: AddressPolicy,
    /// For addresses of the operator.
    trusted: Client,
    /// For addresses that support entered.
    filtered: Client,
}

/// Where to send a request, and with which client.
pub(crate) struct Route {
    /// Base addresses in the order in which to try them; at least one.
    pub(crate) base_urls: Vec<String>,
    pub(crate) client: Client,
    /// Whether the addresses are the operator's, so that errors may name their cause.
    pub(crate) is_trusted: bool,
}

/// Why there is no [`Route`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoRoute {
    #[error("no node of the embedded provider answers: start `lotwire serve` with the role provider")]
    NoEmbeddedNode,
    #[error(
        "the platform does not send to this address, because it is {0}. Enter a public address, or let the operator \
         add its network to {SETTING}"
    )]
    Refused(&'static str),
}

impl ProviderAccess {
    /// Access with the default address of the configuration, if there is one, and with the networks in which customers
    /// may have providers besides the public internet.
    pub fn new(embedded: Arc<dyn EmbeddedProvider>, configured: Option<String>, policy: AddressPolicy) -> Self {
        let client = |policy| Client::new(ClientConfig { policy, ..ClientConfig::default() });
        let (trusted, filtered) = (client(AddressPolicy::any()), client(policy.clone()));
        let configured = configured.map(|url| url.trim_end_matches('/').to_owned());
        Self { embedded, configured, policy, trusted, filtered }
    }

    /// Access to every address, without an embedded provider: for tests.
    pub fn unfiltered() -> Self {
        Self::new(Arc::new(NoEmbeddedProvider), None, AddressPolicy::any())
    }

    /// The provider of customers who are connected without one.
    pub(crate) fn default_address(&self) -> ProviderAddress {
        self.configured.clone().map_or(ProviderAddress::Embedded, ProviderAddress::Url)
    }

    /// The accounts of the embedded provider, if this process runs it and it is the provider of new connections.
    pub(crate) fn accounts(&self) -> Option<&dyn EmbeddedAccounts> {
        if self.configured.is_some() { None } else { self.embedded.accounts() }
    }

    /// The address to show for a provider.
    pub(crate) async fn shown_url(&self, provider: &ProviderAddress) -> String {
        match provider {
            ProviderAddress::Url(url) => url.clone(),
            ProviderAddress::Embedded => {
                let found = self.embedded.base_urls().await.into_iter().next();
                found.unwrap_or_else(|| self.embedded.usual_url())
            }
        }
    }

    /// Where to send a request for this provider now.
    pub(crate) async fn route(&self, provider: &ProviderAddress) -> Result<Route, NoRoute> {
        let trusted = |base_urls| Ok(Route { base_urls, client: self.trusted.clone(), is_trusted: true });
        let url = match provider {
            ProviderAddress::Embedded => match self.embedded.base_urls().await {
                base_urls if base_urls.is_empty() => return Err(NoRoute::NoEmbeddedNode),
                base_urls => return trusted(base_urls),
            },
            ProviderAddress::Url(url) => url,
        };
        if self.configured.as_ref().is_some_and(|configured| same_origin(configured, url)) {
            return trusted(vec![url.clone()]);
        }
        // Only for an address that the filter refuses does it matter whose it is.
        if let Some(kind) = self.refusal(url) {
            if self.embedded.base_urls().await.iter().any(|node| same_origin(node, url)) {
                return trusted(vec![url.clone()]);
            }
            return Err(NoRoute::Refused(kind));
        }
        Ok(Route { base_urls: vec![url.clone()], client: self.filtered.clone(), is_trusted: false })
    }

    /// What kind of address the filter refuses, if the URL contains one. It resolves no name.
    fn refusal(&self, url: &str) -> Option<&'static str> {
        let url = parse_server_url(url).ok()?;
        self.policy.check_literal(&url).err().map(|refused| refused.kind)
    }
}

impl Route {
    /// A failed request in words for support. For an address that support entered, the text does not tell a closed port
    /// from an open one: else the platform would map the operator's network for anyone who may enter an address.
    pub(crate) fn failure_text(&self, error: &TransportError) -> String {
        if self.is_trusted {
            return error.to_string();
        }
        tracing::info!(error = %error, "a request to a provider failed");
        match error {
            TransportError::RefusedAddress { .. } => format!(
                "the platform does not send to the address of this host. Enter the name of a public host, or let the \
                 operator add its network to {SETTING}"
            ),
            _ => "the provider did not answer as an API does. Check its address, and that the provider runs".to_owned(),
        }
    }
}

/// Whether nothing was sent, so that the next address can be tried.
pub(crate) fn is_unsent(error: &TransportError) -> bool {
    error.is_unconnected()
}

fn same_origin(left: &str, right: &str) -> bool {
    match (Url::parse(left), Url::parse(right)) {
        (Ok(left), Ok(right)) => left.origin() == right.origin(),
        _ => false,
    }
}

/// The context that the API key of a customer's provider is sealed for.
pub(crate) fn provider_key_context(customer: Uuid) -> String {
    format!("customer/{customer}/provider-api-key")
}

/// Where messages of an application are created.
pub(crate) fn messages_url(provider_url: &str, application_id: &str) -> String {
    format!("{provider_url}/api/v1/app/{application_id}/msg/")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nodes(Vec<String>);

    #[async_trait]
    impl EmbeddedProvider for Nodes {
        async fn base_urls(&self) -> Vec<String> {
            self.0.clone()
        }

        fn usual_url(&self) -> String {
            "http://127.0.0.1:8071".to_owned()
        }
    }

    fn access(nodes: &[&str], configured: Option<&str>, allowed: &[&str]) -> ProviderAccess {
        let nodes = Nodes(nodes.iter().map(|url| (*url).to_owned()).collect());
        let allowed = allowed.iter().map(|network| network.parse().unwrap()).collect();
        ProviderAccess::new(Arc::new(nodes), configured.map(str::to_owned), AddressPolicy::public_only(allowed))
    }

    async fn routed(access: &ProviderAccess, url: &str) -> Result<bool, NoRoute> {
        access.route(&ProviderAddress::Url(url.to_owned())).await.map(|route| route.is_trusted)
    }

    #[tokio::test]
    async fn only_the_configured_default_and_embedded_nodes_are_exempt_from_the_address_filter() {
        let access = access(&["http://127.0.0.1:8071"], Some("http://10.0.0.5:9000"), &["192.168.7.0/24"]);
        for (url, trusted) in [
            ("http://127.0.0.1:8071", Ok(true)),
            ("http://10.0.0.5:9000", Ok(true)),
            ("https://api.example.com", Ok(false)),
            ("http://192.168.7.9", Ok(false)),
            ("http://127.0.0.1:22", Err(NoRoute::Refused("loopback"))),
            ("http://localhost:8071", Err(NoRoute::Refused("loopback"))),
            ("http://10.0.0.5:22", Err(NoRoute::Refused("private"))),
            ("http://[::ffff:169.254.169.254]", Err(NoRoute::Refused("link-local"))),
            ("http://metadata.google.internal", Err(NoRoute::Refused("link-local"))),
        ] {
            assert_eq!(routed(&access, url).await, trusted, "{url}");
        }
    }

    #[tokio::test]
    async fn the_embedded_provider_is_where_its_nodes_are_now() {
        let access = access(&["http://10.1.0.1:8071", "http://10.1.0.2:8071"], None, &[]);
        let route = access.route(&ProviderAddress::Embedded).await.unwrap();
        assert_eq!(route.base_urls, ["http://10.1.0.1:8071", "http://10.1.0.2:8071"]);
        assert_eq!(access.default_address(), ProviderAddress::Embedded);
        let gone = super::tests::access(&[], None, &[]).route(&ProviderAddress::Embedded).await;
        assert_eq!(gone.err(), Some(NoRoute::NoEmbeddedNode));
    }

    #[tokio::test]
    async fn the_text_for_an_entered_address_does_not_tell_a_closed_port_from_an_open_one() {
        let access = access(&["http://127.0.0.1:8071"], None, &[]);
        let entered = access.route(&ProviderAddress::Url("http://203.0.114.7:22".to_owned())).await.unwrap();
        let closed = TransportError::Connect { host: "203.0.114.7".into(), reason: "Connection refused".into() };
        let silent = TransportError::ConnectTimeout { address: "203.0.114.7:22".into(), limit_ms: 10_000 };
        let texts =
            [closed.clone(), silent, TransportError::Closed, TransportError::Invalid("the response is not HTTP")]
                .map(|error| entered.failure_text(&error));
        assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
        let own = access.route(&ProviderAddress::Embedded).await.unwrap();
        assert!(own.failure_text(&closed).contains("Connection refused"));
    }
}
