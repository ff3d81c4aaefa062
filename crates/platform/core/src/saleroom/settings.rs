//! Opens and closes the saleroom of a house, and gives it an address.

use uuid::Uuid;

use crate::error::{PlatformError, PlatformResult};
use crate::port::{House, HouseSaleroom};
use crate::steps::decide::expect_version;
use crate::{Caller, Platform, Scope};

/// Characters of the address of a saleroom, at least and at most.
const ADDRESS_CHARS_MIN: usize = 2;
/// Characters of the address of a saleroom, at most.
pub const SALEROOM_ADDRESS_CHARS_MAX: usize = 40;
/// First parts of paths that are the saleroom's own.
const RESERVED: [&str; 2] = ["static", "colours"];

impl Platform {
    /// Opens or closes the saleroom of a house, and gives it an address. An address that was given away leads nowhere.
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
        match &saleroom.address {
            Some(address) => {
                check_address(address).map_err(|message| PlatformError::invalid("/address", message))?;
            }
            None if saleroom.is_open => {
                return Err(PlatformError::invalid("/address", "is missing: an open saleroom needs one"));
            }
            None => {}
        }
        let before = self.house(caller, customer).await?;
        expect_version(expected_version, before.version)?;
        self.write_house(caller, House { saleroom, ..before }, None).await
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
        for address in ["", "a", "Hartley", "hartley sons", "-a", "a-", "größe", "a/b", "..", "static", &"a".repeat(41)]
        {
            assert!(check_address(address).is_err(), "{address}");
        }
    }
}
