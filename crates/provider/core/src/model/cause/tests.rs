//! Tests of every cause, its texts, and the table of causes in the documentation.

use kit_outbound::{AddressPolicy, BodyFault, Response, TlsFault, TransportError};

use super::*;

const URL: &str = "https://hooks.example.com:8443/lots/in?x=1";

/// The cause as a store returns it, from an attempt with this text of the error.
fn stored(cause: Cause, text: &str) -> Cause {
    let json = serde_json::to_value(FailureDetail::Transport(cause)).unwrap();
    let detail: FailureDetail = serde_json::from_value(json.clone()).unwrap();
    let cause = Cause::from_parts(0, text, Some(&detail), URL);
    assert_eq!(json["transport"]["cause"], cause.code());
    cause
}

/// The error of a response with status 200 and a part of its body.
fn incomplete(fault: BodyFault) -> TransportError {
    let (status, headers, body) = (http::StatusCode::OK, http::HeaderMap::new(), "five!".into());
    TransportError::Incomplete { response: Box::new(Response { status, headers, body, truncated: false }), fault }
}

/// Every transport error, with the code, the sentence and the remedy that a customer reads.
#[test]
fn every_transport_error_has_a_cause() {
    let host = || "hooks.example.com".to_owned();
    let refused = AddressPolicy::public_only(Vec::new()).check([10, 0, 0, 1].into()).unwrap_err();
    let tls = TransportError::Tls;
    for (error, code, say) in [
        (
            TransportError::Dns { host: host(), reason: "Name or service not known".into() },
            "no_dns_record",
            "hooks.example.com has no DNS record.",
        ),
        (
            TransportError::NameServers { host: host(), reason: "Temporary failure in name resolution".into() },
            "name_servers_silent",
            "The name servers of hooks.example.com don't answer.",
        ),
        (
            TransportError::RefusedAddress { host: host(), refused },
            "private_address",
            "The address of hooks.example.com is private, so nothing was sent.",
        ),
        (
            TransportError::ConnectionRefused { host: host(), address: ([203, 0, 113, 7], 443).into() },
            "connection_refused",
            "203.0.113.7:443 refused the connection.",
        ),
        (
            TransportError::Connect {
                host: host(),
                reason: "No route to host (os error 113) (203.0.113.7:443)".into(),
            },
            "not_connected",
            "No connection: No route to host (os error 113) (203.0.113.7:443).",
        ),
        (
            TransportError::ConnectTimeout { address: "203.0.113.7:443".into(), limit_ms: 10_000 },
            "connect_timeout",
            "No answer from 203.0.113.7:443 in 10 s.",
        ),
        (
            TransportError::Proxy("the proxy can't be reached".into()),
            "proxy",
            "No connection through the provider's proxy: the proxy can't be reached.",
        ),
        (TransportError::TlsTimeout { limit_ms: 2_500 }, "tls_timeout", "TLS was not finished in 2.5 s."),
        (
            TransportError::Timeout { limit_ms: 30_000 },
            "no_answer",
            "The message was sent and perhaps processed, but no answer came in 30 s.",
        ),
        (TransportError::Closed, "connection_reset", "The connection was cut before an answer came."),
        (TransportError::Stale, "connection_reset", "The connection was cut before an answer came."),
        (TransportError::Reset, "connection_reset", "The connection was cut before an answer came."),
        (
            TransportError::SendTimeout { limit_ms: 6_000 },
            "send_timeout",
            "The receiver took only a part of the message in 6 s.",
        ),
        (TransportError::ClosedEarly, "closed_early", "The answer broke off in its headers."),
        (
            incomplete(BodyFault::ClosedEarly { received_bytes: 5, expected_bytes: Some(10) }),
            "closed_early",
            "200: The answer broke off: 5 of 10 bytes came.",
        ),
        (
            incomplete(BodyFault::ClosedEarly { received_bytes: 5, expected_bytes: None }),
            "closed_early",
            "200: The answer broke off: 5 bytes came.",
        ),
        (
            incomplete(BodyFault::Timeout { limit_ms: 6_000 }),
            "answer_unfinished",
            "200: The answer began, but did not end in 6 s.",
        ),
        (
            TransportError::InterimResponses,
            "interim_responses",
            "The receiver sent one interim status (1xx) after the other, and no answer.",
        ),
        (TransportError::HeaderTooLarge, "large_headers", "The headers of the answer are too large."),
        (
            TransportError::NotHttp { beginning: "SSH-2.0".into() },
            "not_http",
            "The port speaks no HTTP: its answer begins with \"SSH-2.0\".",
        ),
        (TransportError::InvalidResponse, "not_http", "The port speaks no valid HTTP."),
        (TransportError::Invalid("the address has no host"), "other", "The address has no host."),
        (
            tls(TlsFault::Expired { on: Some("2026-01-31".into()) }),
            "certificate_expired",
            "The TLS certificate expired on 2026-01-31.",
        ),
        (
            tls(TlsFault::NotYetValid { from: Some("2027-01-31".into()) }),
            "certificate_not_yet_valid",
            "The TLS certificate is not valid before 2027-01-31.",
        ),
        (
            tls(TlsFault::WrongName { names: "a.example, b.example".into() }),
            "certificate_name",
            "The TLS certificate is for a.example, b.example, not for hooks.example.com.",
        ),
        (tls(TlsFault::SelfSigned), "certificate_self_signed", "The TLS certificate is self-signed."),
        (
            tls(TlsFault::UnknownAuthority { issuer: "CN=Test".into() }),
            "certificate_authority",
            "The issuer of the TLS certificate, CN=Test, is unknown, or the chain is incomplete.",
        ),
        (
            tls(TlsFault::OldVersion),
            "tls_version",
            "The receiver offers no TLS version from 1.2 on with a secure cipher.",
        ),
        (tls(TlsFault::NoTls), "no_tls", "The port speaks no TLS."),
        (
            tls(TlsFault::Other("the receiver does not know this host name".into())),
            "tls",
            "TLS failed: the receiver does not know this host name.",
        ),
    ] {
        let cause = stored(Cause::of_transport_error(&error, URL), &error.to_string());
        assert_eq!((cause.code(), cause.sentence().as_str()), (code, say), "{error}");
        assert!(code == "other" || !cause.remedy().is_empty(), "{code}");
        assert!(CauseClass::of(&cause).causes_without_response().contains(&code), "{code} is in another class");
    }
}

#[test]
fn every_status_has_a_cause() {
    for (code, name, say) in [
        (302, "redirect", "302: The address redirects, and redirects are not followed."),
        (400, "bad_request", "400: The receiver refused the request: boom"),
        (401, "unauthorized", "401: The receiver asks for a login."),
        (403, "blocked", "403: A firewall, CSRF protection or a list of addresses blocks the request: boom"),
        (404, "no_route", "404: The receiver has no route /lots/in."),
        (405, "method_not_allowed", "405: The receiver does not accept POST."),
        (408, "gave_up_reading", "408: The receiver gave up reading the request."),
        (410, "gone", "410: The receiver is gone for good, so the endpoint was disabled."),
        (411, "body_too_large", "411: The receiver refused the size of the body."),
        (413, "body_too_large", "413: The receiver refused the size of the body."),
        (415, "body_refused", "415: The receiver refused the JSON or its fields: boom"),
        (422, "body_refused", "422: The receiver refused the JSON or its fields: boom"),
        (429, "too_many_requests", "429: The receiver asked to wait."),
        (500, "code_failed", "500: The receiver's own code failed: boom"),
        (502, "application_unreachable", "502: A proxy can't reach the receiver's application."),
        (503, "application_unreachable", "503: The receiver, or a proxy in front of it, is unavailable."),
        (504, "application_unreachable", "504: A proxy can't reach the receiver's application."),
        (522, "application_unreachable", "522: A proxy can't reach the receiver's application."),
        (508, "loop", "The address leads back to this provider."),
        (418, "other_status", "Answered 418: boom"),
        (199, "other_status", "Answered 199: boom"),
    ] {
        let cause = Cause::from_parts(code, "boom", None, URL);
        assert_eq!((cause.code(), cause.sentence().as_str()), (name, say));
        assert!(!cause.remedy().is_empty(), "{code}");
        assert!(!cause.sentence_without_response().contains("boom"), "{code}");
    }
    // A title that repeats the status says nothing.
    let page = Cause::from_parts(403, "<html><head><title>403 Forbidden</title>", None, URL);
    assert_eq!(page, Cause::Blocked { line: None });
    assert!(note_on(&"a".repeat(RESPONSE_BYTES_MAX), None).contains("20,000 bytes were kept"));
    assert_eq!(note_on("short", None), "");
}

#[test]
fn a_line_of_the_response_is_omitted_privately_and_after_an_expunge() {
    let failed = |response| Cause::from_parts(500, response, None, URL);
    assert_eq!(failed("secret").sentence(), "500: The receiver's own code failed: secret");
    for without in [failed("secret").sentence_without_response(), failed(EXPUNGED).sentence(), failed("").sentence()] {
        assert_eq!(without, "500: The receiver's own code failed.");
    }
    let spoken = Cause::of_transport_error(&TransportError::NotHttp { beginning: "secret".into() }, URL);
    assert!(spoken.sentence().contains("secret"));
    assert!(!spoken.sentence_without_response().contains("secret"));
    assert_eq!(Cause::from_parts(0, EXPUNGED, None, URL).code(), "expunged");
}

#[test]
fn only_the_nodes_own_faults_are_not_the_receivers() {
    let cause = |error: TransportError| Cause::of_transport_error(&error, URL);
    let (host, reason) = ("h".to_owned(), "Network is unreachable (os error 101) (203.0.113.7:443)".to_owned());
    assert!(cause(TransportError::LocalFault { host: host.clone(), reason }).is_own_fault());
    assert!(cause(TransportError::Proxy("x".into())).is_own_fault());
    let reason = "No route to host (os error 113) (203.0.113.7:443)".to_owned();
    assert!(!cause(TransportError::Connect { host, reason }).is_own_fault());
    assert!(!Cause::from_parts(500, "", None, URL).is_own_fault());
}

/// The table in docs/receive-events/failures.md has each cause in its own words.
#[test]
fn the_documentation_lists_every_cause() {
    let t = str::to_owned;
    let documented = [
        Cause::NoDnsRecord { host: t("HOST") },
        Cause::NameServersSilent { host: t("HOST") },
        Cause::Refused { address: t("IP:PORT") },
        Cause::ConnectTimeout { address: t("IP:PORT"), limit_ms: 10_000 },
        Cause::NotConnected { reason: t("ERROR"), is_local: false },
        Cause::Reset { is_plain: false },
        Cause::TlsTimeout { limit_ms: 10_000 },
        Cause::SendTimeout { limit_ms: 30_000 },
        Cause::NoAnswer { limit_ms: 30_000 },
        Cause::AnswerUnfinished { code: 200, limit_ms: 30_000 },
        Cause::InterimResponses,
        Cause::CertificateExpired { on: Some(t("DATE")) },
        Cause::CertificateNotYetValid { from: Some(t("DATE")) },
        Cause::WrongName { names: t("NAMES"), host: t("HOST") },
        Cause::SelfSigned,
        Cause::UnknownAuthority { issuer: t("ISSUER") },
        Cause::OldTls,
        Cause::NoTls,
        Cause::OtherTls { reason: t("ERROR") },
        Cause::Redirect { code: 302, to: Some(t("URL")) },
        Cause::BadRequest { line: Some(t("LINE")) },
        Cause::ExpectsTls { code: Some(400) },
        Cause::Unauthorized { challenge: Some(t("LOGIN")) },
        Cause::Blocked { line: Some(t("LINE")) },
        Cause::NoRoute { path: t("PATH") },
        Cause::MethodNotAllowed,
        Cause::GaveUpReading,
        Cause::Gone,
        Cause::BodyTooLarge { code: 413 },
        Cause::BodyRefused { code: 422, line: Some(t("LINE")) },
        Cause::TooManyRequests { until: Some(t("TIME")) },
        Cause::CodeFailed { line: Some(t("LINE")) },
        Cause::ApplicationUnreachable { code: 502, server: Some(t("SERVER")), until: None },
        Cause::ClosedEarly { code: Some(200), received_bytes: 5, expected_bytes: Some(9) },
        Cause::LargeHeaders,
        Cause::PrivateAddress { host: t("HOST"), kind: t("private") },
        Cause::Loop,
        Cause::NotHttp { beginning: Some(t("BYTES")) },
        Cause::Proxy { reason: t("ERROR") },
        Cause::OtherStatus { code: 418, line: Some(t("LINE")) },
    ];
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/receive-events/failures.md");
    let page = std::fs::read_to_string(file).unwrap();
    for cause in &documented {
        assert_eq!(serde_json::to_value(cause).unwrap()["cause"], cause.code());
        let row = format!("| `{}` | {} | {} |", cause.code(), cause.sentence(), cause.remedy());
        assert!(page.lines().any(|line| line == row), "the page lacks {row}");
    }
    let rows = page.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows, documented.len());
}

#[test]
fn a_header_of_the_response_says_more_and_stays_out_of_mails() {
    let of = |code, header: Option<&str>| {
        let detail = header.map(|header| FailureDetail::Header(header.to_owned()));
        Cause::from_parts(code, "", detail.as_ref(), "https://a.example/old?x=1")
    };
    let redirect = of(301, Some("/new?token=secret"));
    assert_eq!(
        redirect.sentence(),
        "301: The address redirects to https://a.example/new?token=secret, and redirects are not followed."
    );
    assert!(!redirect.sentence_without_response().contains("secret"));
    assert_eq!(of(302, Some("javascript:alert(1)")), Cause::Redirect { code: 302, to: None });
    let login = of(401, Some("Basic realm=\"staff\""));
    assert_eq!(login.sentence(), "401: The receiver asks for a login (Basic realm=\"staff\").");
    assert!(!login.sentence_without_response().contains("staff"));
    let wait = of(429, Some("2026-11-21T07:00:00Z"));
    assert_eq!(wait.sentence(), "429: The receiver asked to wait until 21 November 2026, 07:00:00 UTC.");
    assert_eq!(wait.sentence_without_response(), wait.sentence());
    let proxy = of(502, Some("cloudflare"));
    assert_eq!(proxy.sentence(), "502: cloudflare can't reach the receiver's application.");
    assert!(!proxy.sentence_without_response().contains("cloudflare"));
    let asked = of(503, Some("2026-11-21T07:00:00Z"));
    let sentence = "503: The receiver is unavailable, and asked to wait until 21 November 2026, 07:00:00 UTC.";
    assert_eq!((asked.sentence().as_str(), asked.sentence_without_response().as_str()), (sentence, sentence));
    assert_eq!(of(503, None).sentence(), "503: The receiver, or a proxy in front of it, is unavailable.");
    assert_eq!(of(500, None).code(), "code_failed");
}

#[test]
fn a_port_for_tls_that_answers_plain_http_is_recognised() {
    for answer in [
        "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>",
        "Client sent an HTTP request to an HTTPS server.\n",
        "<p>Reason: You're speaking plain HTTP to an SSL-enabled server port.</p>",
    ] {
        let expects_tls = Cause::ExpectsTls { code: Some(400) };
        assert_eq!(Cause::from_parts(400, answer, None, "http://a.example:443/"), expects_tls, "{answer}");
        assert_eq!(Cause::from_parts(400, answer, None, "https://a.example/").code(), "bad_request", "{answer}");
    }
    assert_eq!(Cause::from_parts(400, "no signature", None, "http://a.example/").code(), "bad_request");
    let alert = TransportError::NotHttp { beginning: b"\x15\x03\x03\0\x02\x02\x32".escape_ascii().to_string() };
    let of = Cause::of_transport_error;
    let expects_tls = Cause::ExpectsTls { code: None };
    assert_eq!(of(&alert, "http://a.example:9443/"), expects_tls);
    assert_eq!(expects_tls.sentence(), "The port expects TLS, and the request was sent over plain HTTP.");
    assert_eq!(of(&alert, "https://a.example/").code(), "not_http");
    for error in [TransportError::Reset, TransportError::Closed] {
        assert_eq!(of(&error, "http://a.example:443/"), expects_tls);
        assert_eq!(of(&error, "http://a.example:8443/"), expects_tls);
        assert!(of(&error, "http://a.example/").remedy().contains("begin the address with https://"));
        assert!(!of(&error, "https://a.example/").remedy().contains("https://"));
    }
}
