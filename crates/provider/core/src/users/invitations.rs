//! Links that work once: sign-in codes of the operator, invitations, and links for a new password.

use std::time::Duration;

use kit_identity::Refusal;
use kit_identity::one_time::{link_with_code, lookup_hash};
use kit_identity::throttle::AttemptsToReturn;
use kit_identity::user::plain_email;
use kit_mail::plain_name;
use kit_runtime::vault::Secret;

use super::{Client, SignedIn, refusal};
use crate::activity::{Action, Actor, ChangedValues, Subject};
use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::Role;
use crate::model::{Account, Id, Invitation, Profile, User};
use crate::page::{ListPage, PageRequest};
use crate::port::{AcceptedInvitation, AlertScope, InvitedUser, NewMail, Order, StoreError, UserChange};
use crate::provider::Provider;
use crate::validation::FieldErrors;

/// Prefix of the codes of links.
const CODE_PREFIX: &str = "lwpi_";
const NOTE_CHARS_MAX: usize = 200;
/// Maximum number of links of an account that are searched for those of one user. An account has fewer links.
const MADE_MAX: usize = 1_000;
/// Path of the dashboard's page for a code, below the provider's public address.
const JOIN_PATH: &str = "/dashboard/join";

/// A new link.
#[derive(Clone)]
pub struct InvitationLink {
    /// The stored invitation.
    pub invitation: Invitation,
    /// The link. It is shown once and not stored. The code is in the fragment, which browsers do not send to servers.
    pub url: String,
    /// The address that the link is mailed to.
    pub mailed_to: Option<String>,
}

impl std::fmt::Debug for InvitationLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InvitationLink").field("invitation", &self.invitation.id).finish_non_exhaustive()
    }
}

/// The input of a user who uses a link.
pub struct Joining {
    /// Name; ignored for a new password.
    pub name: String,
    /// E-mail address, in whatever case; ignored for a new password.
    pub email: String,
    /// The password.
    pub password: Secret,
    /// The client.
    pub client: Client,
}

struct NewLink<'a> {
    actor: Actor,
    account: Id,
    role: Role,
    user: Option<&'a User>,
    note: String,
    ttl: Duration,
    action: Action,
}

impl Provider {
    /// Invites a user with this role. The note describes the user. If there is an address, the link is mailed to it, too.
    /// 403, 422; 400 when the account has too many users, or `mail_not_configured`; 429 when too many links were mailed.
    pub async fn invite(
        &self,
        caller: &Caller,
        role: Role,
        note: &str,
        mail_to: Option<&str>,
    ) -> ProviderResult<InvitationLink> {
        caller.require_role(Role::Admin)?;
        let mut errors = FieldErrors::default();
        errors.required_text("note", note, NOTE_CHARS_MAX);
        if mail_to.is_some_and(|address| !kit_mail::is_address(address)) {
            errors.fault("email", "must be an e-mail address, such as ann@example.com, or empty");
        }
        errors.finish()?;
        if let Some(address) = mail_to {
            self.require_mail()?;
            let scope = AlertScope { account: caller.account.clone(), application: None };
            self.take_code(&scope, address).await?;
        }
        let mut link = self.make_invitation(caller, role, note).await?;
        if let Some(address) = mail_to
            && self.mail_invitation(caller, &link, address).await?
        {
            link.mailed_to = Some(address.to_owned());
        }
        Ok(link)
    }

    /// Queues the mail with the link. False when the account has too many queued mails.
    async fn mail_invitation(&self, caller: &Caller, link: &InvitationLink, address: &str) -> ProviderResult<bool> {
        let account = plain_name(&self.account(&caller.account).await?.name);
        let until = link.invitation.expires_at.strftime("%d %B %Y, %H:%M UTC");
        let body = format!(
            "{} invites you to the dashboard of webhooks of the account\n\"{account}\"\n\n\
             To choose a name and a password until {until}, open this link. It works once:\n{}\n\n\
             If you do not expect this, ignore this mail.\n",
            plain_name(&link.invitation.created_by),
            link.url
        );
        let mail = NewMail {
            account: caller.account.clone(),
            recipient: address.to_owned(),
            subject: format!("Invitation to the webhook dashboard of {account}"),
            body,
        };
        Ok(self.store().queue_mail(mail, self.now()).await?)
    }

    async fn make_invitation(&self, caller: &Caller, role: Role, note: &str) -> ProviderResult<InvitationLink> {
        self.make_link(NewLink {
            actor: Actor::of_caller(caller),
            account: caller.account.clone(),
            role,
            user: None,
            note: note.trim().to_owned(),
            ttl: self.config().users.invitation_ttl,
            action: Action::Invited,
        })
        .await
    }

    /// Creates a code with which a new Admin joins the account, for the operator: no member can invite the first user of
    /// an account.
    pub async fn create_sign_in_code(&self, account: &Account) -> ProviderResult<InvitationLink> {
        self.make_link(NewLink {
            actor: Actor::operator(account),
            account: account.id.clone(),
            role: Role::Admin,
            user: None,
            note: "New Admin".to_owned(),
            ttl: self.config().users.sign_in_code_ttl,
            action: Action::SignInCode,
        })
        .await
    }

    /// Creates a link with which a user of the account chooses a new password. It also turns off the second factor.
    /// 403, 404.
    pub async fn create_password_link(&self, caller: &Caller, user: &str) -> ProviderResult<InvitationLink> {
        caller.require_role(Role::Admin)?;
        let user = self.user(caller, user).await?;
        self.make_link(NewLink {
            actor: Actor::of_caller(caller),
            account: caller.account.clone(),
            role: user.profile.role,
            user: Some(&user),
            note: format!("New password of {}", user.profile.name),
            ttl: self.config().users.sign_in_code_ttl,
            action: Action::PasswordLink,
        })
        .await
    }

    async fn make_link(&self, new: NewLink<'_>) -> ProviderResult<InvitationLink> {
        let identity = self.identity();
        let (code, hash) = identity.one_time_code(CODE_PREFIX);
        let invitation = Invitation {
            id: self.ids().make(ids::INVITATION),
            account: new.account,
            role: new.role,
            user: new.user.map(|user| user.id.clone()),
            note: new.note,
            created_by: new.actor.name().to_owned(),
            maker: new.actor.user_id(),
            created_at: identity.now,
            hash,
            expires_at: identity.after(new.ttl)?,
        };
        let (id, name) = match new.user {
            Some(user) => (&user.id, user.profile.name.as_str()),
            None => (&invitation.id, invitation.note.as_str()),
        };
        let values = ChangedValues::default().value("role", None, Some(invitation.role.title()));
        let entry = self.activity_entry(&new.actor, new.action, Subject { id, name }, values);
        match self.store().create_invitation(invitation.clone(), self.config().users.users_max, entry).await {
            // The caller was removed or demoted while the request was on its way.
            Err(StoreError::Conflict) => return Err(Role::Admin.needed()),
            created => created?,
        }
        let base = self.config().public_url.trim_end_matches('/');
        let url = link_with_code(&format!("{base}{JOIN_PATH}"), code.expose_str().unwrap_or_default());
        Ok(InvitationLink { url, invitation, mailed_to: None })
    }

    /// Open links of the account, newest first. Expired links are listed until they are deleted. 403.
    pub async fn invitations(&self, caller: &Caller, page: &PageRequest) -> ProviderResult<ListPage<Invitation>> {
        caller.require_role(Role::Viewer)?;
        let rows = self.store().invitations(&caller.account, page.to_store(Order::Descending)).await?;
        Ok(page.slice(rows, |invitation| &invitation.id))
    }

    /// Open links that a user of the account created. They become invalid when the user is no longer an Admin. 403,
    /// 404.
    pub async fn invitations_made_by(&self, caller: &Caller, user: &str) -> ProviderResult<Vec<Invitation>> {
        let user = self.user(caller, user).await?;
        let (now, all) = (self.now(), PageRequest::first(MADE_MAX).to_store(Order::Descending));
        let found = self.store().invitations(&caller.account, all).await?;
        let is_by_user = |link: &Invitation| link.maker.as_ref() == Some(&user.id) && link.expires_at > now;
        Ok(found.into_iter().filter(is_by_user).collect())
    }

    /// Withdraws a link that was not used yet. 403, 404.
    pub async fn withdraw_invitation(&self, caller: &Caller, id: &str, note: &str) -> ProviderResult<()> {
        caller.require_role(Role::Admin)?;
        let subject = Subject { id, name: note };
        let actor = Actor::of_caller(caller);
        let entry = self.activity_entry(&actor, Action::InvitationWithdrawn, subject, ChangedValues::default());
        let existed = self.store().delete_invitation(&caller.account, id, entry).await?;
        if existed { Ok(()) } else { Err(ProviderError::NotFound) }
    }

    /// The invitation with this code and its account, and its user if it is for a new password. Error:
    /// `invitation_refused`.
    pub async fn invitation(&self, code: &str) -> ProviderResult<(Invitation, Account, Option<User>)> {
        let found = self.store().invitation_by_hash(lookup_hash(code)).await?;
        let invitation = found.filter(|found| found.expires_at > self.now()).ok_or(Refusal::InvitationRefused)?;
        let account = self.store().account(&invitation.account).await?.ok_or(Refusal::InvitationRefused)?;
        let user = match &invitation.user {
            None => None,
            Some(user) => Some(self.store().user(user).await?.ok_or(Refusal::InvitationRefused)?),
        };
        Ok((invitation, account, user))
    }

    /// Uses a code: a new user joins, or a user gets a new password. The user is then signed in. 422, 409 (the
    /// address is taken). Errors: `invitation_refused`, `too_many_requests` (too many passwords are being hashed).
    pub async fn join(&self, code: &str, joining: Joining) -> ProviderResult<SignedIn> {
        let (invitation, account, existing) = self.invitation(code).await?;
        let Joining { name, email, password, client } = joining;
        let (name, email) = (name.trim().to_owned(), plain_email(&email));
        let mut errors = FieldErrors::default();
        if existing.is_none() {
            errors.user_name(&name);
            errors.email(&email);
        }
        errors.new_password(&password, existing.as_ref().map_or(&email, |user| &user.email));
        errors.finish()?;
        let (user, invited, action) = match existing {
            None => {
                let (account, role) = (account.id, invitation.role);
                let id = self.ids().make(ids::USER);
                let profile = Profile { account, name, role, is_email_confirmed: false };
                let password_hash = self.identity().hash(&password).await?;
                let user = User::new(id, email, password_hash, self.now(), profile);
                let user = User { signed_in_at: Some(self.now()), ..user };
                (user.clone(), InvitedUser::New(Box::new(user)), Action::Joined)
            }
            Some(user) => {
                let change = self.identity().choose_password_by_link(user, &password).await?;
                let user = change.user.clone();
                let change = UserChange { change, activity: None };
                (user, InvitedUser::Existing(Box::new(change)), Action::PasswordChanged)
            }
        };
        let signed_in = self.new_session(user, None, &client)?;
        let user = &signed_in.user;
        let subject = Subject { id: &user.id, name: &user.profile.name };
        let values = ChangedValues::default().value("role", None, Some(user.profile.role.title()));
        let activity = self.activity_entry(&Actor::user(user), action, subject, values);
        let invitation = invitation.id.to_string();
        let accepted = AcceptedInvitation { invitation, user: invited, session: signed_in.session.clone(), activity };
        match self.store().accept_invitation(accepted).await {
            Err(StoreError::NotFound) => return Err(Refusal::InvitationRefused.into()),
            Err(StoreError::Conflict) => return Err(refusal::changed_meanwhile()),
            Err(StoreError::Taken(_)) => {
                let detail = "another user has this e-mail address already; sign in, or use another address".to_owned();
                return Err(ProviderError::Conflict { code: "email_taken", detail });
            }
            joined => joined?,
        }
        self.return_attempts(AttemptsToReturn::all_of(&user.email)).await?;
        tracing::info!(user = &*user.id, role = user.profile.role.name(), "a user used a link to the dashboard");
        Ok(signed_in)
    }
}
