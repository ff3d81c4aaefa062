//! What the check of a pasted request found, in words.

use jiff::Timestamp;
use kit_design::relative_time::RelativeTime;
use provider_core::endpoints::signature_check::{
    BodyCheck, CLOCK_TOLERANCE_SECONDS, ClockCheck, IdCheck, SecretMatch, SignatureCheck, SignatureMatch,
};

use crate::portal::labels::StatusBadge;

/// The result of all checks.
pub(super) struct Outcome {
    pub(super) is_valid: bool,
    pub(super) verdict: &'static str,
    pub(super) rows: Vec<Row>,
}

/// One check.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) status: StatusBadge,
    pub(super) found: String,
    /// What to do; empty when there is nothing to do.
    pub(super) step: &'static str,
    /// End of the grace period that the texts are about.
    pub(super) until: Option<RelativeTime>,
}

impl Outcome {
    pub(super) fn new(check: &SignatureCheck, now: Timestamp) -> Self {
        let mut rows = vec![id(check.id), clock(check.clock), body(check), signature(check, now)];
        rows.extend(check.receiver_secret.map(|secret| receiver_secret(secret, now)));
        let is_valid = check.is_valid();
        let verdict = if is_valid {
            "A receiver that has this endpoint's secret accepts this request. If yours refuses it, compare its secret and \
             its clock, and give the verification the raw body."
        } else {
            "A receiver refuses this request. The failed check says why."
        };
        Self { is_valid, verdict, rows }
    }
}

fn row(name: &'static str, status: StatusBadge, found: impl Into<String>, step: &'static str) -> Row {
    Row { name, status, found: found.into(), step, until: None }
}

fn passed(name: &'static str, found: impl Into<String>) -> Row {
    row(name, StatusBadge::PASSED, found, "")
}

fn failed(name: &'static str, found: impl Into<String>, step: &'static str) -> Row {
    row(name, StatusBadge::CHECK_FAILED, found, step)
}

fn unchecked(name: &'static str, found: impl Into<String>, step: &'static str) -> Row {
    row(name, StatusBadge::NOT_CHECKED, found, step)
}

fn id(check: IdCheck) -> Row {
    let name = "Message id";
    match check {
        IdCheck::Known => passed(name, "The message is one of this application."),
        IdCheck::Missing => failed(
            name,
            "The header webhook-id is missing.",
            "Paste all headers. If your receiver does not get it, see whether a proxy before it removes headers.",
        ),
        IdCheck::Unknown => unchecked(
            name,
            "No message of this application has this id, so its payload can't be compared.",
            "See whether the request is of another application, or was changed on its way.",
        ),
    }
}

fn clock(check: ClockCheck) -> Row {
    let name = "Timestamp";
    match check {
        ClockCheck::Right => passed(name, "The receiver's clock was right."),
        ClockCheck::Sent(seconds) => passed(
            name,
            format!("The request was sent {seconds} s ago. A receiver accepts it for {CLOCK_TOLERANCE_SECONDS} s."),
        ),
        ClockCheck::Missing => failed(name, "The header webhook-timestamp is missing.", "Paste all headers."),
        ClockCheck::NotANumber => failed(
            name,
            "The header webhook-timestamp is not a number of seconds since 1970.",
            "See whether a proxy or your own code changes it.",
        ),
        ClockCheck::Off(seconds) if seconds > 0 => failed(
            name,
            format!("The receiver's clock was {seconds} s ahead of the timestamp."),
            "Set the receiver's clock by NTP. If the request waited in a queue, verify it before it is queued.",
        ),
        ClockCheck::Off(seconds) => failed(
            name,
            format!("The clock was {} s behind the timestamp.", seconds.unsigned_abs()),
            "Set the receiver's clock by NTP.",
        ),
    }
}

fn body(check: &SignatureCheck) -> Row {
    let name = "Body";
    // The signature covers the body: a body with a right signature is the body that was sent.
    let is_signed = matches!(check.signature, SignatureMatch::Current | SignatureMatch::Old(_));
    match check.body {
        BodyCheck::Same => passed(name, "The body is the payload of the message, byte for byte."),
        _ if is_signed => passed(name, "The signature is of this body."),
        BodyCheck::Padded => failed(
            name,
            "The body has other white space at its ends than the payload.",
            "Verify the bytes as they arrive, without adding or removing a line break.",
        ),
        BodyCheck::Reserialised { first_difference } => failed(
            name,
            format!("The body was re-serialised: the same JSON in other bytes, from byte {first_difference} on."),
            "Give the verification the raw body, before a framework parses it.",
        ),
        BodyCheck::Other { first_difference } => failed(
            name,
            format!("The body is not the payload of the message; it differs from byte {first_difference} on."),
            "Give the verification the raw body of the same request as the headers.",
        ),
        BodyCheck::Unknown => unchecked(name, "The payload of the message is not known here.", ""),
    }
}

fn signature(check: &SignatureCheck, now: Timestamp) -> Row {
    let name = "Signature";
    match check.signature {
        SignatureMatch::Current => passed(name, "This endpoint's secret made it."),
        SignatureMatch::Old(until) => Row {
            until: Some(RelativeTime::new(until, now)),
            ..row(
                name,
                StatusBadge::PASSED,
                "An old secret in its grace period made it; the new secret's signature is missing.",
                "Paste the whole header: during the grace period it has one signature for each secret.",
            )
        },
        SignatureMatch::Missing => failed(name, "The header webhook-signature is missing.", "Paste all headers."),
        SignatureMatch::OtherScheme => failed(
            name,
            "The header webhook-signature has no signature of this endpoint's kind.",
            "Paste the whole value: the version, a comma, and the base64 text, such as v1,K5oZ… .",
        ),
        SignatureMatch::OtherBody => failed(
            name,
            "This endpoint's secret signed the payload of the message, but not the body that you pasted.",
            "The secret is right. Verify the raw body.",
        ),
        SignatureMatch::None => failed(
            name,
            "None of this endpoint's secrets made it for this id, timestamp and body.",
            "See whether the request is of this endpoint, and whether id, timestamp or body were changed.",
        ),
    }
}

fn receiver_secret(secret: SecretMatch, now: Timestamp) -> Row {
    let name = "Your receiver's secret";
    match secret {
        SecretMatch::Current => passed(name, "It is this endpoint's secret."),
        SecretMatch::Old(until) => Row {
            until: Some(RelativeTime::new(until, now)),
            ..row(
                name,
                StatusBadge::PASSED,
                "It is the old secret, which signs only until its grace period ends.",
                "Give your receiver the new secret.",
            )
        },
        SecretMatch::Wrong => failed(
            name,
            "It is the wrong secret: not this endpoint's, and no old one that still signs.",
            "Copy the secret of this endpoint. Each endpoint has its own.",
        ),
        SecretMatch::Malformed => failed(
            name,
            "It is not a signing secret.",
            "A secret is whsec_ and a base64 text. Copy it without quotes and spaces.",
        ),
    }
}
