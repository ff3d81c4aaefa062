//! `lotwire secrets`: seals again what another key than the first has sealed; and what `doctor` says of that.

use std::io::Write as _;
use std::process::ExitCode;

use kit_runtime::vault::Sealings;
use platform_core::Platform;
use provider_core::Provider;
use serde_json::json;

use super::{count_of, print, print_json};
use crate::cli::Secrets;
use crate::config::Config;
use crate::fault::{Fault, While as _};
use crate::keys::{claim_platform, claim_provider, told};
use crate::node::{Ground, open_platform, open_provider};

/// Progress is told each time this many more were sealed again.
const TOLD_EVERY: u64 = 1_000;

pub(super) async fn run(config: &Config, command: &Secrets) -> Result<ExitCode, Fault> {
    let Secrets::Reseal { json } = command;
    let is_there = |file: &str| !config.database.url.is_empty() || config.data_dir.join(file).exists();
    let (has_platform, has_provider) = (is_there("platform.db"), is_there("provider.db"));
    if !has_platform && !has_provider {
        let dir = config.data_dir.display();
        return Err(Fault::new(format!("there is no database in {dir}: is --data-dir the server's?")));
    }
    let ground = Ground::new(config)?;
    let mut found = Sealings::default();
    if has_platform {
        let platform = open_platform(config, &ground).await?;
        claim_platform(&platform).await?;
        found = found.and(platform.reseal(&mut tell("platform")).await.while_(RESEALING)?);
    }
    if has_provider {
        let provider = open_provider(config, &ground).await?;
        claim_provider(&provider).await?;
        found = found.and(provider.reseal(&mut tell("provider")).await.while_(RESEALING)?);
    }
    let key = ground.sealing_key();
    if *json {
        print_json(&json!({ "resealed": found.stale, "unopened": found.unopened, "key": key }))?;
    } else {
        print(&conclusion(&found, key));
    }
    Ok(if found.unopened == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

const RESEALING: &str = "sealing the secrets again (does every node have the new key first in secrets.key?)";

/// Says on standard error how far it is.
fn tell(whose: &'static str) -> impl FnMut(u64) + Send {
    let mut told = 0;
    move |count| {
        if count >= told + TOLD_EVERY {
            told = count;
            let _ = writeln!(std::io::stderr(), "{whose}: {count} sealed again so far");
        }
    }
}

fn conclusion(found: &Sealings, key: &str) -> String {
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
        all_are(found.looked_at)
    )
}

fn all_are(secrets: u64) -> String {
    if secrets == 1 { "the only secret is".to_owned() } else { format!("all {secrets} secrets are") }
}

/// For `doctor`: with which keys the platform's secrets are sealed.
pub(super) async fn of_platform(platform: &Platform, ground: &Ground) -> Result<String, String> {
    match platform.check_key().await.map_err(|error| error.to_string())? {
        platform_core::KeyCheck::Differs(why) => Err(told("platform", &why)),
        platform_core::KeyCheck::Fits => {
            finding(&platform.sealings().await.map_err(|error| error.to_string())?, ground)
        }
    }
}

/// The same for the provider's.
pub(super) async fn of_provider(provider: &Provider, ground: &Ground) -> Result<String, String> {
    match provider.check_key().await.map_err(|error| error.to_string())? {
        provider_core::KeyCheck::Differs(why) => Err(told("provider", &why)),
        provider_core::KeyCheck::Fits => {
            finding(&provider.sealings().await.map_err(|error| error.to_string())?, ground)
        }
    }
}

fn finding(found: &Sealings, ground: &Ground) -> Result<String, String> {
    let key = ground.sealing_key();
    match (&found.unopened_example, found.stale) {
        (Some(example), _) => Err(format!(
            "{} can't be opened with any key of secrets.key ({example}): add the key that sealed them, or enter them anew",
            found.unopened
        )),
        (None, 0) => Ok(format!("{} sealed with the key {key}", all_are(found.looked_at))),
        (None, stale) => Ok(format!(
            "{} sealed with another key than the first, {key}: lotwire secrets reseal seals them again, and no key can \
             be left out before",
            count_of(stale, &format!("of {} is", found.looked_at), &format!("of {} are", found.looked_at))
        )),
    }
}
