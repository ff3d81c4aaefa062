//! Verifies an ID token (OpenID Connect Core 1.0, section 3.1.3.7).

use std::str::FromStr as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use openidconnect::core::{
    CoreIdToken, CoreIdTokenVerifier, CoreJsonWebKey, CoreJsonWebKeySet, CoreJwsSigningAlgorithm as Algorithm,
};
use openidconnect::{ClaimsVerificationError, ClientId, IssuerUrl, Nonce, SignatureVerificationError};
use serde_json::Value;

use crate::claims::Claims;

/// Signatures by a key pair. A token that is signed with the client's secret is refused: who knows the secret could make it.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RsaSsaPkcs1V15Sha256,
    Algorithm::RsaSsaPkcs1V15Sha384,
    Algorithm::RsaSsaPkcs1V15Sha512,
    Algorithm::RsaSsaPssSha256,
    Algorithm::RsaSsaPssSha384,
    Algorithm::RsaSsaPssSha512,
    Algorithm::EcdsaP256Sha256,
    Algorithm::EcdsaP384Sha384,
    Algorithm::EdDsa,
];
/// Bytes of the longest token that is looked at.
const TOKEN_BYTES_MAX: usize = 128 << 10;
/// Seconds by which the issuer's clock may be ahead: a token that begins later is refused.
const CLOCK_AHEAD_S_MAX: i64 = 60;

/// What a token has to fit.
pub(crate) struct Expected<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) client_id: &'a str,
    pub(crate) nonce: &'a str,
    pub(crate) now: Timestamp,
}

/// Why a token was refused. The texts are for the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TokenFault {
    /// None of the keys is the token's: the issuer may have others now.
    UnknownKey,
    /// Another reason.
    Invalid(String),
}

/// The claims of a token, if it is valid.
pub(crate) fn verify(token: &str, keys: &[CoreJsonWebKey], expected: &Expected<'_>) -> Result<Claims, TokenFault> {
    let invalid = |why: &str| TokenFault::Invalid(why.to_owned());
    if token.len() > TOKEN_BYTES_MAX {
        return Err(invalid("the ID token is too long"));
    }
    let parsed = CoreIdToken::from_str(token).map_err(|_| invalid("the ID token can't be read"))?;
    let issuer = IssuerUrl::new(expected.issuer.to_owned()).map_err(|_| invalid("the issuer is no URL"))?;
    let keys = CoreJsonWebKeySet::new(keys.to_vec());
    let now_s = expected.now.as_second();
    let now = chrono::DateTime::from_timestamp(now_s, 0).ok_or_else(|| invalid("the clock is wrong"))?;
    // A public client's verifier has no secret, so that it accepts no token that is signed with one.
    let client_id = ClientId::new(expected.client_id.to_owned());
    let verifier = CoreIdTokenVerifier::new_public_client(client_id, issuer, keys)
        .set_allowed_algs(ALGORITHMS)
        .set_time_fn(move || now);
    let claims = match parsed.claims(&verifier, &Nonce::new(expected.nonce.to_owned())) {
        Ok(claims) => claims,
        Err(ClaimsVerificationError::SignatureVerification(SignatureVerificationError::NoMatchingKey)) => {
            return Err(TokenFault::UnknownKey);
        }
        Err(ClaimsVerificationError::SignatureVerification(fault)) => {
            return Err(TokenFault::Invalid(fault.to_string()));
        }
        Err(fault) => return Err(TokenFault::Invalid(fault.to_string())),
    };
    if claims.authorized_party().is_some_and(|party| party.as_str() != expected.client_id) {
        return Err(invalid("the ID token is for another party (azp)"));
    }
    let claims = payload(token).ok_or_else(|| invalid("the claims of the ID token can't be read"))?;
    for (name, begins) in [("iat", "was issued"), ("nbf", "begins")] {
        let has_begun = |claim: &Value| claim.as_f64().is_some_and(|at| at <= (now_s + CLOCK_AHEAD_S_MAX) as f64);
        if claims.get(name).is_some_and(|claim| !has_begun(claim)) {
            return Err(TokenFault::Invalid(format!("the ID token {begins} in the future ({name})")));
        }
    }
    Ok(claims)
}

/// The claims in a token, without any check.
fn payload(token: &str) -> Option<Claims> {
    let body = token.split('.').nth(1)?;
    match serde_json::from_slice(&URL_SAFE_NO_PAD.decode(body.trim_end_matches('=')).ok()?).ok()? {
        Value::Object(claims) => Some(claims),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use openidconnect::JsonWebKeyId;
    use openidconnect::PrivateSigningKey as _;
    use openidconnect::core::CoreEdDsaPrivateSigningKey;
    use serde_json::json;

    use super::*;

    /// Ed25519 key pairs that `openssl genpkey -algorithm ed25519` made for these tests.
    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIEf/TutphfnFtoK6PCipgCCjj1PsLxFjT2hqM4fu2xd4\n-----END PRIVATE KEY-----\n";
    const OTHER_KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIOBqA+0M/sHLNRDhYbuyI3gupvMWQRNdeM7PNkIG0MBN\n-----END PRIVATE KEY-----\n";
    const NOW: i64 = 1_800_000_000;

    fn key(pem: &str, id: &str) -> CoreEdDsaPrivateSigningKey {
        CoreEdDsaPrivateSigningKey::from_ed25519_pem(pem, Some(JsonWebKeyId::new(id.to_owned()))).unwrap()
    }

    fn signed(header: &Value, claims: &Value, key: &CoreEdDsaPrivateSigningKey) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", part(header), part(claims));
        let signature = key.sign(&Algorithm::EdDsa, text.as_bytes()).unwrap();
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn claims(change: impl FnOnce(&mut Value)) -> Value {
        let mut claims = json!({
            "iss": "https://id.example.com", "sub": "7", "aud": "lotwire", "exp": NOW + 60, "iat": NOW, "nonce": "n",
            "groups": ["clerks"],
        });
        change(&mut claims);
        claims
    }

    fn checked(token: &str) -> Result<Claims, TokenFault> {
        let keys = [key(KEY, "one").as_verification_key()];
        let now = Timestamp::from_second(NOW).unwrap();
        let expected = Expected { issuer: "https://id.example.com", client_id: "lotwire", nonce: "n", now };
        verify(token, &keys, &expected)
    }

    #[test]
    fn a_token_counts_with_the_issuers_signature_for_this_client_and_this_sign_in() {
        let header = json!({ "alg": "EdDSA", "kid": "one", "typ": "JWT" });
        let token = |change: fn(&mut Value)| signed(&header, &claims(change), &key(KEY, "one"));
        assert_eq!(checked(&token(|_| ())).unwrap()["groups"], json!(["clerks"]));
        assert!(checked(&token(|claims| claims["aud"] = json!(["lotwire"]))).is_ok());
        let ahead = |claims: &mut Value| (claims["iat"], claims["nbf"]) = (json!(NOW + 60), json!(NOW + 60));
        assert!(checked(&token(ahead)).is_ok(), "the issuer's clock is ahead");
        for (change, says) in [
            ((|claims| claims["iss"] = json!("https://id.example.com/")) as fn(&mut Value), "issuer"),
            (|claims| claims["aud"] = json!("another"), "audience"),
            (|claims| claims["aud"] = json!(["lotwire", "another"]), "trusted audience"),
            (|claims| claims["azp"] = json!("another"), "azp"),
            (|claims| claims["exp"] = json!(NOW), "expired"),
            (|claims| claims["nonce"] = json!("m"), "nonce"),
            (|claims| drop(claims.as_object_mut().unwrap().remove("nonce")), "nonce"),
            (|claims| drop(claims.as_object_mut().unwrap().remove("exp")), "can't be read"),
            (|claims| claims["iat"] = json!(NOW + 61), "in the future (iat)"),
            (|claims| claims["nbf"] = json!(NOW + 61), "in the future (nbf)"),
            (|claims| claims["nbf"] = json!("tomorrow"), "in the future (nbf)"),
        ] {
            let Err(TokenFault::Invalid(fault)) = checked(&token(change)) else { panic!("{says}") };
            assert!(fault.to_lowercase().contains(says), "{says}: {fault}");
        }
    }

    #[test]
    fn a_token_with_another_or_no_signature_is_refused() {
        let header = |alg: &str, kid: &str| json!({ "alg": alg, "kid": kid });
        let good = claims(|_| ());
        assert_eq!(
            checked(&signed(&header("EdDSA", "two"), &good, &key(OTHER_KEY, "two"))),
            Err(TokenFault::UnknownKey)
        );
        let foreign = checked(&signed(&header("EdDSA", "one"), &good, &key(OTHER_KEY, "one")));
        assert!(matches!(foreign, Err(TokenFault::Invalid(_))), "{foreign:?}");
        for alg in ["none", "HS256", "RS256"] {
            assert!(checked(&signed(&header(alg, "one"), &good, &key(KEY, "one"))).is_err(), "{alg}");
        }
        let whole = signed(&header("EdDSA", "one"), &good, &key(KEY, "one"));
        let (unsigned, _) = whole.rsplit_once('.').unwrap();
        for broken in ["", "a.b", unsigned, &format!("{unsigned}."), &whole[1..]] {
            assert!(checked(broken).is_err(), "{broken}");
        }
    }
}
