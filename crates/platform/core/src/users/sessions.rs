//! Sessions: authenticates their tokens, lists them and ends them.

use uuid::Uuid;

use super::{SESSION_PREFIX, UserRefusal};
use crate::access::{KEY_BYTES_MAX, hash};
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Page, Session, SessionsToEnd, User};
use crate::{Caller, Platform, Role, Scope};

/// Sessions deleted in one transaction, once a minute.
const FORGET_MAX: usize = 1_000;

/// A user whose session goes on.
#[derive(Debug, Clone)]
pub struct SignedInUser {
    /// The user as a caller.
    pub caller: Caller,
    /// The role.
    pub role: Role,
    /// E-mail address, in lower case.
    pub email: String,
    /// What people call them, if they have a name.
    pub name: Option<String>,
    /// True when the user has to choose another password first: pages ask for it, and the API refuses everything else.
    pub must_change_password: bool,
}

impl Platform {
    /// The caller with this API key or session token. Errors: `unauthenticated`, `new_password_required`, `unavailable`.
    pub async fn authenticate(&self, key: &str) -> PlatformResult<Caller> {
        if key.starts_with(SESSION_PREFIX) {
            self.authenticate_session(key).await
        } else {
            self.authenticate_key(key).await
        }
    }

    /// The caller with this session token. Errors: `unauthenticated`, `new_password_required`, `unavailable`.
    pub(crate) async fn authenticate_session(&self, token: &str) -> PlatformResult<Caller> {
        let user = self.authenticate_user(token).await?;
        if user.must_change_password {
            return Err(UserRefusal::NewPasswordRequired.into());
        }
        Ok(user.caller)
    }

    /// The caller with this API key or session token, for the change of the caller's own password: also a user who has to
    /// choose another one before anything else. Errors: `unauthenticated`, `unavailable`.
    pub async fn authenticate_for_new_password(&self, key: &str) -> PlatformResult<Caller> {
        if key.starts_with(SESSION_PREFIX) {
            return Ok(self.authenticate_user(key).await?.caller);
        }
        self.authenticate(key).await
    }

    /// True while the access with which a caller began a long request lasts, as the store has it: the session goes on, and its
    /// user is as before; the API key is in force. Other callers, such as screens, are not looked at.
    pub(crate) async fn access_goes_on(&self, caller: &Caller) -> PlatformResult<bool> {
        let now = self.now();
        if let Some(session) = caller.session {
            let session = self.store().session(session).await?;
            if !session.is_some_and(|session| self.identity().goes_on(&session)) {
                return Ok(false);
            }
            let user = self.store().user(caller.id).await?;
            return Ok(user.is_some_and(|user| {
                user.disabled_at.is_none()
                    && !user.must_change_password
                    && Role::parse(&user.profile.role) == caller.role
            }));
        }
        if !caller.actor.starts_with("key:") {
            return Ok(true);
        }
        let key = self.store().api_key(caller.id).await?;
        Ok(key.is_some_and(|key| key.revoked_at.is_none() && key.expires_at.is_none_or(|at| at > now)))
    }

    /// The user with this session token. Errors: `unauthenticated`, `unavailable`.
    pub async fn authenticate_user(&self, token: &str) -> PlatformResult<SignedInUser> {
        if !token.starts_with(SESSION_PREFIX) || token.len() > KEY_BYTES_MAX {
            return Err(PlatformError::Unauthenticated);
        }
        let (hash, now) = (hash(token), self.now());
        let known = &self.sign_in_state().sessions;
        let (session, user) = match known.get(&hash, now) {
            Ok(found) => found,
            Err(since) => {
                let found = self.store().session_by_hash(hash).await?.ok_or(PlatformError::Unauthenticated)?;
                known.put(hash, found.clone(), now, since);
                found
            }
        };
        let goes_on = self.identity().goes_on(&session);
        let role = Role::parse(&user.profile.role).filter(|_| user.disabled_at.is_none());
        let Some(role) = role.filter(|_| goes_on) else {
            return Err(PlatformError::Unauthenticated);
        };
        if session.needs_touch(now) {
            known.change(&hash, |(session, _)| session.last_used_at = now);
            if let Err(error) = self.store().touch_session(session.id, now).await {
                tracing::warn!(session = %session.id, %error, "the last use of a session could not be recorded");
            }
        }
        let caller = Caller {
            actor: format!("user:{}", user.id),
            id: user.id,
            session: Some(session.id),
            role: Some(role),
            customer: None,
            scopes: role.scopes(),
        };
        let must_change_password = user.must_change_password;
        Ok(SignedInUser { caller, role, email: user.email, name: user.profile.name, must_change_password })
    }

    /// The caller and their session. Errors: `forbidden` (an API key).
    pub async fn me(&self, caller: &Caller) -> PlatformResult<(User, Session)> {
        let (user, session) = self.signed_in_user(caller).await?;
        let session = self.store().session(session).await?.ok_or(PlatformError::Unauthenticated)?;
        Ok((user, session))
    }

    /// Sessions of the caller, in order of creation. Errors: `forbidden` (an API key).
    pub async fn own_sessions(&self, caller: &Caller, page: Page<Uuid>) -> PlatformResult<Vec<Session>> {
        let (user, _) = self.signed_in_user(caller).await?;
        self.current_sessions(user.id, page).await
    }

    /// Sessions of any user, in order of creation. Errors: `forbidden`, `not_found`.
    pub async fn sessions_of(&self, caller: &Caller, user: Uuid, page: Page<Uuid>) -> PlatformResult<Vec<Session>> {
        let user = self.visible_user(caller, user).await?;
        self.current_sessions(user.id, page).await
    }

    /// Sessions without those that expired and are not deleted yet.
    async fn current_sessions(&self, user: Uuid, page: Page<Uuid>) -> PlatformResult<Vec<Session>> {
        let found = self.store().sessions(user, page).await?;
        Ok(found.into_iter().filter(|session| self.identity().goes_on(session)).collect())
    }

    /// Ends a session of the caller, or with `users:write` of any user. Errors: `forbidden`, `not_found`.
    pub async fn end_session(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<()> {
        let session = self.store().session(uuid).await?;
        let is_own = |session: &Session| caller.session.is_some() && session.user == caller.id;
        let session = match session {
            Some(session) if is_own(&session) => session,
            Some(session) if caller.require_staff().and(caller.require(Scope::UsersWrite)).is_ok() => {
                self.changeable_user(caller, session.user).await?;
                session
            }
            _ => return Err(PlatformError::NotFound("session")),
        };
        self.end(caller, SessionsToEnd::One(session.user, session.id)).await.map(drop)
    }

    /// Ends all sessions of the caller, this one included. Errors: `forbidden` (an API key).
    pub async fn end_own_sessions(&self, caller: &Caller) -> PlatformResult<()> {
        let (user, _) = self.signed_in_user(caller).await?;
        self.end(caller, SessionsToEnd::AllOf(user.id)).await.map(drop)
    }

    /// Ends all sessions of any user; returns their number. Errors: `forbidden`, `not_found`.
    pub async fn end_sessions_of(&self, caller: &Caller, user: Uuid) -> PlatformResult<usize> {
        let user = self.changeable_user(caller, user).await?;
        self.end(caller, SessionsToEnd::AllOf(user.id)).await
    }

    async fn end(&self, caller: &Caller, ending: SessionsToEnd) -> PlatformResult<usize> {
        let ended = self.store().end_sessions(ending).await?;
        self.forget_ended(&ending);
        tracing::info!(?ending, ended, by = caller.actor, "sessions were ended");
        Ok(ended)
    }

    /// Removes ended sessions from this node's cache, after they ended in the store. Other nodes accept them until
    /// their cached entries expire.
    pub(super) fn forget_ended(&self, ending: &SessionsToEnd) {
        self.sign_in_state().sessions.forget_where(|(session, _)| ending.ends(session));
    }

    /// Deletes expired sessions and attempt counters that no longer delay a sign-in. Returns how many.
    pub async fn delete_expired_sessions(&self) -> PlatformResult<usize> {
        let identity = self.identity();
        Ok(self.store().delete_expired_sessions(identity.now, identity.idle_before(), FORGET_MAX).await?)
    }
}
