//! Addresses of customers: entered with an auctioneer or an auction, and read by id.

use contract::models::AddressModel;
use uuid::Uuid;

use crate::caller::visible;
use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::Address;
use crate::steps::input::{check_text, require_usable};
use crate::{Caller, Platform, Scope};

/// Characters of each line of an address.
pub const LINE_CHARS_MAX: usize = 200;

/// The address of a record as it is entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressInput {
    /// One that the customer has, by its id.
    Existing(i64),
    /// One that is given whole. Without an id it is a new one.
    Full(Box<AddressModel>),
}

impl Platform {
    /// An address by the primary key of the common model.
    ///
    /// Errors: `not_found`, `forbidden`.
    pub async fn address_by_id(&self, caller: &Caller, id: i64) -> PlatformResult<Address> {
        caller.require(Scope::CustomersRead).or_else(|_| caller.require(Scope::AuctionsRead))?;
        visible(caller, self.store().address(id).await?, "address", |address| address.customer)
    }

    /// The id of the address that was entered, and the address if it has to be written. `current` is the record's
    /// address so far, the only one that may be given anew.
    pub(crate) async fn enter_address(
        &self,
        customer: Uuid,
        entry: &AddressInput,
        current: Option<i64>,
    ) -> PlatformResult<(i64, Option<Address>)> {
        match entry {
            AddressInput::Existing(id) => {
                let found = self.store().address(*id).await?.filter(|address| address.customer == customer);
                let unknown = || PlatformError::invalid("/addressId", "is the id of no address of this customer");
                found.map(|address| (address.id, None)).ok_or_else(unknown)
            }
            AddressInput::Full(model) => {
                require_usable(problems(entry), None)?;
                let id = match model.id {
                    None => self.store().next_address_id().await?,
                    Some(id) if current == Some(id) => id,
                    Some(_) => {
                        let message = "is not the id of the address that is there; leave it out for a new address, or \
                             name one that you have with addressId";
                        return Err(PlatformError::invalid("/address/id", message));
                    }
                };
                let model = AddressModel { id: Some(id), ..AddressModel::clone(model) };
                Ok((id, Some(Address { id, customer, model })))
            }
        }
    }
}

/// What is wrong with it beyond what the model itself refuses. A required line may be empty.
pub(crate) fn problems(entry: &AddressInput) -> Vec<Problem> {
    let AddressInput::Full(model) = entry else { return Vec::new() };
    let lines = [
        ("addressLine1", Some(&model.address_line1)),
        ("addressLine2", Some(&model.address_line2)),
        ("addressLine3", model.address_line3.as_ref()),
        ("addressLine4", model.address_line4.as_ref()),
        ("county", model.county.as_ref()),
        ("city", model.city.as_ref()),
        ("postcode", Some(&model.postcode)),
    ];
    let lines = lines.into_iter().filter_map(|(field, line)| Some((field, line.filter(|line| !line.is_empty())?)));
    let problem = |(field, line): (&str, &String)| {
        let message = check_text(line, LINE_CHARS_MAX).err()?;
        Some(Problem::new(format!("/address/{field}"), message))
    };
    lines.filter_map(problem).collect()
}
