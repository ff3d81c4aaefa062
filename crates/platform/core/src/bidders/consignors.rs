//! The consignors of a house: found by what staff type, named beside their lots, and what each of them consigned.
//!
//! An item names its consignor as its vendor, by UUID. The UUID may also be an identifier of the API caller's own, for which
//! the register has no record.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use platform_rules::{Auction, Item};
use uuid::Uuid;

use crate::error::PlatformResult;
use crate::port::{NAMESAKES_MAX, Page, Party, search_form};
use crate::{Caller, Platform, Scope};

/// Texts that one read of the store looks up.
const LOOKED_UP_AT_ONCE: usize = 250;
/// Lots of one sale that the record of a consignor lists.
const ITEMS_OF_SALE_MAX: usize = 500;

/// Lots of a consignor that are read at once.
const CONSIGNED_READ_MAX: usize = 250;

/// The lots of a consignor that are read next. A consignor of years has too many to read them all at once.
#[derive(Debug)]
pub(super) struct ConsignedLots {
    customer: Uuid,
    /// The records of the person whose lots are left.
    records: VecDeque<Uuid>,
    /// The last lot that was read, of the first of them.
    after: Option<Uuid>,
}

/// Why a text names no consignor. Its text follows the name of a field, or stands alone as a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConsignorFault {
    /// No record has it.
    Unknown(String),
    /// Several consignors have this name.
    Ambiguous {
        /// The text.
        text: String,
        /// Their references, as far as they have one.
        references: Vec<String>,
    },
    /// The record with this reference is no consignor.
    OtherRole {
        /// The text.
        text: String,
        /// The name in the record.
        name: String,
    },
    /// The caller may not read the register.
    Hidden(String),
}

impl fmt::Display for ConsignorFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(text) => {
                write!(
                    f,
                    "no consignor has the name or reference “{text}”: write one of the register, or add the consignor"
                )
            }
            Self::Ambiguous { text, references } if references.is_empty() => {
                write!(f, "several consignors are called “{text}”: give each a reference in the register, and write it")
            }
            Self::Ambiguous { text, references } => {
                let references = references.join(", ");
                write!(f, "several consignors are called “{text}”: write the reference ({references})")
            }
            Self::OtherRole { text, name } => {
                write!(f, "“{text}” is {name}, who is not a consignor: add the role in the record")
            }
            Self::Hidden(text) => {
                write!(f, "“{text}” is not a UUID: a name or reference needs the scope {}", Scope::PartiesRead.name())
            }
        }
    }
}

/// A sale with lots of a consignor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsignedSale {
    /// The auction.
    pub auction: Auction,
    /// The first 500 lots of the consignor, in running order.
    pub items: Vec<Item>,
    /// It has more of them.
    pub has_more: bool,
}

/// A page of the sales with lots of a consignor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsignedSales {
    /// The sales, the latest first.
    pub sales: Vec<ConsignedSale>,
    /// Where the next page begins.
    pub next: Option<Uuid>,
}

impl Platform {
    /// The consignor that each text names: the exact reference, the name with any capitals and accents, the label of
    /// [`Party::label`], or a UUID, which stays as it is. What names a record that was merged names the one that stayed.
    pub async fn consignors_called(
        &self,
        caller: &Caller,
        customer: Uuid,
        texts: &BTreeSet<String>,
    ) -> PlatformResult<BTreeMap<String, Result<Uuid, ConsignorFault>>> {
        let (uuids, texts): (Vec<&String>, Vec<&String>) = texts.iter().partition(|text| uuid_of(text).is_some());
        let mut found: BTreeMap<String, Result<Uuid, ConsignorFault>> =
            uuids.iter().filter_map(|text| Some(((*text).clone(), Ok(uuid_of(text)?)))).collect();
        if caller.require(Scope::PartiesRead).is_err() || !caller.can_see(customer) {
            found.extend(texts.into_iter().map(|text| (text.clone(), Err(ConsignorFault::Hidden(text.clone())))));
            return Ok(found);
        }
        for texts in uuids.chunks(LOOKED_UP_AT_ONCE) {
            let named: Vec<Uuid> = texts.iter().filter_map(|text| uuid_of(text)).collect();
            let merged = self.store().parties_of(&named).await?.into_iter();
            let merged: BTreeMap<Uuid, Uuid> = merged
                .filter(|party| party.customer == customer && party.merged.is_some())
                .map(|party| (party.uuid, party.record()))
                .collect();
            let kept = |text: &&String| Some(((*text).clone(), Ok(*merged.get(&uuid_of(text)?)?)));
            found.extend(texts.iter().filter_map(kept));
        }
        for texts in texts.chunks(LOOKED_UP_AT_ONCE) {
            let names: Vec<String> = texts.iter().map(|text| search_form(text.trim())).collect();
            let references: Vec<String> = texts.iter().flat_map(|text| references_in(text.trim())).collect();
            let parties = self.store().parties_called(customer, &names, &references).await?;
            found.extend(texts.iter().map(|text| ((*text).clone(), choose(text.trim(), &parties))));
        }
        Ok(found)
    }

    /// The consignor that a text names, as [`Platform::consignors_called`] finds it.
    pub async fn consignor_called(
        &self,
        caller: &Caller,
        customer: Uuid,
        text: &str,
    ) -> PlatformResult<Result<Uuid, ConsignorFault>> {
        let mut found = self.consignors_called(caller, customer, &BTreeSet::from([text.to_owned()])).await?;
        Ok(found.remove(text).unwrap_or_else(|| Err(ConsignorFault::Unknown(text.to_owned()))))
    }

    /// The labels of those of the UUIDs that are records in the register of a house; none for a caller who may not read it. A
    /// record that was merged has the label of the one that stayed.
    pub async fn party_labels(
        &self,
        caller: &Caller,
        customer: Uuid,
        uuids: &BTreeSet<Uuid>,
    ) -> PlatformResult<BTreeMap<Uuid, String>> {
        if caller.require(Scope::PartiesRead).is_err() || !caller.can_see(customer) {
            return Ok(BTreeMap::new());
        }
        let uuids: Vec<Uuid> = uuids.iter().copied().collect();
        let mut labels = BTreeMap::new();
        for uuids in uuids.chunks(LOOKED_UP_AT_ONCE) {
            let parties = self.store().parties_of(uuids).await?;
            let (merged, own): (Vec<Party>, Vec<Party>) = parties
                .into_iter()
                .filter(|party| party.customer == customer)
                .partition(|party| party.merged.is_some());
            labels.extend(own.iter().map(|party| (party.uuid, party.label())));
            let kept: BTreeSet<Uuid> = merged.iter().map(Party::record).collect();
            let kept = self.store().parties_of(&kept.into_iter().collect::<Vec<_>>()).await?;
            let kept: BTreeMap<Uuid, String> = kept.iter().map(|party| (party.uuid, party.label())).collect();
            labels.extend(merged.iter().filter_map(|party| Some((party.uuid, kept.get(&party.record())?.clone()))));
        }
        Ok(labels)
    }

    /// The record of the present consignor of a lot, if `chosen` is another record of the same person: a lot with bids keeps the
    /// record that it names.
    pub async fn present_consignor(&self, present: Option<Uuid>, chosen: Uuid) -> PlatformResult<Option<Uuid>> {
        let Some(present) = present.filter(|present| *present != chosen) else { return Ok(None) };
        let records = self.store().records_of_person(chosen).await?;
        Ok(Some(present).filter(|present| records.contains(present)))
    }

    /// The lots that a person consigns, also under records that were merged into this one, to be read with
    /// [`Platform::next_consigned`].
    pub(super) async fn consigned(&self, party: &Party) -> PlatformResult<ConsignedLots> {
        let records = self.store().records_of_person(party.uuid).await?.into();
        Ok(ConsignedLots { customer: party.customer, records, after: None })
    }

    /// The next lots of a consignor, at most [`CONSIGNED_READ_MAX`]; none at the end.
    pub(super) async fn next_consigned(&self, lots: &mut ConsignedLots) -> PlatformResult<Option<Vec<Item>>> {
        while let Some(record) = lots.records.front() {
            let page = Page { after: lots.after, limit: CONSIGNED_READ_MAX };
            let items = self.store().consigned_items(lots.customer, *record, page).await?;
            lots.after = items.last().map(|item| item.uuid);
            if !items.is_empty() {
                return Ok(Some(items));
            }
            lots.records.pop_front();
        }
        Ok(None)
    }

    /// The sales with lots of a consignor, the latest first: those created before the UUID of the page.
    ///
    /// Errors: `not_found`.
    pub async fn consigned_sales(
        &self,
        caller: &Caller,
        uuid: Uuid,
        page: Page<Uuid>,
    ) -> PlatformResult<ConsignedSales> {
        caller.require(Scope::PartiesRead)?;
        let party = self.visible_party(caller, uuid).await?;
        let records = self.store().records_of_person(uuid).await?;
        let auctions = self.store().auctions_of_vendor(uuid, page).await?;
        let next = auctions.last().copied().filter(|_| auctions.len() == page.limit);
        let mut sales = Vec::new();
        for auction in auctions {
            // Another house can use the same UUID for a vendor of its own.
            let auction = self.store().auction(auction).await?.filter(|auction| auction.customer == party.customer);
            let Some(auction) = auction else { continue };
            let mut items = self.store().items_of_vendor(uuid, auction.uuid, ITEMS_OF_SALE_MAX + 1).await?;
            let has_more = items.len() > ITEMS_OF_SALE_MAX;
            items.truncate(ITEMS_OF_SALE_MAX);
            items.retain(|item| item.vendor.is_some_and(|vendor| records.contains(&vendor)));
            if !items.is_empty() {
                sales.push(ConsignedSale { auction, items, has_more });
            }
        }
        Ok(ConsignedSales { sales, next })
    }
}

fn uuid_of(text: &str) -> Option<Uuid> {
    Uuid::try_parse(text.trim()).ok()
}

/// What can be a reference in a text: all of it, also in capitals, and what a label has in its last brackets.
fn references_in(text: &str) -> Vec<String> {
    let labelled = text.strip_suffix(')').map(|inner| inner.match_indices(" (").map(move |(at, _)| &inner[at + 2..]));
    let whole = [text.to_owned(), text.to_uppercase()];
    whole.into_iter().chain(labelled.into_iter().flatten().map(str::to_owned)).collect()
}

/// The consignor that a text names, among the parties that were found for all texts.
fn choose(text: &str, parties: &[Party]) -> Result<Uuid, ConsignorFault> {
    let has_reference = |reference: &str| {
        parties.iter().find(|party| party.details.reference.as_deref().is_some_and(|own| own == reference))
    };
    let by_label = || parties.iter().find(|party| party.details.reference.is_some() && party.label() == text);
    if let Some(party) = has_reference(text).or_else(by_label).or_else(|| has_reference(&text.to_uppercase())) {
        let (text, name) = (text.to_owned(), party.details.name.clone());
        let is_consignor = party.details.is_consignor;
        return if is_consignor { Ok(party.record()) } else { Err(ConsignorFault::OtherRole { text, name }) };
    }
    let name = search_form(text);
    let is_namesake = |party: &&Party| party.details.is_consignor && party.keys().name == name;
    let of = |is_merged: bool| -> BTreeMap<Uuid, &Party> {
        let found = parties.iter().filter(is_namesake).filter(|party| party.merged.is_some() == is_merged);
        found.map(|party| (party.record(), party)).take(NAMESAKES_MAX).collect()
    };
    // The name of a record that was merged counts when no other consignor has it.
    let namesakes = Some(of(false)).filter(|found| !found.is_empty()).unwrap_or_else(|| of(true));
    match namesakes.len() {
        0 => Err(ConsignorFault::Unknown(text.to_owned())),
        1 => namesakes.into_keys().next().ok_or_else(|| ConsignorFault::Unknown(text.to_owned())),
        _ => {
            let references = namesakes.into_values().filter_map(|party| party.details.reference.clone()).collect();
            Err(ConsignorFault::Ambiguous { text: text.to_owned(), references })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_its_possible_references() {
        assert_eq!(references_in("c-12"), ["c-12", "C-12"]);
        assert_eq!(
            references_in("Bell (Estate) (C(1))"),
            ["Bell (Estate) (C(1))", "BELL (ESTATE) (C(1))", "Estate) (C(1)", "C(1)"]
        );
    }
}
