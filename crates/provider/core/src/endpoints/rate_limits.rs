//! The rate limits that apply to the deliveries of an endpoint: its own, and its application's.

use crate::error::ProviderResult;
use crate::model::Endpoint;
use crate::provider::Provider;

/// Rate limits in messages a second: one of the endpoint, one that all endpoints of its application share, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    endpoint: Option<u16>,
    application: Option<u16>,
}

impl RateLimits {
    /// The limits; none when neither is set.
    pub fn new(endpoint: Option<u16>, application: Option<u16>) -> Option<Self> {
        endpoint.or(application).map(|_| Self { endpoint, application })
    }

    /// Maximum messages a second to the endpoint.
    pub fn lowest(self) -> u16 {
        [self.endpoint, self.application].into_iter().flatten().min().unwrap_or(u16::MAX)
    }

    /// The limits in words, after "at" or "to".
    pub fn words(self) -> String {
        let messages = |rate: u16| if rate == 1 { "1 message".to_owned() } else { format!("{rate} messages") };
        let own = self.endpoint.map(|rate| format!("the endpoint's rate limit of {} a second", messages(rate)));
        match (own, self.application) {
            (Some(own), None) => own,
            (Some(own), Some(all)) => format!("{own}, and the application's of {all} for all its endpoints"),
            (None, all) => {
                let all = messages(all.unwrap_or(u16::MAX));
                format!("the application's rate limit of {all} a second for all its endpoints")
            }
        }
    }
}

impl Provider {
    /// The rate limits that apply to the endpoint.
    pub(crate) async fn rate_limits(&self, endpoint: &Endpoint) -> ProviderResult<Option<RateLimits>> {
        let application =
            self.store().snapshot(&endpoint.application).await?.and_then(|(found, _)| found.throttle_rate);
        Ok(RateLimits::new(endpoint.throttle_rate, application))
    }
}
