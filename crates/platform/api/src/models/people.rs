//! People, and their sessions.

use platform_core::people::{Enrolled, RecoveryCodes, SignedIn, UserWithPassword};
use platform_core::port::{Session, User};
use platform_core::{Role, Scope};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// A person who may sign in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
pub(crate) struct UserView {
    /// History and records name them as the actor `user:<uuid>`.
    pub(crate) uuid: Uuid,
    pub(crate) email: String,
    /// `administrator`, `operator`, `clerk`, `support` or `viewer`.
    pub(crate) role: String,
    /// Since when they can't sign in; null while they can.
    #[schema(format = DateTime)]
    pub(crate) disabled_at: Option<String>,
    /// Whether signing in takes a code as well.
    pub(crate) second_factor: bool,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    /// When they last signed in; null for never.
    #[schema(format = DateTime)]
    pub(crate) signed_in_at: Option<String>,
}

impl From<&User> for UserView {
    fn from(user: &User) -> Self {
        Self {
            uuid: user.uuid,
            email: user.email.clone(),
            role: user.role.clone(),
            disabled_at: user.disabled_at.map(time),
            second_factor: user.has_second_factor(),
            created_at: time(user.created_at),
            signed_in_at: user.signed_in_at.map(time),
        }
    }
}

/// A user, with the password that was made for them.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserWithPassword)]
pub(crate) struct UserWithPasswordView {
    #[serde(flatten)]
    pub(crate) user: UserView,
    /// Shown this once; null when it was given.
    pub(crate) password: Option<String>,
}

impl From<&UserWithPassword> for UserWithPasswordView {
    fn from(made: &UserWithPassword) -> Self {
        let password = made.password.as_ref().and_then(|password| password.expose_str()).map(str::to_owned);
        Self { user: UserView::from(&made.user), password }
    }
}

/// A session that began.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SignedIn)]
pub(crate) struct SignedInView {
    /// The session.
    pub(crate) uuid: Uuid,
    /// Its token (`lws_…`), to be sent like an API key. It is shown this once.
    pub(crate) token: String,
    pub(crate) user: UserView,
    /// What the role may do.
    pub(crate) scopes: Vec<&'static str>,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    /// When it ends, whatever is done with it; it ends earlier when it is not used.
    #[schema(format = DateTime)]
    pub(crate) expires_at: String,
}

impl From<&SignedIn> for SignedInView {
    fn from(signed_in: &SignedIn) -> Self {
        let SignedIn { session, user, token } = signed_in;
        Self {
            uuid: session.uuid,
            token: token.expose_str().unwrap_or_default().to_owned(),
            user: UserView::from(user),
            scopes: scopes_of(user),
            created_at: time(session.created_at),
            expires_at: time(session.expires_at),
        }
    }
}

/// A session of a person, without its token.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Session)]
pub(crate) struct SessionView {
    pub(crate) uuid: Uuid,
    /// Whose it is.
    pub(crate) user: Uuid,
    /// Where it was signed in from; null when that is not known.
    pub(crate) address: Option<String>,
    /// Whether it is the one that asks.
    pub(crate) current: bool,
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    /// When it ends, whatever is done with it.
    #[schema(format = DateTime)]
    pub(crate) expires_at: String,
    /// To within a minute.
    #[schema(format = DateTime)]
    pub(crate) last_used_at: String,
}

impl SessionView {
    /// As the session `asking` sees it.
    pub(crate) fn of(session: &Session, asking: Option<Uuid>) -> Self {
        Self {
            uuid: session.uuid,
            user: session.user,
            address: session.address.clone(),
            current: asking == Some(session.uuid),
            created_at: time(session.created_at),
            expires_at: time(session.expires_at),
            last_used_at: time(session.last_used_at),
        }
    }
}

/// Who asks.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Me)]
pub(crate) struct MeView {
    pub(crate) user: UserView,
    pub(crate) session: SessionView,
    /// What the role may do.
    pub(crate) scopes: Vec<&'static str>,
    /// Recovery codes of the second factor that were not used.
    pub(crate) recovery_codes_left: usize,
}

/// What a role may do, by the names of scopes.
pub(crate) fn scopes_of(user: &User) -> Vec<&'static str> {
    Role::parse(&user.role).map(|role| role.scopes().iter().map(Scope::name).collect()).unwrap_or_default()
}

/// A second factor that waits for a code of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SecondFactor)]
pub(crate) struct EnrolledView {
    /// Base32, to be typed into an authenticator. It is shown this once.
    pub(crate) secret: String,
    /// The same as an `otpauth://` address, to be shown as a picture.
    pub(crate) url: String,
}

impl From<&Enrolled> for EnrolledView {
    fn from(enrolled: &Enrolled) -> Self {
        Self { secret: enrolled.secret.clone(), url: enrolled.url.clone() }
    }
}

/// Codes for the day on which the authenticator is lost.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecoveryCodes)]
pub(crate) struct RecoveryCodesView {
    /// Each works once in place of a code. They are shown this once.
    pub(crate) recovery_codes: Vec<String>,
}

impl From<&RecoveryCodes> for RecoveryCodesView {
    fn from(made: &RecoveryCodes) -> Self {
        Self { recovery_codes: made.codes.clone() }
    }
}
