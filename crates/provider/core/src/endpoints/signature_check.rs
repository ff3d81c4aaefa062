//! Explains why a receiver rejects the signature of a request: runs each check of Standard Webhooks separately, on a
//! request that a person pasted.
//!
//! Guarantees: nothing is changed or sent, and no secret, signature or payload is in the result.

use jiff::Timestamp;
use serde_json::Value;
use subtle::ConstantTimeEq as _;

use crate::caller::Caller;
use crate::error::{ProviderError, ProviderResult};
use crate::ids;
use crate::model::Endpoint;
use crate::provider::Provider;
use crate::signing::Signer;
use crate::signing::secret::{EndpointSecret, SecretKind};

/// Difference between the timestamp and the receiver's clock up to which Standard Webhooks accepts a request, in
/// seconds.
pub const CLOCK_TOLERANCE_SECONDS: i64 = 300;
/// Signatures of one header that are compared.
const SIGNATURES_MAX: usize = 32;

/// A request that a receiver received.
#[derive(Debug, Clone, Default)]
pub struct ReceivedRequest {
    /// `webhook-id`; empty when the header is missing.
    pub id: String,
    /// `webhook-timestamp`; empty when the header is missing.
    pub timestamp: String,
    /// `webhook-signature`; empty when the header is missing.
    pub signature: String,
    /// The body.
    pub body: String,
    /// The secret that the receiver verifies with, if known.
    pub secret: Option<String>,
    /// The receiver's clock when it verified the request, if known.
    pub received_at: Option<Timestamp>,
}

/// The results of the checks, in the order in which a receiver makes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureCheck {
    /// The message id.
    pub id: IdCheck,
    /// The timestamp.
    pub clock: ClockCheck,
    /// The secret that made a signature of the request.
    pub signature: SignatureMatch,
    /// The body, compared with the message's payload.
    pub body: BodyCheck,
    /// The receiver's own secret, if it was given.
    pub receiver_secret: Option<SecretMatch>,
}

/// The message id of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdCheck {
    /// A message of this application has the id.
    Known,
    /// The header is missing.
    Missing,
    /// No message of this application has the id.
    Unknown,
}

/// The timestamp of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockCheck {
    /// The receiver's clock was within the tolerance.
    Right,
    /// The header is missing.
    Missing,
    /// The header is not a number of seconds since 1970.
    NotANumber,
    /// The receiver's clock was this many seconds ahead of the timestamp; negative when it was behind.
    Off(i64),
    /// The request was sent this many seconds ago, and the receiver's clock is not known.
    Sent(i64),
}

/// Which secret made a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureMatch {
    /// The header is missing.
    Missing,
    /// The header has no signature of a scheme that the endpoint's secrets make, such as `v1,…`.
    OtherScheme,
    /// The endpoint's secret.
    Current,
    /// A secret that was rotated out and signs until this time.
    Old(Timestamp),
    /// A secret of the endpoint, with the message's payload in place of the body.
    OtherBody,
    /// None of the endpoint's secrets.
    None,
}

/// A body, compared with the payload of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyCheck {
    /// The body is the payload, byte for byte.
    Same,
    /// The body differs only in white space at its ends, such as a pasted line break.
    Padded,
    /// The body is the same JSON value in different bytes.
    Reserialised {
        /// Number of the first differing byte, from 0.
        first_difference: usize,
    },
    /// The body is another value.
    Other {
        /// Number of the first differing byte, from 0.
        first_difference: usize,
    },
    /// The message is not known, or its payload was removed.
    Unknown,
}

/// Which of the endpoint's secrets a receiver has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretMatch {
    /// The endpoint's secret.
    Current,
    /// A secret that was rotated out and signs until this time.
    Old(Timestamp),
    /// Another secret.
    Wrong,
    /// The text is not a signing secret.
    Malformed,
}

/// A signed request, and the secret that its receiver verifies with.
#[derive(Debug, Clone)]
pub struct SignedExample {
    /// The key that the receiver verifies with.
    pub secret: String,
    /// `webhook-id`.
    pub id: String,
    /// `webhook-timestamp`.
    pub seconds: i64,
    /// `webhook-signature`.
    pub signature: String,
    /// The body.
    pub body: &'static str,
}

impl SignatureCheck {
    /// Whether a receiver with the endpoint's secret accepts the request.
    pub fn is_valid(&self) -> bool {
        self.id != IdCheck::Missing
            && matches!(self.clock, ClockCheck::Right | ClockCheck::Sent(_))
            && matches!(self.signature, SignatureMatch::Current | SignatureMatch::Old(_))
            && matches!(self.receiver_secret, None | Some(SecretMatch::Current | SecretMatch::Old(_)))
    }
}

impl Provider {
    /// Checks a request that an endpoint received. 404.
    pub async fn check_signature(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
        received: &ReceivedRequest,
    ) -> ProviderResult<SignatureCheck> {
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        let now = self.now();
        let secrets = self.secrets_that_sign(&endpoint, now)?;
        let message = match received.id.as_str() {
            "" => None,
            id => match self.message(caller, &endpoint.application, id).await {
                Ok(message) if *message.id == *received.id => Some(message),
                Ok(_) | Err(ProviderError::NotFound) => None,
                Err(error) => return Err(error),
            },
        };
        let payload = message.as_ref().and_then(|message| message.payload.as_ref()).map(|payload| payload.text());
        Ok(SignatureCheck {
            id: match (&message, received.id.is_empty()) {
                (Some(_), _) => IdCheck::Known,
                (None, true) => IdCheck::Missing,
                (None, false) => IdCheck::Unknown,
            },
            clock: check_clock(received, now),
            signature: match_signature(received, payload, &secrets, now),
            body: payload.map_or(BodyCheck::Unknown, |payload| compare_body(received.body.as_bytes(), payload)),
            receiver_secret: received.secret.as_deref().map(|secret| match_secret(secret, &secrets)),
        })
    }

    /// Whether the endpoint signs with an ed25519 key pair, and not with a shared secret. 404.
    pub async fn signs_with_key_pair(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
    ) -> ProviderResult<bool> {
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        Ok(self.unseal(&endpoint, &endpoint.secret)?.kind() == SecretKind::KeyPair)
    }

    /// A request to the endpoint that is signed now with its current secret, to test a verification. The caller must be
    /// allowed to see the secret. 404.
    pub async fn signed_example(
        &self,
        caller: &Caller,
        application: &str,
        endpoint: &str,
    ) -> ProviderResult<SignedExample> {
        let endpoint = self.endpoint(caller, application, endpoint).await?;
        let (secret, now) = (self.unseal(&endpoint, &endpoint.secret)?, self.now());
        let (id, body) = (self.ids().make(ids::MESSAGE).to_string(), "{\"success\":true}");
        let seconds = now.as_second();
        let signature = Signer::new(&secret, []).sign(&id, seconds, body.as_bytes(), now);
        Ok(SignedExample { secret: secret.verifying_key(), id, seconds, signature, body })
    }

    /// The endpoint's secret, and the rotated secrets in their grace period.
    fn secrets_that_sign(&self, endpoint: &Endpoint, now: Timestamp) -> ProviderResult<Vec<KnownSecret>> {
        let mut secrets = vec![KnownSecret { secret: self.unseal(endpoint, &endpoint.secret)?, until: None }];
        for old in endpoint.old_secrets.iter().filter(|old| old.expires_at > now) {
            secrets.push(KnownSecret { secret: self.unseal(endpoint, &old.secret)?, until: Some(old.expires_at) });
        }
        Ok(secrets)
    }
}

struct KnownSecret {
    secret: EndpointSecret,
    /// End of the grace period; none for the current secret.
    until: Option<Timestamp>,
}

fn check_clock(received: &ReceivedRequest, now: Timestamp) -> ClockCheck {
    if received.timestamp.is_empty() {
        return ClockCheck::Missing;
    }
    let sent_at = received.timestamp.parse().ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    let Some(sent_at) = sent_at else { return ClockCheck::NotANumber };
    let ahead = |clock: Timestamp| clock.duration_since(sent_at).as_secs();
    let is_off = |seconds: i64| seconds.abs() > CLOCK_TOLERANCE_SECONDS;
    match received.received_at.map(ahead) {
        Some(seconds) if is_off(seconds) => ClockCheck::Off(seconds),
        Some(_) => ClockCheck::Right,
        // A pasted request may be old, but its timestamp can't be in the future.
        None if ahead(now) < -CLOCK_TOLERANCE_SECONDS => ClockCheck::Off(ahead(now)),
        None => ClockCheck::Sent(ahead(now)),
    }
}

fn match_signature(
    received: &ReceivedRequest,
    payload: Option<&[u8]>,
    secrets: &[KnownSecret],
    now: Timestamp,
) -> SignatureMatch {
    if received.signature.is_empty() {
        return SignatureMatch::Missing;
    }
    let given: Vec<&str> = received.signature.split_whitespace().take(SIGNATURES_MAX).collect();
    let scheme_of = |signature: &str| signature.split_once(',').map(|(scheme, _)| scheme.to_owned());
    let mut is_scheme_known = false;
    let mut made_by = |body: &[u8]| {
        secrets.iter().find(|known| {
            let signer = Signer::new(&known.secret, []);
            let expected = signer.sign_as(&received.id, &received.timestamp, body, now);
            is_scheme_known |= given.iter().any(|given| scheme_of(given) == scheme_of(&expected));
            given.iter().any(|given| bool::from(given.as_bytes().ct_eq(expected.as_bytes())))
        })
    };
    let of_body = made_by(received.body.as_bytes()).map(|known| match known.until {
        Some(until) => SignatureMatch::Old(until),
        None => SignatureMatch::Current,
    });
    let found = of_body.or_else(|| payload.and_then(&mut made_by).map(|_| SignatureMatch::OtherBody));
    match found {
        Some(found) => found,
        None if is_scheme_known => SignatureMatch::None,
        None => SignatureMatch::OtherScheme,
    }
}

fn compare_body(body: &[u8], payload: &[u8]) -> BodyCheck {
    if body == payload {
        return BodyCheck::Same;
    }
    if body.trim_ascii() == payload.trim_ascii() {
        return BodyCheck::Padded;
    }
    let same = body.iter().zip(payload).take_while(|(received, sent)| received == sent).count();
    let value = |text: &[u8]| serde_json::from_slice::<Value>(text).ok();
    match (value(body), value(payload)) {
        (Some(received), Some(sent)) if received == sent => BodyCheck::Reserialised { first_difference: same },
        _ => BodyCheck::Other { first_difference: same },
    }
}

fn match_secret(text: &str, secrets: &[KnownSecret]) -> SecretMatch {
    // The receiver of a key pair has only the public key.
    let given = EndpointSecret::parse(text).map(|given| given.verifying_key());
    let given = match given {
        Ok(given) => given,
        Err(_) if text.starts_with("whpk_") => text.to_owned(),
        Err(_) => return SecretMatch::Malformed,
    };
    let is_given = |known: &&KnownSecret| bool::from(known.secret.verifying_key().as_bytes().ct_eq(given.as_bytes()));
    match secrets.iter().find(is_given).map(|known| known.until) {
        Some(None) => SecretMatch::Current,
        Some(Some(until)) => SecretMatch::Old(until),
        None => SecretMatch::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const OLD: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    const SENT: i64 = 1_700_000_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn known(text: &str, until: Option<Timestamp>) -> KnownSecret {
        KnownSecret { secret: EndpointSecret::parse(text).unwrap(), until }
    }

    fn request(secret: &str, body: &str) -> ReceivedRequest {
        let signer = Signer::new(&EndpointSecret::parse(secret).unwrap(), []);
        ReceivedRequest {
            id: "msg_1".into(),
            timestamp: SENT.to_string(),
            signature: format!("v1,bm90IGl0 {}", signer.sign("msg_1", SENT, body.as_bytes(), at(SENT))),
            body: body.into(),
            ..ReceivedRequest::default()
        }
    }

    #[test]
    fn a_signature_is_matched_to_its_secret_or_to_the_payload_that_was_sent() {
        let secrets = [known(SECRET, None), known(OLD, Some(at(SENT + 9)))];
        let found =
            |request: &ReceivedRequest, payload: Option<&[u8]>| match_signature(request, payload, &secrets, at(SENT));
        assert_eq!(found(&request(SECRET, "{}"), None), SignatureMatch::Current);
        assert_eq!(found(&request(OLD, "{}"), None), SignatureMatch::Old(at(SENT + 9)));
        let other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        assert_eq!(found(&request(other, "{}"), Some(b"{}")), SignatureMatch::None);
        let changed = ReceivedRequest { body: "{ }".into(), ..request(SECRET, "{}") };
        assert_eq!(found(&changed, Some(b"{}")), SignatureMatch::OtherBody);
        assert_eq!(found(&changed, None), SignatureMatch::None);
        let scheme = ReceivedRequest { signature: "v9,abc".into(), ..request(SECRET, "{}") };
        assert_eq!(found(&scheme, None), SignatureMatch::OtherScheme);
        let missing = ReceivedRequest { signature: String::new(), ..request(SECRET, "{}") };
        assert_eq!(found(&missing, None), SignatureMatch::Missing);
    }

    #[test]
    fn a_clock_is_off_by_the_seconds_between_it_and_the_timestamp() {
        let received = |timestamp: &str, clock: Option<i64>| ReceivedRequest {
            timestamp: timestamp.into(),
            received_at: clock.map(at),
            ..ReceivedRequest::default()
        };
        let sent = SENT.to_string();
        for (request, now, expected) in [
            (received("", None), SENT, ClockCheck::Missing),
            (received("soon", None), SENT, ClockCheck::NotANumber),
            (received(&sent, Some(SENT + 300)), SENT, ClockCheck::Right),
            (received(&sent, Some(SENT + 301)), SENT, ClockCheck::Off(301)),
            (received(&sent, Some(SENT - 400)), SENT, ClockCheck::Off(-400)),
            (received(&sent, None), SENT + 4_000, ClockCheck::Sent(4_000)),
            (received(&sent, None), SENT - 4_000, ClockCheck::Off(-4_000)),
        ] {
            assert_eq!(check_clock(&request, at(now)), expected, "{request:?} at {now}");
        }
    }

    #[test]
    fn a_body_is_compared_byte_by_byte_and_as_json() {
        let payload = br#"{"a":1,"b":[2]}"#;
        for (body, expected) in [
            ("{\"a\":1,\"b\":[2]}", BodyCheck::Same),
            ("{\"a\":1,\"b\":[2]}\n", BodyCheck::Padded),
            ("{\"a\": 1, \"b\": [2]}", BodyCheck::Reserialised { first_difference: 5 }),
            ("{\"a\":1,\"b\":[3]}", BodyCheck::Other { first_difference: 12 }),
            ("", BodyCheck::Other { first_difference: 0 }),
        ] {
            assert_eq!(compare_body(body.as_bytes(), payload), expected, "{body}");
        }
    }

    #[test]
    fn a_receivers_secret_is_one_of_the_endpoints_or_wrong() {
        let secrets = [known(SECRET, None), known(OLD, Some(at(9)))];
        for (text, expected) in [
            (SECRET, SecretMatch::Current),
            ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", SecretMatch::Current),
            (OLD, SecretMatch::Old(at(9))),
            ("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", SecretMatch::Wrong),
            ("secret", SecretMatch::Malformed),
        ] {
            assert_eq!(match_secret(text, &secrets), expected, "{text}");
        }
    }
}
