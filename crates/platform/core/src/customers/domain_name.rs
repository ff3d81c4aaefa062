//! The domain that a house enters for its saleroom, and the record that proves it.

use url::{Host, Url};

use crate::port::{DomainFinding, HouseDomain};

/// Characters of a domain (RFC 1035, section 2.3.4).
pub const DOMAIN_CHARS_MAX: usize = 253;
/// Characters between two dots.
const LABEL_CHARS_MAX: usize = 63;
/// The first part of the name of a record.
const RECORD_LABEL: &str = "_lotwire";
/// What the value of a record begins with.
const VALUE_PREFIX: &str = "lotwire-house=";
/// Values of records that a look-up keeps to show them, and the characters of each.
const VALUES_SHOWN_MAX: usize = 3;
const VALUE_CHARS_SHOWN_MAX: usize = 100;

/// The form of a typed domain in DNS, in lower-case ASCII. The error says why it can't be used.
pub(crate) fn parse(typed: &str) -> Result<String, String> {
    // A dot at the end makes a name absolute; tools of DNS write it.
    let typed = typed.trim();
    let typed = typed.strip_suffix('.').unwrap_or(typed);
    if typed.contains(['/', ':', '@', '?', '#', '*']) {
        return Err("has more than a domain: enter only the name, such as bid.example.com".to_owned());
    }
    let host = Host::parse(typed).map_err(|_| "is not a domain, such as bid.example.com".to_owned())?;
    let Host::Domain(domain) = host else {
        return Err("is an IP address: enter a domain, such as bid.example.com".to_owned());
    };
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label = |label: &str| {
        let is_long = label.is_empty() || label.len() > LABEL_CHARS_MAX;
        !is_long && label.chars().all(is_letter) && !label.starts_with('-') && !label.ends_with('-')
    };
    // The name of the record is longer.
    let is_long = domain.len() + RECORD_LABEL.len() + 1 > DOMAIN_CHARS_MAX;
    if is_long || !domain.contains('.') || !domain.split('.').all(is_label) {
        return Err("is not a domain, such as bid.example.com".to_owned());
    }
    if domain == "localhost" || domain.ends_with(".localhost") {
        return Err("leads every computer to itself: enter a domain that bidders can reach".to_owned());
    }
    Ok(domain)
}

/// The host of a URL as [`parse`] writes it; none for a text that is no URL.
pub(crate) fn host_of(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().map(str::to_lowercase)
}

impl HouseDomain {
    /// Name of the text record that proves the domain.
    pub fn record_name(&self) -> String {
        format!("{RECORD_LABEL}.{}", self.domain)
    }

    /// The value of the record.
    pub fn record_value(&self) -> String {
        format!("{VALUE_PREFIX}{}", self.token)
    }

    /// What the text records of the name show about this house.
    pub(super) fn finding(&self, values: &[String]) -> DomainFinding {
        if values.is_empty() {
            return DomainFinding::NoRecord;
        }
        if self.is_proof(values) {
            return DomainFinding::Proof;
        }
        let short = |value: &String| -> String {
            let shown = value.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
            shown.take(VALUE_CHARS_SHOWN_MAX).collect()
        };
        DomainFinding::OtherValues(values.iter().take(VALUES_SHOWN_MAX).map(short).collect())
    }

    /// Whether one of the values is that of this house.
    pub(super) fn is_proof(&self, values: &[String]) -> bool {
        values.iter().any(|value| value.trim() == self.record_value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_kept_in_the_form_of_dns() {
        for (typed, domain) in [
            ("bid.example.com", "bid.example.com"),
            (" Bid.Example.COM ", "bid.example.com"),
            ("bid.example.com.", "bid.example.com"),
            ("gebote.müller.example", "gebote.xn--mller-kva.example"),
            ("gebote.xn--mller-kva.example", "gebote.xn--mller-kva.example"),
            ("1890.example", "1890.example"),
        ] {
            assert_eq!(parse(typed).as_deref(), Ok(domain), "{typed}");
        }
    }

    #[test]
    fn what_is_no_public_domain_is_refused() {
        let long = format!("{}.example.com", "a".repeat(64));
        let longer = format!("{}com", "a.".repeat(122));
        for typed in [
            "",
            "example",
            "localhost",
            "saleroom.localhost",
            "127.0.0.1",
            "0x7f.1",
            "2130706433",
            "1.2.3.4.5",
            "[::1]",
            "::1",
            "https://bid.example.com",
            "bid.example.com/",
            "bid.example.com:443",
            "bid.example.com..",
            ".",
            ".example.com",
            "bid..example.com",
            "-bid.example.com",
            "bid-.example.com",
            "bid_1.example.com",
            "*.example.com",
            "user@bid.example.com",
            "bid example.com",
            "bid.example.com\nevil.example",
            "bid%2eexample.com\0",
            "xn--a.example",
            &long,
            &longer,
        ] {
            assert!(parse(typed).is_err(), "{typed:?}: {:?}", parse(typed));
        }
    }
}
