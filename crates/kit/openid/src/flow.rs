//! A sign-in between the browser's way to the issuer and its way back: what the cookie of the browser holds, sealed.

use std::time::Duration;

use jiff::Timestamp;
use kit_identity::throttle::{Attempt, one_use};
use kit_runtime::clock::{from_ms, to_ms};
use kit_runtime::random::Random;
use kit_runtime::vault::{Sealed, Secret, Vault};
use subtle::ConstantTimeEq as _;

/// Time in which a sign-in has to be finished.
pub const FLOW_VALID: Duration = Duration::from_secs(10 * 60);
/// What the flow is sealed for. The name of the relying party follows.
const CONTEXT: &str = "openid-flow";
/// Random bytes of state and nonce.
const STATE_BYTES: usize = 16;
/// Random bytes of the code verifier: 43 characters, the least that the standard allows (RFC 7636, section 4.1).
const VERIFIER_BYTES: usize = 32;
/// Bytes of a path to return to. A longer one leads to the first page, because a cookie has to hold it.
const NEXT_BYTES_MAX: usize = 160;
/// In place of a user, in a flow that links none.
const NO_USER: &str = "-";
/// Bytes of the longest code that is exchanged.
const CODE_BYTES_MAX: usize = 4_096;

/// A sign-in that begins.
pub struct NewSingleSignOn {
    /// The address at the issuer.
    pub url: String,
    /// The text for the cookie: letters, digits, `-`, `_` and `.`.
    pub cookie: String,
}

/// A sealed sign-in.
pub(crate) struct Flow {
    pub(crate) state: String,
    pub(crate) nonce: String,
    pub(crate) verifier: Secret,
    pub(crate) next: String,
    /// The signed-in user who links their profile. An id of the wing, without spaces.
    pub(crate) linking: Option<String>,
    expires_at: Timestamp,
}

/// An answer of the issuer that belongs to the browser's sign-in.
pub struct Answer {
    pub(crate) flow: Flow,
    pub(crate) code: Secret,
}

impl Answer {
    /// The page to return to.
    pub fn next(&self) -> &str {
        &self.flow.next
    }

    /// The user who was signed in when this sign-in began, and who links their profile to the person; none for other sign-ins.
    pub fn linking(&self) -> Option<&str> {
        self.flow.linking.as_deref()
    }

    /// The attempt that the store takes once, so that the answer does not count twice.
    pub fn once(&self) -> Attempt {
        one_use("openid", &self.flow.state, FLOW_VALID)
    }

    pub(crate) fn new(flow: Flow, code: &str) -> Option<Self> {
        let is_usable = !code.is_empty() && code.len() <= CODE_BYTES_MAX;
        is_usable.then(|| Self { flow, code: Secret::new(code.as_bytes().to_vec()) })
    }
}

impl Flow {
    /// A new sign-in, which returns to this path.
    pub(crate) fn new(random: &dyn Random, now: Timestamp, next: &str) -> Self {
        let token = |bytes| kit_runtime::ids::token(random, bytes);
        Self {
            state: token(STATE_BYTES),
            nonce: token(STATE_BYTES),
            verifier: Secret::new(token(VERIFIER_BYTES).into_bytes()),
            next: if next.len() <= NEXT_BYTES_MAX { next.to_owned() } else { "/".to_owned() },
            linking: None,
            expires_at: now + FLOW_VALID,
        }
    }

    /// The same sign-in, with which this signed-in user links their profile.
    pub(crate) fn linking(self, user: &str) -> Self {
        Self { linking: Some(user.to_owned()), ..self }
    }

    /// The text for the cookie.
    pub(crate) fn seal(&self, vault: &Vault, random: &dyn Random, party: &str) -> String {
        let Self { state, nonce, verifier, next, linking, expires_at } = self;
        let verifier = verifier.expose_str().unwrap_or_default();
        let user = linking.as_deref().unwrap_or(NO_USER);
        let text = format!("{} {state} {nonce} {verifier} {user} {next}", to_ms(*expires_at));
        let sealed = vault.seal(random, &context(party), text.as_bytes());
        to_cookie(sealed.as_str())
    }

    /// The sign-in of a cookie. None if it is too old, or this installation did not seal it for this relying party.
    pub(crate) fn open(cookie: &str, vault: &Vault, now: Timestamp, party: &str) -> Option<Self> {
        let sealed = Sealed::from_text(from_cookie(cookie));
        let opened = vault.open(&context(party), &sealed).ok()?;
        let mut parts = opened.expose_str()?.splitn(6, ' ');
        let mut part = || parts.next().map(str::to_owned);
        let expires_at = from_ms(part()?.parse().ok()?);
        let (state, nonce, verifier, user, next) = (part()?, part()?, part()?, part()?, part()?);
        let linking = (user != NO_USER).then_some(user);
        let flow = Self { state, nonce, verifier: Secret::new(verifier.into_bytes()), next, linking, expires_at };
        (expires_at > now).then_some(flow)
    }

    pub(crate) fn has_state(&self, state: &str) -> bool {
        self.state.as_bytes().ct_eq(state.as_bytes()).into()
    }
}

/// The sealed text in characters that a cookie can hold. Only the part after the last dot is base64.
fn to_cookie(sealed: &str) -> String {
    let (head, body) = sealed.rsplit_once('.').unwrap_or(("", sealed));
    format!("{head}.{}", body.replace('+', "-").replace('/', "_"))
}

fn from_cookie(cookie: &str) -> String {
    let (head, body) = cookie.rsplit_once('.').unwrap_or(("", cookie));
    format!("{head}.{}", body.replace('-', "+").replace('_', "/"))
}

fn context(party: &str) -> String {
    format!("{CONTEXT}/{party}")
}

#[cfg(test)]
mod tests {
    use kit_runtime::random::SeededRandom;
    use kit_runtime::vault::Key;

    use super::*;

    fn vault(seed: u64) -> Vault {
        let key = Key::generate(&SeededRandom::new(seed));
        Vault::new(vec![(key.id(), key)]).unwrap()
    }

    #[test]
    fn a_cookie_holds_the_sign_in_for_ten_minutes_for_its_party_and_its_installation() {
        let (random, now) = (SeededRandom::new(3), Timestamp::from_second(1_800_000_000).unwrap());
        for next in ["/", "/auctions?after=1&q=a%20b", &"/a".repeat(NEXT_BYTES_MAX / 2)] {
            let flow = Flow::new(&random, now, next);
            let flow = if next == "/" { flow } else { flow.linking("usr_2pXQhVn4EJxYb8Wc3mKtLr0aZsd") };
            let cookie = flow.seal(&vault(1), &random, "platform");
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            assert!(cookie.len() <= 512 && cookie.bytes().all(is_plain), "{} {cookie}", cookie.len());
            let opened = Flow::open(&cookie, &vault(1), now, "platform").unwrap();
            assert_eq!((&opened.state, &opened.nonce, opened.next.as_str()), (&flow.state, &flow.nonce, next));
            assert_eq!(opened.verifier.expose(), flow.verifier.expose());
            assert_eq!(opened.linking, flow.linking);
            assert_eq!(opened.verifier.expose().len(), 43);
            assert!(opened.has_state(&flow.state) && !opened.has_state("") && !opened.has_state(&flow.nonce));
            assert!(Flow::open(&cookie, &vault(1), now, "provider").is_none());
            assert!(Flow::open(&cookie, &vault(2), now, "platform").is_none());
            assert!(Flow::open(&cookie, &vault(1), now + FLOW_VALID, "platform").is_none());
            assert!(Flow::open(&cookie[1..], &vault(1), now, "platform").is_none());
        }
        assert_eq!(Flow::new(&random, now, &"/a".repeat(NEXT_BYTES_MAX)).next, "/");
    }

    #[test]
    fn an_answer_needs_a_code_and_is_used_once() {
        let (random, now) = (SeededRandom::new(3), Timestamp::from_second(1_800_000_000).unwrap());
        let flow = || Flow::new(&SeededRandom::new(4), now, "/");
        assert!(Answer::new(flow(), "").is_none());
        assert!(Answer::new(flow(), &"c".repeat(CODE_BYTES_MAX + 1)).is_none());
        let once = Answer::new(flow(), "code").unwrap().once();
        assert_eq!(once, Answer::new(flow(), "another").unwrap().once(), "the state counts, not the code");
        assert_ne!(once, Answer::new(Flow::new(&random, now, "/"), "code").unwrap().once());
        let full_at = once.take(None, now).unwrap();
        assert_eq!(full_at, now + FLOW_VALID);
        assert!(once.take(Some(full_at), now + FLOW_VALID - Duration::from_millis(1)).is_err());
    }
}
