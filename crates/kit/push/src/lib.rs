//! Web Push: a message that a browser shows although the page is closed.
//!
//! - [`Browser`]: what a browser says about itself when a person allows messages (the Push API's `PushSubscription`).
//! - [`ServerKey`]: the key by which push services know the server (VAPID, RFC 8292).
//! - [`ServerKey::request`]: the request with a message for a browser. Only that browser can read it (RFC 8291, `aes128gcm`).
//!
//! This crate sends nothing: the caller does, through its filter of addresses, because anyone can write any endpoint.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use p256::PublicKey;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use url::Url;
use web_push_native::Auth;

/// Bytes of a message. Push services take 4,096 bytes with the encryption (RFC 8030, section 7.2).
pub const MESSAGE_BYTES_MAX: usize = 3_000;
/// Characters of an endpoint.
pub const ENDPOINT_CHARS_MAX: usize = 1_000;
/// Bytes of a browser's authentication secret.
const AUTH_BYTES: usize = 16;
/// How long a push service accepts a signature. RFC 8292 allows 24 hours.
const SIGNATURE_VALID: Duration = Duration::from_secs(12 * 60 * 60);
/// Bytes of the secret that a server key is made of.
pub const SECRET_BYTES: usize = 32;

/// Why a browser can't be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBrowser {
    /// The endpoint is not an `https` URL, or it is too long.
    #[error("the endpoint is not an https URL of at most {ENDPOINT_CHARS_MAX} characters")]
    Endpoint,
    /// The key is not a point of P-256.
    #[error("the key p256dh is not a public key of P-256, 65 bytes")]
    Key,
    /// The authentication secret has another length.
    #[error("the key auth is not {AUTH_BYTES} bytes")]
    Auth,
}

/// The message is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message has at most {MESSAGE_BYTES_MAX} bytes")]
pub struct MessageTooLong;

/// A browser that shows messages.
#[derive(Debug, Clone)]
pub struct Browser {
    endpoint: Url,
    key: PublicKey,
    auth: Auth,
}

impl Browser {
    /// A browser by its endpoint, its public key (an uncompressed point) and its authentication secret. Plain HTTP is only for an
    /// endpoint on this machine.
    pub fn new(endpoint: &str, key: &[u8], auth: &[u8]) -> Result<Self, InvalidBrowser> {
        let is_short = endpoint.len() <= ENDPOINT_CHARS_MAX;
        let endpoint = Url::parse(endpoint).ok().filter(|url| is_short && url.has_host() && is_safe(url));
        let endpoint = endpoint.map(|mut url| {
            url.set_fragment(None);
            url
        });
        Ok(Self {
            endpoint: endpoint.ok_or(InvalidBrowser::Endpoint)?,
            key: PublicKey::from_sec1_bytes(key).map_err(|_| InvalidBrowser::Key)?,
            auth: match auth.len() {
                AUTH_BYTES => Auth::clone_from_slice(auth),
                _ => return Err(InvalidBrowser::Auth),
            },
        })
    }

    /// The URL of the push service.
    pub fn endpoint(&self) -> &Url {
        &self.endpoint
    }
}

fn is_safe(url: &Url) -> bool {
    if !url.username().is_empty() || url.password().is_some() {
        return false;
    }
    url.scheme() == "https" || (url.scheme() == "http" && matches!(url.host_str(), Some("localhost" | "127.0.0.1")))
}

/// How a push service treats a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// How long the push service keeps the message for a browser that is off.
    pub ttl: Duration,
    /// The browser may be woken for it.
    pub is_urgent: bool,
}

/// The headers and the body of a POST to a browser's endpoint.
#[derive(Debug, Clone)]
pub struct PushRequest {
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Vec<u8>,
}

/// The key by which push services know the server. A browser that allowed messages accepts those of this key only.
pub struct ServerKey {
    key: SigningKey,
    /// The public key in base64url.
    public: String,
}

impl ServerKey {
    /// The key that belongs to a secret. None for a few of 2^32 secrets, which are no number below the order of the curve.
    pub fn from_secret(secret: &[u8; SECRET_BYTES]) -> Option<Self> {
        let key = SigningKey::from_slice(secret).ok()?;
        let public = URL_SAFE_NO_PAD.encode(key.verifying_key().to_encoded_point(false).as_bytes());
        Some(Self { key, public })
    }

    /// The public key in base64url: the `applicationServerKey` of the Push API.
    pub fn public(&self) -> &str {
        &self.public
    }

    /// The request that sends a message to a browser. `contact` is a `mailto:` or `https:` URL of the server's operator.
    ///
    /// The encryption draws from the operating system's randomness.
    pub fn request(
        &self,
        browser: &Browser,
        message: &[u8],
        delivery: Delivery,
        contact: Option<&str>,
        now: Timestamp,
    ) -> Result<PushRequest, MessageTooLong> {
        if message.len() > MESSAGE_BYTES_MAX {
            return Err(MessageTooLong);
        }
        let body = web_push_native::encrypt(message.to_vec(), &browser.key, &browser.auth);
        let body = body.map_err(|_| MessageTooLong)?;
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("aes128gcm"));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        headers.insert(HeaderName::from_static("ttl"), HeaderValue::from(delivery.ttl.as_secs()));
        let urgency = if delivery.is_urgent { "high" } else { "normal" };
        headers.insert(HeaderName::from_static("urgency"), HeaderValue::from_static(urgency));
        let signed = format!("vapid t={}, k={}", self.token(&browser.endpoint, contact, now), self.public);
        // All characters of it are base64url, dots, commas, spaces and `=`.
        if let Ok(signed) = HeaderValue::from_str(&signed) {
            headers.insert(header::AUTHORIZATION, signed);
        }
        Ok(PushRequest { headers, body })
    }

    /// The signed statement who sends (a JSON Web Token with ES256).
    fn token(&self, endpoint: &Url, contact: Option<&str>, now: Timestamp) -> String {
        let mut claims = serde_json::json!({
            "aud": endpoint.origin().ascii_serialization(),
            "exp": (now + SIGNATURE_VALID).as_second(),
        });
        if let Some(contact) = contact {
            claims["sub"] = contact.into();
        }
        let encode = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(&serde_json::json!({"typ": "JWT", "alg": "ES256"})), encode(&claims));
        let signature: Signature = self.key.sign(signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use p256::SecretKey;
    use p256::ecdsa::signature::Verifier as _;

    use super::*;

    // RFC 8291, section 5 and appendix A: the keys of the browser, and a message to it.
    const RFC_PRIVATE: &str = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94";
    const RFC_PUBLIC: &str = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    const RFC_AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";
    const RFC_MESSAGE: &str = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";

    fn bytes(text: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    fn opened(body: Vec<u8>) -> String {
        let (private, auth) = (SecretKey::from_slice(&bytes(RFC_PRIVATE)).unwrap(), bytes(RFC_AUTH));
        let opened = web_push_native::decrypt(body, &private, &Auth::clone_from_slice(&auth)).unwrap();
        String::from_utf8(opened).unwrap()
    }

    #[test]
    fn the_message_of_the_rfc_and_ours_are_read_with_the_same_keys() {
        assert_eq!(opened(bytes(RFC_MESSAGE)), "When I grow up, I want to be a watermelon");
        let browser = Browser::new("https://push.example/send/1", &bytes(RFC_PUBLIC), &bytes(RFC_AUTH)).unwrap();
        let key = ServerKey::from_secret(&[7; SECRET_BYTES]).unwrap();
        let delivery = Delivery { ttl: Duration::from_secs(600), is_urgent: true };
        let now: Timestamp = "2026-12-04T19:00:00Z".parse().unwrap();
        let request = key.request(&browser, "Outbid".as_bytes(), delivery, Some("mailto:a@b.example"), now).unwrap();
        assert_eq!(opened(request.body), "Outbid");
        let header = |name: &str| request.headers[name].to_str().unwrap().to_owned();
        assert_eq!([header("ttl"), header("urgency"), header("content-encoding")], ["600", "high", "aes128gcm"]);
        let signed = header("authorization");
        let (token, public) = signed.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        let (claims, signature) = token.rsplit_once('.').unwrap();
        let verifying = p256::ecdsa::VerifyingKey::from_sec1_bytes(&bytes(public)).unwrap();
        verifying.verify(claims.as_bytes(), &Signature::from_slice(&bytes(signature)).unwrap()).unwrap();
        let claims: serde_json::Value = serde_json::from_slice(&bytes(claims.split_once('.').unwrap().1)).unwrap();
        let exp = now.as_second() + 12 * 60 * 60;
        assert_eq!(claims, serde_json::json!({"aud": "https://push.example", "exp": exp, "sub": "mailto:a@b.example"}));
    }

    #[test]
    fn what_no_browser_sends_is_refused() {
        let (key, auth) = (bytes(RFC_PUBLIC), bytes(RFC_AUTH));
        for endpoint in [
            "https://ann:pw@push.example/1",
            "http://push.example/1",
            "javascript:1",
            "",
            "https:///x y",
            "data:text/plain,a",
        ] {
            assert_eq!(Browser::new(endpoint, &key, &auth).unwrap_err(), InvalidBrowser::Endpoint, "{endpoint}");
        }
        let long = format!("https://push.example/{}", "a".repeat(ENDPOINT_CHARS_MAX));
        assert_eq!(Browser::new(&long, &key, &auth).unwrap_err(), InvalidBrowser::Endpoint);
        assert_eq!(Browser::new("https://push.example/1", &key[1..], &auth).unwrap_err(), InvalidBrowser::Key);
        assert_eq!(Browser::new("https://push.example/1", &[4; 65], &auth).unwrap_err(), InvalidBrowser::Key);
        assert_eq!(Browser::new("https://push.example/1", &key, &auth[1..]).unwrap_err(), InvalidBrowser::Auth);
        let browser = Browser::new("http://127.0.0.1:4000/1#again", &key, &auth).unwrap();
        assert_eq!(browser.endpoint().as_str(), "http://127.0.0.1:4000/1");
        let server = ServerKey::from_secret(&[7; SECRET_BYTES]).unwrap();
        let delivery = Delivery { ttl: Duration::ZERO, is_urgent: false };
        let message = vec![b'a'; MESSAGE_BYTES_MAX + 1];
        assert!(server.request(&browser, &message, delivery, None, Timestamp::UNIX_EPOCH).is_err());
        assert!(
            server.request(&browser, &message[1..], delivery, None, Timestamp::UNIX_EPOCH).unwrap().body.len() < 4_096
        );
    }
}
