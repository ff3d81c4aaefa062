//! A request that a visitor pasted.

use jiff::Timestamp;
use kit_design::fields::FormFields;
use provider_core::endpoints::signature_check::ReceivedRequest;

const ID: [&str; 2] = ["webhook-id", "svix-id"];
const TIMESTAMP: [&str; 2] = ["webhook-timestamp", "svix-timestamp"];
const SIGNATURE: [&str; 2] = ["webhook-signature", "svix-signature"];

/// The values of the form.
#[derive(Debug, Clone, Default)]
pub(super) struct Pasted {
    pub(super) headers: String,
    pub(super) body: String,
    pub(super) clock: String,
    /// Never shown again.
    secret: String,
    /// The optional fields are shown.
    pub(super) has_more: bool,
    pub(super) headers_fault: &'static str,
    pub(super) clock_fault: &'static str,
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
        pasted.has_more = !pasted.clock.is_empty() || !pasted.secret.is_empty();
        if pasted.headers.trim().is_empty() && pasted.body.trim().is_empty() {
            pasted.headers_fault = "paste the headers of a request, one on each line";
        }
        if clock(&pasted.clock).is_err() {
            pasted.clock_fault = "must be seconds since 1970, or a time such as 2026-01-31T12:00:00Z";
        }
        pasted
    }

    /// The request; the error is shown at its field.
    pub(super) fn received(&self) -> Result<ReceivedRequest, ()> {
        if !self.headers_fault.is_empty() {
            return Err(());
        }
        let headers: Vec<(String, &str)> = self.headers.lines().filter_map(header).collect();
        let value = |names: [&str; 2]| {
            let found = names.iter().find_map(|name| headers.iter().find(|(own, _)| own == name));
            found.map_or_else(String::new, |(_, value)| (*value).to_owned())
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
fn header(line: &str) -> Option<(String, &str)> {
    let (name, value) = line.split_once([':', '='])?;
    Some((unquoted(name).to_ascii_lowercase(), unquoted(value)))
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
