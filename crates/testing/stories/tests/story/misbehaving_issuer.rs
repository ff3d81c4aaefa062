//! An issuer of OpenID Connect in the test's process. It signs what the test says: right tokens, and tokens that a relying party
//! has to refuse.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use kit_runtime::clock::{Clock as _, SystemClock};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::http_server;

/// What the token endpoint answers.
#[derive(Debug, Clone)]
pub enum Token {
    /// A token with these changes of the right claims, signed by the key in the key set.
    Claims(Value),
    /// A right token by a key that the key set does not have.
    ForeignKey,
    /// A right token by a key that the key set does not have, under the id of the one that it has.
    ForgedKey,
    /// A right token without a signature.
    Unsigned,
    /// The error `invalid_grant`.
    Refused,
    /// The status 500.
    Broken,
}

struct State {
    key: Ed25519KeyPair,
    key_id: u32,
    foreign: Ed25519KeyPair,
    /// Nonce and token of the sign-ins that the test began, by their code.
    sign_ins: HashMap<String, (String, Token)>,
    /// Exchanges wait here for each other.
    gate: Option<Arc<Barrier>>,
    exchanges: usize,
    key_requests: usize,
}

/// The issuer. Clones share its state.
#[derive(Clone)]
pub struct MisbehavingIssuer {
    state: Arc<Mutex<State>>,
    pub url: String,
}

fn key_pair() -> Ed25519KeyPair {
    let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap()
}

fn encoded(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

impl MisbehavingIssuer {
    pub async fn start() -> Self {
        let state = State {
            key: key_pair(),
            key_id: 1,
            foreign: key_pair(),
            sign_ins: HashMap::new(),
            gate: None,
            exchanges: 0,
            key_requests: 0,
        };
        let mut issuer = Self { state: Arc::new(Mutex::new(state)), url: String::new() };
        // The address is part of its answers, and the port is known once it listens.
        let address = Arc::new(Mutex::new(String::new()));
        let (responder, own) = (issuer.clone(), Arc::clone(&address));
        issuer.url = http_server::serve(move |request| {
            let responder = Self { url: own.lock().unwrap().clone(), ..responder.clone() };
            async move { Ok(responder.answer(request).await) }
        })
        .await;
        address.lock().unwrap().clone_from(&issuer.url);
        issuer
    }

    /// The issuer signs in a person with this token. `location` is where the relying party sent the browser. Returns the state,
    /// which the answer has to have. It is the code, too.
    pub fn sign_in(&self, location: &str, token: Token) -> String {
        let (_, query) = location.split_once('?').expect("the location has a query");
        let value = |name: &str| {
            let found = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name);
            found.map(|(_, value)| value.into_owned()).unwrap_or_default()
        };
        assert_eq!((value("response_type"), value("code_challenge_method")), ("code".into(), "S256".into()));
        assert_eq!(value("code_challenge").len(), 43, "{query}");
        let mut state = self.state.lock().unwrap();
        state.sign_ins.insert(value("state"), (value("nonce"), token));
        value("state")
    }

    /// The next exchanges of codes are answered when this many have arrived.
    pub fn answer_together(&self, exchanges: usize) {
        self.state.lock().unwrap().gate = Some(Arc::new(Barrier::new(exchanges)));
    }

    /// The issuer signs with another key from now on.
    pub fn rotate(&self) {
        let mut state = self.state.lock().unwrap();
        state.key = key_pair();
        state.key_id += 1;
    }

    /// Requests for tokens, and for the key set.
    pub fn requests(&self) -> (usize, usize) {
        let state = self.state.lock().unwrap();
        (state.exchanges, state.key_requests)
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let path = request.uri().path().to_owned();
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let (status, answer) = match path.as_str() {
            "/.well-known/openid-configuration" => (StatusCode::OK, self.document()),
            "/keys" => (StatusCode::OK, self.keys()),
            "/token" => {
                let gate = self.state.lock().unwrap().gate.clone();
                if let Some(gate) = gate {
                    gate.wait().await;
                }
                self.token(&body)
            }
            _ => (StatusCode::NOT_FOUND, json!({})),
        };
        let mut response = Response::new(Full::new(answer.to_string().into()));
        *response.status_mut() = status;
        response
    }

    fn document(&self) -> Value {
        let at = |path: &str| format!("{}{path}", self.url);
        json!({
            "issuer": self.url, "authorization_endpoint": at("/authorize"), "token_endpoint": at("/token"),
            "jwks_uri": at("/keys"), "token_endpoint_auth_methods_supported": ["client_secret_post"],
        })
    }

    fn keys(&self) -> Value {
        let mut state = self.state.lock().unwrap();
        state.key_requests += 1;
        let x = URL_SAFE_NO_PAD.encode(state.key.public_key().as_ref());
        let kid = state.key_id.to_string();
        json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": kid, "use": "sig", "alg": "EdDSA", "x": x }] })
    }

    fn token(&self, body: &[u8]) -> (StatusCode, Value) {
        let mut state = self.state.lock().unwrap();
        state.exchanges += 1;
        let form: Vec<(String, String)> = form_urlencoded::parse(body).into_owned().collect();
        let has = |name: &str| form.iter().any(|(key, value)| key == name && !value.is_empty());
        assert!(["code", "redirect_uri", "code_verifier", "client_id", "client_secret"].iter().all(|name| has(name)));
        let code = form.iter().find(|(key, _)| key == "code").map(|(_, code)| code.clone()).unwrap_or_default();
        let (nonce, token) = state.sign_ins.get(&code).cloned().expect("the test began the sign-in");
        let now = SystemClock.now().as_second();
        let mut claims = json!({
            "iss": self.url, "sub": "ann-at-the-issuer", "aud": "lotwire", "iat": now, "exp": now + 60,
            "nonce": nonce, "email": "ann@hartley.example", "email_verified": true, "name": "Ann Hartley",
            "groups": ["admins"],
        });
        if let Token::Claims(changes) = &token {
            for (name, value) in changes.as_object().unwrap() {
                claims[name] = value.clone();
            }
        }
        let (key, kid, alg) = match token {
            Token::Refused => return (StatusCode::BAD_REQUEST, json!({ "error": "invalid_grant" })),
            Token::Broken => return (StatusCode::INTERNAL_SERVER_ERROR, json!({})),
            Token::ForeignKey => (&state.foreign, "foreign".to_owned(), "EdDSA"),
            Token::ForgedKey => (&state.foreign, state.key_id.to_string(), "EdDSA"),
            Token::Unsigned => (&state.key, state.key_id.to_string(), "none"),
            Token::Claims(_) => (&state.key, state.key_id.to_string(), "EdDSA"),
        };
        let text = format!("{}.{}", encoded(&json!({ "alg": alg, "kid": kid, "typ": "JWT" })), encoded(&claims));
        let signature = if alg == "none" { String::new() } else { URL_SAFE_NO_PAD.encode(key.sign(text.as_bytes())) };
        (
            StatusCode::OK,
            json!({ "access_token": "unused", "token_type": "Bearer", "id_token": format!("{text}.{signature}") }),
        )
    }
}
