//! `lotwire key` and `lotwire user`: who may use the platform.

use std::time::Duration;

use jiff::Timestamp;
use platform::access::NewApiKey;
use platform::port::{ApiKey, Page};
use platform::{Caller, Platform, Role, Scope, Scopes};
use runtime::clock::rfc3339_ms;
use runtime::vault::Secret;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{print, print_json, secret_from_stdin};
use crate::cli::{Key, User};
use crate::config::Config;
use crate::fault::{Fault, While as _};
use crate::node::{Ground, open_platform};

/// Keys that are read at once.
const KEYS_AT_ONCE: usize = 250;
const DAY: Duration = Duration::from_secs(24 * 3_600);
/// Bytes of randomness in a password that is made for somebody.
const PASSWORD_BYTES: usize = 16;

pub(super) async fn run_key(config: &Config, command: &Key) -> Result<(), Fault> {
    let ground = Ground::new(config)?;
    let platform = open_platform(config, &ground).await?;
    match command {
        Key::Create { name, customer, scopes, expires_in_days, json } => {
            let day = |days: &u16| ground.clock.now().checked_add(DAY * u32::from(*days));
            let expires_at = expires_in_days.as_ref().map(day).transpose().while_("working out the expiry")?;
            let new = NewApiKey { name: name.clone(), customer: *customer, scopes: parse_scopes(scopes)?, expires_at };
            let created = platform.create_api_key(&Caller::command_line(), &new).await.while_("creating the key")?;
            let key = created.key.expose_str().unwrap_or_default();
            if *json {
                return print_json(&json!({ "key": key }));
            }
            print(&format!("{key}\n\nKeep it now: it is not shown again."));
        }
        Key::List { customer, json } => {
            for key in all_keys(&platform, *customer).await? {
                if *json {
                    print_json(&as_json(&key))?;
                } else {
                    print(&as_line(&key));
                }
            }
        }
        Key::Revoke { uuid } => {
            platform.revoke_api_key(&Caller::command_line(), *uuid).await.while_(format!("revoking key {uuid}"))?;
            print(&format!("Key {uuid} no longer gives access."));
        }
    }
    Ok(())
}

async fn all_keys(platform: &Platform, customer: Option<Uuid>) -> Result<Vec<ApiKey>, Fault> {
    let mut keys: Vec<ApiKey> = Vec::new();
    loop {
        let page = Page { after: keys.last().map(|key| key.uuid), limit: KEYS_AT_ONCE };
        let more = platform.api_keys(&Caller::command_line(), customer, page).await.while_("listing the keys")?;
        if more.is_empty() {
            return Ok(keys);
        }
        keys.extend(more);
    }
}

fn as_json(key: &ApiKey) -> Value {
    json!({
        "uuid": key.uuid, "name": key.name, "customer": key.customer, "scopes": key.scopes,
        "createdAt": rfc3339_ms(key.created_at), "expiresAt": key.expires_at.map(rfc3339_ms),
        "lastUsedAt": key.last_used_at.map(rfc3339_ms),
    })
}

fn as_line(key: &ApiKey) -> String {
    let time = |at: Option<Timestamp>| at.map_or_else(|| "-".to_owned(), rfc3339_ms);
    let (created, used, ends) = (rfc3339_ms(key.created_at), time(key.last_used_at), time(key.expires_at));
    format!("{}  created {created}  used {used:<24}  ends {ends:<24}  {}", key.uuid, key.name)
}

fn parse_scopes(names: &[String]) -> Result<Scopes, Fault> {
    if names.iter().any(|name| name == "all") {
        return Ok(Scopes::all());
    }
    let scope = |name: &String| {
        let known = || Scope::ALL.map(Scope::name).join(", ");
        Scope::parse(name).ok_or_else(|| Fault::new(format!("there is no scope {name:?}; there are all, {}", known())))
    };
    names.iter().map(scope).collect()
}

pub(super) async fn run_user(config: &Config, command: &User) -> Result<(), Fault> {
    let User::Create { email, role, password_stdin, json } = command;
    let ground = Ground::new(config)?;
    let platform = open_platform(config, &ground).await?;
    let known = || Role::ALL.map(Role::name).join(", ");
    let role =
        Role::parse(role).ok_or_else(|| Fault::new(format!("there is no role {role:?}; there are {}", known())))?;
    let (password, is_made) = if *password_stdin {
        (secret_from_stdin("the password")?, false)
    } else {
        (runtime::ids::token(ground.random.as_ref(), PASSWORD_BYTES), true)
    };
    let secret = Secret::new(password.clone().into_bytes());
    let user = platform.create_user(&Caller::command_line(), email, role, &secret).await.while_("creating the user")?;
    let shown = is_made.then_some(password);
    if *json {
        return print_json(&json!({ "uuid": user.uuid, "email": user.email, "role": user.role, "password": shown }));
    }
    print(&format!("User {} created as {}.", user.email, user.role));
    if let Some(password) = shown {
        print(&format!("Password, shown this once: {password}"));
    }
    Ok(())
}
