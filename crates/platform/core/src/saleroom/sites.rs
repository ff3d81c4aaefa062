//! The web sites of a house whose pages read its sales in a browser, and to which bidders may allow access.

use url::{Host, Url};
use uuid::Uuid;

use super::Saleroom;
use crate::error::{PlatformResult, Problem};
use crate::port::{House, HouseSaleroom, HouseSite, SITE_REDIRECT_CHARS_MAX};
use crate::steps::decide::expect_version;
use crate::steps::input::require_usable;
use crate::{Caller, Platform, Scope};

/// Addresses that a house lists.
pub const SITE_ADDRESSES_MAX: usize = 20;

impl Platform {
    /// Replaces the web sites of a house. `addresses` has one address a line: an origin alone for a site that only reads sales, or an
    /// address with a path, to which bidders come back after allowing access. Tokens of a site that is not listed any more work no
    /// longer.
    ///
    /// Errors: `not_found` (customer), `precondition_failed`, `invalid`, `busy`.
    pub async fn change_saleroom_sites(
        &self,
        caller: &Caller,
        customer: Uuid,
        addresses: &str,
        expected_version: Option<i64>,
    ) -> PlatformResult<House> {
        caller.require(Scope::CustomersWrite)?;
        let found = sites_of_addresses(addresses);
        let problems = found.as_ref().err().map(|message| Problem::new("/sites", message.clone()));
        require_usable(problems.into_iter().collect(), None)?;
        let before = self.house(caller, customer).await?;
        expect_version(expected_version, before.version)?;
        let saleroom = HouseSaleroom { sites: found.unwrap_or_default(), ..before.saleroom.clone() };
        self.write_house(caller, House { saleroom, ..before }, None).await
    }
}

impl Saleroom {
    /// The listed site with this origin.
    pub fn site(&self, origin: &str) -> Option<&HouseSite> {
        self.house.saleroom.sites.iter().find(|site| site.origin == origin)
    }
}

/// The sites that these lines list. The error says which line can't be used, and why.
pub fn sites_of_addresses(addresses: &str) -> Result<Vec<HouseSite>, String> {
    let mut sites: Vec<HouseSite> = Vec::new();
    let lines: Vec<&str> = addresses.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.len() > SITE_ADDRESSES_MAX {
        return Err(format!("has {} addresses: at most {SITE_ADDRESSES_MAX} are possible", lines.len()));
    }
    for line in lines {
        let (origin, redirect) = check_address(line).map_err(|message| format!("{line:?} {message}"))?;
        let known = sites.iter().position(|site| site.origin == origin);
        let place = known.unwrap_or_else(|| {
            sites.push(HouseSite { origin, redirects: Vec::new() });
            sites.len() - 1
        });
        if let Some(redirect) = redirect
            && let Some(site) = sites.get_mut(place)
            && !site.redirects.contains(&redirect)
        {
            site.redirects.push(redirect);
        }
    }
    Ok(sites)
}

/// The origin of an address, and the address itself if it is one to come back to. It is compared letter by letter later, so it has
/// to be in the form in which browsers write it.
fn check_address(text: &str) -> Result<(String, Option<String>), String> {
    if text.chars().count() > SITE_REDIRECT_CHARS_MAX {
        return Err(format!("is longer than {SITE_REDIRECT_CHARS_MAX} characters"));
    }
    let url = Url::parse(text).map_err(|_| "is not an address, such as https://www.example.com/bids".to_owned())?;
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if url.scheme() != "https" && !(url.scheme() == "http" && is_local) {
        return Err("must begin with https://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err("must have no user name and no # part".to_owned());
    }
    if url.host_str().is_some_and(|host| host.contains('*')) {
        return Err("must name one host, without *".to_owned());
    }
    let origin = url.origin().ascii_serialization();
    if text == origin {
        return Ok((origin, None));
    }
    if url.as_str() != text {
        return Err(format!("must be written as {}", url.as_str()));
    }
    Ok((origin, Some(text.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_a_path_is_one_to_come_back_to() {
        let sites = sites_of_addresses(
            "https://www.example.com\n\n https://www.example.com/bids \nhttps://www.example.com/bids\n\
             https://shop.example:8443/\nhttp://localhost:3000/back?a=1\nhttp://saleroom.localhost:1\n",
        )
        .unwrap();
        let listed: Vec<(&str, Vec<&str>)> = sites
            .iter()
            .map(|site| (site.origin.as_str(), site.redirects.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(
            listed,
            [
                ("https://www.example.com", vec!["https://www.example.com/bids"]),
                ("https://shop.example:8443", vec!["https://shop.example:8443/"]),
                ("http://localhost:3000", vec!["http://localhost:3000/back?a=1"]),
                ("http://saleroom.localhost:1", vec![]),
            ]
        );
    }

    #[test]
    fn an_address_that_can_be_read_in_two_ways_is_refused() {
        for address in [
            "www.example.com",
            "http://www.example.com/",
            "http://localhost.example.com/",
            "ftp://localhost/",
            "javascript:alert(1)",
            "data:text/html,x",
            "https://",
            "https://*.example.com/",
            "https://user@www.example.com/",
            "https://www.example.com/#part",
            "https://www.example.com/a/../b",
            "https://www.example.com/a/%2e%2e/b",
            "https://www.example.com/a/./b",
            "https://www.example.com:443/a",
            "https://WWW.example.com/a",
            "https://www.example.com/a b",
            "https:\\\\www.example.com\\a",
            "null",
            &format!("https://www.example.com/{}", "a".repeat(500)),
        ] {
            assert!(sites_of_addresses(address).is_err(), "{address}");
        }
        let many: Vec<String> = (0..=SITE_ADDRESSES_MAX).map(|number| format!("https://{number}.example")).collect();
        assert!(sites_of_addresses(&many.join("\n")).is_err());
        assert_eq!(sites_of_addresses(&many[1..].join("\n")).unwrap().len(), SITE_ADDRESSES_MAX);
    }
}
