//! Signatures of deliveries over `{id}.{unix seconds}.{body}` (Standard Webhooks): `v1` is HMAC-SHA256 with a shared
//! secret, `v1a` is ed25519.

pub mod secret;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderName;
use jiff::Timestamp;
use kit_outbound::Headers;
use kit_runtime::clock::to_ms;
use ring::signature::Ed25519KeyPair;
use sha2::Sha256;

use crate::signing::secret::EndpointSecret;

/// Length of an ed25519 signature, the longer kind, with its scheme and the following space.
const SIGNATURE_CHARS: usize = "v1a,".len() + 88 + 1;

const SVIX: [HeaderName; 3] = [
    HeaderName::from_static("svix-id"),
    HeaderName::from_static("svix-timestamp"),
    HeaderName::from_static("svix-signature"),
];
const STANDARD_WEBHOOKS: [HeaderName; 3] = [
    HeaderName::from_static("webhook-id"),
    HeaderName::from_static("webhook-timestamp"),
    HeaderName::from_static("webhook-signature"),
];

/// Signs the deliveries of one endpoint. The keys are prepared once, so that signing only hashes the body.
#[derive(Clone)]
pub struct Signer {
    keys: Vec<SigningKey>,
}

#[derive(Clone)]
struct SigningKey {
    scheme: Scheme,
    /// When it stops signing; never for the endpoint's current secret.
    expires_at: Option<Timestamp>,
}

#[derive(Clone)]
enum Scheme {
    Hmac(Hmac<Sha256>),
    Ed25519(Arc<Ed25519KeyPair>),
}

impl Signer {
    /// A signer with the endpoint's secret, and the rotated secrets with the end of their grace period.
    pub fn new<'a>(
        secret: &EndpointSecret,
        old_secrets: impl IntoIterator<Item = (&'a EndpointSecret, Timestamp)>,
    ) -> Self {
        let old = old_secrets.into_iter().map(|(secret, expires_at)| (secret, Some(expires_at)));
        let keys = std::iter::once((secret, None)).chain(old);
        Self { keys: keys.map(|(secret, expires_at)| SigningKey { scheme: Scheme::of(secret), expires_at }).collect() }
    }

    /// The value of the signature header: one signature for each valid secret, separated by spaces.
    pub fn sign(&self, message_id: &str, seconds: i64, body: &[u8], now: Timestamp) -> String {
        self.sign_at(message_id, seconds.to_string().as_bytes(), body, now)
    }

    /// The value of the signature header for a timestamp that may be any text.
    pub(crate) fn sign_as(&self, message_id: &str, timestamp: &str, body: &[u8], now: Timestamp) -> String {
        self.sign_at(message_id, timestamp.as_bytes(), body, now)
    }

    /// Adds the six headers of a delivery to `headers`.
    pub(crate) fn sign_headers(&self, headers: &mut Headers, message_id: &str, body: &[u8], now: Timestamp) {
        let seconds = to_ms(now).div_euclid(1_000).to_string();
        let signatures = self.sign_at(message_id, seconds.as_bytes(), body, now);
        for names in [&SVIX, &STANDARD_WEBHOOKS] {
            for (name, value) in names.iter().zip([message_id, &seconds, &signatures]) {
                headers.add(name, value.as_bytes());
            }
        }
    }

    fn sign_at(&self, message_id: &str, seconds: &[u8], body: &[u8], now: Timestamp) -> String {
        let mut text = String::with_capacity(self.keys.len() * SIGNATURE_CHARS);
        for key in self.keys.iter().filter(|key| key.expires_at.is_none_or(|expires_at| now < expires_at)) {
            if !text.is_empty() {
                text.push(' ');
            }
            key.scheme.sign([message_id.as_bytes(), b".", seconds, b".", body], &mut text);
        }
        text
    }
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signer({} keys)", self.keys.len())
    }
}

impl Scheme {
    fn of(secret: &EndpointSecret) -> Self {
        match secret {
            #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
            EndpointSecret::Shared(key) => {
                Self::Hmac(Hmac::new_from_slice(key.expose()).expect("HMAC takes a key of any length"))
            }
            EndpointSecret::KeyPair { pair, .. } => Self::Ed25519(Arc::clone(pair)),
        }
    }

    /// Appends the signature over `parts`, with the name of its scheme, to `text`.
    fn sign(&self, parts: [&[u8]; 5], text: &mut String) {
        match self {
            Self::Hmac(keyed) => {
                let mut mac = keyed.clone();
                for part in parts {
                    mac.update(part);
                }
                text.push_str("v1,");
                STANDARD.encode_string(mac.finalize().into_bytes(), text);
            }
            // Ed25519 reads its input twice, so it needs the input in one piece.
            Self::Ed25519(pair) => {
                text.push_str("v1a,");
                STANDARD.encode_string(pair.sign(&parts.concat()), text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kit_runtime::clock::from_ms;
    use standardwebhooks::Webhook;

    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const OLD: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

    fn secret(text: &str) -> EndpointSecret {
        EndpointSecret::parse(text).unwrap()
    }

    #[test]
    fn a_signature_matches_the_published_example() {
        let signer = Signer::new(&secret(SECRET), []);
        let signature = signer.sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            br#"{"test": 2432232314}"#,
            Timestamp::UNIX_EPOCH,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn the_official_library_makes_the_same_signature() {
        for body in [&b"{}"[..], b"{\"status\":\"SOLD\"}", &[b'x'; 100_000]] {
            let official = Webhook::new(OLD).unwrap().sign("msg_1", 1_700_000_000, body).unwrap();
            assert_eq!(
                Signer::new(&secret(OLD), []).sign("msg_1", 1_700_000_000, body, Timestamp::UNIX_EPOCH),
                official
            );
        }
    }

    #[test]
    fn a_rotated_secret_signs_until_its_grace_is_over() {
        let (now, old) = (from_ms(1_700_000_000_000), secret(OLD));
        let signer = Signer::new(&secret(SECRET), [(&old, now)]);
        let before = signer.sign("msg_1", 1_699_999_999, b"{}", from_ms(1_699_999_999_999));
        let after = signer.sign("msg_1", 1_699_999_999, b"{}", now);
        assert_eq!(before.split(' ').count(), 2);
        assert_eq!(before.split(' ').next(), Some(after.as_str()));
        assert_eq!(before.split(' ').nth(1).unwrap(), Signer::new(&old, []).sign("msg_1", 1_699_999_999, b"{}", now));
    }

    #[test]
    fn a_public_key_verifies_the_signature_of_its_key_pair_beside_a_shared_secret() {
        let pair =
            secret("whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==");
        let public = STANDARD.decode("1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=").unwrap();
        let public = ed25519_compact::PublicKey::from_slice(&public).unwrap();
        let (now, old) = (from_ms(1_700_000_000_000), secret(OLD));
        for body in [&b"{}"[..], &[b'x'; 100_000]] {
            let text = Signer::new(&pair, [(&old, from_ms(1_700_000_000_001))]).sign("msg_1", 1_700_000_000, body, now);
            let (first, second) = text.split_once(' ').unwrap();
            let signature = STANDARD.decode(first.strip_prefix("v1a,").unwrap()).unwrap();
            let signature = ed25519_compact::Signature::from_slice(&signature).unwrap();
            let signed = [&b"msg_1.1700000000."[..], body].concat();
            public.verify(&signed, &signature).unwrap();
            public.verify([&signed[..], b"!"].concat(), &signature).unwrap_err();
            assert_eq!(second, Webhook::new(OLD).unwrap().sign("msg_1", 1_700_000_000, body).unwrap());
        }
    }

    #[test]
    fn both_sets_of_headers_are_sent() {
        let mut headers = Headers::default();
        let signer = Signer::new(&secret(SECRET), []);
        signer.sign_headers(&mut headers, "msg_1", b"{}", from_ms(1_700_000_000_999));
        let signature = signer.sign("msg_1", 1_700_000_000, b"{}", from_ms(1_700_000_000_999));
        for (name, value) in [("id", "msg_1"), ("timestamp", "1700000000"), ("signature", &signature)] {
            assert_eq!(headers.get(&format!("svix-{name}")).unwrap(), value);
            assert_eq!(headers.get(&format!("webhook-{name}")).unwrap(), value);
        }
    }
}
