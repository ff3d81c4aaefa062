//! Samples that send a message: the files of the folder `send`, filled in with the account's values.

use std::sync::Arc;

use askama::Template;
use askama::filters::HtmlSafe;
use provider_core::{Archived, PageRequest, ProviderError};
use serde_json::Value;

use crate::dashboard::session::DashboardSession;
use crate::page_error::PageError;

/// A longer example of a payload is replaced by [`PAYLOAD`].
const PAYLOAD_BYTES_MAX: usize = 4_000;
/// What the files contain in place of the account's values.
const SERVER_URL: &str = "https://provider.example";
const APPLICATION: &str = "app_example";
const EVENT_TYPE: &str = "example.created";
const PAYLOAD: &str = r#"{"id": 1}"#;

/// A file of the folder `send`.
struct File {
    id: &'static str,
    language: &'static str,
    name: &'static str,
    code: &'static str,
}

macro_rules! file {
    ($id:literal, $language:literal, $name:literal) => {
        File {
            id: $id,
            language: $language,
            name: $name,
            code: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/send/", $name)),
        }
    };
}

/// Every language, the most used first.
const FILES: &[File] = &[
    file!("send-curl", "curl", "send.sh"),
    file!("send-python", "Python", "send.py"),
    file!("send-javascript", "JavaScript", "send.mjs"),
    file!("send-go", "Go", "send.go"),
    file!("send-php", "PHP", "send.php"),
    file!("send-rust", "Rust", "send.rs"),
];

/// The part of a page that shows how to send the first message.
#[derive(Template)]
#[template(path = "dashboard/api_keys/first_message.html")]
pub(super) struct FirstMessage {
    /// Path that all addresses of the dashboard begin with.
    base: Arc<str>,
    samples: Vec<Sample>,
    event_type: String,
    /// Id and name of the application that receives the message; none if the account has no application.
    application: Option<(String, String)>,
}

struct Sample {
    file: &'static File,
    code: String,
}

impl HtmlSafe for FirstMessage {}

impl FirstMessage {
    /// A message of the account's first event type to its first application.
    pub(super) async fn load(session: &DashboardSession, server_url: &str) -> Result<Self, PageError> {
        let (provider, caller) = (session.provider(), &session.caller);
        let applications = provider.list_applications(caller, &[], &PageRequest::first(1)).await?;
        let application = applications.data.into_iter().next().map(|found| (found.id.to_string(), found.name));
        let (event_type, payload) = event(session).await?;
        let id = application.as_ref().map_or(APPLICATION, |(id, _)| id);
        let samples =
            FILES.iter().map(|file| Sample { file, code: filled(file.code, server_url, id, &event_type, &payload) });
        Ok(Self {
            base: Arc::clone(&session.dashboard.site().base),
            samples: samples.collect(),
            event_type,
            application,
        })
    }
}

/// The first event type of the account that has an example, and the example. Any event type may be sent, so an account
/// without one has a sample, too.
async fn event(session: &DashboardSession) -> Result<(String, String), PageError> {
    let (provider, caller) = (session.provider(), &session.caller);
    for event_type in provider.list_event_types(caller, &PageRequest::first(10), Archived::Hidden).await?.data {
        let example = match provider.event_example(caller, &event_type.name).await {
            Ok(example) => example,
            // It has no schema, or was removed meanwhile.
            Err(ProviderError::BadRequest { .. } | ProviderError::NotFound) => continue,
            Err(error) => return Err(error.into()),
        };
        let pretty = serde_json::from_slice::<Value>(&example).and_then(|value| serde_json::to_string_pretty(&value));
        if let Ok(payload) = pretty
            && payload.len() <= PAYLOAD_BYTES_MAX
        {
            return Ok((event_type.name, payload));
        }
    }
    Ok((EVENT_TYPE.to_owned(), PAYLOAD.to_owned()))
}

/// The code with the account's values.
fn filled(code: &str, server_url: &str, application: &str, event_type: &str, payload: &str) -> String {
    let payload = payload.replace('\n', "\n  ");
    code.replace(SERVER_URL, server_url)
        .replace(APPLICATION, application)
        .replace(EVENT_TYPE, event_type)
        .replace(PAYLOAD, &without_quotes(&payload))
}

/// The same JSON without the characters that end a text, or begin a variable, in one of the languages. They occur only in
/// strings, where JSON allows to write them by their numbers.
fn without_quotes(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for sign in json.chars() {
        match sign {
            '\'' | '`' | '$' | '#' => text.push_str(&format!("\\u{:04x}", u32::from(sign))),
            sign => text.push(sign),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_contains_the_values_of_the_account_and_no_others() {
        let payload = "{\n  \"note\": \"it's `${x}` \\\"#1\\\"\"\n}";
        for file in FILES {
            let code = filled(file.code, "http://127.0.0.1:8071", "app_1", "lot.sold", payload);
            for part in [
                "http://127.0.0.1:8071",
                "app_1",
                "lot.sold",
                r#""note": "it\u0027s \u0060\u0024{x}\u0060 \"\u00231\"""#,
            ] {
                assert!(code.contains(part), "{part} is not in {code}");
            }
            for part in [SERVER_URL, APPLICATION, EVENT_TYPE, PAYLOAD] {
                assert!(!code.contains(part), "{part} is in {code}");
            }
        }
    }

    #[test]
    fn the_text_without_quotes_is_the_same_json() {
        let value: Value = serde_json::json!({ "a'`$#": ["\\'", "\"\"\"", "\\`", "€#"] });
        assert_eq!(serde_json::from_str::<Value>(&without_quotes(&value.to_string())).unwrap(), value);
    }
}
