//! A request that a visitor pasted.

use jiff::Timestamp;
use kit_design::error_summary::ErrorSummary;
use kit_design::fields::FormFields;
use kit_design::form_field::FormField;
use provider_core::endpoints::signature_check::ReceivedRequest;
use serde_json::Value;

const ID: [&str; 2] = ["webhook-id", "svix-id"];
const TIMESTAMP: [&str; 2] = ["webhook-timestamp", "svix-timestamp"];
const SIGNATURE: [&str; 2] = ["webhook-signature", "svix-signature"];

/// The values of the form.
#[derive(Debug, Clone, Default)]
pub(super) struct Pasted {
    headers: String,
    body: String,
    clock: String,
    /// Never shown again.
    secret: String,
    headers_fault: &'static str,
    clock_fault: &'static str,
}

impl Pasted {
    pub(super) fn read(form: &FormFields) -> Self {
        // A browser sends a line break as CR LF. White space at the ends of a body is significant.
        let untrimmed = |name| form.all(name).next().unwrap_or_default().replace("\r\n", "\n");
        let mut pasted = Self {
            headers: untrimmed("headers"),
            body: untrimmed("body"),
            clock: form.text("clock").to_owned(),
            secret: form.text("secret").to_owned(),
            ..Self::default()
        };
        if pasted.headers.trim().is_empty() && pasted.body.trim().is_empty() {
            pasted.headers_fault = "paste the headers of a request, one on each line";
        }
        if clock(&pasted.clock).is_err() {
            pasted.clock_fault = "must be seconds since 1970, or a time such as 2026-01-31T12:00:00Z";
        }
        pasted
    }

    /// Fields of the request.
    pub(super) fn fields(&self) -> [FormField; 2] {
        let pasted = |field: FormField| field.lines(4).attribute("class", "mono").attribute("spellcheck", "false");
        let headers = FormField::area("headers", "Headers", &self.headers)
            .hint("The lines webhook-id, webhook-timestamp and webhook-signature, or all headers as JSON; others may stay.")
            .fault(self.headers_fault);
        let body = FormField::area("body", "Body", &self.body).hint("As your receiver got it, before it was parsed.");
        [headers, body].map(pasted)
    }

    /// Optional fields, about the receiver.
    pub(super) fn receiver_fields(&self) -> [FormField; 2] {
        let secret = FormField::secret("secret", "Secret that your receiver uses", "off")
            .optional()
            .hint("It is compared with the endpoint's secrets and not kept.");
        let clock = FormField::text("clock", "Clock of your receiver when it got the request", &self.clock)
            .optional()
            .attribute("spellcheck", "false")
            .hint("Seconds since 1970, or a time such as 2026-01-31T12:00:00Z.")
            .fault(self.clock_fault);
        [secret, clock]
    }

    /// The optional fields are shown.
    pub(super) fn has_more(&self) -> bool {
        !self.clock.is_empty() || !self.secret.is_empty()
    }

    /// The errors of all fields.
    pub(super) fn errors(&self) -> ErrorSummary {
        let fields = self.fields().into_iter().chain(self.receiver_fields()).collect::<Vec<_>>();
        ErrorSummary::beside(&fields).heading("Nothing was checked")
    }

    /// The request; the error is shown at its field.
    pub(super) fn received(&self) -> Result<ReceivedRequest, ()> {
        if !self.headers_fault.is_empty() {
            return Err(());
        }
        let headers: Vec<(String, String)> =
            json_headers(&self.headers).unwrap_or_else(|| self.headers.lines().filter_map(header).collect());
        let value = |names: [&str; 2]| {
            let found = names.iter().find_map(|name| headers.iter().find(|(own, _)| own == name));
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        Ok(ReceivedRequest {
            id: value(ID),
            timestamp: value(TIMESTAMP),
            signature: value(SIGNATURE),
            body: self.body.clone(),
            secret: Some(self.secret.clone()).filter(|secret| !secret.is_empty()),
            received_at: clock(&self.clock)?,
        })
    }
}

/// Name in lower case and value of a header line, as programs print it: with or without quotes and a comma at its end.
fn header(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once([':', '='])?;
    Some((unquoted(name).to_ascii_lowercase(), unquoted(value).to_owned()))
}

/// The headers of a JSON text, with names in lower case: an object of them, also below `headers`; a list of pairs or of
/// objects with `name` or `key` and `value`; or a list of names and values in turn. None if the text is none of these.
fn json_headers(text: &str) -> Option<Vec<(String, String)>> {
    let named = |name: &str, value: &Value| Some((name.to_ascii_lowercase(), one_value(value)?));
    match serde_json::from_str(text.trim().trim_end_matches(',')).ok()? {
        Value::Object(mut object) => match object.remove("headers") {
            Some(headers @ (Value::Object(_) | Value::Array(_))) => json_headers(&headers.to_string()),
            _ => Some(object.iter().filter_map(|(name, value)| named(name, value)).collect()),
        },
        Value::Array(list) if list.iter().all(Value::is_string) => {
            let pairs = list.chunks_exact(2);
            Some(pairs.filter_map(|pair| named(pair[0].as_str()?, &pair[1])).collect())
        }
        Value::Array(list) => Some(
            list.iter()
                .filter_map(|entry| match entry {
                    Value::Array(pair) if pair.len() == 2 => named(pair[0].as_str()?, &pair[1]),
                    Value::Object(entry) => {
                        named(entry.get("name").or_else(|| entry.get("key"))?.as_str()?, entry.get("value")?)
                    }
                    _ => None,
                })
                .collect(),
        ),
        _ => None,
    }
}

/// The value of a header in JSON. Several values of one header are signatures, which a space separates.
fn one_value(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(values) => Some(values.iter().filter_map(one_value).collect::<Vec<_>>().join(" ")),
        _ => None,
    }
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_end_matches(',').trim_matches(['"', '\'']).trim()
}

/// The receiver's clock; none for an empty text.
fn clock(text: &str) -> Result<Option<Timestamp>, ()> {
    if text.is_empty() {
        return Ok(None);
    }
    let seconds = text.parse().ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    seconds.or_else(|| text.parse().ok()).map(Some).ok_or(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_programs_print_them() {
        for text in [
            "Webhook-Id: msg_1\nwebhook-timestamp: 17\nWEBHOOK-SIGNATURE: v1,a= v1,b=",
            "svix-id: msg_1\n\nsvix-timestamp: 17\nsvix-signature: v1,a= v1,b=\nHost: example.com",
            "  \"webhook-id\": \"msg_1\",\n  \"webhook-timestamp\": \"17\",\n  \"webhook-signature\": \"v1,a= v1,b=\"",
            r#"{"Webhook-Id":"msg_1","webhook-timestamp":17,"webhook-signature":["v1,a=","v1,b="],"x":{"y":null}}"#,
            r#"{"method": "POST", "headers": {"svix-id": ["msg_1"], "svix-timestamp": "17", "svix-signature": "v1,a= v1,b="}}"#,
            r#"[["webhook-id", "msg_1"], ["webhook-timestamp", "17"], ["webhook-signature", "v1,a= v1,b="]]"#,
            r#"["webhook-id", "msg_1", "webhook-timestamp", "17", "webhook-signature", "v1,a= v1,b="]"#,
            r#"[{"name": "webhook-id", "value": "msg_1"}, {"key": "webhook-timestamp", "value": "17"},
                {"name": "webhook-signature", "value": "v1,a= v1,b="}]"#,
        ] {
            let pasted = Pasted { headers: text.into(), ..Pasted::default() };
            let received = pasted.received().unwrap();
            let read = [received.id.as_str(), &received.timestamp, &received.signature];
            assert_eq!(read, ["msg_1", "17", "v1,a= v1,b="], "{text}");
        }
    }

    #[test]
    fn a_clock_is_seconds_or_a_time() {
        assert_eq!(clock("1700000000"), clock("2023-11-14T22:13:20Z"));
        assert_eq!((clock(""), clock("noon")), (Ok(None), Err(())));
    }
}
