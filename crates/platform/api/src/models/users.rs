//! Users, and their sessions.

use platform_core::port::{Session, User};
use platform_core::users::{ChangedUser, Enrolled, RecoveryCodes, ReplacedScreenLink, SignedIn, UserWithPassword};
use platform_core::{Role, Scope};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time;

/// A user: a person who may sign in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
pub(crate) struct UserView {
    /// UUID of the user. Histories and records name it as the actor `user:<uuid>`.
    pub(crate) uuid: Uuid,
    /// E-mail address.
    pub(crate) email: String,
    /// What people call the user; null for a user without a name.
    pub(crate) name: Option<String>,
    /// `administrator`, `operator`, `clerk`, `support` or `viewer`.
    pub(crate) role: String,
    /// When the user was disabled; null if they may sign in.
    #[schema(format = DateTime)]
    pub(crate) disabled_at: Option<String>,
    /// True if signing in needs a code too.
    pub(crate) second_factor: bool,
    /// True if the user is linked to a person of the issuer of single sign-on, who signs in without the password.
    pub(crate) single_sign_on: bool,
    /// When the user was created.
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    /// When the user last signed in; null for never.
    #[schema(format = DateTime)]
    pub(crate) signed_in_at: Option<String>,
}

impl From<&User> for UserView {
    fn from(user: &User) -> Self {
        Self {
            uuid: user.id,
            email: user.email.clone(),
            name: user.profile.name.clone(),
            role: user.profile.role.clone(),
            disabled_at: user.disabled_at.map(time),
            second_factor: user.has_second_factor(),
            single_sign_on: user.openid.is_some(),
            created_at: time(user.created_at),
            signed_in_at: user.signed_in_at.map(time),
        }
    }
}

/// A user, with the password if the server made it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserWithPassword)]
pub(crate) struct UserWithPasswordView {
    #[serde(flatten)]
    pub(crate) user: UserView,
    /// The password that the server made, shown this once; null if the caller sent one.
    pub(crate) password: Option<String>,
}

impl From<&UserWithPassword> for UserWithPasswordView {
    fn from(made: &UserWithPassword) -> Self {
        let password = made.password.as_ref().and_then(|password| password.expose_str()).map(str::to_owned);
        Self { user: UserView::from(&made.user), password }
    }
}

/// A user after a change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChangedUser)]
pub(crate) struct ChangedUserView {
    #[serde(flatten)]
    pub(crate) user: UserView,
    /// Links that replace those that the user made; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) screen_links: Vec<ReplacedScreenLinkView>,
}

/// A link that replaces one of a user who may do less now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReplacedScreenLink)]
pub(crate) struct ReplacedScreenLinkView {
    /// UUID of the webcast.
    pub(crate) auction: Uuid,
    /// `room` or `speaker`.
    pub(crate) kind: &'static str,
    /// The token (`lwv_…`), to be entered at `/admin/screens` on the screen. It is shown this once.
    pub(crate) token: String,
    /// When the link ends at the latest.
    #[schema(format = DateTime)]
    pub(crate) expires_at: String,
}

impl From<&ChangedUser> for ChangedUserView {
    fn from(changed: &ChangedUser) -> Self {
        let link = |new: &ReplacedScreenLink| ReplacedScreenLinkView {
            auction: new.link.auction,
            kind: new.link.kind.name(),
            token: new.token.expose_str().unwrap_or_default().to_owned(),
            expires_at: time(new.link.expires_at),
        };
        Self { user: UserView::from(&changed.user), screen_links: changed.new_screen_links.iter().map(link).collect() }
    }
}

/// A new session, with its token.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SignedIn)]
pub(crate) struct SignedInView {
    /// UUID of the session.
    pub(crate) uuid: Uuid,
    /// The token (`lws_…`), sent like an API key. It is shown this once.
    pub(crate) token: String,
    /// The token of this device (`lwd_…`), to be sent as `deviceToken` at its next sign-in. It allows nothing by itself.
    pub(crate) device_token: String,
    /// The user who signed in.
    pub(crate) user: UserView,
    /// Scopes of the user's role.
    pub(crate) scopes: Vec<&'static str>,
    /// When the session started.
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    /// When the session ends at the latest. It ends earlier if it is not used.
    #[schema(format = DateTime)]
    pub(crate) expires_at: String,
}

impl From<&SignedIn> for SignedInView {
    fn from(signed_in: &SignedIn) -> Self {
        let SignedIn { session, user, token, device_token } = signed_in;
        Self {
            uuid: session.id,
            token: token.expose_str().unwrap_or_default().to_owned(),
            device_token: device_token.expose_str().unwrap_or_default().to_owned(),
            user: UserView::from(user),
            scopes: scopes_of(user),
            created_at: time(session.created_at),
            expires_at: time(session.expires_at),
        }
    }
}

/// A session of a user, without its token.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Session)]
pub(crate) struct SessionView {
    /// UUID of the session.
    pub(crate) uuid: Uuid,
    /// UUID of the user.
    pub(crate) user: Uuid,
    /// IP address of the sign-in; null if it is unknown.
    pub(crate) address: Option<String>,
    /// True for the session that makes this request.
    pub(crate) current: bool,
    /// When the session started.
    #[schema(format = DateTime)]
    pub(crate) created_at: String,
    /// When the session ends at the latest.
    #[schema(format = DateTime)]
    pub(crate) expires_at: String,
    /// When the session was last used, to within a minute.
    #[schema(format = DateTime)]
    pub(crate) last_used_at: String,
}

impl SessionView {
    /// `current_session` is the session that makes the request.
    pub(crate) fn of(session: &Session, current_session: Option<Uuid>) -> Self {
        Self {
            uuid: session.id,
            user: session.user,
            address: session.address.clone(),
            current: current_session == Some(session.id),
            created_at: time(session.created_at),
            expires_at: time(session.expires_at),
            last_used_at: time(session.last_used_at),
        }
    }
}

/// The signed-in user and the current session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Me)]
pub(crate) struct MeView {
    /// The user.
    pub(crate) user: UserView,
    /// The current session.
    pub(crate) session: SessionView,
    /// Scopes of the user's role.
    pub(crate) scopes: Vec<&'static str>,
    /// Number of unused recovery codes of the second factor.
    pub(crate) recovery_codes_left: usize,
}

/// The scopes of a user's role, by name.
pub(crate) fn scopes_of(user: &User) -> Vec<&'static str> {
    Role::parse(&user.profile.role).map(|role| role.scopes().iter().map(Scope::name).collect()).unwrap_or_default()
}

/// A second factor that is not confirmed yet.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SecondFactor)]
pub(crate) struct EnrolledView {
    /// Secret in Base32, to type into an authenticator. It is shown this once.
    pub(crate) secret: String,
    /// The secret as an `otpauth://` address, to show as a QR code.
    pub(crate) url: String,
}

impl From<&Enrolled> for EnrolledView {
    fn from(enrolled: &Enrolled) -> Self {
        Self { secret: enrolled.secret.clone(), url: enrolled.url.clone() }
    }
}

/// Recovery codes, for a user who has lost the authenticator.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecoveryCodes)]
pub(crate) struct RecoveryCodesView {
    /// Each code works once in place of a code of the authenticator. They are shown this once.
    pub(crate) recovery_codes: Vec<String>,
}

impl From<&RecoveryCodes> for RecoveryCodesView {
    fn from(made: &RecoveryCodes) -> Self {
        Self { recovery_codes: made.codes.clone() }
    }
}
