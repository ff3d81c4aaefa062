//! The settings of a house's saleroom: it is opened and closed, and gets an address, a colour and rules.

use kit_colour::Colour;
use uuid::Uuid;

use crate::error::{PlatformResult, Problem};
use crate::port::{House, HouseSaleroom, OutageEnds};
use crate::steps::decide::expect_version;
use crate::steps::input::require_usable;
use crate::{Caller, Platform, Scope};

/// Characters of the address of a saleroom, at least and at most.
const ADDRESS_CHARS_MIN: usize = 2;
/// Characters of the address of a saleroom, at most.
pub const SALEROOM_ADDRESS_CHARS_MAX: usize = 40;
/// Minutes for which lots may go on after an outage.
pub const OUTAGE_MINUTES_MAX: u32 = 1_440;
/// First parts of paths that are the saleroom's own.
const RESERVED: [&str; 3] = ["static", "colours", "theme"];

impl HouseSaleroom {
    /// All problems of the values by themselves.
    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut add = |pointer: &str, message: String| problems.push(Problem::new(pointer, message));
        match &self.address {
            Some(address) => {
                if let Err(message) = check_address(address) {
                    add("/address", message);
                }
            }
            None if self.is_open => add("/address", "is missing: an open saleroom needs one".to_owned()),
            None => {}
        }
        match self.outage_ends {
            Some(OutageEnds::AfterMinutes(minutes)) if !(1..=OUTAGE_MINUTES_MAX).contains(&minutes) => {
                add("/outageMinutes", format!("is not a number of minutes from 1 to {OUTAGE_MINUTES_MAX}"));
            }
            None if self.is_open => {
                add("/outageEnds", "choose one of the two, because the saleroom is open".to_owned());
            }
            _ => {}
        }
        if let Some(problem) = self.colour.and_then(Colour::problem) {
            add("/colour", problem);
        }
        problems
    }
}

impl Platform {
    /// Replaces the settings of a house's saleroom: opens or closes it, and gives it an address. An address that was given away
    /// leads nowhere. The web sites stay, which have a use case of their own.
    ///
    /// Errors: `not_found` (customer), `precondition_failed`, `invalid`, `taken` (address), `busy`.
    pub async fn change_saleroom(
        &self,
        caller: &Caller,
        customer: Uuid,
        saleroom: HouseSaleroom,
        expected_version: Option<i64>,
    ) -> PlatformResult<House> {
        caller.require(Scope::CustomersWrite)?;
        require_usable(saleroom.problems(), None)?;
        let before = self.house(caller, customer).await?;
        expect_version(expected_version, before.version)?;
        let sites = before.saleroom.sites.clone();
        self.write_house(caller, House { saleroom: HouseSaleroom { sites, ..saleroom }, ..before }, None).await
    }
}

fn check_address(address: &str) -> Result<(), String> {
    let chars = address.chars().count();
    let is_usable = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !(ADDRESS_CHARS_MIN..=SALEROOM_ADDRESS_CHARS_MAX).contains(&chars) {
        Err(format!("has {chars} characters: {ADDRESS_CHARS_MIN} to {SALEROOM_ADDRESS_CHARS_MAX} are possible"))
    } else if !address.chars().all(is_usable) || address.starts_with('-') || address.ends_with('-') {
        Err("may have lower-case letters, digits, and hyphens between them, such as hartley-sons".to_owned())
    } else if RESERVED.contains(&address) {
        Err("is used by the saleroom itself: choose another one".to_owned())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_part_of_a_path_that_needs_no_escape() {
        for address in ["ab", "hartley-sons", "1890", &"a".repeat(40)] {
            assert_eq!(check_address(address), Ok(()), "{address}");
        }
        for address in
            ["", "a", "Hartley", "hartley sons", "-a", "a-", "größe", "a/b", "..", "static", "theme", &"a".repeat(41)]
        {
            assert!(check_address(address).is_err(), "{address}");
        }
    }

    #[test]
    fn an_open_saleroom_has_an_address_and_a_choice_about_outages() {
        let pointers = |saleroom: &HouseSaleroom| -> Vec<String> {
            saleroom.problems().into_iter().map(|problem| problem.pointer).collect()
        };
        let open = HouseSaleroom { is_open: true, ..HouseSaleroom::default() };
        assert_eq!(pointers(&HouseSaleroom::default()), [""; 0]);
        assert_eq!(pointers(&open), ["/address", "/outageEnds"]);
        let address = Some("hartley-sons".to_owned());
        let chosen = |ends| HouseSaleroom { address: address.clone(), outage_ends: Some(ends), ..open.clone() };
        for ends in [OutageEnds::AtTheirTime, OutageEnds::AfterMinutes(1), OutageEnds::AfterMinutes(1_440)] {
            assert_eq!(pointers(&chosen(ends)), [""; 0], "{ends:?}");
        }
        for minutes in [0, 1_441] {
            assert_eq!(pointers(&chosen(OutageEnds::AfterMinutes(minutes))), ["/outageMinutes"]);
        }
        let pale = HouseSaleroom { colour: Colour::parse("#ffcc00"), ..HouseSaleroom::default() };
        assert_eq!(pointers(&pale), ["/colour"]);
    }
}
