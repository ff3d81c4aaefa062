//! Failures by which messages are searched: a status code, a class of status codes, a cause, or a class of causes.

use crate::model::cause::{Cause, CauseClass};
use crate::port::{AttemptEnd, NoResponse};

/// Status codes that a receiver may respond.
const CODES: std::ops::RangeInclusive<u16> = 100..=999;
/// Causes of attempts without a response: their names, and words for them.
const CAUSES_WITHOUT_RESPONSE: &[(&str, &str)] = &[
    ("no_dns_record", "No DNS record"),
    ("name_servers_silent", "Name servers don't answer"),
    ("connection_refused", "Connection refused"),
    ("connect_timeout", "No connection in time"),
    ("not_connected", "Not connected"),
    ("connection_reset", "Connection cut"),
    ("tls_timeout", "TLS not finished in time"),
    ("send_timeout", "Request not sent in time"),
    ("no_answer", "No answer in time"),
    ("answer_unfinished", "Answer not finished in time"),
    ("interim_responses", "Only interim responses"),
    ("certificate_expired", "Certificate expired"),
    ("certificate_not_yet_valid", "Certificate not valid yet"),
    ("certificate_name", "Certificate of another host"),
    ("certificate_self_signed", "Certificate self-signed"),
    ("certificate_authority", "Certificate of an unknown issuer"),
    ("tls_version", "No secure TLS version"),
    ("no_tls", "The port speaks no TLS"),
    ("expects_tls", "The port expects TLS"),
    ("tls", "TLS failed"),
    ("closed_early", "Answer broke off"),
    ("large_headers", "Headers too large"),
    ("private_address", "Address not allowed"),
    ("loop", "Leads back to this provider"),
    ("not_http", "The port speaks no HTTP"),
    ("proxy", "The provider's proxy failed"),
    ("other", "Another transport error"),
];
/// Causes of failed responses.
const CAUSES_OF_RESPONSES: &[(&str, &str)] = &[
    ("redirect", "3xx: redirects"),
    ("bad_request", "400: bad request"),
    ("unauthorized", "401: asks for a login"),
    ("blocked", "403: blocks the request"),
    ("no_route", "404: no such route"),
    ("method_not_allowed", "405: does not accept POST"),
    ("gave_up_reading", "408: gave up reading"),
    ("gone", "410: gone"),
    ("body_too_large", "411, 413: body too large"),
    ("body_refused", "415, 422: body refused"),
    ("too_many_requests", "429: asks to wait"),
    ("code_failed", "500: its own code failed"),
    ("application_unreachable", "502-504, 520-529: application unavailable"),
    ("other_status", "Another status code"),
];

/// Classes of causes, with their names in a search, which differ from the names of causes, and words for them.
const CLASSES: [(CauseClass, &str, &str); CauseClass::ALL.len()] = [
    (CauseClass::Address, "any-address", "Address not found or not allowed, any cause"),
    (CauseClass::Connection, "any-connection", "No connection, any cause"),
    (CauseClass::Tls, "any-tls", "TLS, any cause"),
    (CauseClass::Timeout, "any-timeout", "No response in time, any cause"),
    (CauseClass::Redirect, "any-redirect", "Redirect (3xx), any cause"),
    (CauseClass::Refused, "any-refused", "Refused (4xx), any cause"),
    (CauseClass::RateLimit, "any-rate-limit", "Too many requests (429), any cause"),
    (CauseClass::Server, "any-server", "Receiver failed (5xx), any cause"),
    (CauseClass::Response, "any-response", "Response not valid, any cause"),
    (CauseClass::Other, "any-other", "Other, any cause"),
];

/// How a failed attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedWith {
    /// The response had this status code.
    Code(u16),
    /// The response had a status code in the hundred that begins with this number.
    Class(u16),
    /// There was no response.
    NoResponse,
    /// It failed for the cause of this name.
    Cause(&'static str),
    /// It failed for a cause of this class.
    CauseClass(CauseClass),
}

impl FailedWith {
    /// Parses a status code that is no success: three digits, `4xx`, or `0` for no response.
    pub fn parse_code(text: &str) -> Option<Self> {
        match text {
            "0" => Some(Self::NoResponse),
            "3xx" => Some(Self::Class(300)),
            "4xx" => Some(Self::Class(400)),
            "5xx" => Some(Self::Class(500)),
            code => code.parse().ok().filter(|code| CODES.contains(code) && !(200..300).contains(code)).map(Self::Code),
        }
    }

    /// The cause of this name.
    pub fn parse_cause(name: &str) -> Option<Self> {
        if let Some((class, ..)) = CLASSES.iter().find(|(_, known, _)| *known == name) {
            return Some(Self::CauseClass(*class));
        }
        Self::causes().find(|(known, _)| *known == name).map(|(known, _)| Self::Cause(known))
    }

    /// Name of each cause and class of causes, and words for it: first the classes, then causes without a response.
    pub fn causes() -> impl Iterator<Item = (&'static str, &'static str)> {
        let classes = CLASSES.iter().map(|(_, name, words)| (*name, *words));
        classes.chain(CAUSES_WITHOUT_RESPONSE.iter().chain(CAUSES_OF_RESPONSES).copied())
    }

    /// The name by which a class of causes is searched.
    pub fn class_name(class: CauseClass) -> &'static str {
        CLASSES[class as usize].1
    }

    /// The ends of attempts that match.
    pub(crate) fn end(self) -> AttemptEnd {
        let responses = |codes: Vec<u16>| AttemptEnd { codes, no_response: None };
        match self {
            Self::Code(code) => responses(vec![code]),
            Self::Class(class) => responses((class..=class + 99).collect()),
            Self::NoResponse => AttemptEnd { codes: Vec::new(), no_response: Some(NoResponse::Any) },
            Self::Cause(name) => {
                let without_response = CAUSES_WITHOUT_RESPONSE.iter().find(|(known, _)| *known == name);
                AttemptEnd {
                    codes: codes_of(|cause| cause.code() == name),
                    no_response: without_response.map(|(name, _)| NoResponse::Causes(std::slice::from_ref(name))),
                }
            }
            Self::CauseClass(class) => {
                let without_response = class.causes_without_response();
                AttemptEnd {
                    codes: codes_of(|cause| CauseClass::of(cause) == class),
                    no_response: (!without_response.is_empty()).then_some(NoResponse::Causes(without_response)),
                }
            }
        }
    }
}

/// The status codes of failure whose cause is one of these.
fn codes_of(is_cause: impl Fn(&Cause) -> bool) -> Vec<u16> {
    let cause = |code: &u16| Cause::from_parts(*code, "", None, "");
    CODES.filter(|code| !(200..300).contains(code)).filter(|code| is_cause(&cause(code))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_in_one_class_and_each_class_is_found_by_its_name() {
        for (place, class) in CauseClass::ALL.into_iter().enumerate() {
            assert_eq!(CLASSES[place].0, class);
            assert_eq!(FailedWith::parse_cause(FailedWith::class_name(class)), Some(FailedWith::CauseClass(class)));
        }
        for (name, _) in CAUSES_WITHOUT_RESPONSE {
            let has = |class: &CauseClass| class.causes_without_response().contains(name);
            assert_eq!(CauseClass::ALL.iter().filter(|class| has(class)).count(), 1, "{name}");
        }
        for code in CODES.filter(|code| !(200..300).contains(code)) {
            let finds = |class: &CauseClass| FailedWith::CauseClass(*class).end().matches(code, None);
            assert_eq!(CauseClass::ALL.iter().filter(|class| finds(class)).count(), 1, "{code}");
        }
    }

    #[test]
    fn each_failed_response_is_found_by_its_cause() {
        for code in CODES.filter(|code| !(200..300).contains(code)) {
            let name = Cause::from_parts(code, "", None, "").code();
            let cause = FailedWith::parse_cause(name).unwrap_or_else(|| panic!("{code} has the unlisted cause {name}"));
            assert!(cause.end().matches(code, None), "{code}");
        }
        assert_eq!(FailedWith::parse_cause("body_too_large").unwrap().end().codes, [411, 413]);
        assert_eq!(FailedWith::parse_cause("no_cause"), None);
    }

    #[test]
    fn a_status_code_is_one_code_a_class_or_no_response() {
        for (text, parsed) in [
            ("503", Some(FailedWith::Code(503))),
            ("5xx", Some(FailedWith::Class(500))),
            ("0", Some(FailedWith::NoResponse)),
            ("200", None),
            ("2xx", None),
            ("99", None),
            ("1000", None),
            ("", None),
        ] {
            assert_eq!(FailedWith::parse_code(text), parsed, "{text}");
        }
    }
}
