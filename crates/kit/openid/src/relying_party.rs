//! The relying party: from the button on the sign-in page to what the issuer says of the person.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use kit_runtime::clock::SharedClock;
use kit_runtime::random::Random;
use kit_runtime::vault::Vault;
use openidconnect::{PkceCodeChallenge, PkceCodeVerifier};
use serde::Deserialize;

use crate::claims::{Claims, Person, are_incomplete};
use crate::error::OpenIdError;
use crate::flow::{Answer, Flow, NewSingleSignOn};
use crate::issuer::Issuer;
use crate::metadata::Metadata;
use crate::settings::OpenIdSettings;
use crate::token::{self, Expected, TokenFault};

/// Characters of an error code that is repeated to the visitor.
const ERROR_CHARS_MAX: usize = 60;

/// A client of one issuer. Clones share the cached document and keys of the issuer.
#[derive(Clone)]
pub struct RelyingParty(Arc<Inner>);

struct Inner {
    /// Names the users: cookies of one wing are not those of another.
    name: &'static str,
    settings: OpenIdSettings,
    /// What people call the issuer.
    shown_name: String,
    issuer: Issuer,
    clock: SharedClock,
    /// Roles are given by groups, so that the groups have to be known.
    needs_groups: bool,
}

#[derive(Deserialize)]
struct Tokens {
    id_token: Option<String>,
    access_token: Option<String>,
}

#[derive(Deserialize)]
struct Refused {
    error: String,
}

impl RelyingParty {
    /// A relying party for the users of the wing with this name. It sends no request before the first sign-in.
    pub fn new(name: &'static str, settings: OpenIdSettings, needs_groups: bool, clock: SharedClock) -> Self {
        let (shown_name, issuer) = (settings.shown_name(), Issuer::new(&settings, clock.clone()));
        Self(Arc::new(Inner { name, settings, shown_name, issuer, clock, needs_groups }))
    }

    /// What people call the issuer.
    pub fn issuer_name(&self) -> &str {
        &self.0.shown_name
    }

    /// Address of the issuer.
    pub fn issuer(&self) -> &str {
        &self.0.settings.issuer
    }

    /// Address at which the issuer sends browsers back.
    pub fn redirect_uri(&self) -> &str {
        &self.0.settings.redirect_uri
    }

    /// Whether the issuer answers with a usable discovery document and keys. The error is for the operator.
    pub async fn check(&self) -> Result<(), String> {
        let metadata = self.0.issuer.metadata(&self.0.settings).await?;
        self.0.issuer.keys(&metadata).await.map(drop)
    }

    /// A sign-in that returns to this path of the site. Errors: `issuer_unavailable`.
    pub async fn begin(&self, vault: &Vault, random: &dyn Random, next: &str) -> Result<NewSingleSignOn, OpenIdError> {
        self.begin_flow(vault, random, Flow::new(random, self.now(), next)).await
    }

    /// A sign-in with which this signed-in user links their profile to the person who signs in at the issuer. `user` is an id of
    /// the wing. The wing looks at [`Answer::linking`]. Errors: `issuer_unavailable`.
    pub async fn begin_linking(
        &self,
        vault: &Vault,
        random: &dyn Random,
        next: &str,
        user: &str,
    ) -> Result<NewSingleSignOn, OpenIdError> {
        self.begin_flow(vault, random, Flow::new(random, self.now(), next).linking(user)).await
    }

    async fn begin_flow(&self, vault: &Vault, random: &dyn Random, flow: Flow) -> Result<NewSingleSignOn, OpenIdError> {
        let Inner { settings, .. } = &*self.0;
        let metadata = self.metadata().await?;
        let verifier = PkceCodeVerifier::new(flow.verifier.expose_str().unwrap_or_default().to_owned());
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
        let scopes = [&["openid".to_owned()], settings.scopes.as_slice()].concat().join(" ");
        let mut url = metadata.authorization_endpoint.clone();
        url.query_pairs_mut().extend_pairs([
            ("response_type", "code"),
            ("client_id", &settings.client_id),
            ("redirect_uri", &settings.redirect_uri),
            ("scope", &scopes),
            ("state", &flow.state),
            ("nonce", &flow.nonce),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
        ]);
        Ok(NewSingleSignOn { url: url.into(), cookie: flow.seal(vault, random, self.0.name) })
    }

    /// The answer with which the issuer sent the browser back, if it belongs to the sign-in in the browser's cookie. `query` is
    /// the query of the address.
    ///
    /// Errors: `flow_missing`, `flow_mismatch`, `issuer_denied`.
    pub fn accept(&self, vault: &Vault, cookie: Option<&str>, query: &str) -> Result<Answer, OpenIdError> {
        let flow = cookie.and_then(|cookie| Flow::open(cookie, vault, self.now(), self.0.name));
        let flow = flow.ok_or(OpenIdError::FlowMissing)?;
        let value = |wanted: &str| {
            let mut all = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == wanted);
            all.next().map(|(_, value)| value.into_owned()).filter(|_| all.next().is_none())
        };
        if !value("state").is_some_and(|state| flow.has_state(&state)) {
            return Err(OpenIdError::FlowMismatch);
        }
        // RFC 9207: an issuer that names itself has to be the one that was asked.
        if value("iss").is_some_and(|issuer| issuer != self.0.settings.issuer) {
            return Err(OpenIdError::FlowMismatch);
        }
        if let Some(code) = value("error") {
            return Err(OpenIdError::Denied { issuer: self.0.shown_name.clone(), code: plain_code(&code) });
        }
        Answer::new(flow, &value("code").unwrap_or_default()).ok_or(OpenIdError::FlowMismatch)
    }

    /// What the issuer says of the person who signed in there.
    ///
    /// Errors: `issuer_unavailable`, `code_refused`, `token_refused`.
    pub async fn redeem(&self, answer: &Answer) -> Result<Person, OpenIdError> {
        let Inner { settings, issuer, needs_groups, .. } = &*self.0;
        let metadata = self.metadata().await?;
        let tokens = self.exchange(answer, &metadata).await?;
        let id_token = tokens.id_token.ok_or_else(|| self.token_refused("the issuer sent no ID token"))?;
        let mut claims = self.verify(&id_token, answer, &metadata).await?;
        let groups_claim = &settings.groups_claim;
        if are_incomplete(&claims, groups_claim, *needs_groups)
            && let (Some(url), Some(token)) = (&metadata.userinfo_endpoint, &tokens.access_token)
        {
            let answer = issuer.client().get(url, Some(token)).await.map_err(|detail| self.unavailable(detail))?;
            let further = serde_json::from_slice(&answer).map_err(|error| {
                self.unavailable(format!("the answer of the userinfo endpoint can't be read: {error}"))
            })?;
            complete(&mut claims, further).map_err(|why| self.token_refused(why))?;
        }
        let person = Person::from_claims(&settings.issuer, &claims, groups_claim);
        person.ok_or_else(|| self.token_refused("the ID token has no usable subject"))
    }

    async fn exchange(&self, answer: &Answer, metadata: &Metadata) -> Result<Tokens, OpenIdError> {
        let Inner { settings, issuer, .. } = &*self.0;
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", answer.code.expose_str().unwrap_or_default()),
            ("redirect_uri", &settings.redirect_uri),
            ("code_verifier", answer.flow.verifier.expose_str().unwrap_or_default()),
        ];
        let url = &metadata.token_endpoint;
        let response = issuer.client().exchange(url, &fields, settings, metadata.secret_in).await;
        let response = response.map_err(|detail| self.unavailable(detail))?;
        let status = response.status;
        if status.is_success() {
            // The text of the error could hold a part of a token.
            let tokens = serde_json::from_slice(&response.body);
            return tokens.map_err(|_| self.unavailable("the answer of the token endpoint can't be read".to_owned()));
        }
        if !status.is_client_error() {
            return Err(self.unavailable(format!("{url} answered {status}")));
        }
        let refused: Option<Refused> = serde_json::from_slice(&response.body).ok();
        let code = refused.map_or_else(|| "no error code".to_owned(), |refused| plain_code(&refused.error));
        let detail = format!("{url} answered {status}: {code}");
        Err(OpenIdError::CodeRefused { issuer: self.0.shown_name.clone(), detail })
    }

    async fn verify(&self, id_token: &str, answer: &Answer, metadata: &Metadata) -> Result<Claims, OpenIdError> {
        let Inner { settings, issuer, .. } = &*self.0;
        let (client_id, nonce) = (settings.client_id.as_str(), answer.flow.nonce.as_str());
        let expected = Expected { issuer: &settings.issuer, client_id, nonce, now: self.now() };
        let keys = issuer.keys(metadata).await.map_err(|detail| self.unavailable(detail))?;
        let checked = match token::verify(id_token, &keys, &expected) {
            Err(TokenFault::UnknownKey) => {
                let keys = issuer.keys_again(metadata).await.map_err(|detail| self.unavailable(detail))?;
                token::verify(id_token, &keys, &expected)
            }
            checked => checked,
        };
        checked.map_err(|fault| match fault {
            TokenFault::UnknownKey => self.token_refused("the ID token is signed with none of the issuer's keys"),
            TokenFault::Invalid(why) => self.token_refused(why),
        })
    }

    async fn metadata(&self) -> Result<Arc<Metadata>, OpenIdError> {
        self.0.issuer.metadata(&self.0.settings).await.map_err(|detail| self.unavailable(detail))
    }

    fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    fn unavailable(&self, detail: String) -> OpenIdError {
        OpenIdError::IssuerUnavailable { issuer: self.0.shown_name.clone(), detail }
    }

    fn token_refused(&self, detail: impl Into<String>) -> OpenIdError {
        OpenIdError::TokenRefused { issuer: self.0.shown_name.clone(), detail: detail.into() }
    }
}

impl fmt::Debug for RelyingParty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelyingParty").field("issuer", &self.0.settings.issuer).finish_non_exhaustive()
    }
}

/// An error code of the standard. It comes from outside, so that only its characters are repeated.
fn plain_code(code: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_lowercase() || *c == '_';
    let plain: String = code.chars().filter(is_plain).take(ERROR_CHARS_MAX).collect();
    if plain.is_empty() { "unknown_error".to_owned() } else { plain }
}

/// Adds the claims of the userinfo endpoint that the token does not have. They count only for the token's subject (OpenID Connect
/// Core 1.0, section 5.3.2). Address and verification come from one of both.
fn complete(claims: &mut Claims, mut further: Claims) -> Result<(), &'static str> {
    if further.get("sub") != claims.get("sub") {
        return Err("the userinfo endpoint describes another person than the ID token");
    }
    let has_both = |claims: &Claims| claims.contains_key("email") && claims.contains_key("email_verified");
    if !has_both(claims) && further.contains_key("email") {
        claims.remove("email");
        claims.remove("email_verified");
    } else {
        further.remove("email");
        further.remove("email_verified");
    }
    for (name, value) in further {
        claims.entry(name).or_insert(value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kit_outbound::RootCertStore;
    use kit_runtime::clock::TestClock;
    use kit_runtime::random::SeededRandom;
    use kit_runtime::vault::Key;
    use serde_json::{Value, json};

    use super::*;

    fn party() -> RelyingParty {
        let settings = OpenIdSettings {
            issuer: "https://id.example.com".into(),
            client_id: "lotwire".into(),
            client_secret: None,
            redirect_uri: "https://sales.example.com/admin/sign-in/openid/callback".into(),
            scopes: vec!["email".into()],
            groups_claim: "groups".into(),
            name: "Example".into(),
            extra_roots: RootCertStore::empty(),
        };
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        RelyingParty::new("platform", settings, true, Arc::new(TestClock::new(now)))
    }

    fn sendable<F: Future + Send>(future: F) -> F {
        future
    }

    /// Never called. It compiles only if the futures are `Send`, which servers need.
    #[expect(dead_code, reason = "checked by the compiler")]
    fn steps_can_move_between_threads(party: &RelyingParty, vault: &Vault, random: &dyn Random, answer: &Answer) {
        drop(sendable(party.begin(vault, random, "/")));
        drop(sendable(party.redeem(answer)));
    }

    #[test]
    fn an_answer_belongs_to_the_cookie_of_its_browser_and_to_the_issuer_that_was_asked() {
        let (party, random) = (party(), SeededRandom::new(1));
        let key = Key::generate(&random);
        let vault = Vault::new(vec![(key.id(), key)]).unwrap();
        let flow = Flow::new(&random, party.now(), "/auctions");
        let (cookie, state) = (flow.seal(&vault, &random, "platform"), flow.state.clone());
        let accept = |cookie: Option<&str>, query: &str| {
            party.accept(&vault, cookie, query).map(|answer| answer.next().to_owned()).map_err(|error| error.code())
        };
        let accepted = |query: &str| accept(Some(&cookie), query);
        assert_eq!(accepted(&format!("code=c&state={state}")), Ok("/auctions".to_owned()));
        assert!(accepted(&format!("code=c&state={state}&iss=https%3A%2F%2Fid.example.com")).is_ok());
        assert_eq!(accept(None, &format!("code=c&state={state}")), Err("flow_missing"));
        assert_eq!(accept(Some("v1.x.AAAA"), &format!("code=c&state={state}")), Err("flow_missing"));
        for (query, code) in [
            ("code=c".to_owned(), "flow_mismatch"),
            ("code=c&state=another".to_owned(), "flow_mismatch"),
            (format!("code=c&state={state}&state={state}"), "flow_mismatch"),
            (format!("code=c&state={state}&iss=https%3A%2F%2Fother.example.com"), "flow_mismatch"),
            (format!("state={state}"), "flow_mismatch"),
            (format!("code=c&code=d&state={state}"), "flow_mismatch"),
            (format!("error=access_denied&state={state}"), "issuer_denied"),
            ("error=access_denied".to_owned(), "flow_mismatch"),
        ] {
            assert_eq!(accepted(&query), Err(code), "{query}");
        }
    }

    #[test]
    fn what_an_issuer_sends_as_an_error_code_is_not_repeated_as_it_is() {
        assert_eq!(plain_code("access_denied"), "access_denied");
        assert_eq!(plain_code("<b>Call 0800 1</b>"), "ballb");
        assert_eq!(plain_code("!"), "unknown_error");
        assert_eq!(plain_code(&"a".repeat(500)).len(), ERROR_CHARS_MAX);
    }

    #[test]
    fn the_userinfo_endpoint_completes_a_token_of_the_same_subject() {
        let merged = |token: Value, further: Value| {
            let (Value::Object(mut claims), Value::Object(further)) = (token, further) else { panic!("no objects") };
            complete(&mut claims, further).map(|()| Value::Object(claims))
        };
        let further = json!({ "sub": "1", "email": "ann@example.com", "email_verified": true, "groups": ["a"] });
        assert_eq!(merged(json!({ "sub": "1" }), further.clone()), Ok(further.clone()));
        let own = json!({ "sub": "1", "email": "bob@example.com", "email_verified": false, "groups": ["b"] });
        assert_eq!(merged(own.clone(), further.clone()), Ok(own), "the token has everything");
        let unverified = merged(json!({ "sub": "1", "email": "bob@example.com" }), further.clone()).unwrap();
        assert_eq!(unverified["email"], "ann@example.com", "address and verification stay together");
        let half =
            merged(json!({ "sub": "1", "email": "bob@example.com" }), json!({ "sub": "1", "email_verified": true }));
        assert_eq!(half.unwrap().get("email_verified"), None);
        assert!(merged(json!({ "sub": "1" }), json!({ "sub": "2" })).is_err());
        assert!(merged(json!({ "sub": "1" }), json!({})).is_err());
    }
}
