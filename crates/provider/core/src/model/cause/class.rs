//! Classes of causes, by which failed attempts are counted.

use super::Cause;

/// A class of causes: where an engineer looks first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CauseClass {
    /// The address has no usable DNS record, or the provider must not call it.
    Address,
    /// No connection was made, or it was cut before a response came.
    Connection,
    /// TLS was not established.
    Tls,
    /// The receiver did not respond in time.
    Timeout,
    /// The response was a redirect.
    Redirect,
    /// The receiver refused the request: a status code from 400 on, except 429.
    Refused,
    /// The receiver asked for fewer requests (429).
    RateLimit,
    /// The receiver or a proxy before it failed: a status code from 500 on.
    Server,
    /// The response was not complete or not valid HTTP.
    Response,
    /// Any other cause.
    Other,
}

impl CauseClass {
    /// All classes, in the order in which they are stored and shown.
    pub const ALL: [Self; 10] = [
        Self::Address,
        Self::Connection,
        Self::Tls,
        Self::Timeout,
        Self::Redirect,
        Self::Refused,
        Self::RateLimit,
        Self::Server,
        Self::Response,
        Self::Other,
    ];

    /// Stable name of the class.
    pub fn code(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Connection => "connection",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::Redirect => "redirect",
            Self::Refused => "refused",
            Self::RateLimit => "rate_limit",
            Self::Server => "server",
            Self::Response => "response",
            Self::Other => "other",
        }
    }

    /// The class in a few words, as pages show it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Address => "Address not found or not allowed",
            Self::Connection => "No connection",
            Self::Tls => "TLS",
            Self::Timeout => "No response in time",
            Self::Redirect => "Redirect (3xx)",
            Self::Refused => "Refused (4xx)",
            Self::RateLimit => "Too many requests (429)",
            Self::Server => "Receiver failed (5xx)",
            Self::Response => "Response not valid",
            Self::Other => "Other",
        }
    }

    /// The [codes](Cause::code) of the causes of this class that an attempt without a whole response may have.
    pub fn causes_without_response(self) -> &'static [&'static str] {
        match self {
            Self::Address => &["no_dns_record", "name_servers_silent", "private_address", "loop"],
            Self::Connection => {
                &["connection_refused", "connect_timeout", "not_connected", "connection_reset", "proxy"]
            }
            Self::Tls => &[
                "tls_timeout",
                "certificate_expired",
                "certificate_not_yet_valid",
                "certificate_name",
                "certificate_self_signed",
                "certificate_authority",
                "tls_version",
                "no_tls",
                "expects_tls",
                "tls",
            ],
            Self::Timeout => &["no_answer", "send_timeout", "answer_unfinished"],
            Self::Response => &["closed_early", "interim_responses", "large_headers", "not_http"],
            Self::Other => &["other"],
            Self::Redirect | Self::Refused | Self::RateLimit | Self::Server => &[],
        }
    }

    /// The class of a cause.
    pub fn of(cause: &Cause) -> Self {
        match cause {
            Cause::NoDnsRecord { .. }
            | Cause::NameServersSilent { .. }
            | Cause::PrivateAddress { .. }
            | Cause::Loop => Self::Address,
            Cause::Refused { .. }
            | Cause::ConnectTimeout { .. }
            | Cause::NotConnected { .. }
            | Cause::Reset { .. }
            | Cause::Proxy { .. } => Self::Connection,
            Cause::TlsTimeout { .. }
            | Cause::CertificateExpired { .. }
            | Cause::CertificateNotYetValid { .. }
            | Cause::WrongName { .. }
            | Cause::SelfSigned
            | Cause::UnknownAuthority { .. }
            | Cause::OldTls
            | Cause::NoTls
            | Cause::OtherTls { .. }
            | Cause::ExpectsTls { .. } => Self::Tls,
            Cause::NoAnswer { .. } | Cause::SendTimeout { .. } | Cause::AnswerUnfinished { .. } => Self::Timeout,
            Cause::Redirect { .. } => Self::Redirect,
            Cause::BadRequest { .. }
            | Cause::Unauthorized { .. }
            | Cause::Blocked { .. }
            | Cause::NoRoute { .. }
            | Cause::MethodNotAllowed
            | Cause::GaveUpReading
            | Cause::Gone
            | Cause::BodyTooLarge { .. }
            | Cause::BodyRefused { .. } => Self::Refused,
            Cause::TooManyRequests { .. } => Self::RateLimit,
            Cause::CodeFailed { .. } | Cause::ApplicationUnreachable { .. } => Self::Server,
            Cause::ClosedEarly { .. } | Cause::InterimResponses | Cause::LargeHeaders | Cause::NotHttp { .. } => {
                Self::Response
            }
            Cause::OtherStatus { code: 400..=499, .. } => Self::Refused,
            Cause::OtherStatus { code: 500.., .. } => Self::Server,
            Cause::OtherStatus { .. } | Cause::OtherTransport { .. } | Cause::Expunged => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_stored_by_their_place() {
        for (place, class) in CauseClass::ALL.into_iter().enumerate() {
            assert_eq!(class as usize, place, "{}", class.code());
        }
    }

    #[test]
    fn status_codes_without_a_cause_of_their_own_have_a_class() {
        for (code, class) in
            [(418, CauseClass::Refused), (501, CauseClass::Server), (999, CauseClass::Server), (102, CauseClass::Other)]
        {
            assert_eq!(CauseClass::of(&Cause::OtherStatus { code, line: None }), class, "{code}");
        }
    }
}
