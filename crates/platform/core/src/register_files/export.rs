//! Exports the register of a house as rows of a CSV file, one record after the other.

use contract::models::AddressModel;

use super::columns::{EXPORTED, PartyColumn};
use crate::access::access_log::AccessEvent;
use crate::amounts::CurrencyFormat;
use crate::catalogue::csv_line;
use crate::error::PlatformResult;
use crate::port::{Money, Page, Party, PartyFilter, PartyPosition};
use crate::{Caller, Platform, Scope};
use uuid::Uuid;

/// The first line of an export.
pub fn register_header() -> String {
    csv_line(&EXPORTED.map(|column| column.name().to_owned()))
}

/// The line, or lines, of a record. A spreadsheet never evaluates a cell as a formula.
pub fn register_row(party: &Party) -> String {
    csv_line(&EXPORTED.map(|column| cell(column, party)))
}

/// What a party does, as files name it.
fn role(party: &Party) -> &'static str {
    match (party.details.is_bidder, party.details.is_consignor) {
        (true, true) => "bidder and consignor",
        (false, true) => "consignor",
        _ => "bidder",
    }
}

fn cell(column: PartyColumn, party: &Party) -> String {
    let details = &party.details;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let amount = |money: &Option<Money>| {
        money.as_ref().map(|money| CurrencyFormat::of(money.currency.as_str()).write(money.amount)).unwrap_or_default()
    };
    let currency =
        |money: &Option<Money>| money.as_ref().map(|money| money.currency.as_str().to_owned()).unwrap_or_default();
    let address = |of: fn(&AddressModel) -> String| details.addresses.first().map(of).unwrap_or_default();
    match column {
        PartyColumn::Record => party.uuid.to_string(),
        PartyColumn::Name => details.name.clone(),
        PartyColumn::Role => role(party).to_owned(),
        PartyColumn::Reference => text(&details.reference),
        PartyColumn::Email => text(&details.email),
        PartyColumn::Phone => text(&details.phone),
        PartyColumn::VatNumber => text(&details.vat_number),
        PartyColumn::AddressLine1 => address(|address| address.address_line1.clone()),
        PartyColumn::AddressLine2 => address(|address| address.address_line2.clone()),
        PartyColumn::AddressLine3 => address(|address| address.address_line3.clone().unwrap_or_default()),
        PartyColumn::AddressLine4 => address(|address| address.address_line4.clone().unwrap_or_default()),
        PartyColumn::City => address(|address| address.city.clone().unwrap_or_default()),
        PartyColumn::County => address(|address| address.county.clone().unwrap_or_default()),
        PartyColumn::Postcode => address(|address| address.postcode.clone()),
        PartyColumn::Country => address(|address| address.country_code.as_str().to_owned()),
        PartyColumn::MoreAddresses => match details.addresses.get(1..) {
            Some(more) if !more.is_empty() => serde_json::to_string(more).unwrap_or_default(),
            _ => String::new(),
        },
        PartyColumn::Deposit => amount(&details.deposit),
        PartyColumn::DepositCurrency => currency(&details.deposit),
        PartyColumn::Limit => amount(&details.limit),
        PartyColumn::LimitCurrency => currency(&details.limit),
        PartyColumn::Note => text(&details.note),
        PartyColumn::ProofOfIdentity => party.identity.as_ref().map(|seen| seen.document.clone()).unwrap_or_default(),
        PartyColumn::Blocked => party.block.as_ref().map(|block| block.reason.clone()).unwrap_or_default(),
        PartyColumn::Currency => String::new(),
    }
}

impl Platform {
    /// Begins an export of the register of a house. The access log gets one entry for the whole file.
    ///
    /// Errors: `not_found` (customer).
    pub async fn begin_register_export(&self, caller: &Caller, customer: Uuid) -> PlatformResult<u64> {
        caller.require(Scope::PartiesWrite)?;
        self.visible_customer(caller, customer).await?;
        let records = self.store().count_parties(customer, &PartyFilter::default()).await?;
        self.note_alone(self.note(caller, AccessEvent::RegisterExported { customer, records })?).await?;
        Ok(records)
    }

    /// The next records of an export, by name.
    ///
    /// Errors: `not_found` (customer).
    pub async fn exported_parties(
        &self,
        caller: &Caller,
        customer: Uuid,
        page: Page<PartyPosition>,
    ) -> PlatformResult<Vec<Party>> {
        caller.require(Scope::PartiesWrite)?;
        self.visible_customer(caller, customer).await?;
        Ok(self.store().parties(customer, &PartyFilter::default(), page).await?)
    }
}
