//! Finds the account, application or endpoint that the operator named by id or uid. The errors say how to find the
//! right id.

use provider_core::model::{Account, Application, Endpoint};
use provider_core::page::{LIMIT_MAX, PageRequest};
use provider_core::{Caller, Provider, ProviderError};

use crate::cli::EndpointRef;
use crate::commands::similar_applications::{self, NamedApplication};
use crate::error::{CommandError, ErrorContext as _};

pub(super) async fn account(provider: &Provider, id: &str) -> Result<Account, CommandError> {
    match provider.account(id).await {
        Err(ProviderError::NotFound) => Err(CommandError::new(format!(
            "there is no account {id:?}. `lotwire provider account list` lists the accounts"
        ))),
        found => found.context(format!("reading account {id}")),
    }
}

pub(in crate::commands) async fn application(
    provider: &Provider,
    of: Option<&str>,
    id_or_uid: &str,
) -> Result<(Account, Application), CommandError> {
    if let Some(of) = of {
        account(provider, of).await?;
    }
    let found = provider.find_applications(of, id_or_uid).await;
    let found = found.context(format!("finding application {id_or_uid}"))?;
    let similar = if found.is_empty() { similar_applications(provider, of, id_or_uid).await } else { String::new() };
    let shown = |(account, application): &(Account, Application)| format!("{} of {}", application.id, account.id);
    let missing = || {
        let of = of.map(|account| format!(" of {account}")).unwrap_or_default();
        format!(
            "there is no application{of} with the id or uid {id_or_uid:?}{similar}. `lotwire provider application list` lists \
             them"
        )
    };
    let several =
        |matches| format!("several applications have the uid {id_or_uid:?}. Give the id, or --account: {matches}");
    only_one(found, shown, missing, several)
}

/// The applications of an account, or of all accounts, with a similar id, uid or name, for the error.
async fn similar_applications(provider: &Provider, of: Option<&str>, text: &str) -> String {
    let accounts = match of {
        Some(account) => provider.account(account).await.map(|account| vec![account]),
        None => provider.list_accounts(&PageRequest::first(LIMIT_MAX)).await.map(|page| page.data),
    };
    let mut all = Vec::new();
    for account in accounts.unwrap_or_default() {
        let page = PageRequest::first(LIMIT_MAX);
        let found = provider.list_applications(&Caller::operator(&account), &[], &page).await;
        all.extend(found.map(|page| page.data).unwrap_or_default());
    }
    let named = |application: Application| NamedApplication {
        id: application.id.to_string(),
        uid: application.uid,
        name: application.name,
    };
    similar_applications::hint(text, all.into_iter().map(named))
}

pub(super) async fn endpoint(provider: &Provider, name: &EndpointRef) -> Result<(Caller, Endpoint), CommandError> {
    let id_or_uid = &name.endpoint;
    let of = match &name.application {
        Some(of) => Some(application(provider, name.account.as_deref(), of).await?.1.id),
        None => None,
    };
    let found = provider.find_endpoints(of.as_deref(), id_or_uid).await;
    let found = found.context(format!("finding endpoint {id_or_uid}"))?;
    let shown = |(_, endpoint): &(Account, Endpoint)| format!("{} of {}", endpoint.id, endpoint.application);
    let missing = || {
        let of = of.as_deref().map(|application| format!(" of {application}")).unwrap_or_default();
        format!(
            "there is no endpoint{of} with the id or uid {id_or_uid:?}. `lotwire provider endpoint list APP` lists \
             the endpoints of an application, `lotwire provider stuck` those with waiting deliveries"
        )
    };
    let several =
        |matches| format!("several endpoints have the uid {id_or_uid:?}. Give the id, or --application: {matches}");
    let (account, endpoint) = only_one(found, shown, missing, several)?;
    Ok((Caller::operator(&account), endpoint))
}

/// The only match. `missing` and `several` make the error for no match and for several.
fn only_one<T>(
    found: Vec<T>,
    shown: impl Fn(&T) -> String,
    missing: impl FnOnce() -> String,
    several: impl FnOnce(String) -> String,
) -> Result<T, CommandError> {
    if found.len() > 1 {
        return Err(CommandError::new(several(found.iter().map(shown).collect::<Vec<_>>().join(", "))));
    }
    found.into_iter().next().ok_or_else(|| CommandError::new(missing()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_must_match_exactly_one_row() {
        let find = |found: Vec<u8>| {
            only_one(found, u8::to_string, || "none".to_owned(), |matches| matches).map_err(|error| error.to_string())
        };
        assert_eq!(find(vec![7]), Ok(7));
        assert_eq!(find(vec![]), Err("none".to_owned()));
        assert_eq!(find(vec![7, 8]), Err("7, 8".to_owned()));
    }
}
