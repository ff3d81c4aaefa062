//! Limits on mails to one mailbox and mails caused by one sender. Pure: the caller's store counts the mails, so that a restart
//! or another node does not renew an allowance.

use std::time::Duration;

use sha2::{Digest as _, Sha256};
use unicode_normalization::UnicodeNormalization as _;
use url::Host;

/// A number of mails that refills evenly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Owner of the allowance: a hash, so that no table has the address.
    pub subject: [u8; 32],
    /// Mails of a full allowance.
    pub mails_max: u32,
    /// Time after which one mail is refilled.
    pub refill_interval: Duration,
}

impl Allowance {
    /// `mails_max` mails (at least one) in each `window`. Mails of one `purpose` whose owners have the same parts share it.
    pub fn new(purpose: &str, owner: &[&str], mails_max: u32, window: Duration) -> Self {
        let mut subject = Sha256::new_with_prefix(purpose);
        subject.update([0]);
        for part in owner {
            subject.update(part);
            subject.update([0]);
        }
        Self { subject: subject.finalize().into(), mails_max, refill_interval: window / mails_max.max(1) }
    }
}

/// Normalises an address, so that all addresses of one mailbox have the same text. Most servers deliver
/// `Ann+anything@example.com` to the mailbox of `ann@example.com`, and some ignore dots. Mailboxes that differ only in
/// dots share an allowance, which is harmless. Google delivers mail to `googlemail.com` to the same mailbox at `gmail.com`. Quotes, quoted pairs (RFC 5321, section 4.1.2) and the form of the
/// domain name are normalised too.
pub fn mailbox(address: &str) -> String {
    let address: String = address.nfkc().flat_map(char::to_lowercase).collect();
    let (local, domain) = address.rsplit_once('@').unwrap_or((&address, ""));
    let local = local.replace(['"', '\\', '.'], "");
    let local = local.split('+').next().unwrap_or_default();
    let domain = domain.trim_end_matches('.');
    let ascii = Host::parse(domain).map_or_else(|_| domain.to_owned(), |host| host.to_string());
    let ascii = if ascii == "googlemail.com" { "gmail.com" } else { &ascii };
    format!("{local}@{ascii}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_mailbox_share_its_allowance() {
        for address in
            ["ann.lee@example.com", "Ann.Lee@Example.COM", "annlee+1@example.com", "\"a.nnlee+x\"@example.com."]
        {
            assert_eq!(mailbox(address), "annlee@example.com", "{address}");
        }
        for address in ["\"a\\nn\\.l\\ee\"@example.com", "ａnnlee@ｅxample.com", "annlee@example。com"] {
            assert_eq!(mailbox(address), "annlee@example.com", "{address}");
        }
        for address in ["bob@bücher.de", "bob@bu\u{308}cher.de", "BOB@XN--BCHER-KVA.de"] {
            assert_eq!(mailbox(address), "bob@xn--bcher-kva.de", "{address}");
        }
        for address in ["Ann.Lee@googlemail.com", "annlee+sale@GoogleMail.com.", "ann.lee@gmail.com"] {
            assert_eq!(mailbox(address), "annlee@gmail.com", "{address}");
        }
        assert_ne!(mailbox("ann@example.com"), mailbox("ann@example.org"));
        assert_ne!(mailbox("ann@mail.googlemail.com"), mailbox("ann@mail.gmail.com"));
    }

    #[test]
    fn owners_with_other_parts_have_other_allowances() {
        let subject = |purpose, owner: &[&str]| Allowance::new(purpose, owner, 5, Duration::from_secs(50)).subject;
        assert_eq!(subject("code", &["a", "b"]), subject("code", &["a", "b"]));
        assert_ne!(subject("code", &["a", "b"]), subject("code", &["ab"]));
        assert_ne!(subject("code", &["a"]), subject("sale", &["a"]));
        assert_eq!(Allowance::new("code", &[], 5, Duration::from_secs(50)).refill_interval, Duration::from_secs(10));
        assert_eq!(Allowance::new("code", &[], 0, Duration::from_secs(50)).refill_interval, Duration::from_secs(50));
    }
}
