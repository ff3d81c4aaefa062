//! Which addresses endpoints may have: checked when one is entered, as far as it can be known then. What a name leads to is
//! checked at each connection, by the transport.

use http::Uri;
use kit_outbound::AddressPolicy;
use kit_outbound::url::EndpointUrl;

/// What endpoints may be reached by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AllowedSchemes {
    /// `http` and `https`.
    #[default]
    All,
    /// `https` only: the payload is encrypted in transit.
    HttpsOnly,
}

/// Rules for the addresses of endpoints.
#[derive(Debug, Clone)]
pub struct EndpointAddressPolicy {
    /// The same as the transport's.
    pub policy: AddressPolicy,
    /// Holds for endpoints that were made before, too: their deliveries fail with the reason.
    pub schemes: AllowedSchemes,
}

impl Default for EndpointAddressPolicy {
    /// Any address, by any scheme: for a transport that has a policy of its own.
    fn default() -> Self {
        Self { policy: AddressPolicy::any(), schemes: AllowedSchemes::All }
    }
}

impl EndpointAddressPolicy {
    /// Why an endpoint can't have this address, for who typed it.
    pub(crate) fn check(&self, url: &EndpointUrl) -> Result<(), String> {
        self.check_scheme(url.uri())?;
        let remedy = "The provider's operator can allow them with the setting provider.allow_subnets";
        self.policy.check_literal(url).map_err(|refused| format!("{refused}. {remedy}"))
    }

    pub(crate) fn check_scheme(&self, uri: &Uri) -> Result<(), String> {
        match self.schemes {
            AllowedSchemes::HttpsOnly if uri.scheme_str() != Some("https") => {
                Err("only addresses that begin with https:// are delivered to here".to_owned())
            }
            _ => Ok(()),
        }
    }
}
