//! Why an attempt failed, in plain words, and what the receiver's engineer can do.

use kit_design::error_page::sentence;

/// The cause of a failed attempt and the next step; the step is empty when none is known.
pub(crate) fn cause(code: u16, response: &str) -> (String, &'static str) {
    let (say, step) = match code {
        0 => return (sentence(response), transport_step(response)),
        300..=399 => ("The address redirects, and redirects are not followed", "Use the address that it redirects to."),
        400 => (
            "The receiver refused the request, often because of the signature",
            "Verify the raw bytes with this endpoint's secret.",
        ),
        401 | 403 => ("A login, a firewall or a list of addresses blocks the request", "Exempt this path."),
        404 => ("The receiver has no such path", "Deploy the route, or correct the address."),
        405 => ("The receiver does not accept POST", "Route POST requests to this path."),
        408 => ("The receiver gave up reading the request", "Raise its read timeout."),
        410 => (
            "The receiver is gone for good, so the endpoint was disabled",
            "Repair the receiver, then enable the endpoint.",
        ),
        411 | 413 => ("The receiver refused the size of the body", "Raise its limit, and accept Content-Length."),
        415 | 422 => ("The receiver refused the JSON or its fields", "Accept JSON, and compare the schema."),
        429 => ("The receiver asked to wait", "Set a throttle rate for this endpoint."),
        500 => ("The receiver's own code failed", "Look for the message id in its log."),
        502..=504 | 520..=529 => {
            ("A proxy can't reach the receiver's application", "Check the application behind the proxy.")
        }
        code => return (format!("Answered {code}."), ""),
    };
    (format!("{code}: {say}."), step)
}

fn transport_step(error: &str) -> &'static str {
    let has = |words: &[&str]| words.iter().any(|word| error.to_ascii_lowercase().contains(word));
    match () {
        () if has(&["not be resolved"]) => "Correct the host name, or publish its DNS record.",
        () if has(&["is refused", "not allowed"]) => "Use a public address, or ask the operator to allow this one.",
        () if has(&["connection refused"]) => "Start the server, and open its port.",
        () if has(&["certificate"]) => "Renew the certificate, and send the full chain.",
        () if has(&["tls"]) => "Enable TLS 1.2 or newer on this port.",
        () if has(&[" ms"]) => "Put the work into a queue, and answer before doing it.",
        () if has(&["closed", "reset"]) => "Read the logs of the proxy and the application.",
        () => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_a_cause_in_words() {
        for (code, response, say, has_step) in [
            (0, "no complete response within 30000 ms", "No complete response within 30000 ms.", true),
            (
                0,
                "the host x.example could not be resolved: none",
                "The host x.example could not be resolved: none.",
                true,
            ),
            (404, "<html>", "404: The receiver has no such path.", true),
            (418, "", "Answered 418.", false),
        ] {
            let (said, step) = cause(code, response);
            assert_eq!((said.as_str(), !step.is_empty()), (say, has_step));
        }
    }
}
