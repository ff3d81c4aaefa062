//! Signing in, in steps between which the wing asks its store:
//!
//! 1. [`Identity::attempt`] says which attempts the store takes first.
//! 2. [`Identity::check_password`] verifies the password of the user whom the store found, or takes as long without one.
//! 3. A user with a second factor sends a code at once, or later with the token of [`Identity::await_code`].
//!    [`Identity::use_of_code`] says what the store is to record.
//! 4. [`Identity::begin_session`] returns the session, which the store begins if the user still has the version that the
//!    password was checked on.

use std::fmt::Display;
use std::net::IpAddr;
use std::time::Duration;

use jiff::Timestamp;
use kit_runtime::clock::{from_ms, to_ms};
use kit_runtime::vault::Secret;

use crate::devices::{self, Device};
use crate::identity::Identity;
use crate::passwords::BYTES_MAX;
use crate::refusal::IdentityError;
use crate::sessions::{Session, new_token};
use crate::throttle::TakenAttempts;
use crate::token_hash;
use crate::user::{EMAIL_BYTES_MAX, User, plain_email};

/// Bytes of the longest code that is looked at.
pub const CODE_BYTES_MAX: usize = 64;
/// Time after the password in which the code must be sent.
const CODE_AWAITED_FOR: Duration = Duration::from_secs(5 * 60);
/// Bytes of the longest token between a password and its code.
const CODE_TOKEN_BYTES_MAX: usize = 256;
/// Characters of a browser's name that are stored.
const BROWSER_CHARS_MAX: usize = 200;

/// The program that a user signs in with.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// Its IP address, if it is known.
    pub from: Option<IpAddr>,
    /// Its `User-Agent`, in a wing that stores it.
    pub browser: Option<String>,
    /// The token of a device that signed in before. One that is not valid for the user is ignored.
    pub device_token: Option<Secret>,
}

/// The credentials of a sign-in.
pub struct SignIn {
    /// E-mail address; its case is ignored.
    pub email: String,
    /// Password.
    pub password: Secret,
    /// Code of the second factor, or a recovery code, if it is sent with the password.
    pub code: Option<String>,
    /// The client.
    pub client: Client,
}

impl SignIn {
    /// The fields that are longer than a right value can be, with the limit of each in bytes.
    pub fn too_long(&self) -> Vec<(&'static str, usize)> {
        let code_bytes = self.code.as_ref().map_or(0, String::len);
        let device_bytes = self.client.device_token.as_ref().map_or(0, |token| token.expose().len());
        let limits = [
            ("email", self.email.len(), EMAIL_BYTES_MAX),
            ("password", self.password.expose().len(), BYTES_MAX),
            ("code", code_bytes, CODE_BYTES_MAX),
            ("deviceToken", device_bytes, devices::TOKEN_BYTES_MAX),
        ];
        limits.into_iter().filter(|(_, bytes, max)| bytes > max).map(|(field, _, max)| (field, max)).collect()
    }
}

/// An attempt to sign in to an account, which need not exist.
#[derive(Debug, Clone)]
pub struct Attempted {
    /// E-mail address in its stored form.
    pub email: String,
    /// The device, if it signed in to this account before.
    pub device: Option<Device>,
    /// The attempts for the store to take.
    pub attempts: TakenAttempts,
}

/// The result of checking a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PasswordCheck<I, P> {
    /// It is the password of this user.
    Right(User<I, P>),
    /// There is no such user, or the password is wrong.
    Wrong,
    /// It is the password of this user, who is disabled. The caller learns as much as with a wrong one.
    Disabled(User<I, P>),
}

/// A session that begins.
#[derive(Debug, Clone)]
pub struct SignedIn<I, P> {
    /// The session.
    pub session: Session<I>,
    /// Its user; the session begins only if they still have this version.
    pub user: User<I, P>,
    /// Its token. It is shown once, and not stored.
    pub token: Secret,
    /// The token that names the device at its next sign-ins.
    pub device_token: Secret,
}

impl Identity<'_> {
    /// An attempt with this e-mail address, in whatever case.
    pub fn attempt(&self, email: &str, client: &Client) -> Attempted {
        let email = plain_email(email);
        let token = client.device_token.as_ref().and_then(Secret::expose_str);
        let device = token.and_then(|token| Device::verify(self.vault, self.audience.device_realm, &email, token));
        let attempts = self.config.attempts().at_account(&email, device.as_ref(), client.from);
        Attempted { email, device, attempts }
    }

    /// Verifies the password of the user with the address of an attempt, if there is one. It takes as long without one.
    /// Errors: `too_many_attempts`.
    pub async fn check_password<I, P>(
        &self,
        found: Option<User<I, P>>,
        password: &Secret,
    ) -> Result<PasswordCheck<I, P>, IdentityError> {
        let hash = found.as_ref().map(|user| user.password_hash.as_str());
        let is_right = self.passwords.verify(password, hash).await?;
        Ok(match found.filter(|_| is_right) {
            None => PasswordCheck::Wrong,
            Some(user) if user.disabled_at.is_some() => PasswordCheck::Disabled(user),
            Some(user) => PasswordCheck::Right(user),
        })
    }

    /// The token with which a user sends the code within five minutes after a right password. A changed password voids it,
    /// because the version changes.
    pub fn await_code<I: Display, P>(&self, user: &User<I, P>) -> Secret {
        let expires_at = to_ms(self.now + CODE_AWAITED_FOR);
        let text = format!("{}.{}.{expires_at}", user.id, user.version);
        let signature = self.vault.sign(self.audience.code_purpose, &text);
        Secret::new(format!("{text}.{signature}").into_bytes())
    }

    /// The id and the version of the user who sends a code with this token; none if it is wrong or too old. Ids have no dot.
    pub fn awaited_code<'t>(&self, token: &'t str) -> Option<(&'t str, i64)> {
        let (text, signature) = token.rsplit_once('.')?;
        if token.len() > CODE_TOKEN_BYTES_MAX || !self.vault.is_signature(self.audience.code_purpose, text, signature) {
            return None;
        }
        let (user, rest) = text.split_once('.')?;
        let (version, expires_at) = rest.split_once('.')?;
        let is_current = from_ms(expires_at.parse().ok()?) > self.now;
        is_current.then_some((user, version.parse().ok()?))
    }

    /// A session of this user, which the wing's store begins.
    pub fn begin_session<I: Clone, P>(
        &self,
        id: I,
        user: User<I, P>,
        device: Option<Device>,
        client: &Client,
    ) -> Result<SignedIn<I, P>, IdentityError> {
        let token = new_token(self.random, self.audience.session_prefix);
        let session = Session {
            id,
            hash: token_hash(&token),
            user: user.id.clone(),
            address: client.from.map(|from| from.to_canonical().to_string()),
            browser: client.browser.as_ref().map(|name| name.chars().take(BROWSER_CHARS_MAX).collect()),
            created_at: self.now,
            expires_at: self.after(self.config.session_ttl)?,
            last_used_at: self.now,
        };
        let device = device.unwrap_or_else(|| Device::generate(self.random));
        let device_token = device.token(self.vault, self.audience.device_realm, &user.email);
        let user = User { signed_in_at: Some(self.now), ..user };
        let secret = |text: String| Secret::new(text.into_bytes());
        Ok(SignedIn { session, user, token: secret(token), device_token: secret(device_token) })
    }

    /// True while this session lasts.
    pub fn goes_on<I>(&self, session: &Session<I>) -> bool {
        session.goes_on(self.config.session_idle, self.now)
    }

    /// The time of the last use before which an unused session has ended.
    pub fn idle_before(&self) -> Timestamp {
        self.now - self.config.session_idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::testing::{Fixture, secret, user};

    fn client(device_token: Option<Secret>) -> Client {
        Client { from: Some(IpAddr::from([192, 0, 2, 1])), browser: Some("b".repeat(300)), device_token }
    }

    #[tokio::test]
    async fn a_password_is_right_for_its_user_while_they_are_not_disabled() {
        let fixture = Fixture::new();
        let identity = fixture.identity();
        let password_hash = identity.hash(&secret("correct horse")).await.unwrap();
        let known = User { password_hash, ..user(7) };
        let check = async |user, text: &str| identity.check_password(user, &secret(text)).await.unwrap();
        assert_eq!(check(Some(known.clone()), "correct horse").await, PasswordCheck::Right(known.clone()));
        assert_eq!(check(Some(known.clone()), "correct house").await, PasswordCheck::Wrong);
        assert_eq!(check(None, "correct horse").await, PasswordCheck::<u32, &str>::Wrong);
        let disabled = User { disabled_at: Some(fixture.now), ..known };
        assert_eq!(check(Some(disabled.clone()), "correct horse").await, PasswordCheck::Disabled(disabled.clone()));
        assert_eq!(check(Some(disabled), "correct house").await, PasswordCheck::Wrong);
    }

    #[test]
    fn a_session_has_its_limits_and_names_its_device_at_the_next_sign_in() {
        let fixture = Fixture::new();
        let identity = fixture.identity();
        let begun = identity.begin_session(70, user(7), None, &client(None)).unwrap();
        let token = begun.token.expose_str().unwrap();
        assert!(token.starts_with("lwt_") && token_hash(token) == begun.session.hash);
        assert_eq!((begun.session.id, begun.session.user, begun.user.version), (70, 7, 1));
        assert_eq!(begun.session.address.as_deref(), Some("192.0.2.1"));
        assert_eq!(begun.session.browser.unwrap().len(), BROWSER_CHARS_MAX);
        assert_eq!(begun.session.expires_at, fixture.now + Duration::from_secs(12 * 3_600));
        assert_eq!(begun.user.signed_in_at, Some(fixture.now));

        let again = identity.attempt(" USER7@example.com", &client(Some(begun.device_token.clone())));
        assert_eq!((again.email.as_str(), again.attempts.all().len()), ("user7@example.com", 1));
        assert!(again.device.is_some());
        let elsewhere = identity.attempt("user8@example.com", &client(Some(begun.device_token)));
        assert!(elsewhere.device.is_none() && elsewhere.attempts.all().len() == 2);
    }

    #[test]
    fn a_code_is_awaited_for_five_minutes_by_the_server_that_asked() {
        let mut fixture = Fixture::new();
        let token = fixture.identity().await_code(&user(7));
        let token = token.expose_str().unwrap();
        assert_eq!(fixture.identity().awaited_code(token), Some(("7", 1)));
        for altered in ["", "7.1", &token[1..], &token.replacen("7.1.", "8.1.", 1), &token.replacen(".1.", ".2.", 1)] {
            assert_eq!(fixture.identity().awaited_code(altered), None, "{altered}");
        }
        fixture.now += CODE_AWAITED_FOR;
        assert_eq!(fixture.identity().awaited_code(token), None, "too late");
    }

    #[test]
    fn credentials_that_are_too_long_are_named_with_their_limits() {
        let sign_in = |chars: usize| SignIn {
            email: "a".repeat(chars),
            password: secret(&"p".repeat(chars)),
            code: Some("1".repeat(chars)),
            client: client(Some(secret(&"d".repeat(chars)))),
        };
        assert_eq!(sign_in(CODE_BYTES_MAX).too_long(), []);
        assert_eq!(sign_in(EMAIL_BYTES_MAX).too_long(), [("code", CODE_BYTES_MAX)]);
        assert_eq!(sign_in(BYTES_MAX + 1).too_long().len(), 4);
    }
}
