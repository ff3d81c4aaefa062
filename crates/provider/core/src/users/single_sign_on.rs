//! Single sign-on: the issuer of the configuration vouches for a person, and `kit_openid` decides which user that is.
//!
//! An expected outcome is an [`OpenIdError`] with its sentence for the visitor; a [`ProviderError`] is a fault of the server or
//! of its store. The activity log has changes that follow from what the issuer says as the user's own, with the issuer.

use kit_identity::passwords::NO_PASSWORD;
use kit_identity::user::{Change, OpenIdentity};
use kit_openid::{Admission, NewSingleSignOn, OpenIdError, Person};

use super::sign_in::SignInMethod;
use super::{Client, NAME_CHARS_MAX, SignedIn, refusal};
use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::config::single_sign_on::DashboardSignOn;
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::{Id, Profile, Role, User};
use crate::port::{StoreError, UserChange, UserChangeResult, UserCreationResult};
use crate::provider::Provider;

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
    Failed(ProviderError),
    /// Another request changed or created the user meanwhile.
    Conflict,
}

impl From<OpenIdError> for Stop {
    fn from(refused: OpenIdError) -> Self {
        Self::Refused(refused)
    }
}

impl From<ProviderError> for Stop {
    fn from(failed: ProviderError) -> Self {
        Self::Failed(failed)
    }
}

impl From<StoreError> for Stop {
    fn from(failed: StoreError) -> Self {
        match failed {
            StoreError::Conflict | StoreError::Taken(_) => Self::Conflict,
            failed => Self::Failed(failed.into()),
        }
    }
}

impl Provider {
    /// What people call the issuer; none without single sign-on.
    pub fn single_sign_on_name(&self) -> Option<&str> {
        self.config().single_sign_on.as_ref().map(|sso| sso.rules.party.issuer_name())
    }

    fn single_sign_on(&self) -> ProviderResult<&DashboardSignOn> {
        self.config().single_sign_on.as_ref().ok_or(ProviderError::NotFound)
    }

    /// Begins a sign-in that returns to this page. Refusals: `issuer_unavailable`. 404 without single sign-on.
    pub async fn begin_single_sign_on(&self, next: &str) -> ProviderResult<Result<NewSingleSignOn, OpenIdError>> {
        let begun = self.single_sign_on()?.rules.party.begin(self.vault(), self.random(), next).await;
        Ok(begun.map_err(log_refused))
    }

    /// Begins a sign-in with which the signed-in user links their profile to the person who signs in at the issuer, and that
    /// returns to this page. Refusals: `issuer_unavailable`. 403 for an API key, 404 without single sign-on.
    pub async fn begin_linking(
        &self,
        caller: &Caller,
        next: &str,
    ) -> ProviderResult<Result<NewSingleSignOn, OpenIdError>> {
        caller.require_user()?;
        let party = &self.single_sign_on()?.rules.party;
        let begun = party.begin_linking(self.vault(), self.random(), next, &caller.key).await;
        Ok(begun.map_err(log_refused))
    }

    /// Finishes a sign-in: `cookie` is what the browser got when it began, and `query` the query of the address at which the
    /// issuer sent it back. The user is linked, created, or given another role first.
    ///
    /// Refusals: all of [`OpenIdError`]. 404 without single sign-on. Errors: `too_many_requests`, `limit_reached` (the account
    /// has too many users), `changed_meanwhile`.
    pub async fn finish_single_sign_on(
        &self,
        cookie: Option<&str>,
        query: &str,
        client: &Client,
    ) -> ProviderResult<Result<SignedInByIssuer, OpenIdError>> {
        match self.finish_by_issuer(cookie, query, client).await {
            Ok(done) => Ok(Ok(done)),
            Err(Stop::Refused(refused)) => Ok(Err(log_refused(refused))),
            Err(Stop::Failed(failed)) => Err(failed),
            Err(Stop::Conflict) => Err(refusal::changed_meanwhile()),
        }
    }

    async fn finish_by_issuer(
        &self,
        cookie: Option<&str>,
        query: &str,
        client: &Client,
    ) -> Result<SignedInByIssuer, Stop> {
        let sso = self.single_sign_on()?;
        let answer = sso.rules.party.accept(self.vault(), cookie, query)?;
        let taken = client.from.map(|from| self.config().identity.attempts().at_issuer_answer(from));
        if let Some(wanted) = &taken {
            self.take_attempts(wanted, client.from).await?;
        }
        if self.store().take_sign_in_attempts(vec![answer.once()], self.now()).await?.is_some() {
            return Err(OpenIdError::FlowUsed.into());
        }
        let person = sso.rules.party.redeem(&answer).await?;
        let user = match self.user_of_person(sso, &person, answer.linking()).await {
            // Two first sign-ins of a person at once: this one reads what the other one wrote.
            Err(Stop::Conflict) => self.user_of_person(sso, &person, answer.linking()).await?,
            found => found?,
        };
        let device = self.identity().attempt(&user.email, client).device;
        let signed_in = self.begin_session(user, device, client, SignInMethod::SingleSignOn).await?;
        if let Some(taken) = taken {
            self.return_attempts(taken.one()).await?;
        }
        Ok(SignedInByIssuer { signed_in, next: answer.next().to_owned() })
    }

    /// The user that this person is, with the link and the role that follow from it. `linking` is the signed-in user who links
    /// their profile.
    async fn user_of_person(
        &self,
        sso: &DashboardSignOn,
        person: &Person,
        linking: Option<&str>,
    ) -> Result<User, Stop> {
        let identity = OpenIdentity { issuer: person.issuer.clone(), subject: person.subject.clone() };
        let linked = self.store().user_by_openid(&identity).await?;
        let by_email = match &person.email {
            Some(email) if linked.is_none() && person.is_email_verified => self.store().user_by_email(email).await?,
            _ => None,
        };
        let may_use = |user: &User| sso.account.as_ref().is_none_or(|account| *account == user.profile.account);
        if linked.iter().chain(&by_email).any(|user| !may_use(user)) {
            return Err(OpenIdError::OtherAccount.into());
        }
        let issuer = || sso.rules.party.issuer_name().to_owned();
        let admission = sso.rules.admit(person, linked, by_email)?;
        let admitted = match &admission {
            Admission::Known(user, _) => Some(&*user.id),
            Admission::Link(change, _) => Some(&*change.user.id),
            Admission::Create { .. } => None,
        };
        if linking.is_some() && linking != admitted {
            return Err(OpenIdError::OtherPerson { issuer: issuer() }.into());
        }
        let (user, role) = match admission {
            Admission::Known(user, role) => (user, role),
            // Who joined by a link wrote the address. The password shows that the user is theirs, and the issuer that the address is.
            Admission::Link(change, _) if linking.is_none() && !change.user.profile.is_email_confirmed => {
                return Err(OpenIdError::NotLinked { issuer: issuer() }.into());
            }
            Admission::Link(change, role) => (self.link_to_person(*change, person).await?, role),
            Admission::Create { email, role, identity } => {
                let account = sso.account.clone().ok_or(ProviderError::NotFound)?;
                return self.create_by_issuer(account, email, role, identity, person).await;
            }
        };
        match role {
            Some(role) if role != user.profile.role => self.follow_groups(user, role, person).await,
            _ => Ok(user),
        }
    }

    async fn link_to_person(&self, change: Change<Id, Profile>, person: &Person) -> Result<User, Stop> {
        let Change { user, .. } = change.clone();
        let profile = Profile { is_email_confirmed: true, ..user.profile };
        let change = Change { user: User { profile, ..user }, ..change };
        let values = ChangedValues::default().value("issuer", None, Some(&person.issuer));
        let user = &change.user;
        let subject = Subject { id: &user.id, name: &user.profile.name };
        let entry = self.activity_entry(&Actor::user(user), Action::SingleSignOnLinked, subject, values);
        let user = change.user.clone();
        self.store().change_user(UserChange { change, activity: Some(entry) }).await?;
        tracing::info!(user = &*user.id, "a user was linked to a person of the issuer");
        Ok(user)
    }

    async fn create_by_issuer(
        &self,
        account: Id,
        email: String,
        role: Role,
        identity: OpenIdentity,
        person: &Person,
    ) -> Result<User, Stop> {
        let name = person.name.clone().unwrap_or_else(|| email.chars().take(NAME_CHARS_MAX).collect());
        let profile = Profile { account, name, role, is_email_confirmed: true };
        let user = User::new(self.ids().make(ids::USER), email, NO_PASSWORD.to_owned(), self.now(), profile);
        let user = User { openid: Some(identity), ..user };
        let values = ChangedValues::default().value("role", None, Some(role.title())).value(
            "issuer",
            None,
            Some(&person.issuer),
        );
        let subject = Subject { id: &user.id, name: &user.profile.name };
        let entry = self.activity_entry(&Actor::user(&user), Action::Joined, subject, values);
        match self.store().create_user(user.clone(), self.config().users.users_max, entry).await? {
            UserCreationResult::Removed => Err(OpenIdError::Removed.into()),
            UserCreationResult::Done => {
                tracing::info!(user = &*user.id, role = role.name(), "single sign-on created a user of the dashboard");
                Ok(user)
            }
        }
    }

    /// Gives a user the role of their groups, from their next request on.
    async fn follow_groups(&self, user: User, role: Role, person: &Person) -> Result<User, Stop> {
        let values = ChangedValues::default().value("role", Some(user.profile.role.title()), Some(role.title())).value(
            "because of the groups at",
            None,
            Some(&person.issuer),
        );
        let subject = Subject { id: &user.id, name: &user.profile.name };
        let entry = self.activity_entry(&Actor::user(&user), Action::UserChanged, subject, values);
        let profile = Profile { role, ..user.profile.clone() };
        let change = Change::to(User { profile, ..user });
        let user = change.user.clone();
        match self.store().change_user(UserChange { change, activity: Some(entry) }).await? {
            UserChangeResult::LastAdmin => Err(OpenIdError::LastAdministrator.into()),
            UserChangeResult::Done => {
                tracing::info!(user = &*user.id, role = role.name(), "a user has the role of their groups");
                Ok(user)
            }
        }
    }

    /// Removes the link between a user of the account and a person of the issuer, and ends the user's sessions. The next person
    /// with the user's verified address is linked again. 403, 404, 409.
    pub async fn unlink_single_sign_on(&self, caller: &Caller, id: &str) -> ProviderResult<User> {
        caller.require_role(Role::Admin)?;
        let user = self.user(caller, id).await?;
        let Some(OpenIdentity { issuer, .. }) = user.openid.clone() else { return Ok(user) };
        let values = ChangedValues::default().value("issuer", Some(&issuer), None);
        let subject = Subject { id: &user.id, name: &user.profile.name };
        let entry = self.activity_entry(&Actor::of_caller(caller), Action::SingleSignOnUnlinked, subject, values);
        let ending = crate::port::SessionsToEnd::AllOf(user.id.clone());
        self.write_user(Change::to(User { openid: None, ..user }).ending(ending), Some(entry)).await
    }
}

/// Logs a refusal with what only the operator needs.
fn log_refused(refused: OpenIdError) -> OpenIdError {
    let (code, detail) = (refused.code(), refused.detail());
    tracing::warn!(code, detail, "a single sign-on to the dashboard was refused");
    refused
}
