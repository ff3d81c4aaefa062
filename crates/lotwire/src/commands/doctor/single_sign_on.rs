//! Checks the issuers of single sign-on: whether each answers with a usable discovery document and keys.

use super::CheckResult;
use crate::config::{Config, Role};
use crate::node::{NodeServices, platform_single_sign_on, provider_single_sign_on};

/// One finding for each wing of this node that has an issuer.
pub(super) async fn check(config: &Config, services: &NodeServices) -> Vec<CheckResult> {
    let mut findings = Vec::new();
    for role in [Role::Platform, Role::Provider] {
        let party = match role {
            Role::Platform => platform_single_sign_on(config, &services.clock).map(|sso| sso.map(|sso| sso.party)),
            Role::Provider => {
                provider_single_sign_on(config, &services.clock).map(|sso| sso.map(|sso| sso.rules.party))
            }
        };
        let party = match party {
            Ok(Some(party)) if config.runs(role) => party,
            Ok(_) => continue,
            Err(error) => {
                findings.push(Err(error.to_string()));
                continue;
            }
        };
        let (issuer, role) = (party.issuer(), role.name());
        findings.push(match party.check().await {
            Ok(()) => Ok(format!(
                "the issuer {issuer} answers; at its client {role} needs the redirect URI {}",
                party.redirect_uri()
            )),
            Err(why) => Err(format!(
                "the issuer {issuer} does not answer as it should, so single sign-on does not work: {why}. Correct \
                 {role}_openid.issuer, or let the issuer's network reach this machine"
            )),
        });
    }
    findings
}
