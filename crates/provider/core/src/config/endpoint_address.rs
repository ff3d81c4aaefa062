//! The addresses that endpoints may have. URLs are checked when they are entered; the transport checks the IP addresses
//! of a host name at each connection.

use http::Uri;
use kit_outbound::AddressPolicy;
use kit_outbound::url::EndpointUrl;

/// The schemes that endpoint URLs may have.
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
    /// The policy of the transport.
    pub policy: AddressPolicy,
    /// Also enforced for existing endpoints: their deliveries fail with the reason.
    pub schemes: AllowedSchemes,
}

impl Default for EndpointAddressPolicy {
    /// Allows any address and any scheme, for a transport with its own policy.
    fn default() -> Self {
        Self { policy: AddressPolicy::any(), schemes: AllowedSchemes::All }
    }
}

impl EndpointAddressPolicy {
    /// Checks a URL that a person entered. The error is for that person.
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
