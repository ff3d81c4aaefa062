//! Checks the domains of houses: that none has lost its record.

use kit_runtime::clock::rfc3339_ms;
use platform_core::port::HouseDomain;
use platform_core::{Caller, Platform, PlatformResult};

use super::{CheckResult, tls};
use crate::config::Config;
use crate::node::{NodeServices, open_platform};

/// One finding for each domain whose record is missing, and each that has no certificate. None when all is well.
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
    let troubled = troubled.iter().map(|(customer, domain)| Err(problem(&customer.name, domain)));
    Ok(troubled.chain(without_certificate).collect())
}

fn problem(house: &str, domain: &HouseDomain) -> String {
    let record = format!("the text record {} with the value {}", domain.record_name(), domain.record_value());
    match (domain.missing_since, domain.served_until()) {
        (Some(since), Some(until)) => format!(
            "{}, the domain of {house}: {record} is missing since {}. From {} on the saleroom stands there no longer. Add the record \
             again, or let the house remove the domain",
            domain.domain,
            rfc3339_ms(since),
            rfc3339_ms(until)
        ),
        _ => format!(
            "{}, the domain of {house}, is not served any more: {record} was missing. Add the record and check it in the \
             administration, or let the house remove the domain",
            domain.domain
        ),
    }
}
