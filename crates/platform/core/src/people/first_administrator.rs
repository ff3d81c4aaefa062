//! The first administrator of an empty installation, created by a one-time code that the server shows to its operator.
//!
//! Each node that starts on an installation without users makes a code of its own, and every code works at every node.
//! The first use deletes all of them. The store has their hashes only.

use std::net::IpAddr;
use std::time::Duration;

use kit_identity::one_time::OneTimeCode;
use kit_identity::token_hash;
use kit_runtime::vault::Secret;

use super::refusal::PeopleRefusal;
use super::users::check_email;
use super::{password_problem, plain_email};
use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::{AccessChange, AccessChangeResult, Page, User};
use crate::{Platform, Role};

/// Time for which a code is valid.
pub const SETUP_CODE_VALID: Duration = Duration::from_secs(72 * 3_600);
const PREFIX: &str = "lwc_";
const CODE_BYTES_MAX: usize = 100;

/// The input for the first administrator.
pub struct FirstAdministrator {
    /// The code that the server showed.
    pub code: Secret,
    /// E-mail address, in whatever case.
    pub email: String,
    /// The password that the administrator chose.
    pub password: Secret,
    /// The client's IP address, if it is known.
    pub from: Option<IpAddr>,
}

impl Platform {
    /// True while the installation has no user.
    pub async fn needs_first_administrator(&self) -> PlatformResult<bool> {
        Ok(self.store().users(Page { after: None, limit: 1 }).await?.is_empty())
    }

    /// A new code that creates the first administrator; none when the installation has a user. The platform does not
    /// show it again.
    pub async fn create_setup_code(&self) -> PlatformResult<Option<Secret>> {
        let now = self.now();
        let expires_at = now
            .checked_add(SETUP_CODE_VALID)
            .map_err(|error| PlatformError::Internal(format!("a set-up code has no expiry: {error}")))?;
        let (code, stored) = OneTimeCode::generate(self.random().as_ref(), PREFIX, expires_at);
        let is_stored = self.store().put_setup_code(stored.hash, expires_at, now).await?;
        Ok(is_stored.then(|| Secret::new(code.into_bytes())))
    }

    /// Creates the first administrator. The code, like every other one, is void afterwards.
    ///
    /// Errors: `setup_code_refused`, `invalid`, `too_many_attempts` (too many passwords are being hashed).
    pub async fn create_first_administrator(&self, new: &FirstAdministrator) -> PlatformResult<User> {
        let now = self.now();
        let code = new.code.expose_str().map(str::trim).filter(|code| code.len() <= CODE_BYTES_MAX);
        let code = token_hash(code.unwrap_or_default());
        // Checked first, so that a caller without the code can't make the server hash passwords.
        if !self.store().has_setup_code(code, now).await? {
            return Err(self.refused(None, new.from, PeopleRefusal::SetupCodeRefused));
        }
        let email = plain_email(&new.email);
        let problems: Vec<Problem> =
            check_email(&email).into_iter().chain(password_problem("/password", &new.password, &email)).collect();
        if !problems.is_empty() {
            return Err(PlatformError::Invalid(problems));
        }
        let role = Role::Administrator.name().to_owned();
        let user = User {
            uuid: self.ids().uuid_v7(),
            email,
            role: role.clone(),
            password_hash: self.sign_in_state().passwords.hash(self.random().as_ref(), &new.password).await?,
            created_at: now,
            version: 1,
            disabled_at: None,
            signed_in_at: None,
            totp: None,
            must_change_password: false,
        };
        let event = AccessEvent::UserCreated { user: user.uuid, email: user.email.clone(), role };
        let note = self.note_setup(new.from, event)?;
        let change = AccessChange::CreateFirstUser(user.clone(), code, now);
        if self.store().apply_access_change(change, note).await? != AccessChangeResult::Done {
            return Err(self.refused(None, new.from, PeopleRefusal::SetupCodeRefused));
        }
        tracing::info!(user = %user.uuid, "the first administrator was created");
        Ok(user)
    }
}
