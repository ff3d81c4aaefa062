//! Runs `lotwire provider alert-recipient`.

use kit_runtime::clock::rfc3339_ms;
use provider_core::{Caller, Provider, ProviderError};
use serde_json::json;

use super::{hint, or_dash, print, print_json, resolve};
use crate::cli::{AlertScopeRef, ProviderAlertRecipient};
use crate::error::{CommandError, ErrorContext as _};

pub(super) async fn run(provider: &Provider, command: &ProviderAlertRecipient) -> Result<(), CommandError> {
    match command {
        ProviderAlertRecipient::Add { address, scope, json } => {
            let (caller, application) = find(provider, scope).await?;
            let added = provider.add_alert_recipient(&caller, application.as_deref(), address).await;
            added.context(format!("adding {address}"))?;
            if *json {
                return print_json(&json!({ "address": address }));
            }
            print(&format!("A code is sent to {address}."));
            hint("Next: lotwire provider alert-recipient confirm CODE. The link in the mail confirms it, too.");
        }
        ProviderAlertRecipient::Confirm { code } => match provider.confirm_alert_recipient(code).await {
            Ok(recipient) => print(&format!("{} receives alerts from now on.", recipient.address)),
            Err(ProviderError::NotFound) => {
                return Err(CommandError::new(
                    "no address has this code, or it is older than 24 hours. `lotwire provider alert-recipient add` \
                     sends a new one",
                ));
            }
            Err(error) => return Err(error).context("confirming the address"),
        },
        ProviderAlertRecipient::Remove { address, scope } => {
            let (caller, application) = find(provider, scope).await?;
            match provider.remove_alert_recipient(&caller, application.as_deref(), address).await {
                Err(ProviderError::NotFound) => {
                    return Err(CommandError::new(format!(
                        "{address:?} is not in the list. `lotwire provider alert-recipient list` lists the addresses"
                    )));
                }
                removed => removed.context(format!("removing {address}"))?,
            }
            print(&format!("{address} receives no more alerts."));
        }
        ProviderAlertRecipient::List { scope, json } => {
            let (caller, application) = find(provider, scope).await?;
            let found = provider.alert_recipients(&caller, application.as_deref()).await;
            let found = found.context("listing the addresses")?;
            if found.is_empty() {
                hint("No address receives these alerts. Add one: lotwire provider alert-recipient add ADDRESS");
            }
            for recipient in found {
                let confirmed_at = recipient.confirmed_at.map(rfc3339_ms);
                if *json {
                    print_json(&json!({
                        "address": recipient.address, "addedAt": rfc3339_ms(recipient.created_at),
                        "confirmedAt": confirmed_at,
                    }))?;
                } else {
                    print(&format!("confirmed {:<24}  {}", or_dash(confirmed_at), recipient.address));
                }
            }
        }
    }
    Ok(())
}

/// The operator as a caller of the account, and the id of the application.
async fn find(provider: &Provider, scope: &AlertScopeRef) -> Result<(Caller, Option<String>), CommandError> {
    let account = resolve::account(provider, &scope.account).await?;
    let application = match &scope.application {
        Some(application) => {
            let (_, application) = resolve::application(provider, Some(&scope.account), application).await?;
            Some(application.id.to_string())
        }
        None => None,
    };
    Ok((Caller::operator(&account), application))
}
