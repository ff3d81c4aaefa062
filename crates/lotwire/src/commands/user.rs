//! Runs `lotwire user`: users, their roles and their sessions.

use kit_runtime::clock::rfc3339_ms;
use kit_runtime::vault::Secret;
use platform_core::port::{Page, Session, User};
use platform_core::users::{ChangedUser, NewUser, PasswordReset, ScreenLinksToEnd, UserPatch, UserWithPassword};
use platform_core::{Caller, Platform, Role};
use serde_json::json;

use super::{hint, print, print_json, require_database, secret_from_stdin};
use crate::address_file;
use crate::cli::User as UserCommand;
use crate::config::{self, Config, listen_address};
use crate::error::{CommandError, ErrorContext as _};
use crate::node::{NodeServices, open_platform};

/// Rows read from the store in one page.
const PAGE_ROWS: usize = 1_000;

pub(super) async fn run(config: &Config, command: &UserCommand) -> Result<(), CommandError> {
    if !matches!(command, UserCommand::Create { .. }) {
        require_database(config, "platform.db")?;
    }
    let services = NodeServices::new(config)?;
    let platform = open_platform(config, &services).await?;
    let operator = Caller::command_line();
    match command {
        UserCommand::Create { email, role, name, password_stdin, require_new_password, json } => {
            let (role, password) = (parse_role(role)?, password_from(*password_stdin)?);
            let (email, name, must_change_password) = (email.clone(), name.clone(), *require_new_password);
            let new = NewUser { email, name, role, password, must_change_password };
            let made = platform.create_user(&operator, new, None).await.and_then(|outcome| outcome.fresh());
            let made = made.context("creating the user")?;
            show_password(
                &made,
                &format!("User {} created with the role {}.", made.user.email, made.user.profile.role),
                *json,
            )
        }
        UserCommand::Name { email, name } => {
            let user = named(&platform, &operator, email).await?;
            let user = platform.name_user(&operator, user.id, Some(user.version), Some(name)).await;
            let user = user.context(format!("naming {email}"))?;
            match user.profile.name {
                Some(name) => print(&format!("User {} has the name \"{name}\".", user.email)),
                None => print(&format!("User {} has no name.", user.email)),
            }
            Ok(())
        }
        UserCommand::List { json } => list(&platform, &operator, *json).await,
        UserCommand::Role { email, role, end_screen_links } => {
            let screen_links_to_end = to_end(*end_screen_links);
            let patch = UserPatch { role: Some(parse_role(role)?), disabled: None, screen_links_to_end };
            let changed = change(&platform, &operator, email, patch).await?;
            print(&format!("User {} now has the role {}.", changed.user.email, changed.user.profile.role));
            show_ended_links(config, &changed);
            Ok(())
        }
        UserCommand::Disable { email, end_screen_links } => {
            let screen_links_to_end = to_end(*end_screen_links);
            let patch = UserPatch { role: None, disabled: Some(true), screen_links_to_end };
            let changed = change(&platform, &operator, email, patch).await?;
            print(&format!("User {} is disabled.", changed.user.email));
            show_ended_links(config, &changed);
            Ok(())
        }
        UserCommand::Enable { email } => {
            let patch = UserPatch { disabled: Some(false), ..UserPatch::default() };
            let user = change(&platform, &operator, email, patch).await?.user;
            print(&format!("User {} is enabled.", user.email));
            Ok(())
        }
        UserCommand::Delete { email, confirmation } => {
            let user = named(&platform, &operator, email).await?;
            confirmation.ask(|| format!("Delete user {}?", user.email))?;
            platform.remove_user(&operator, user.id).await.context(format!("deleting {email}"))?;
            print(&format!("User {} is deleted.", user.email));
            Ok(())
        }
        UserCommand::Password { email, password_stdin, require_new_password, json } => {
            let user = named(&platform, &operator, email).await?;
            let password = password_from(*password_stdin)?;
            let reset = PasswordReset { password, must_change_password: *require_new_password };
            let made = platform.reset_password(&operator, user.id, reset, None).await;
            let made = made.and_then(|outcome| outcome.fresh()).context(format!("changing the password of {email}"))?;
            show_password(&made, &format!("User {} has a new password.", user.email), *json)
        }
        UserCommand::SecondFactorOff { email } => {
            let user = named(&platform, &operator, email).await?;
            let off = platform.turn_off_second_factor(&operator, user.id, None).await;
            off.context(format!("turning off the second factor of {email}"))?;
            print(&format!("User {} now signs in with the password alone.", user.email));
            Ok(())
        }
        UserCommand::Assign { email, auction } => {
            let user = named(&platform, &operator, email).await?;
            platform.assign_clerk(&operator, *auction, user.id).await.context(format!("assigning {email}"))?;
            print(&format!("User {} is assigned to webcast {auction}.", user.email));
            Ok(())
        }
        UserCommand::Unassign { email, auction } => {
            let user = named(&platform, &operator, email).await?;
            platform
                .unassign_clerk(&operator, *auction, user.id)
                .await
                .context(format!("removing the assignment of {email}"))?;
            print(&format!("User {} is no longer assigned to webcast {auction}.", user.email));
            Ok(())
        }
        UserCommand::Webcasts { email, json } => {
            let user = named(&platform, &operator, email).await?;
            webcasts(&platform, &operator, &user, *json).await
        }
        UserCommand::Sessions { email, json } => {
            let user = named(&platform, &operator, email).await?;
            let page = Page { after: None, limit: PAGE_ROWS };
            let sessions = platform.sessions_of(&operator, user.id, page).await.context("listing the sessions")?;
            if sessions.is_empty() {
                hint(&format!("{email} has no session."));
            }
            sessions.iter().try_for_each(|session| show_session(session, *json))
        }
        UserCommand::SignOut { email, session } => {
            let user = named(&platform, &operator, email).await?;
            let ended = match session {
                Some(session) => platform.end_session(&operator, *session).await.map(|()| 1),
                None => platform.end_sessions_of(&operator, user.id).await,
            };
            let ended = ended.context(format!("ending sessions of {email}"))?;
            print(&format!("Sessions ended: {ended}."));
            Ok(())
        }
    }
}

fn parse_role(name: &str) -> Result<Role, CommandError> {
    let known = || Role::ALL.map(Role::name).join(", ");
    Role::parse(name).ok_or_else(|| CommandError::new(format!("there is no role {name:?}; there are {}", known())))
}

/// The password from standard input; none if the platform generates one.
fn password_from(password_stdin: bool) -> Result<Option<Secret>, CommandError> {
    if !password_stdin {
        return Ok(None);
    }
    Ok(Some(Secret::new(secret_from_stdin("the password")?.into_bytes())))
}

async fn named(platform: &Platform, operator: &Caller, email: &str) -> Result<User, CommandError> {
    platform.user_by_email(operator, email).await.context(format!("finding {email}"))
}

fn to_end(end_screen_links: bool) -> ScreenLinksToEnd {
    if end_screen_links { ScreenLinksToEnd::All } else { ScreenLinksToEnd::Nothing }
}

/// Prints what became of the links that the user made.
fn show_ended_links(config: &Config, changed: &ChangedUser) {
    if changed.invitations_withdrawn > 0 {
        print(&format!("Open invitations withdrawn: {}.", changed.invitations_withdrawn));
    }
    if changed.screen_links_ended > 0 {
        print(&format!("Links of screens ended: {}. Their screens are dark.", changed.screen_links_ended));
    }
    if changed.new_screen_links.is_empty() {
        return;
    }
    print(
        "Open these links on their screens, within an hour. The old ones go on until then (store them now: they can't be shown again):",
    );
    let base = match config.platform.public_url.trim_end_matches('/') {
        // A running server may listen elsewhere than this command was told.
        "" => address_file::read(&config.data_dir, config::Role::Platform)
            .unwrap_or_else(|| listen_address::local_url(config.platform.listen)),
        public_url => public_url.to_owned(),
    };
    for new in &changed.new_screen_links {
        let url = new.url(&format!("{base}/admin"));
        print(&format!("{}  {:<8}  {url}", new.link.auction, new.link.kind.name()));
    }
}

async fn change(
    platform: &Platform,
    operator: &Caller,
    email: &str,
    patch: UserPatch,
) -> Result<ChangedUser, CommandError> {
    let user = named(platform, operator, email).await?;
    platform.change_user(operator, user.id, Some(user.version), patch).await.context(format!("changing {email}"))
}

fn show_password(made: &UserWithPassword, done: &str, json: bool) -> Result<(), CommandError> {
    let user = &made.user;
    let shown = made.password.as_ref().and_then(|password| password.expose_str());
    if json {
        return print_json(
            &json!({ "uuid": user.id, "email": user.email, "role": user.profile.role, "password": shown }),
        );
    }
    print(done);
    if let Some(password) = shown {
        print(&format!("Password (store it now: it can't be shown again): {password}"));
    }
    if user.must_change_password {
        print("The user has to choose another password at the next sign-in.");
    }
    Ok(())
}

async fn list(platform: &Platform, operator: &Caller, json: bool) -> Result<(), CommandError> {
    let mut page = Page { after: None, limit: PAGE_ROWS };
    loop {
        let users = platform.users(operator, page).await.context("listing the users")?;
        if users.is_empty() && page.after.is_none() {
            hint("There is no user yet. Create one: lotwire user create EMAIL --role ROLE");
        }
        users.iter().try_for_each(|user| show(user, json))?;
        match users.last() {
            Some(last) if users.len() == PAGE_ROWS => page.after = Some(last.id),
            _ => return Ok(()),
        }
    }
}

async fn webcasts(platform: &Platform, operator: &Caller, user: &User, json: bool) -> Result<(), CommandError> {
    let mut page = Page { after: None, limit: PAGE_ROWS };
    loop {
        let found = platform.webcasts_of_clerk(operator, user.id, page).await.context("listing the webcasts")?;
        if found.is_empty() && page.after.is_none() {
            hint(&format!("{} is assigned to no webcast.", user.email));
        }
        for auction in &found {
            let status = auction.status.name();
            if json {
                print_json(&json!({ "uuid": auction.uuid, "title": auction.title, "status": status }))?;
            } else {
                print(&format!("{}  {status:<14}  {}", auction.uuid, auction.title));
            }
        }
        match found.last() {
            Some(last) if found.len() == PAGE_ROWS => page.after = Some(last.uuid),
            _ => return Ok(()),
        }
    }
}

fn show(user: &User, json: bool) -> Result<(), CommandError> {
    let (disabled_at, signed_in_at) = (user.disabled_at.map(rfc3339_ms), user.signed_in_at.map(rfc3339_ms));
    let second_factor = user.has_second_factor();
    if json {
        return print_json(&json!({
            "uuid": user.id, "email": user.email, "name": user.profile.name, "role": user.profile.role,
            "disabledAt": disabled_at,
            "secondFactor": second_factor, "singleSignOn": user.openid.is_some(), "createdAt": rfc3339_ms(user.created_at), "signedInAt": signed_in_at,
        }));
    }
    let factor = match (second_factor, user.openid.is_some()) {
        (true, _) => "second factor",
        (false, true) => "single sign-on",
        (false, false) => "password only",
    };
    let state = disabled_at.map_or_else(String::new, |at| format!("  disabled {at}"));
    let signed_in = signed_in_at.unwrap_or_else(|| "-".to_owned());
    let name = user.profile.name.as_ref().map_or_else(String::new, |name| format!("  {name}"));
    print(&format!(
        "{}  {:<13}  {factor}  signed in {signed_in:<24}  {}{name}{state}",
        user.id, user.profile.role, user.email
    ));
    Ok(())
}

fn show_session(session: &Session, json: bool) -> Result<(), CommandError> {
    let (created_at, expires_at) = (rfc3339_ms(session.created_at), rfc3339_ms(session.expires_at));
    let last_used_at = rfc3339_ms(session.last_used_at);
    if json {
        return print_json(&json!({
            "uuid": session.id, "address": session.address, "createdAt": created_at, "expiresAt": expires_at,
            "lastUsedAt": last_used_at,
        }));
    }
    let from = session.address.as_deref().unwrap_or("-");
    print(&format!("{}  created {created_at}  used {last_used_at}  expires {expires_at}  {from}", session.id));
    Ok(())
}
