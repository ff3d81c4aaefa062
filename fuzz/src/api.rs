//! Targets for the provider's HTTP API.

use axum::body::Body;
use http::{HeaderName, HeaderValue, Method, Uri};
use provider_core::signing::secret::EndpointSecret;
use serde_json::Value;

use crate::provider_fixture;

/// Sends a whole request: `METHOD /path?query`, `name: value` lines, an empty line, the body. The response is never a
/// server error.
pub fn requests(data: &[u8]) {
    let (head, body) = split_once(data, b"\n\n");
    let Ok(head) = std::str::from_utf8(head) else { return };
    let mut lines = head.split('\n');
    let Some((method, path)) = lines.next().and_then(|line| line.split_once(' ')) else { return };
    if Method::try_from(method).is_err() || !path.starts_with('/') || Uri::try_from(path).is_err() {
        return;
    }
    provider_fixture::with(|fixture| {
        let mut request = fixture.request(method, path);
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                request = request.header(name, value);
            }
        }
        let Ok(request) = request.body(Body::from(body.to_vec())) else { return };
        fixture.send(request);
    });
}

/// Creates a message with this body. An accepted message reads back, and its payload has the bytes that were sent.
pub fn message_body(data: &[u8]) {
    provider_fixture::with(|fixture| {
        let request = fixture.request("POST", "/app/app/msg").body(Body::from(data.to_vec())).unwrap();
        let (status, _, body) = fixture.send(request);
        if !status.is_success() {
            return;
        }
        let created: Value = serde_json::from_slice(&body).unwrap();
        let path = format!("/app/app/msg/{}", created["id"].as_str().unwrap());
        let (status, _, read) = fixture.send(fixture.request("GET", &path).body(Body::empty()).unwrap());
        assert_eq!(status, 200);
        let payload = serde_json::from_slice::<Sent<'_>>(data).unwrap().payload;
        let read = serde_json::from_slice::<Sent<'_>>(&read).unwrap().payload;
        // With `rawPayload`, a raw text replaces the payload. No seed has that field, but the fuzzer may find it.
        if !created["payload"].is_string() && !String::from_utf8_lossy(data).contains("rawPayload") {
            assert_eq!(read.map(|raw| raw.get()), payload.map(|raw| raw.get()));
        }
    });
}

#[derive(serde::Deserialize)]
struct Sent<'a> {
    #[serde(borrow)]
    payload: Option<&'a serde_json::value::RawValue>,
}

/// Parses a text as an API key and as a signing secret. Only the account's own key authenticates, with any region
/// suffix. An accepted secret reads back as itself.
pub fn credentials(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(secret) = EndpointSecret::parse(text) {
        let again = EndpointSecret::parse(&secret.reveal()).map(|secret| secret.reveal());
        assert_eq!(again.ok().as_deref(), Some(&*secret.reveal()));
        assert!(secret.verifying_key().starts_with("wh"));
    }
    provider_fixture::with(|fixture| {
        let bare = |text: &str| text.split('.').next().unwrap_or_default().to_owned();
        if fixture.block_on(fixture.provider.authenticate(text)).is_ok() {
            assert_eq!(bare(text), bare(&fixture.key));
        }
        assert!(fixture.block_on(fixture.provider.authenticate(&fixture.key)).is_ok());
        let Ok(value) = HeaderValue::from_bytes(data) else { return };
        let mut request = fixture.request("GET", "/app").body(Body::empty()).unwrap();
        request.headers_mut().insert("authorization", value);
        fixture.send(request);
    });
}

fn split_once<'a>(data: &'a [u8], separator: &[u8]) -> (&'a [u8], &'a [u8]) {
    match data.windows(separator.len()).position(|window| window == separator) {
        Some(at) => (&data[..at], &data[at + separator.len()..]),
        None => (data, &[]),
    }
}
