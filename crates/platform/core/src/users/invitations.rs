//! Invitations: an administrator enters an address and a role, and gives the invited person a link that works once. With it
//! the person chooses a password and becomes a user.
//!
//! Guarantees: the platform shows a link once and stores a hash of its code. A link creates one user, with the address and
//! the role that the administrator entered, or none.

use std::net::IpAddr;
use std::time::Duration;

use kit_identity::one_time::lookup_hash;
use kit_identity::user::plain_email;
use kit_runtime::vault::Secret;
use uuid::Uuid;

use super::administration::{check_covers, check_email};
use super::{ChosenPassword, Refusal, UserRefusal};
use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{AccessChange, Invitation, Page, Profile, User};
use crate::steps::input::require_usable;
use crate::{Caller, Platform, Role, Scope};

/// Time for which a link is valid.
pub const INVITATION_VALID: Duration = Duration::from_secs(7 * 24 * 3_600);
/// Open invitations of an installation, at most.
const INVITATIONS_MAX: usize = 100;
const PREFIX: &str = "lwi_";

/// A new invitation. The platform does not show its code again.
#[derive(Debug)]
pub struct NewInvitation {
    /// The invitation.
    pub invitation: Invitation,
    /// The code of its link.
    pub code: Secret,
}

impl Platform {
    /// Invites a person, in place of an earlier invitation of this address. The caller can't grant scopes that they don't
    /// have. Needs `users:write`.
    ///
    /// Errors: `forbidden`, `invalid`, `taken` (a user has this address), `too_many_invitations`.
    pub async fn invite(&self, caller: &Caller, email: &str, role: Role) -> PlatformResult<NewInvitation> {
        caller.require_staff()?;
        caller.require(Scope::UsersWrite)?;
        check_covers(caller, role.name())?;
        let email = plain_email(email);
        if let Some(problem) = check_email(&email) {
            return Err(PlatformError::Invalid(vec![problem]));
        }
        if self.store().user_by_email(&email).await?.is_some() {
            return Err(PlatformError::Taken("email"));
        }
        let identity = self.identity();
        let (code, hash) = identity.one_time_code(PREFIX);
        let invitation = Invitation {
            uuid: self.ids().uuid_v7(),
            email: email.clone(),
            role: role.name().to_owned(),
            hash,
            created_at: identity.now,
            created_by: caller.actor.clone(),
            expires_at: identity.after(INVITATION_VALID)?,
        };
        let role = role.name().to_owned();
        let note = self.note(caller, AccessEvent::UserInvited { invitation: invitation.uuid, email, role })?;
        let change = AccessChange::CreateInvitation(invitation.clone(), INVITATIONS_MAX);
        if !self.store().apply_access_change(change, note).await?.is_recorded() {
            return Err(UserRefusal::TooManyInvitations { maximum: INVITATIONS_MAX }.into());
        }
        tracing::info!(invitation = %invitation.uuid, role = invitation.role, by = caller.actor, "a person was invited");
        Ok(NewInvitation { invitation, code })
    }

    /// Open invitations, in order of creation. Needs `users:read`.
    ///
    /// Errors: `forbidden`.
    pub async fn invitations(&self, caller: &Caller) -> PlatformResult<Vec<Invitation>> {
        caller.require_staff()?;
        caller.require_one_of(&[Scope::UsersRead, Scope::UsersWrite])?;
        self.open_invitations().await
    }

    pub(super) async fn open_invitations(&self) -> PlatformResult<Vec<Invitation>> {
        let now = self.now();
        let found = self.store().invitations(Page { after: None, limit: 2 * INVITATIONS_MAX }).await?;
        Ok(found.into_iter().filter(|invitation| invitation.expires_at > now).collect())
    }

    /// Withdraws an invitation. Repeating it changes nothing. Needs `users:write`.
    ///
    /// Errors: `forbidden`.
    pub async fn withdraw_invitation(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<()> {
        caller.require_staff()?;
        caller.require(Scope::UsersWrite)?;
        let note = self.note(caller, AccessEvent::InvitationWithdrawn { invitation: uuid })?;
        if self.store().apply_access_change(AccessChange::WithdrawInvitation(uuid), note).await?.is_recorded() {
            tracing::info!(invitation = %uuid, by = caller.actor, "an invitation was withdrawn");
        }
        Ok(())
    }

    /// The invitation with this code, for a visitor who just opened the link: it takes one of the address's attempts, and
    /// returns it when the code is right.
    ///
    /// Errors: `invitation_refused`, `too_many_attempts`.
    pub async fn open_invitation(&self, code: &str, from: Option<IpAddr>) -> PlatformResult<Invitation> {
        let taken = self.take_attempt_at_link(from).await?;
        let invitation = self.invitation(code).await?;
        self.return_attempt_at_link(taken).await?;
        Ok(invitation)
    }

    /// The invitation with this code. Errors: `invitation_refused`.
    pub async fn invitation(&self, code: &str) -> PlatformResult<Invitation> {
        let found = self.store().invitation_by_hash(lookup_hash(code)).await?;
        let found = found.filter(|invitation| invitation.expires_at > self.now());
        found.ok_or_else(|| self.refused(None, None, Refusal::InvitationRefused))
    }

    /// Creates the invited user. The code is void afterwards.
    ///
    /// Errors: `invitation_refused`, `invalid`, `taken` (a user got this address meanwhile), `too_many_attempts` (too many
    /// passwords are being hashed).
    pub async fn accept_invitation(
        &self,
        code: &str,
        chosen: &ChosenPassword,
        from: Option<IpAddr>,
    ) -> PlatformResult<User> {
        // Looked up first, so that a caller without the code can't make the server hash passwords.
        let invitation = self.invitation(code).await?;
        require_usable(chosen.problems("/password", &invitation.email).collect(), None)?;
        let now = self.now();
        let (id, password_hash) = (self.ids().uuid_v7(), self.identity().hash(&chosen.password).await?);
        let user = User::new(id, invitation.email, password_hash, now, Profile::of_role(invitation.role));
        let event = AccessEvent::InvitationAccepted {
            invitation: invitation.uuid,
            user: user.id,
            email: user.email.clone(),
            role: user.profile.role.clone(),
        };
        let note = self.note_sign_in((user.id, None), from, event)?;
        let change = AccessChange::AcceptInvitation(lookup_hash(code), user.clone(), now);
        if !self.store().apply_access_change(change, note).await?.is_recorded() {
            return Err(self.refused(None, from, Refusal::InvitationRefused));
        }
        tracing::info!(user = %user.id, role = user.profile.role, "an invited person became a user");
        Ok(user)
    }
}
