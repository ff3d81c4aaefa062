//! The checks of what staff enter about a house.

use kit_mail::is_address;
use url::Url;

use crate::customers::addresses::{self, AddressInput};
use crate::error::Problem;
use crate::port::HouseProfile;
use crate::steps::input::{check_lines, check_text, is_time_zone};

/// Characters of a text of a house.
pub const HOUSE_TEXT_CHARS_MAX: usize = 4_000;
/// Characters of a telephone number.
const PHONE_CHARS_MAX: usize = 60;
/// Characters of the address of a web site.
pub const WEBSITE_CHARS_MAX: usize = 200;
/// Bytes of the file of a logo: 400 KiB.
pub const LOGO_BYTES_MAX: usize = 400 << 10;
/// Characters of conditions of sale.
pub const CONDITIONS_CHARS_MAX: usize = 40_000;

impl HouseProfile {
    /// All problems of the values by themselves.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut add = |pointer: &str, checked: Option<Result<(), String>>| {
            if let Some(Err(message)) = checked {
                problems.push(Problem::new(pointer, message));
            }
        };
        let lines = |text: &Option<String>| text.as_ref().map(|text| check_lines(text, HOUSE_TEXT_CHARS_MAX));
        add("/timeZone", self.time_zone.as_deref().map(check_time_zone));
        add("/email", self.email.as_deref().map(check_email));
        add("/phone", self.phone.as_ref().map(|phone| check_text(phone, PHONE_CHARS_MAX)));
        add("/website", self.website.as_deref().map(check_website));
        add("/about", lines(&self.about));
        add("/payment", lines(&self.payment));
        add("/collection", lines(&self.collection));
        if let Some(address) = &self.address {
            problems.extend(addresses::problems(&AddressInput::Full(Box::new(address.clone()))));
        }
        problems
    }
}

fn check_time_zone(name: &str) -> Result<(), String> {
    if is_time_zone(name) { Ok(()) } else { Err("is not an IANA time zone such as Europe/London".into()) }
}

fn check_email(email: &str) -> Result<(), String> {
    if is_address(email) { Ok(()) } else { Err("is not an e-mail address".into()) }
}

fn check_website(address: &str) -> Result<(), String> {
    check_text(address, WEBSITE_CHARS_MAX)?;
    let is_web = Url::parse(address).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let names_user = Url::parse(address).is_ok_and(|url| !url.username().is_empty() || url.password().is_some());
    if names_user {
        return Err("has the name of a user before its host: write it without, such as https://www.example.com".into());
    }
    if is_web { Ok(()) } else { Err("is not the address of a web site, such as https://www.example.com".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(profile: &HouseProfile) -> Vec<String> {
        profile.problems().into_iter().map(|problem| problem.pointer).collect()
    }

    #[test]
    fn every_value_is_checked_by_itself() {
        assert_eq!(refused(&HouseProfile::default()), [""; 0]);
        let text = |text: &str| Some(text.to_owned());
        let usual = HouseProfile {
            time_zone: text("Europe/Berlin"),
            email: text("hello@example.com"),
            phone: text("+49 30 1234"),
            website: text("https://example.com/kunst"),
            about: text("Since 1890.\n\nTwo sales a year."),
            ..HouseProfile::default()
        };
        assert_eq!(refused(&usual), [""; 0]);
        let wrong = HouseProfile {
            time_zone: text("Berlin"),
            email: text("hello"),
            phone: text(" 030"),
            website: text("javascript:alert(1)"),
            about: text(" \n"),
            payment: text("by\u{0}bank"),
            collection: Some("a".repeat(HOUSE_TEXT_CHARS_MAX + 1)),
            ..HouseProfile::default()
        };
        let fields = ["/timeZone", "/email", "/phone", "/website", "/about", "/payment", "/collection"];
        assert_eq!(refused(&wrong), fields);
        for website in [
            "example.com",
            "https://",
            "mailto:hello@example.com",
            "https://example.com/a b\u{7}",
            "https://ann@example.com",
            "https://:x@example.com",
        ] {
            assert_eq!(refused(&HouseProfile { website: text(website), ..usual.clone() }), ["/website"], "{website}");
        }
    }
}
