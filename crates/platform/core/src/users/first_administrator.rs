//! The first administrator of an empty installation, created by a one-time code that the server shows to its operator.
//!
//! Each node that starts on an installation without users makes a code of its own, and every code works at every node.
//! The first use deletes all of them. The store has their hashes only.

use std::net::IpAddr;
use std::time::Duration;

use kit_identity::one_time::lookup_hash;
use kit_identity::user::plain_email;
use kit_runtime::vault::Secret;

use super::administration::check_email;
use super::{ChosenPassword, UserRefusal};
use crate::access::access_log::AccessEvent;
use crate::error::{PlatformResult, Problem};
use crate::port::{AccessChange, AccessChangeResult, Page, Profile, User};
use crate::steps::input::require_usable;
use crate::{Platform, Role};

/// Time for which a code is valid.
pub const SETUP_CODE_VALID: Duration = Duration::from_secs(72 * 3_600);
const PREFIX: &str = "lwc_";

/// The input for the first administrator.
pub struct FirstAdministrator {
    /// The code that the server showed.
    pub code: Secret,
    /// E-mail address, in whatever case.
    pub email: String,
    /// The password that the administrator chose.
    pub password: ChosenPassword,
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
        let identity = self.identity();
        let (code, hash) = identity.one_time_code(PREFIX);
        let is_stored = self.store().put_setup_code(hash, identity.after(SETUP_CODE_VALID)?, identity.now).await?;
        Ok(is_stored.then_some(code))
    }

    /// Creates the first administrator. The code, like every other one, is void afterwards.
    ///
    /// Errors: `setup_code_refused`, `invalid` (with a refused code among the problems), `too_many_attempts` (too many
    /// passwords are being hashed).
    pub async fn create_first_administrator(&self, new: &FirstAdministrator) -> PlatformResult<User> {
        let now = self.now();
        let code = lookup_hash(new.code.expose_str().unwrap_or_default());
        let email = plain_email(&new.email);
        let problems: Vec<Problem> =
            check_email(&email).into_iter().chain(new.password.problems("/password", &email)).collect();
        // Checked before the password is hashed, so that a caller without the code can't make the server hash passwords.
        let is_valid = self.store().has_setup_code(code, now).await?;
        let refused = || {
            let error = self.refused(None, new.from, UserRefusal::SetupCodeRefused);
            (Problem::new("/code", error.to_string()), error)
        };
        require_usable(problems, (!is_valid).then(refused))?;
        let role = Role::Administrator.name().to_owned();
        let password_hash = self.identity().hash(&new.password.password).await?;
        let user = User::new(self.ids().uuid_v7(), email, password_hash, now, Profile::of_role(role.clone()));
        let event = AccessEvent::UserCreated { user: user.id, email: user.email.clone(), name: None, role };
        let note = self.note_setup(new.from, event)?;
        let change = AccessChange::CreateFirstUser(user.clone(), code, now);
        if self.store().apply_access_change(change, note).await? != AccessChangeResult::Done {
            return Err(self.refused(None, new.from, UserRefusal::SetupCodeRefused));
        }
        tracing::info!(user = %user.id, "the first administrator was created");
        Ok(user)
    }
}
