//! Derives the cause from the text of a transport error, because an attempt stores only the text. The tests of
//! [`super::Cause`] check that these texts match those of `kit-outbound`.

use super::{Cause, LOOP, host};

/// The cause that matches the text of a transport error.
pub(super) fn cause(text: &str, url: &str) -> Cause {
    dns(text)
        .or_else(|| connection(text))
        .or_else(|| text.strip_prefix("TLS failed: ").map(|reason| tls(reason, url)))
        .or_else(|| exchange(text))
        .unwrap_or_else(|| Cause::OtherTransport { reason: text.to_owned() })
}

fn dns(text: &str) -> Option<Cause> {
    if let Some(host) = text.strip_prefix("the name servers of ").and_then(|rest| before(rest, " did not answer")) {
        return Some(Cause::NameServersSilent { host });
    }
    let rest = text.strip_prefix("the host ")?;
    if let Some(host) = before(rest, " could not be resolved") {
        return Some(Cause::NoDnsRecord { host });
    }
    let (host, reason) = rest.split_once(" is refused: its address is ")?;
    let kind = before(reason, ", and requests").unwrap_or_else(|| "private".to_owned());
    Some(Cause::PrivateAddress { host: host.to_owned(), kind })
}

fn connection(text: &str) -> Option<Cause> {
    if let Some(rest) = text.strip_prefix("could not connect to ") {
        let reason = rest.split_once(": ").map_or(rest, |(_, reason)| reason);
        return Some(match before(reason, " refused the connection") {
            Some(address) => Cause::Refused { address },
            None if reason.starts_with("Connection refused") => {
                Cause::Refused { address: rest.split(": ").next().unwrap_or_default().to_owned() }
            }
            None => Cause::NotConnected { reason: reason.to_owned() },
        });
    }
    if let Some(reason) = text.strip_prefix("no connection through the proxy: ") {
        return Some(Cause::Proxy { reason: reason.to_owned() });
    }
    let (awaited, ms) = text.strip_prefix("no ")?.strip_suffix(" ms")?.rsplit_once(" within ")?;
    let seconds = seconds(ms)?;
    Some(match awaited {
        "TLS handshake" => Cause::TlsTimeout { seconds },
        "complete response" => Cause::NoAnswer { seconds },
        _ => {
            let address = awaited.strip_prefix("connection to ").unwrap_or("the host").to_owned();
            Cause::ConnectTimeout { address, seconds }
        }
    })
}

fn tls(reason: &str, url: &str) -> Cause {
    let Some(certificate) = reason.strip_prefix("the receiver's certificate ") else {
        return match () {
            () if reason.starts_with("the receiver's TLS is too old") => Cause::OldTls,
            () if reason.starts_with("the receiver's response is not TLS") => Cause::NoTls,
            () => Cause::OtherTls { reason: reason.to_owned() },
        };
    };
    if let Some(on) = certificate.strip_prefix("expired on ") {
        return Cause::CertificateExpired { on: on.to_owned() };
    }
    if let Some(from) = certificate.strip_prefix("is not valid before ") {
        return Cause::CertificateNotYetValid { from: from.to_owned() };
    }
    if let Some(rest) = certificate.strip_prefix("is from the unknown authority ") {
        let issuer = before(rest, ", or its intermediate").unwrap_or_else(|| rest.to_owned());
        return Cause::UnknownAuthority { issuer };
    }
    match () {
        () if certificate.starts_with("has expired") => Cause::CertificateExpired { on: String::new() },
        () if certificate.starts_with("is not valid yet") => Cause::CertificateNotYetValid { from: String::new() },
        () if certificate.starts_with("is self-signed") => Cause::SelfSigned,
        () if certificate.starts_with("is from an authority") => Cause::UnknownAuthority { issuer: String::new() },
        () => match certificate.strip_prefix("is for ") {
            Some(names) => Cause::WrongName { names: names.to_owned(), host: host(url) },
            None => Cause::OtherTls { reason: reason.to_owned() },
        },
    }
}

fn exchange(text: &str) -> Option<Cause> {
    if let Some(rest) = text.strip_prefix("the response is not HTTP; it begins with \"") {
        return Some(Cause::NotHttp { beginning: rest.strip_suffix('"').map(str::to_owned) });
    }
    if let Some(received) = text.strip_prefix("the connection was closed after ") {
        return Some(Cause::ClosedEarly { received: before(received, " of the response")? });
    }
    Some(match text {
        LOOP => Cause::Loop,
        "the connection was closed before the response was complete"
        | "the connection was reset before the response was complete" => Cause::Reset,
        "the headers of the response are too large" => Cause::LargeHeaders,
        "the response is not valid HTTP" => Cause::NotHttp { beginning: None },
        _ => return None,
    })
}

fn before(text: &str, mark: &str) -> Option<String> {
    text.find(mark).map(|at| text[..at].to_owned())
}

/// Formats milliseconds as seconds, such as `30` or `0.5`.
fn seconds(ms: &str) -> Option<String> {
    let ms: u64 = ms.parse().ok()?;
    Some(if ms.is_multiple_of(1_000) { (ms / 1_000).to_string() } else { format!("{}", ms as f64 / 1_000.0) })
}
