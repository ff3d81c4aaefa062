//! Single sign-on: the issuer of the configuration vouches for a person, and `kit_openid` decides which user that is.
//!
//! An expected outcome is an [`OpenIdError`] with its sentence for the visitor; a [`PlatformError`] is a fault of the server or
//! of its store. The access log names changes that follow from what the issuer says with the actor `single-sign-on`.

use std::net::IpAddr;

use kit_identity::passwords::NO_PASSWORD;
use kit_identity::user::Change;
use kit_openid::{Admission, Answer, NewSingleSignOn, OpenIdError, Person, SingleSignOn};
use uuid::Uuid;

use super::made_links::{EndedLinks, ScreenLinksToEnd, loses_access};
use super::names::checked_name;
use super::sign_in::SignInMethod;
use super::{Client, SignedIn, UserRefusal};
use crate::access::access_log::{AccessEvent, SINGLE_SIGN_ON};
use crate::error::{PlatformError, PlatformResult};
use crate::port::{AccessChange, MadeLinks, OpenIdentity, Profile, SessionsToEnd, StoreError, User, UserChange};
use crate::{Caller, Platform, Role};

/// A user whom the issuer signed in.
pub struct SignedInByIssuer {
    /// The session.
    pub signed_in: SignedIn,
    /// The page that the user wanted.
    pub next: String,
}

/// Why a step of a sign-in ended it.
enum Stop {
    Refused(OpenIdError),
    Failed(PlatformError),
}

impl From<OpenIdError> for Stop {
    fn from(refused: OpenIdError) -> Self {
        Self::Refused(refused)
    }
}

impl From<PlatformError> for Stop {
    fn from(failed: PlatformError) -> Self {
        Self::Failed(failed)
    }
}

impl From<StoreError> for Stop {
    fn from(failed: StoreError) -> Self {
        Self::Failed(failed.into())
    }
}

fn outcome<T>(result: Result<T, Stop>) -> PlatformResult<Result<T, OpenIdError>> {
    match result {
        Ok(done) => Ok(Ok(done)),
        Err(Stop::Refused(refused)) => Ok(Err(refused)),
        Err(Stop::Failed(failed)) => Err(failed),
    }
}

impl Platform {
    /// What people call the issuer; none without single sign-on.
    pub fn single_sign_on_name(&self) -> Option<&str> {
        self.config().single_sign_on.as_ref().map(|sso| sso.party.issuer_name())
    }

    fn single_sign_on(&self) -> PlatformResult<&SingleSignOn<Role>> {
        self.config().single_sign_on.as_ref().ok_or(PlatformError::NotFound("single sign-on"))
    }

    /// Begins a sign-in that returns to this page. Refusals: `issuer_unavailable`. Errors: `not_found` (without single
    /// sign-on).
    pub async fn begin_single_sign_on(&self, next: &str) -> PlatformResult<Result<NewSingleSignOn, OpenIdError>> {
        let begun = self.single_sign_on()?.party.begin(self.vault(), self.random().as_ref(), next).await;
        Ok(begun.map_err(log_refused))
    }

    /// Finishes a sign-in: `cookie` is what the browser got when it began, and `query` the query of the address at which the
    /// issuer sent it back. The user is linked, created, or given another role first.
    ///
    /// Refusals: all of [`OpenIdError`]. Errors: `not_found` (without single sign-on), `too_many_attempts`, `busy` (the user was
    /// changed at the same time).
    pub async fn finish_single_sign_on(
        &self,
        cookie: Option<&str>,
        query: &str,
        client: &Client,
    ) -> PlatformResult<Result<SignedInByIssuer, OpenIdError>> {
        let finished = outcome(self.finish_by_issuer(cookie, query, client).await)?;
        Ok(finished.map_err(|refused| {
            self.metrics().sign_in_refused();
            log_refused(refused)
        }))
    }

    async fn finish_by_issuer(
        &self,
        cookie: Option<&str>,
        query: &str,
        client: &Client,
    ) -> Result<SignedInByIssuer, Stop> {
        let sso = self.single_sign_on()?;
        let answer = sso.party.accept(self.vault(), cookie, query)?;
        let taken = match client.from {
            None => None,
            Some(from) => {
                let wanted = self.config().identity.attempts().at_issuer_answer(from);
                self.take_attempts(&wanted, client.from).await?;
                Some(wanted)
            }
        };
        self.use_once(&answer).await?;
        let person = sso.party.redeem(&answer).await?;
        let user = match self.user_of_person(sso, &person, client.from).await {
            // Two first sign-ins of a person at once: this one reads what the other one wrote.
            Err(Stop::Failed(PlatformError::Busy)) => self.user_of_person(sso, &person, client.from).await?,
            found => found?,
        };
        let device = self.identity().attempt(&user.email, client).device;
        let signed_in = self.begin_session(user, device, client, SignInMethod::SingleSignOn, None).await?;
        if let Some(taken) = taken {
            self.return_attempts(taken.one()).await?;
        }
        Ok(SignedInByIssuer { signed_in: signed_in.fresh()?, next: answer.next().to_owned() })
    }

    /// Refuses an answer that was used before, at any node.
    async fn use_once(&self, answer: &Answer) -> Result<(), Stop> {
        match self.store().take_sign_in_attempts(vec![answer.once()], self.now()).await? {
            None => Ok(()),
            Some(_) => Err(OpenIdError::FlowUsed.into()),
        }
    }

    /// The user that this person is, with the link and the role that follow from it.
    async fn user_of_person(
        &self,
        sso: &SingleSignOn<Role>,
        person: &Person,
        from: Option<IpAddr>,
    ) -> Result<User, Stop> {
        let identity = OpenIdentity { issuer: person.issuer.clone(), subject: person.subject.clone() };
        let linked = self.store().user_by_openid(&identity).await?;
        let by_email = match &person.email {
            Some(email) if linked.is_none() => self.store().user_by_email(email).await?,
            _ => None,
        };
        let found = linked.as_ref().or(by_email.as_ref().filter(|_| person.is_email_verified)).map(|user| user.id);
        let admitted = match sso.admit(person, linked, by_email) {
            Ok(admission) => self.admit_person(admission, person, from).await,
            Err(refused) => Err(refused.into()),
        };
        if let Err(Stop::Refused(refused)) = &admitted {
            match found {
                Some(user) => self.note_refused(user, from, refused.code()).await?,
                None => self.sign_in_state().refused.add(),
            }
        }
        admitted
    }

    async fn admit_person(
        &self,
        admission: Admission<Uuid, Profile, Role>,
        person: &Person,
        from: Option<IpAddr>,
    ) -> Result<User, Stop> {
        let (user, role) = match admission {
            Admission::Known(user, role) => (user, role),
            Admission::Link(change, role) => {
                let event = AccessEvent::SingleSignOnLinked {
                    user: change.user.id,
                    issuer: person.issuer.clone(),
                    subject: person.subject.clone(),
                };
                let user = self.commit_user(*change, None, Some(self.note_issuer(from, event)?)).await?;
                tracing::info!(user = %user.id, "a user was linked to a person of the issuer");
                (user, role)
            }
            Admission::Create { email, role, identity } => {
                return Ok(self.create_by_issuer(email, role, identity, person, from).await?);
            }
        };
        match role {
            Some(role) if role.name() != user.profile.role => self.follow_groups(user, role, from).await,
            _ => Ok(user),
        }
    }

    async fn create_by_issuer(
        &self,
        email: String,
        role: Role,
        identity: OpenIdentity,
        person: &Person,
        from: Option<IpAddr>,
    ) -> PlatformResult<User> {
        // A name that can't be shown is left out.
        let name = checked_name(person.name.as_deref()).unwrap_or_default();
        let profile = Profile { role: role.name().to_owned(), name: name.clone() };
        let user = User::new(self.ids().uuid_v7(), email, NO_PASSWORD.to_owned(), self.now(), profile);
        let user = User { openid: Some(identity), ..user };
        let (email, role) = (user.email.clone(), user.profile.role.clone());
        let note = self.note_issuer(from, AccessEvent::UserCreated { user: user.id, email, name, role })?;
        match self.store().apply_access_change(AccessChange::CreateUser(user.clone(), None), note).await {
            // Another request of the same person was faster.
            Err(StoreError::Taken(_)) => Err(PlatformError::Busy),
            created => {
                created?;
                tracing::info!(user = %user.id, role = user.profile.role, "single sign-on created a user");
                Ok(user)
            }
        }
    }

    /// Gives a user the role of their groups, and ends their sessions. With less access, the links that they made end.
    async fn follow_groups(&self, user: User, role: Role, from: Option<IpAddr>) -> Result<User, Stop> {
        let caller = Caller {
            actor: SINGLE_SIGN_ON.to_owned(),
            id: user.id,
            session: None,
            role: None,
            customer: None,
            scopes: role.scopes(),
        };
        let (links, made_links) = if loses_access(&user, role, false) {
            let links = self.end_links_of(&caller, user.id, &ScreenLinksToEnd::All).await?;
            let change = links.change();
            (links, change)
        } else {
            (EndedLinks::default(), MadeLinks::Keep)
        };
        let event = AccessEvent::UserChanged {
            user: user.id,
            role_before: user.profile.role.clone(),
            role: role.name().to_owned(),
            disabled: false,
            invitations_withdrawn: links.invitations,
            screen_links_replaced: links.replaced,
            screen_links_ended: links.ended,
        };
        let (ending, role) = (SessionsToEnd::AllOf(user.id), role.name().to_owned());
        let profile = Profile { role, ..user.profile.clone() };
        let change = Change::to(User { profile, ..user }).ending(ending);
        let change = UserChange { change, made_links, answer: None };
        match self.commit_user_change(change, Some(self.note_issuer(from, event)?)).await {
            Err(PlatformError::User(UserRefusal::LastAdministrator)) => Err(OpenIdError::LastAdministrator.into()),
            Err(failed) => Err(failed.into()),
            Ok(user) => {
                tracing::info!(user = %user.id, role = user.profile.role, "a user has the role of their groups");
                Ok(user)
            }
        }
    }

    /// Removes the link between a user and a person of the issuer. The next person with the user's verified address is linked
    /// again. The user's sessions end.
    ///
    /// Errors: `forbidden`, `not_found`, `busy`.
    pub async fn unlink_single_sign_on(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<User> {
        let user = self.changeable_user(caller, uuid).await?;
        let Some(OpenIdentity { issuer, subject }) = user.openid.clone() else { return Ok(user) };
        let note = self.note(caller, AccessEvent::SingleSignOnUnlinked { user: uuid, issuer, subject })?;
        let change = Change::to(User { openid: None, ..user }).ending(SessionsToEnd::AllOf(uuid));
        let user = self.commit_user(change, None, Some(note)).await?;
        tracing::info!(user = %uuid, by = caller.actor, "a user is not linked to a person of the issuer any more");
        Ok(user)
    }
}

/// Logs a refusal with what only the operator needs.
fn log_refused(refused: OpenIdError) -> OpenIdError {
    let (code, detail) = (refused.code(), refused.detail());
    tracing::warn!(code, detail, "a single sign-on was refused");
    refused
}
