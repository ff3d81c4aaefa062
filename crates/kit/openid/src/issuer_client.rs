//! Requests to an issuer.
//!
//! The operator chose the issuer, so its own host may be in a private network. Its discovery document chose the other hosts:
//! requests to those go to public addresses only.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use kit_outbound::{AddressPolicy, Client, ClientConfig, Request, Response};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::{Origin, Url};

use crate::metadata::SecretIn;
use crate::settings::OpenIdSettings;

/// Deadline of a request.
const DEADLINE: Duration = Duration::from_secs(5);
/// Bytes of an answer. Key sets and lists of groups of large organisations stay below it.
const ANSWER_BYTES_MAX: usize = 512 << 10;
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
/// Characters that form encoding leaves as they are, apart from letters and digits.
const FORM_ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_');

/// Sends requests to one issuer.
pub(crate) struct IssuerClient {
    origin: Option<Origin>,
    /// For the issuer's own host.
    own: Client,
    /// For hosts that the discovery document names.
    others: Client,
}

impl IssuerClient {
    pub(crate) fn new(settings: &OpenIdSettings) -> Self {
        let client = |policy| {
            let extra_roots = settings.extra_roots.clone();
            Client::new(ClientConfig { policy, extra_roots, connect_timeout: DEADLINE, ..ClientConfig::default() })
        };
        let origin = Url::parse(&settings.issuer).ok().map(|url| url.origin());
        let (own, others) = (client(AddressPolicy::any()), client(AddressPolicy::public_only(Vec::new())));
        Self { origin, own, others }
    }

    /// The body of a JSON document. The error is for the log.
    pub(crate) async fn get(&self, url: &Url, token: Option<&str>) -> Result<Bytes, String> {
        let mut headers = HeaderMap::from_iter([(ACCEPT, JSON)]);
        if let Some(token) = token {
            headers.insert(AUTHORIZATION, sensitive(format!("Bearer {token}"))?);
        }
        let answer = self.send(Method::GET, url, headers, Bytes::new()).await?;
        match answer.status {
            StatusCode::OK => Ok(answer.body),
            status => Err(format!("{url} answered {status}")),
        }
    }

    /// Sends a form to the token endpoint. The error is for the log.
    pub(crate) async fn exchange(
        &self,
        url: &Url,
        fields: &[(&str, &str)],
        settings: &OpenIdSettings,
        secret_in: SecretIn,
    ) -> Result<Response, String> {
        let mut headers = HeaderMap::from_iter([(ACCEPT, JSON), (CONTENT_TYPE, FORM)]);
        let secret = settings.client_secret.as_ref().and_then(|secret| secret.expose_str());
        let of_client = [("client_id", settings.client_id.as_str()), ("client_secret", secret.unwrap_or_default())];
        let of_client = match (secret, secret_in) {
            (Some(secret), SecretIn::Header) => {
                headers.insert(AUTHORIZATION, basic(&settings.client_id, secret)?);
                &of_client[..0]
            }
            (Some(_), SecretIn::Form) => &of_client[..],
            (None, _) => &of_client[..1],
        };
        let form =
            form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).extend_pairs(of_client).finish();
        self.send(Method::POST, url, headers, form.into()).await
    }

    async fn send(&self, method: Method, url: &Url, headers: HeaderMap, body: Bytes) -> Result<Response, String> {
        let is_own = self.origin.as_ref().is_some_and(|origin| *origin == url.origin());
        let client = if is_own { &self.own } else { &self.others };
        let mut shown = url.clone();
        shown.set_query(None);
        shown.set_fragment(None);
        let uri: Uri = url.as_str().parse().map_err(|_| format!("{shown} is no address for a request"))?;
        let request = || Request {
            method: method.clone(),
            to: uri.clone().into(),
            headers: headers.clone().into(),
            body: body.clone(),
            deadline: DEADLINE,
            response_bytes_max: ANSWER_BYTES_MAX,
        };
        // A code that arrives twice is refused, and the visitor begins again.
        let answer = client.send_idempotent(request).await;
        let answer = answer.map_err(|error| format!("{shown}: {error}"))?;
        if answer.truncated {
            return Err(format!("{shown} answered more than {ANSWER_BYTES_MAX} bytes"));
        }
        Ok(answer)
    }
}

/// The client's id and secret, each form-encoded first (RFC 6749, section 2.3.1).
fn basic(id: &str, secret: &str) -> Result<HeaderValue, String> {
    let encoded = |text: &str| utf8_percent_encode(text, FORM_ENCODED).to_string().replace("%20", "+");
    sensitive(format!("Basic {}", STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)))))
}

fn sensitive(text: String) -> Result<HeaderValue, String> {
    let mut value =
        HeaderValue::try_from(text).map_err(|_| "a token or secret has characters of no header".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_and_secret_are_encoded_before_they_are_joined() {
        let header = basic("lot wire", "a:b%c+ü").unwrap();
        let decoded = STANDARD.decode(header.to_str().unwrap().strip_prefix("Basic ").unwrap()).unwrap();
        assert_eq!(String::from_utf8(decoded).unwrap(), "lot+wire:a%3Ab%25c%2B%C3%BC");
        assert!(header.is_sensitive());
    }
}
