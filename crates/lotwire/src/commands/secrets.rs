//! `lotwire secrets`: seals again what another key than the first has sealed; and what `doctor` says of that.

use std::io::Write as _;
use std::process::ExitCode;

use kit_runtime::vault::ResealReport;
use platform_core::Platform;
use provider_core::Provider;
use serde_json::json;

use super::{pluralise, print, print_json};
use crate::cli::Secrets;
use crate::config::Config;
use crate::error::{CommandError, ErrorContext as _};
use crate::node::{NodeServices, open_platform, open_provider};
use crate::sealing_key::{require_platform_key, require_provider_key, wrong_key_message};

/// Progress is told each time this many more were sealed again.
const PROGRESS_EVERY: u64 = 1_000;

pub(super) async fn run(config: &Config, command: &Secrets) -> Result<ExitCode, CommandError> {
    let Secrets::Reseal { json } = command;
    let is_there = |file: &str| !config.database.url.is_empty() || config.data_dir.join(file).exists();
    let (has_platform, has_provider) = (is_there("platform.db"), is_there("provider.db"));
    if !has_platform && !has_provider {
        let dir = config.data_dir.display();
        return Err(CommandError::new(format!("there is no database in {dir}: is --data-dir the server's?")));
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

const RESEALING: &str = "sealing the secrets again (does every node have the new key first in secrets.key?)";

/// Says on standard error how far it is.
fn report_progress(whose: &'static str) -> impl FnMut(u64) + Send {
    let mut told = 0;
    move |count| {
        if count >= told + PROGRESS_EVERY {
            told = count;
            let _ = writeln!(std::io::stderr(), "{whose}: {count} sealed again so far");
        }
    }
}

fn summary(found: &ResealReport, key: &str) -> String {
    if let Some(example) = &found.unopened_example {
        return format!(
            "{} sealed again with the key {key}. {} can't be opened with any key of secrets.key ({example}): add the key that \
             sealed them and run this again, or enter them anew. Until then leave no key out.",
            found.stale, found.unopened
        );
    }
    format!(
        "{} sealed again; {} sealed with the key {key} now. The other keys can be left out of secrets.key at \
         every node.",
        found.stale,
        all_are(found.examined)
    )
}

fn all_are(secrets: u64) -> String {
    if secrets == 1 { "the only secret is".to_owned() } else { format!("all {secrets} secrets are") }
}

/// For `doctor`: with which keys the platform's secrets are sealed.
pub(super) async fn check_platform(platform: &Platform, services: &NodeServices) -> Result<String, String> {
    match platform.check_sealing_keys().await.map_err(|error| error.to_string())? {
        platform_core::SealingKeyCheck::Differs(why) => Err(wrong_key_message("platform", &why)),
        platform_core::SealingKeyCheck::Fits => {
            finding(&platform.sealings().await.map_err(|error| error.to_string())?, services)
        }
    }
}

/// The same for the provider's.
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
            "{} can't be opened with any key of secrets.key ({example}): add the key that sealed them, or enter them anew",
            found.unopened
        )),
        (None, 0) => Ok(format!("{} sealed with the key {key}", all_are(found.examined))),
        (None, stale) => Ok(format!(
            "{} sealed with another key than the first, {key}: lotwire secrets reseal seals them again, and no key can \
             be left out before",
            pluralise(stale, &format!("of {} is", found.examined), &format!("of {} are", found.examined))
        )),
    }
}
