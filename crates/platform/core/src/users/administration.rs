//! Users: administrators create, list, change and remove them. Also their passwords.

use kit_identity::throttle::AttemptsToReturn;
use kit_identity::user::{Change, is_email, plain_email};
use kit_runtime::vault::Secret;
use uuid::Uuid;

use super::names::checked_name;
use super::password_problem;
use super::{ChosenPassword, Refusal, UserRefusal};
use crate::access::access_log::AccessEvent;
use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::{
    AccessChange, AccessChangeResult, IdempotentAnswer, MadeLinks, Page, Profile, SessionsToEnd, StoreError, User,
    UserChange, UserChangeResult,
};
use crate::steps::idempotency::{IdempotentRequest, Outcome};
use crate::steps::input::require_usable;
use crate::{Caller, Platform, Role, Scope};

/// Scopes that allow reading users: a caller who may change users may also read them.
const READING: [Scope; 2] = [Scope::UsersRead, Scope::UsersWrite];

/// Users read from the store at once.
const USERS_READ_MAX: usize = 250;

/// The input of a new user.
#[derive(Debug)]
pub struct NewUser {
    /// E-mail address, in whatever case.
    pub email: String,
    /// What people call them; none or empty for a user without a name.
    pub name: Option<String>,
    /// What they may do.
    pub role: Role,
    /// The password; none to generate one.
    pub password: Option<Secret>,
    /// True when the user has to choose another password before anything else, because others have seen this one.
    pub must_change_password: bool,
}

/// Another password for a user.
#[derive(Debug, Default)]
pub struct PasswordReset {
    /// The password; none to generate one.
    pub password: Option<Secret>,
    /// True when the user has to choose another one before anything else.
    pub must_change_password: bool,
}

/// A user with a generated password.
#[derive(Debug, Clone)]
pub struct UserWithPassword {
    /// The user.
    pub user: User,
    /// The password, if the platform generated it. The platform does not show it again.
    pub password: Option<Secret>,
}

/// True for an administrator who can sign in.
pub fn administers(user: &User) -> bool {
    user.profile.role == Role::Administrator.name() && user.disabled_at.is_none()
}

impl Platform {
    /// Creates a user. The caller can't grant scopes that they don't have. The answer is stored sealed.
    ///
    /// Errors: `forbidden`, `invalid`, `taken` (email), `too_many_attempts` (too many passwords are being hashed).
    pub async fn create_user(
        &self,
        caller: &Caller,
        new: NewUser,
        answering: Option<IdempotentRequest<'_, UserWithPassword>>,
    ) -> PlatformResult<Outcome<UserWithPassword>> {
        caller.require_staff()?;
        caller.require(Scope::UsersWrite)?;
        check_covers(caller, new.role.name())?;
        if let Some(answer) = self.replay_sealed(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        let email = plain_email(&new.email);
        let (name, name_problem) = match checked_name(new.name.as_deref()) {
            Ok(name) => (name, None),
            Err(problem) => (None, Some(problem)),
        };
        let problems: Vec<Problem> = check_email(&email)
            .into_iter()
            .chain(name_problem)
            .chain(new.password.as_ref().and_then(|password| password_problem("/password", password, &email)))
            .collect();
        if !problems.is_empty() {
            return Err(PlatformError::Invalid(problems));
        }
        let (password_hash, password) = self.identity().hash_or_generate(new.password).await?;
        let (now, profile) = (self.now(), Profile { role: new.role.name().to_owned(), name });
        let user = User::new(self.ids().uuid_v7(), email, password_hash, now, profile);
        let user = User { must_change_password: new.must_change_password, ..user };
        let created = UserWithPassword { user: user.clone(), password };
        let answer = answering.as_ref().map(|answering| self.seal_answer(answering.answer(&created, now)));
        let Profile { role, name } = user.profile.clone();
        let event = AccessEvent::UserCreated { user: user.id, email: user.email.clone(), name, role };
        let note = self.note(caller, event)?;
        match self.store().apply_access_change(AccessChange::CreateUser(user, answer), note).await {
            Ok(_) => {}
            Err(StoreError::Replayed) => {
                let answer = self.replay_sealed(answering.as_ref()).await?;
                return answer.map(Outcome::Replayed).ok_or(PlatformError::Busy);
            }
            Err(error) => return Err(error.into()),
        }
        tracing::info!(user = %created.user.id, role = created.user.profile.role, by = caller.actor, "a user was created");
        Ok(Outcome::Fresh(created))
    }

    /// Users in order of creation. Errors: `forbidden`.
    pub async fn users(&self, caller: &Caller, page: Page<Uuid>) -> PlatformResult<Vec<User>> {
        caller.require_staff()?;
        caller.require_one_of(&READING)?;
        Ok(self.store().users(page).await?)
    }

    /// A user. Errors: `forbidden`, `not_found`.
    pub async fn user(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<User> {
        self.visible_user(caller, uuid).await
    }

    /// The user with this e-mail address. Errors: `forbidden`, `not_found`.
    pub async fn user_by_email(&self, caller: &Caller, email: &str) -> PlatformResult<User> {
        let found = self.store().user_by_email(&plain_email(email)).await?.ok_or(PlatformError::NotFound("user"))?;
        self.visible_user(caller, found.id).await
    }

    /// Refuses to confirm a change that would take the access of the last administrator who can sign in. Errors:
    /// `forbidden`, `not_found`, `last_administrator`.
    pub async fn require_other_administrator(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<()> {
        if !administers(&self.visible_user(caller, uuid).await?) {
            return Ok(());
        }
        let mut page = Page { after: None, limit: USERS_READ_MAX };
        loop {
            let users = self.store().users(page).await?;
            if users.iter().any(|user| administers(user) && user.id != uuid) {
                return Ok(());
            }
            let last = users.last().filter(|_| users.len() == USERS_READ_MAX);
            page.after = Some(last.ok_or(UserRefusal::LastAdministrator).map_err(PlatformError::User)?.id);
        }
    }

    /// Removes a user who has never signed in; others can be disabled.
    ///
    /// Errors: `forbidden`, `not_found`, `has_signed_in`, `last_administrator`, `busy`.
    pub async fn remove_user(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<()> {
        let user = self.changeable_user(caller, uuid).await?;
        let note = self.note(caller, AccessEvent::UserRemoved { user: uuid })?;
        let removal = AccessChange::RemoveUser(uuid, user.version);
        done(written(self.store().apply_access_change(removal, note).await?)?)?;
        tracing::info!(user = %uuid, role = user.profile.role, by = caller.actor, "a user was removed");
        Ok(())
    }

    /// Sets or generates another password of a user, ends their sessions, and restores their sign-in attempts. The
    /// answer is stored sealed.
    ///
    /// Errors: `forbidden`, `not_found`, `invalid`, `busy`, `too_many_attempts` (too many passwords are being hashed).
    pub async fn reset_password(
        &self,
        caller: &Caller,
        uuid: Uuid,
        reset: PasswordReset,
        answering: Option<IdempotentRequest<'_, UserWithPassword>>,
    ) -> PlatformResult<Outcome<UserWithPassword>> {
        let PasswordReset { password, must_change_password } = reset;
        let user = self.changeable_user(caller, uuid).await?;
        if let Some(answer) = self.replay_sealed(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        if let Some(problem) =
            password.as_ref().and_then(|password| password_problem("/password", password, &user.email))
        {
            return Err(PlatformError::Invalid(vec![problem]));
        }
        let (password_hash, password) = self.identity().hash_or_generate(password).await?;
        let change = self.identity().reset_password(user, password_hash, must_change_password);
        let next = UserWithPassword { user: change.user.clone(), password };
        let answer = answering.as_ref().map(|answering| self.seal_answer(answering.answer(&next, self.now())));
        let note = self.note(caller, AccessEvent::PasswordReset { user: uuid })?;
        self.commit_user(change, answer, Some(note)).await?;
        self.return_attempts(AttemptsToReturn::all_of(&next.user.email)).await?;
        tracing::info!(user = %uuid, by = caller.actor, "a password was reset");
        Ok(Outcome::Fresh(next))
    }

    /// Requires that a user chooses another password before anything else. Their sessions go on, for that only.
    ///
    /// Errors: `forbidden`, `not_found`, `no_password`, `busy`.
    pub async fn require_new_password(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<User> {
        let user = self.changeable_user(caller, uuid).await?;
        if user.must_change_password {
            return Ok(user);
        }
        if !user.has_password() {
            return Err(UserRefusal::NoPassword.into());
        }
        let note = self.note(caller, AccessEvent::NewPasswordRequired { user: uuid })?;
        let change = Change::to(User { must_change_password: true, ..user });
        let user = self.commit_user(change, None, Some(note)).await?;
        tracing::info!(user = %uuid, by = caller.actor, "a user has to choose another password");
        Ok(user)
    }

    /// Changes the caller's password and ends the caller's other sessions.
    ///
    /// Errors: `forbidden` (an API key), `password_refused`, `too_many_attempts`, `invalid` (with a wrong present password
    /// among the problems), `busy`.
    pub async fn change_own_password(
        &self,
        caller: &Caller,
        old: &Secret,
        new: &ChosenPassword,
        answering: Option<IdempotentRequest<'_, User>>,
    ) -> PlatformResult<Outcome<User>> {
        let (user, session) = self.signed_in_user(caller).await?;
        if let Some(answer) = self.replay(answering.as_ref()).await? {
            return Ok(Outcome::Replayed(answer));
        }
        let mut problems: Vec<Problem> = new.problems("/new", &user.email).collect();
        if user.must_change_password && old.expose() == new.password.expose() {
            problems.push(Problem::new("/new", "is the present password: choose another one"));
        }
        let refused = match self.check_own_password(&user, old).await {
            Err(refused @ PlatformError::Identity(Refusal::PasswordRefused)) => {
                Some((Problem::new("/old", refused.to_string()), refused))
            }
            checked => checked.map(|()| None)?,
        };
        require_usable(problems, refused)?;
        let change = self.identity().change_password(user, session, &new.password).await?;
        let answer = answering.as_ref().map(|answering| answering.answer(&change.user, self.now()));
        let note = self.note(caller, AccessEvent::PasswordChanged { user: change.user.id })?;
        let user = self.commit_user(change, answer, Some(note)).await?;
        tracing::info!(user = %user.id, "a user changed their password");
        Ok(Outcome::Fresh(user))
    }

    /// Verifies the signed-in user's password. It takes an attempt, so that the thief of a session can't guess the
    /// password.
    pub(super) async fn check_own_password(&self, user: &User, password: &Secret) -> PlatformResult<()> {
        let taken = self.take_own_attempt(user).await?;
        let checked = self.identity().check_own_password(user, password).await;
        checked.map_err(|error| self.refused(Some(user.id), None, error))?;
        self.return_attempts(taken.one()).await
    }

    /// Commits a change of a user with the answer to the caller's idempotency key and its entry in the access log.
    pub(super) async fn commit_user(
        &self,
        change: Change<Uuid, Profile>,
        answer: Option<IdempotentAnswer>,
        note: Option<String>,
    ) -> PlatformResult<User> {
        self.commit_user_change(UserChange { change, made_links: MadeLinks::Keep, answer }, note).await
    }

    pub(super) async fn commit_user_change(&self, change: UserChange, note: Option<String>) -> PlatformResult<User> {
        let user = change.change.user.clone();
        done(match note {
            Some(note) => written(self.store().apply_access_change(AccessChange::ChangeUser(change), note).await?)?,
            None => self.store().change_user(change).await?,
        })?;
        self.forget_ended(&SessionsToEnd::AllOf(user.id));
        Ok(user)
    }

    /// A user whom the caller may see.
    pub(super) async fn visible_user(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<User> {
        caller.require_one_of(&READING)?;
        let found = self.store().user(uuid).await?.filter(|_| caller.customer.is_none());
        found.ok_or(PlatformError::NotFound("user"))
    }

    /// A user whom the caller may change. A caller can't change a user with scopes that the caller does not have.
    pub(super) async fn changeable_user(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<User> {
        caller.require(Scope::UsersWrite)?;
        let user = self.visible_user(caller, uuid).await?;
        check_covers(caller, &user.profile.role)?;
        Ok(user)
    }
}

fn written(changed: AccessChangeResult) -> PlatformResult<UserChangeResult> {
    match changed {
        AccessChangeResult::User(written) => Ok(written),
        other => Err(PlatformError::Internal(format!("the store returned {other:?} for the change of a user"))),
    }
}

fn done(written: UserChangeResult) -> PlatformResult<()> {
    match written {
        UserChangeResult::Done => Ok(()),
        UserChangeResult::LastAdministrator => Err(UserRefusal::LastAdministrator.into()),
        UserChangeResult::HasSignedIn => Err(UserRefusal::HasSignedIn.into()),
    }
}

pub(super) fn check_covers(caller: &Caller, role: &str) -> PlatformResult<()> {
    if Role::parse(role).is_none_or(|role| caller.scopes.covers(role.scopes())) {
        return Ok(());
    }
    Err(PlatformError::Forbidden("a user with this role has scopes that you do not have".into()))
}

pub(super) fn check_version(user: &User, seen: Option<i64>) -> PlatformResult<()> {
    match seen {
        Some(expected) if expected != user.version => {
            Err(PlatformError::PreconditionFailed { expected, current: user.version })
        }
        _ => Ok(()),
    }
}

pub(super) fn check_email(email: &str) -> Option<Problem> {
    (!is_email(email)).then(|| Problem::new("/email", "is not an e-mail address"))
}
