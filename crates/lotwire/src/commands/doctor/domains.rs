//! Checks the domains of houses: that each has its record, a name server that answers, and a certificate.

use kit_runtime::clock::rfc3339_ms;
use platform_core::port::{DomainTrouble, HouseDomain};
use platform_core::{Caller, Platform, PlatformResult};

use super::{CheckResult, tls};
use crate::config::Config;
use crate::node::{NodeServices, open_platform};

/// One finding for each domain with a trouble, and each that has no certificate. None when all is well.
pub(super) async fn check(config: &Config, services: &NodeServices) -> Vec<CheckResult> {
    if config.saleroom_url().is_empty() {
        return Vec::new();
    }
    // Another finding reports a database that can't be opened.
    let Ok(platform) = open_platform(config, services).await else { return Vec::new() };
    match findings(config, services, &platform).await {
        Ok(findings) => findings,
        Err(error) => vec![Err(error.full_message())],
    }
}

async fn findings(config: &Config, services: &NodeServices, platform: &Platform) -> PlatformResult<Vec<CheckResult>> {
    let troubled = platform.troubled_domains(&Caller::command_line()).await?;
    let served = platform.served_domains().await?;
    let now = services.clock.now();
    let without_certificate = served.domains().filter_map(|domain| tls::check_domain(config, domain, now));
    let troubled = troubled.iter().filter_map(|(customer, domain)| problem(&customer.name, domain)).map(Err);
    Ok(troubled.chain(without_certificate).collect())
}

fn problem(house: &str, domain: &HouseDomain) -> Option<String> {
    let record = format!("the text record {} with the value {}", domain.record_name(), domain.record_value());
    let until = domain.served_until().map(rfc3339_ms).unwrap_or_default();
    let problem = match domain.trouble()? {
        DomainTrouble::RecordMissing(since) => format!(
            ": {record} is missing since {}. From {until} on the saleroom stands there no longer. Add the record again, or let the \
             house remove the domain",
            rfc3339_ms(since)
        ),
        DomainTrouble::Unanswered(since) => format!(
            ": its name server has not answered since {}, so {record} could not be looked up. From {until} on the saleroom stands \
             there no longer. See to the name server, or let the house remove the domain",
            rfc3339_ms(since)
        ),
        DomainTrouble::Lost(since) => format!(
            ", is not served any more since {}: {record} was missing, or the name server silent. Add the record and check it in the \
             administration, or let the house remove the domain",
            rfc3339_ms(since)
        ),
    };
    Some(format!("{}, the domain of {house}{problem}", domain.domain))
}
