//! The issuer's discovery document: the part that a relying party needs, checked before it is used.

use serde::Deserialize;
use url::Url;

use crate::settings::check_url;

/// Methods of client authentication when the document names none (OpenID Connect Discovery 1.0, section 3).
const BASIC: &str = "client_secret_basic";
const POST: &str = "client_secret_post";

/// The addresses of an issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Metadata {
    pub(crate) authorization_endpoint: Url,
    pub(crate) token_endpoint: Url,
    /// None for an issuer whose ID token has everything.
    pub(crate) userinfo_endpoint: Option<Url>,
    pub(crate) keys_url: Url,
    pub(crate) secret_in: SecretIn,
}

/// Where a request has the client's secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecretIn {
    Header,
    Form,
}

#[derive(Deserialize)]
struct Document {
    issuer: String,
    authorization_endpoint: Url,
    token_endpoint: Url,
    userinfo_endpoint: Option<Url>,
    jwks_uri: Url,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
}

impl Metadata {
    /// The document of this issuer. Errors: a sentence about the document, for the operator.
    pub(crate) fn parse(body: &[u8], issuer: &str, has_secret: bool) -> Result<Self, String> {
        let document: Document =
            serde_json::from_slice(body).map_err(|error| format!("the discovery document can't be read: {error}"))?;
        if document.issuer != issuer {
            let named: String = document.issuer.chars().take(200).collect();
            return Err(format!("the discovery document names the issuer {named:?}, and the setting names {issuer:?}"));
        }
        if document.code_challenge_methods_supported.is_some_and(|all| !all.iter().any(|method| method == "S256")) {
            return Err("the issuer does not support the code challenge method S256 (PKCE)".to_owned());
        }
        let methods = document.token_endpoint_auth_methods_supported.unwrap_or_else(|| vec![BASIC.to_owned()]);
        let allows = |wanted: &str| methods.iter().any(|method| method == wanted);
        let secret_in = match (allows(BASIC), allows(POST)) {
            (true, _) => SecretIn::Header,
            (false, true) => SecretIn::Form,
            (false, false) if has_secret => {
                return Err(format!("the issuer supports neither {BASIC} nor {POST} for the client's secret"));
            }
            (false, false) => SecretIn::Form,
        };
        let metadata = Self {
            authorization_endpoint: document.authorization_endpoint,
            token_endpoint: document.token_endpoint,
            userinfo_endpoint: document.userinfo_endpoint,
            keys_url: document.jwks_uri,
            secret_in,
        };
        let urls = [&metadata.authorization_endpoint, &metadata.token_endpoint, &metadata.keys_url];
        for url in urls.into_iter().chain(&metadata.userinfo_endpoint) {
            check_url(url).map_err(|fault| format!("an address in the discovery document is {url}: {fault}"))?;
        }
        Ok(metadata)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ISSUER: &str = "https://id.example.com/house";

    fn document() -> Value {
        json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://id.example.com/house/auth",
            "token_endpoint": "https://tokens.example.com/house",
            "jwks_uri": "https://id.example.com/house/keys",
        })
    }

    fn parse(change: impl FnOnce(&mut Value), has_secret: bool) -> Result<Metadata, String> {
        let mut document = document();
        change(&mut document);
        Metadata::parse(document.to_string().as_bytes(), ISSUER, has_secret)
    }

    #[test]
    fn a_document_has_the_addresses_and_the_place_of_the_secret() {
        let plain = parse(|_| (), true).unwrap();
        assert_eq!((plain.secret_in, plain.userinfo_endpoint), (SecretIn::Header, None));
        let methods =
            |methods: Value| move |document: &mut Value| document["token_endpoint_auth_methods_supported"] = methods;
        assert_eq!(parse(methods(json!([POST])), true).unwrap().secret_in, SecretIn::Form);
        assert_eq!(parse(methods(json!([POST, BASIC])), true).unwrap().secret_in, SecretIn::Header);
        assert!(parse(methods(json!(["private_key_jwt"])), true).unwrap_err().contains(BASIC));
        assert!(parse(methods(json!(["none"])), false).is_ok(), "a public client needs neither");
    }

    #[test]
    fn a_document_of_another_issuer_or_with_unsafe_addresses_is_refused() {
        let set = |name: &'static str, value: Value| move |document: &mut Value| document[name] = value;
        for (wrong, says) in [
            (parse(set("issuer", json!("https://id.example.com")), true), "names the issuer"),
            (parse(set("issuer", json!("https://id.example.com/house/")), true), "names the issuer"),
            (parse(set("token_endpoint", json!("http://tokens.example.com")), true), "begins with http"),
            (parse(set("userinfo_endpoint", json!("file:///etc/passwd")), true), "not an https URL"),
            (parse(set("jwks_uri", Value::Null), true), "can't be read"),
            (parse(set("code_challenge_methods_supported", json!(["plain"])), true), "S256"),
        ] {
            let error = wrong.unwrap_err();
            assert!(error.contains(says), "{says}: {error}");
        }
        assert!(Metadata::parse(b"<html>", ISSUER, true).unwrap_err().contains("can't be read"));
    }
}
