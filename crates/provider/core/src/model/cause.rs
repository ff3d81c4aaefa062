//! Why a delivery failed, in plain words, and what the receiver's engineer can do.
//!
//! A failure without a complete response has its cause from the error of the HTTP client: the attempt stores it as a code
//! with its details ([`FailureDetail`]). A failed response has its cause from the status code and the stored header. The sentence is
//! made when it is shown. A line of the receiver's response is read from the stored response, so it disappears when the
//! response is expunged, and [`Cause::sentence_without_response`] omits it.

mod answer_line;
mod class;
mod transport;

use serde::{Deserialize, Serialize};

use self::answer_line::answer_line;
pub(crate) use self::answer_line::changes_the_page;
pub use self::class::CauseClass;
pub(crate) use self::transport::seconds;
use crate::model::Attempt;

/// Bytes of a response that are read and stored.
pub(crate) const RESPONSE_BYTES_MAX: usize = 20_000;

/// The text that replaces an expunged response.
pub const EXPUNGED: &str = "EXPUNGED";

/// The text of an attempt to deliver to the provider's own server.
pub(crate) const LOOP: &str = "the address leads back to this provider";

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause")]
#[expect(missing_docs, reason = "the variants and fields are explained by their texts")]
pub enum Cause {
    #[serde(rename = "no_dns_record")]
    NoDnsRecord { host: String },
    #[serde(rename = "name_servers_silent")]
    NameServersSilent { host: String },
    #[serde(rename = "connection_refused")]
    Refused { address: String },
    #[serde(rename = "connect_timeout")]
    ConnectTimeout { address: String, limit_ms: u64 },
    #[serde(rename = "not_connected")]
    NotConnected { reason: String, is_local: bool },
    #[serde(rename = "connection_reset")]
    Reset { is_plain: bool },
    #[serde(rename = "tls_timeout")]
    TlsTimeout { limit_ms: u64 },
    #[serde(rename = "send_timeout")]
    SendTimeout { limit_ms: u64 },
    #[serde(rename = "no_answer")]
    NoAnswer { limit_ms: u64 },
    #[serde(rename = "answer_unfinished")]
    AnswerUnfinished { code: u16, limit_ms: u64 },
    #[serde(rename = "interim_responses")]
    InterimResponses,
    #[serde(rename = "certificate_expired")]
    CertificateExpired { on: Option<String> },
    #[serde(rename = "certificate_not_yet_valid")]
    CertificateNotYetValid { from: Option<String> },
    #[serde(rename = "certificate_name")]
    WrongName { names: String, host: String },
    #[serde(rename = "certificate_self_signed")]
    SelfSigned,
    #[serde(rename = "certificate_authority")]
    UnknownAuthority { issuer: String },
    #[serde(rename = "tls_version")]
    OldTls,
    #[serde(rename = "no_tls")]
    NoTls,
    #[serde(rename = "tls")]
    OtherTls { reason: String },
    #[serde(rename = "redirect")]
    Redirect { code: u16, to: Option<String> },
    #[serde(rename = "bad_request")]
    BadRequest { line: Option<String> },
    #[serde(rename = "expects_tls")]
    ExpectsTls { code: Option<u16> },
    #[serde(rename = "unauthorized")]
    Unauthorized { challenge: Option<String> },
    #[serde(rename = "blocked")]
    Blocked { line: Option<String> },
    #[serde(rename = "no_route")]
    NoRoute { path: String },
    #[serde(rename = "method_not_allowed")]
    MethodNotAllowed,
    #[serde(rename = "gave_up_reading")]
    GaveUpReading,
    #[serde(rename = "gone")]
    Gone,
    #[serde(rename = "body_too_large")]
    BodyTooLarge { code: u16 },
    #[serde(rename = "body_refused")]
    BodyRefused { code: u16, line: Option<String> },
    #[serde(rename = "too_many_requests")]
    TooManyRequests { until: Option<String> },
    #[serde(rename = "code_failed")]
    CodeFailed { line: Option<String> },
    #[serde(rename = "application_unreachable")]
    ApplicationUnreachable { code: u16, server: Option<String>, until: Option<String> },
    #[serde(rename = "closed_early")]
    ClosedEarly { code: Option<u16>, received_bytes: u64, expected_bytes: Option<u64> },
    #[serde(rename = "large_headers")]
    LargeHeaders,
    #[serde(rename = "private_address")]
    PrivateAddress { host: String, kind: String },
    #[serde(rename = "loop")]
    Loop,
    #[serde(rename = "not_http")]
    NotHttp { beginning: Option<String> },
    #[serde(rename = "proxy")]
    Proxy { reason: String },
    #[serde(rename = "other_status")]
    OtherStatus { code: u16, line: Option<String> },
    #[serde(rename = "other")]
    OtherTransport { reason: String },
    #[serde(rename = "expunged")]
    Expunged,
}

/// What explains a failed attempt beside its status code and its response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureDetail {
    /// A header of the response: the target of a redirect (`Location`), the time until which the receiver asked to wait
    /// (`Retry-After`), the login that it asked for (`WWW-Authenticate`), or the proxy that responded for the application
    /// (`Server`).
    Header(String),
    /// Why there was no response, or only a part of one.
    Transport(Cause),
    /// The response is not text. The attempt stores it as base64.
    NotText {
        /// The `Content-Encoding` header.
        encoding: Option<String>,
        /// Bytes that were read.
        bytes: u64,
    },
}

impl FailureDetail {
    fn header(&self) -> Option<&str> {
        match self {
            Self::Header(header) => Some(header),
            Self::Transport(_) | Self::NotText { .. } => None,
        }
    }
}

impl Cause {
    /// The cause of a failed attempt.
    pub fn of(attempt: &Attempt) -> Self {
        let detail = attempt.failure_detail.as_ref();
        Self::from_parts(attempt.response_status_code, &attempt.response, detail, &attempt.url)
    }

    /// The cause of an attempt to call `url` that ended with this status code (0 without a response) and this response
    /// or text of an error. `detail` is what the attempt stored beside them.
    pub fn from_parts(code: u16, response: &str, detail: Option<&FailureDetail>, url: &str) -> Self {
        if let Some(FailureDetail::Transport(cause)) = detail {
            return cause.clone();
        }
        let header = || detail.and_then(FailureDetail::header).map(str::to_owned);
        let is_text = !matches!(detail, Some(FailureDetail::NotText { .. }));
        // The title of an error page often repeats the status alone.
        let is_status = |line: &str| line.starts_with(&code.to_string());
        let line = || answer_line(response).filter(|line| is_text && !is_status(line));
        match code {
            0 | 200..=299 if response == EXPUNGED => Self::Expunged,
            0 => Self::OtherTransport { reason: response.to_owned() },
            300..=399 => Self::Redirect { code, to: header().and_then(|to| target(url, &to)) },
            400 if url.starts_with("http://") && is_answer_of_tls_port(response) => {
                Self::ExpectsTls { code: Some(code) }
            }
            400 => Self::BadRequest { line: line() },
            401 => Self::Unauthorized { challenge: header() },
            403 => Self::Blocked { line: line() },
            404 => Self::NoRoute { path: path(url) },
            405 => Self::MethodNotAllowed,
            408 => Self::GaveUpReading,
            410 => Self::Gone,
            411 | 413 => Self::BodyTooLarge { code },
            415 | 422 => Self::BodyRefused { code, line: line() },
            429 => Self::TooManyRequests { until: header().and_then(|at| time(&at)) },
            500 => Self::CodeFailed { line: line() },
            502..=504 | 520..=529 => Self::ApplicationUnreachable {
                code,
                server: header().filter(|text| time(text).is_none()),
                until: header().and_then(|at| time(&at)),
            },
            508 => Self::Loop,
            code => Self::OtherStatus { code, line: line() },
        }
    }

    /// Stable name of the cause.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoDnsRecord { .. } => "no_dns_record",
            Self::NameServersSilent { .. } => "name_servers_silent",
            Self::Refused { .. } => "connection_refused",
            Self::ConnectTimeout { .. } => "connect_timeout",
            Self::NotConnected { .. } => "not_connected",
            Self::Reset { .. } => "connection_reset",
            Self::TlsTimeout { .. } => "tls_timeout",
            Self::SendTimeout { .. } => "send_timeout",
            Self::NoAnswer { .. } => "no_answer",
            Self::AnswerUnfinished { .. } => "answer_unfinished",
            Self::InterimResponses => "interim_responses",
            Self::CertificateExpired { .. } => "certificate_expired",
            Self::CertificateNotYetValid { .. } => "certificate_not_yet_valid",
            Self::WrongName { .. } => "certificate_name",
            Self::SelfSigned => "certificate_self_signed",
            Self::UnknownAuthority { .. } => "certificate_authority",
            Self::OldTls => "tls_version",
            Self::NoTls => "no_tls",
            Self::OtherTls { .. } => "tls",
            Self::Redirect { .. } => "redirect",
            Self::BadRequest { .. } => "bad_request",
            Self::ExpectsTls { .. } => "expects_tls",
            Self::Unauthorized { .. } => "unauthorized",
            Self::Blocked { .. } => "blocked",
            Self::NoRoute { .. } => "no_route",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::GaveUpReading => "gave_up_reading",
            Self::Gone => "gone",
            Self::BodyTooLarge { .. } => "body_too_large",
            Self::BodyRefused { .. } => "body_refused",
            Self::TooManyRequests { .. } => "too_many_requests",
            Self::CodeFailed { .. } => "code_failed",
            Self::ApplicationUnreachable { .. } => "application_unreachable",
            Self::ClosedEarly { .. } => "closed_early",
            Self::LargeHeaders => "large_headers",
            Self::PrivateAddress { .. } => "private_address",
            Self::Loop => "loop",
            Self::NotHttp { .. } => "not_http",
            Self::Proxy { .. } => "proxy",
            Self::OtherStatus { .. } => "other_status",
            Self::OtherTransport { .. } => "other",
            Self::Expunged => "expunged",
        }
    }

    /// The cause in one sentence. It may contain a line of the receiver's response.
    pub fn sentence(&self) -> String {
        match self {
            Self::NoDnsRecord { host } => format!("{host} has no DNS record."),
            Self::NameServersSilent { host } => format!("The name servers of {host} don't answer."),
            Self::Refused { address } => format!("{address} refused the connection."),
            Self::ConnectTimeout { address, limit_ms } => {
                format!("No answer from {address} in {} s.", seconds(*limit_ms))
            }
            Self::NotConnected { reason, .. } => format!("No connection: {reason}."),
            Self::Reset { .. } => "The connection was cut before an answer came.".to_owned(),
            Self::TlsTimeout { limit_ms } => format!("TLS was not finished in {} s.", seconds(*limit_ms)),
            Self::SendTimeout { limit_ms } => {
                format!("The receiver took only a part of the message in {} s.", seconds(*limit_ms))
            }
            Self::NoAnswer { limit_ms } => {
                let limit_s = seconds(*limit_ms);
                format!("The message was sent and perhaps processed, but no answer came in {limit_s} s.")
            }
            Self::AnswerUnfinished { code, limit_ms } => {
                format!("{code}: The answer began, but did not end in {} s.", seconds(*limit_ms))
            }
            Self::InterimResponses => {
                "The receiver sent one interim status (1xx) after the other, and no answer.".to_owned()
            }
            Self::CertificateExpired { on: None } => "The TLS certificate has expired.".to_owned(),
            Self::CertificateExpired { on: Some(on) } => format!("The TLS certificate expired on {on}."),
            Self::CertificateNotYetValid { from: None } => "The TLS certificate is not valid yet.".to_owned(),
            Self::CertificateNotYetValid { from: Some(from) } => {
                format!("The TLS certificate is not valid before {from}.")
            }
            Self::WrongName { names, host } => format!("The TLS certificate is for {names}, not for {host}."),
            Self::SelfSigned => "The TLS certificate is self-signed.".to_owned(),
            Self::UnknownAuthority { issuer } => {
                format!("The issuer of the TLS certificate, {issuer}, is unknown, or the chain is incomplete.")
            }
            Self::OldTls => "The receiver offers no TLS version from 1.2 on with a secure cipher.".to_owned(),
            Self::NoTls => "The port speaks no TLS.".to_owned(),
            Self::OtherTls { reason } => format!("TLS failed: {reason}."),
            Self::Redirect { code, to: Some(to) } => {
                format!("{code}: The address redirects to {to}, and redirects are not followed.")
            }
            Self::Redirect { code, to: None } => {
                format!("{code}: The address redirects, and redirects are not followed.")
            }
            Self::BadRequest { line: None } => {
                "400: The receiver refused the request, often because of the signature.".to_owned()
            }
            Self::BadRequest { line: Some(line) } => format!("400: The receiver refused the request: {line}"),
            Self::ExpectsTls { code } => {
                format!("{}The port expects TLS, and the request was sent over plain HTTP.", prefix(*code))
            }
            Self::Unauthorized { challenge: Some(challenge) } => {
                format!("401: The receiver asks for a login ({challenge}).")
            }
            Self::Unauthorized { challenge: None } => "401: The receiver asks for a login.".to_owned(),
            Self::Blocked { line } => {
                let sentence = "403: A firewall, CSRF protection or a list of addresses blocks the request";
                with_line(sentence, line.as_deref())
            }
            Self::NoRoute { path } if path.is_empty() => "404: The receiver has no such route.".to_owned(),
            Self::NoRoute { path } => format!("404: The receiver has no route {path}."),
            Self::MethodNotAllowed => "405: The receiver does not accept POST.".to_owned(),
            Self::GaveUpReading => "408: The receiver gave up reading the request.".to_owned(),
            Self::Gone => "410: The receiver is gone for good, so the endpoint was disabled.".to_owned(),
            Self::BodyTooLarge { code } => format!("{code}: The receiver refused the size of the body."),
            Self::BodyRefused { code, line } => {
                with_line(&format!("{code}: The receiver refused the JSON or its fields"), line.as_deref())
            }
            Self::TooManyRequests { until: Some(until) } => format!("429: The receiver asked to wait until {until}."),
            Self::TooManyRequests { until: None } => "429: The receiver asked to wait.".to_owned(),
            Self::CodeFailed { line } => with_line("500: The receiver's own code failed", line.as_deref()),
            Self::ApplicationUnreachable { code, until: Some(until), .. } => {
                format!("{code}: The receiver is unavailable, and asked to wait until {until}.")
            }
            Self::ApplicationUnreachable { code, server: Some(server), .. } => {
                format!("{code}: {server} can't reach the receiver's application.")
            }
            // A server in maintenance answers 503 by itself.
            Self::ApplicationUnreachable { code: 503, .. } => {
                "503: The receiver, or a proxy in front of it, is unavailable.".to_owned()
            }
            Self::ApplicationUnreachable { code, .. } => {
                format!("{code}: A proxy can't reach the receiver's application.")
            }
            Self::ClosedEarly { code: None, .. } => "The answer broke off in its headers.".to_owned(),
            Self::ClosedEarly { code, received_bytes, expected_bytes: Some(expected_bytes) } => {
                format!("{}The answer broke off: {received_bytes} of {expected_bytes} bytes came.", prefix(*code))
            }
            Self::ClosedEarly { code, received_bytes, expected_bytes: None } => {
                format!("{}The answer broke off: {received_bytes} bytes came.", prefix(*code))
            }
            Self::LargeHeaders => "The headers of the answer are too large.".to_owned(),
            Self::PrivateAddress { host, kind } => format!("The address of {host} is {kind}, so nothing was sent."),
            Self::Loop => "The address leads back to this provider.".to_owned(),
            Self::NotHttp { beginning: Some(beginning) } => {
                format!("The port speaks no HTTP: its answer begins with \"{beginning}\".")
            }
            Self::NotHttp { beginning: None } => "The port speaks no valid HTTP.".to_owned(),
            Self::Proxy { reason } => format!("No connection through the provider's proxy: {reason}."),
            Self::OtherStatus { code, line } => with_line(&format!("Answered {code}"), line.as_deref()),
            Self::OtherTransport { reason } => as_sentence(reason),
            Self::Expunged => "No answer, or only a part of one. The reason was removed with the response.".to_owned(),
        }
    }

    /// The cause in one sentence without any part of the receiver's response, for mails and events.
    pub fn sentence_without_response(&self) -> String {
        match self {
            Self::CodeFailed { .. } => Self::CodeFailed { line: None }.sentence(),
            Self::BadRequest { .. } => Self::BadRequest { line: None }.sentence(),
            Self::Blocked { .. } => Self::Blocked { line: None }.sentence(),
            Self::BodyRefused { code, .. } => Self::BodyRefused { code: *code, line: None }.sentence(),
            Self::OtherStatus { code, .. } => Self::OtherStatus { code: *code, line: None }.sentence(),
            Self::Unauthorized { .. } => Self::Unauthorized { challenge: None }.sentence(),
            Self::NotHttp { .. } => Self::NotHttp { beginning: None }.sentence(),
            // The target of a redirect may contain a secret.
            Self::Redirect { code, .. } => Self::Redirect { code: *code, to: None }.sentence(),
            Self::ApplicationUnreachable { code, until, .. } => {
                Self::ApplicationUnreachable { code: *code, server: None, until: until.clone() }.sentence()
            }
            other => other.sentence(),
        }
    }

    /// What the receiver's engineer can do, in one sentence; empty when no remedy is known.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NoDnsRecord { .. } => "Correct the host name, or publish its record.",
            Self::NameServersSilent { .. } => "Check the delegation of the domain and its DNSSEC.",
            Self::Refused { .. } => "Start the server, and open its port.",
            Self::ConnectTimeout { .. } => "Let the provider's addresses through the firewall.",
            Self::NotConnected { .. } => "Check the network and the firewall of the receiver.",
            Self::Reset { is_plain: false } => "Read the logs of the proxy and the application.",
            Self::Reset { is_plain: true } => {
                "Read the logs of the proxy and the application. If the port expects TLS, begin the address with https://."
            }
            Self::TlsTimeout { .. } => "Check the load of the server, and the port.",
            Self::SendTimeout { .. } => "Read the whole body of the request, and check the load of the server.",
            Self::AnswerUnfinished { .. } => "End the answer: close it, or send as many bytes as Content-Length says.",
            Self::InterimResponses => "Send a final status, such as 204, after the interim ones.",
            Self::NoAnswer { .. } => "Put the work into a queue, and answer before doing it.",
            Self::CertificateExpired { .. } => "Renew the certificate, and reload the server.",
            Self::CertificateNotYetValid { .. } => "Correct the clock or the certificate, and reload the server.",
            Self::WrongName { .. } => "Add the host to the certificate.",
            Self::SelfSigned => "Use a certificate of a public authority.",
            Self::UnknownAuthority { .. } => "Send the full chain, or use a public authority.",
            Self::OldTls => "Enable TLS 1.2 or newer.",
            Self::NoTls => "Correct the port, or use http.",
            Self::OtherTls { .. } => "Check the certificate and the TLS settings of the server.",
            Self::Redirect { .. } => "Use the address that it redirects to.",
            Self::BadRequest { .. } => "Verify the raw bytes with this endpoint's secret.",
            Self::ExpectsTls { .. } => "Begin the address with https://.",
            Self::Unauthorized { .. } => {
                "Exempt the path from the login, or add its credentials to the endpoint's headers."
            }
            Self::Blocked { .. } => "Exempt the path, and allow the provider's addresses.",
            Self::NoRoute { .. } => "Deploy the route, or correct the address.",
            Self::MethodNotAllowed => "Route POST requests to this path.",
            Self::GaveUpReading => "Raise the read timeout of the server.",
            Self::Gone => "Repair the receiver, then enable the endpoint.",
            Self::BodyTooLarge { .. } => "Raise the limit, and accept Content-Length.",
            Self::BodyRefused { .. } => "Accept application/json, and compare the fields with the schema.",
            Self::TooManyRequests { .. } => "Set a throttle rate for this endpoint.",
            Self::CodeFailed { .. } => "Look for the message id in the log of that time.",
            Self::ApplicationUnreachable { code: 503, server: None, .. } => {
                "Check that the application runs; behind a proxy, also the connection between them."
            }
            Self::ApplicationUnreachable { .. } => "Check the application behind the proxy, and the TLS between them.",
            Self::ClosedEarly { .. } => "Check the timeouts of the proxy.",
            Self::LargeHeaders => "Answer short.",
            Self::PrivateAddress { .. } => "Use a public address, or ask the operator to allow this one.",
            Self::Loop => "Enter the address of your own server.",
            Self::NotHttp { .. } => "Correct the port or the protocol.",
            Self::Proxy { .. } => "Ask the provider's operator.",
            Self::OtherStatus { .. } => "Answer with a status from 200 to 299.",
            Self::OtherTransport { .. } | Self::Expunged => "",
        }
    }

    /// Whether the fault is on the provider's side, so that the receiver's owner need not be alerted.
    pub fn is_own_fault(&self) -> bool {
        matches!(self, Self::Proxy { .. } | Self::NotConnected { is_local: true, .. })
    }
}

/// A note on a response that is truncated or not text; empty for another one.
pub fn note_on(response: &str, detail: Option<&FailureDetail>) -> String {
    match detail {
        _ if response == EXPUNGED => String::new(),
        Some(FailureDetail::NotText { encoding, bytes }) => {
            let kind =
                encoding.as_ref().map_or("that are not text".to_owned(), |name| format!("compressed with {name}"));
            format!("The answer is {bytes} bytes {kind}, kept as base64.")
        }
        _ if response.len() >= RESPONSE_BYTES_MAX => {
            "Of the answer, 20,000 bytes were kept, and only its status counts. Answer short.".to_owned()
        }
        _ => String::new(),
    }
}

/// The status code before a sentence.
fn prefix(code: Option<u16>) -> String {
    code.map_or_else(String::new, |code| format!("{code}: "))
}

/// Whether a server answered that plain HTTP arrived at its port for TLS: nginx, Go (also Caddy) and Apache say so.
fn is_answer_of_tls_port(response: &str) -> bool {
    let answers = [
        "The plain HTTP request was sent to HTTPS port",
        "Client sent an HTTP request to an HTTPS server",
        "speaking plain HTTP to an SSL-enabled server port",
    ];
    answers.iter().any(|answer| response.contains(answer))
}

/// The target of a redirect: the `Location` header, resolved against the address of the request.
fn target(url: &str, location: &str) -> Option<String> {
    let target = url::Url::parse(url).ok()?.join(location).ok()?;
    matches!(target.scheme(), "http" | "https").then(|| target.to_string())
}

/// The sentence with the line of the response that describes the error best.
fn with_line(sentence: &str, line: Option<&str>) -> String {
    line.map_or_else(|| format!("{sentence}."), |line| format!("{sentence}: {line}"))
}

/// Formats a stored time for people.
fn time(text: &str) -> Option<String> {
    let at: jiff::Timestamp = text.parse().ok()?;
    Some(at.strftime("%-d %B %Y, %H:%M:%S UTC").to_string())
}

/// The path of an address; the whole text if it is not an address.
fn path(url: &str) -> String {
    url.parse::<http::Uri>().map_or_else(|_| url.to_owned(), |uri| uri.path().to_owned())
}

fn host(url: &str) -> String {
    url.parse::<http::Uri>().ok().and_then(|uri| uri.host().map(str::to_owned)).unwrap_or_else(|| "the host".to_owned())
}

fn as_sentence(text: &str) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return "No answer.".to_owned() };
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), chars.as_str())
}

#[cfg(test)]
mod tests;
