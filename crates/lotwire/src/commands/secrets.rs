//! Runs `lotwire secrets reseal`, and checks for `doctor` which keys sealed the secrets.

use std::io::Write as _;
use std::process::ExitCode;

use kit_runtime::vault::ResealReport;
use platform_core::Platform;
use provider_core::Provider;
use serde_json::json;

use super::{pluralise, print, print_json};
use crate::cli::Secrets;
use crate::config::Config;
use crate::data_dir::has_file;
use crate::error::{CommandError, ErrorContext as _};
use crate::node::{NodeServices, open_platform, open_provider};
use crate::sealing_key::{require_platform_key, require_provider_key, wrong_key_message};

/// Number of resealed secrets between two progress lines.
const PROGRESS_EVERY: u64 = 1_000;

pub(super) async fn run(config: &Config, command: &Secrets) -> Result<ExitCode, CommandError> {
    let Secrets::Reseal { json } = command;
    let on_postgres = !config.database.url.is_empty();
    let has_platform = on_postgres || has_file(&config.data_dir, "platform.db")?;
    let has_provider = on_postgres || has_file(&config.data_dir, "provider.db")?;
    if !has_platform && !has_provider {
        let dir = config.data_dir.display();
        return Err(CommandError::new(format!("{dir} contains no database. Is --data-dir the server's?")));
    }
    let services = NodeServices::new(config)?;
    let mut found = ResealReport::default();
    if has_platform {
        let platform = open_platform(config, &services).await?;
        require_platform_key(&platform).await?;
        found = found.merge(platform.reseal(&mut report_progress("platform")).await.context(RESEALING)?);
    }
    if has_provider {
        let provider = open_provider(config, &services).await?;
        require_provider_key(&provider).await?;
        found = found.merge(provider.reseal(&mut report_progress("provider")).await.context(RESEALING)?);
    }
    let key = services.sealing_key();
    if *json {
        print_json(&json!({ "resealed": found.stale, "unopened": found.unopened, "key": key }))?;
    } else {
        print(&summary(&found, key));
    }
    Ok(if found.unopened == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

const RESEALING: &str = "resealing the secrets (does every node have the new key first in secrets.key?)";

/// Prints progress on standard error.
fn report_progress(whose: &'static str) -> impl FnMut(u64) + Send {
    let mut reported = 0;
    move |count| {
        if count >= reported + PROGRESS_EVERY {
            reported = count;
            let _ = writeln!(std::io::stderr(), "{whose}: {count} secrets resealed so far");
        }
    }
}

fn summary(found: &ResealReport, key: &str) -> String {
    if let Some(example) = &found.unopened_example {
        return format!(
            "{} resealed with the key {key}. No key in secrets.key opens {} ({example}): add the key that sealed them \
             and run the command again, or enter these secrets again. Until then, remove no key.",
            pluralise(found.stale, "secret", "secrets"),
            pluralise(found.unopened, "other", "others")
        );
    }
    format!(
        "{} resealed; {}. You can remove the other keys from secrets.key on every node.",
        pluralise(found.stale, "secret", "secrets"),
        all_sealed(found.examined, key)
    )
}

fn all_sealed(secrets: u64, key: &str) -> String {
    match secrets {
        0 => "no secret is stored yet".to_owned(),
        1 => format!("the only secret is sealed with the key {key}"),
        secrets => format!("all {secrets} secrets are sealed with the key {key}"),
    }
}

/// For `doctor`: which keys sealed the platform's secrets.
pub(super) async fn check_platform(platform: &Platform, services: &NodeServices) -> Result<String, String> {
    match platform.check_sealing_keys().await.map_err(|error| error.to_string())? {
        platform_core::SealingKeyCheck::Differs(why) => Err(wrong_key_message("platform", &why)),
        platform_core::SealingKeyCheck::Fits => {
            finding(&platform.sealings().await.map_err(|error| error.to_string())?, services)
        }
    }
}

/// For `doctor`: which keys sealed the provider's secrets.
pub(super) async fn check_provider(provider: &Provider, services: &NodeServices) -> Result<String, String> {
    match provider.check_sealing_keys().await.map_err(|error| error.to_string())? {
        provider_core::SealingKeyCheck::Differs(why) => Err(wrong_key_message("provider", &why)),
        provider_core::SealingKeyCheck::Fits => {
            finding(&provider.sealings().await.map_err(|error| error.to_string())?, services)
        }
    }
}

fn finding(found: &ResealReport, services: &NodeServices) -> Result<String, String> {
    let key = services.sealing_key();
    match (&found.unopened_example, found.stale) {
        (Some(example), _) => Err(format!(
            "no key in secrets.key opens {} ({example}). Add the key that sealed them, or enter the secrets again",
            pluralise(found.unopened, "secret", "secrets")
        )),
        (None, 0) => Ok(all_sealed(found.examined, key)),
        (None, stale) => Ok(format!(
            "{} sealed with another key than the first, {key}. Before you remove a key, run `lotwire secrets reseal`",
            pluralise(stale, &format!("of {} is", found.examined), &format!("of {} are", found.examined))
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_secrets_reads_right_for_none_and_one() {
        let texts = [0, 1, 2].map(|secrets| all_sealed(secrets, "k1"));
        let some = ["the only secret is sealed with the key k1", "all 2 secrets are sealed with the key k1"];
        assert_eq!(texts, ["no secret is stored yet", some[0], some[1]]);
    }
}
