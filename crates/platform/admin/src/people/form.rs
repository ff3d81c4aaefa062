//! The form of a person or firm.

use contract::models::CurrencyCode;
use kit_design::fields::{FieldErrors, FormFields};
use kit_design::form_field::{Choice, FormField};
use platform_core::PlatformError;
use platform_core::bidders::{
    PARTY_ADDRESSES_MAX, PARTY_FIELD_CHARS_MAX, PARTY_NAME_CHARS_MAX, PARTY_NOTE_CHARS_MAX, PartyInput,
};
use platform_core::port::{Money, Party, PartyDetails};

use crate::form_page::{Refused, at_fields};
use crate::page_error::PageError;
use platform_words::Currency;
use platform_words::address_fields::{self, TypedAddress};

/// The field with the number of addresses that the form shows.
pub(super) const ADDRESS_COUNT: &str = "addresses";

/// The fields of the form: who it is, addresses, and terms.
pub(super) struct Groups {
    pub(super) person: Vec<FormField>,
    pub(super) addresses: Vec<AddressGroup>,
    pub(super) terms: Vec<FormField>,
}

impl Groups {
    /// All fields.
    pub(super) fn all(&self) -> impl Iterator<Item = &FormField> {
        self.person.iter().chain(self.addresses.iter().flat_map(|address| &address.fields)).chain(&self.terms)
    }
}

/// The fields of one address.
pub(super) struct AddressGroup {
    /// Place in the form, from 0.
    pub(super) place: usize,
    /// Name and value of a field that the form carries unseen.
    pub(super) carried: (String, String),
    pub(super) fields: [FormField; 6],
}

/// What the user typed.
#[derive(Default)]
pub(super) struct Typed {
    /// One at least, so that the form has fields for it.
    addresses: Vec<TypedAddress>,
    is_bidder: bool,
    is_consignor: bool,
    name: String,
    reference: String,
    email: String,
    phone: String,
    vat_number: String,
    document: String,
    currency: String,
    deposit: String,
    limit: String,
    note: String,
}

impl Typed {
    /// The form of a new record of a house that counts in this currency.
    pub(super) fn new(currency: &str, is_consignor: bool) -> Self {
        let addresses = vec![TypedAddress::default()];
        let currency = currency.to_owned();
        Self { is_bidder: !is_consignor, is_consignor, currency, addresses, ..Self::default() }
    }

    pub(super) fn of(party: &Party, currency: &str) -> Self {
        let details = &party.details;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let named = details.deposit.as_ref().or(details.limit.as_ref());
        let code = named.map_or(currency, |money| money.currency.as_str());
        let amount = |money: &Option<Money>| {
            money.as_ref().map_or(String::new(), |money| Currency::new(money.currency.as_str()).plain(money.amount))
        };
        Self {
            is_bidder: details.is_bidder,
            is_consignor: details.is_consignor,
            name: details.name.clone(),
            reference: text(&details.reference),
            email: text(&details.email),
            phone: text(&details.phone),
            vat_number: text(&details.vat_number),
            addresses: (0..details.addresses.len().max(1))
                .map(|place| TypedAddress::stored(&details.addresses, place))
                .collect(),
            document: party.identity.as_ref().map_or(String::new(), |identity| identity.document.clone()),
            currency: code.to_owned(),
            deposit: amount(&details.deposit),
            limit: amount(&details.limit),
            note: text(&details.note),
        }
    }

    pub(super) fn read(form: &FormFields) -> Self {
        let text = |name| form.text(name).trim().to_owned();
        let count = form.text(ADDRESS_COUNT).parse::<usize>().unwrap_or(1).clamp(1, PARTY_ADDRESSES_MAX);
        Self {
            is_bidder: form.all("role").any(|role| role == "bidder"),
            is_consignor: form.all("role").any(|role| role == "consignor"),
            name: text("name"),
            reference: text("reference"),
            email: text("email"),
            phone: text("phone"),
            vat_number: text("vat"),
            addresses: (0..count).map(|place| TypedAddress::read_at(form, place)).collect(),
            document: text("document"),
            currency: text("currency").to_uppercase(),
            deposit: text("deposit"),
            limit: text("limit"),
            note: text("note"),
        }
    }

    /// Adds or removes an address if a button of the form asks for it. True if one does: then nothing is saved.
    pub(super) fn changes_addresses(&mut self, form: &FormFields) -> bool {
        let action = form.text("address");
        if action == "add" {
            if self.addresses.len() < PARTY_ADDRESSES_MAX {
                self.addresses.push(TypedAddress::default());
            }
            return true;
        }
        let Some(place) = action.strip_prefix("remove-").and_then(|place| place.parse::<usize>().ok()) else {
            return false;
        };
        if place < self.addresses.len() {
            self.addresses.remove(place);
        }
        if self.addresses.is_empty() {
            self.addresses.push(TypedAddress::default());
        }
        true
    }

    /// The fields of the form, in groups.
    pub(super) fn groups(&self, refused: &Refused) -> Groups {
        let text = |name, label, value: &str| {
            FormField::text(name, label, value).chars_max(PARTY_FIELD_CHARS_MAX).optional().fault(refused.of(name))
        };
        let roles = vec![
            Choice::new("bidder", "Bids in the sales of the house", self.is_bidder),
            Choice::new("consignor", "Consigns lots to the house", self.is_consignor),
        ];
        let name = FormField::text("name", "Name of the person or firm", self.name.as_str());
        let note = FormField::text("note", "Note for staff", self.note.as_str());
        let person = vec![
            name.chars_max(PARTY_NAME_CHARS_MAX).required().whole_row().fault(refused.of("name")),
            FormField::boxes("role", "Role", roles).fault(refused.of("role")),
            text("reference", "Reference", &self.reference)
                .hint("The number or code that the house uses, such as C-1042."),
            text("email", "E-mail address", &self.email).chars_max(254),
            text("phone", "Telephone number", &self.phone),
        ];
        let terms = vec![
            text("vat", "VAT number", &self.vat_number),
            text("document", "Proof of identity", &self.document)
                .hint("What you have seen, such as “passport”. Your name and the time are kept with it."),
            text("currency", "Currency of deposit and limit", &self.currency).hint("ISO 4217, such as GBP."),
            text("deposit", "Deposit held", &self.deposit),
            text("limit", "Usual spending limit", &self.limit)
                .hint("New registrations in sales of this currency begin with it. Empty: no limit."),
            note.chars_max(PARTY_NOTE_CHARS_MAX).optional().whole_row().fault(refused.of("note")),
        ];
        let address = |(place, address): (usize, &TypedAddress)| AddressGroup {
            place,
            carried: address.carried(place),
            fields: address.fields_at(|name| refused.of(name), place),
        };
        Groups { person, terms, addresses: self.addresses.iter().enumerate().map(address).collect() }
    }

    /// The input; `before` has what the form does not show.
    pub(super) fn input(&self, before: Option<&PartyDetails>) -> Result<PartyInput, Refused> {
        let mut errors = FieldErrors::default();
        let optional = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let stored = before.map_or(&[][..], |before| &before.addresses);
        let mut addresses = Vec::new();
        // A problem of the use case names the place among the filled addresses.
        let mut places = Vec::new();
        for (place, address) in self.addresses.iter().enumerate() {
            if let Some(address) = address.model_of(stored, &mut errors, place) {
                addresses.push(address);
                places.push(place);
            }
        }
        let currency = self.currency.parse::<CurrencyCode>().ok();
        if currency.is_none() && !(self.deposit.is_empty() && self.limit.is_empty()) {
            errors.add("currency", "is not a currency: write its three letters, such as GBP");
        }
        let mut amount = |field, text: &str| {
            let currency = currency.filter(|_| !text.is_empty())?;
            match Currency::new(currency.as_str()).parse(text) {
                Ok(amount) => Some(Money { amount, currency }),
                Err(wrong) => {
                    errors.add(field, wrong);
                    None
                }
            }
        };
        let (deposit, limit) = (amount("deposit", &self.deposit), amount("limit", &self.limit));
        let details = PartyDetails {
            name: self.name.clone(),
            is_bidder: self.is_bidder,
            is_consignor: self.is_consignor,
            reference: optional(&self.reference),
            email: optional(&self.email),
            phone: optional(&self.phone),
            vat_number: optional(&self.vat_number),
            addresses,
            deposit,
            limit,
            note: optional(&self.note),
        };
        let input = PartyInput { details, document: optional(&self.document) };
        errors.add_found(at_fields(input.problems(), &as_pairs(&pointers(&places))));
        if errors.is_empty() { Ok(input) } else { Err(Refused::of_errors(errors)) }
    }
}

/// Pointers of the use case with the fields of the form, where they differ. `places` has the place in the form of each address.
fn pointers(places: &[usize]) -> Vec<(String, String)> {
    let of_address = |(index, place): (usize, &usize)| {
        let place = *place;
        address_fields::FIELDS
            .map(|(field, name)| (format!("/addresses/{index}/{field}"), address_fields::field_at(name, place)))
    };
    let others = [("/vatNumber", "vat"), ("/isBidder", "role")];
    let others = others.map(|(pointer, name)| (pointer.to_owned(), name.to_owned()));
    places.iter().enumerate().flat_map(of_address).chain(others).collect()
}

fn as_pairs(pointers: &[(String, String)]) -> Vec<(&str, &str)> {
    pointers.iter().map(|(pointer, name)| (pointer.as_str(), name.as_str())).collect()
}

/// The refusal of a use case at the fields of the form.
pub(super) fn refused(error: PlatformError) -> Result<Refused, PageError> {
    let places: Vec<usize> = (0..PARTY_ADDRESSES_MAX).collect();
    Refused::from(error, &as_pairs(&pointers(&places)))
}
