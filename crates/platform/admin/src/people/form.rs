//! The form of a person or firm.

use contract::models::CurrencyCode;
use kit_design::fields::{FieldErrors, FormFields};
use kit_design::form_field::{Choice, FormField};
use platform_core::bidders::{PARTY_FIELD_CHARS_MAX, PARTY_NAME_CHARS_MAX, PARTY_NOTE_CHARS_MAX, PartyInput};
use platform_core::port::{Money, Party, PartyDetails};

use crate::address_fields::{self, TypedAddress};
use crate::form_page::{Refused, at_fields};
use crate::sale::amounts::Currency;

/// What the user typed.
#[derive(Default)]
pub(super) struct Typed {
    is_bidder: bool,
    is_consignor: bool,
    name: String,
    reference: String,
    email: String,
    phone: String,
    vat_number: String,
    address: TypedAddress,
    document: String,
    currency: String,
    deposit: String,
    limit: String,
    note: String,
}

impl Typed {
    /// The form of a new record of a house that counts in this currency.
    pub(super) fn new(currency: &str, is_consignor: bool) -> Self {
        Self { is_bidder: !is_consignor, is_consignor, currency: currency.to_owned(), ..Self::default() }
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
            address: TypedAddress::of(details.addresses.first()),
            document: party.identity.as_ref().map_or(String::new(), |identity| identity.document.clone()),
            currency: code.to_owned(),
            deposit: amount(&details.deposit),
            limit: amount(&details.limit),
            note: text(&details.note),
        }
    }

    pub(super) fn read(form: &FormFields) -> Self {
        let text = |name| form.text(name).trim().to_owned();
        Self {
            is_bidder: form.all("role").any(|role| role == "bidder"),
            is_consignor: form.all("role").any(|role| role == "consignor"),
            name: text("name"),
            reference: text("reference"),
            email: text("email"),
            phone: text("phone"),
            vat_number: text("vat"),
            address: TypedAddress::read(form),
            document: text("document"),
            currency: text("currency").to_uppercase(),
            deposit: text("deposit"),
            limit: text("limit"),
            note: text("note"),
        }
    }

    pub(super) fn fields(&self, refused: &Refused) -> Vec<FormField> {
        let text = |name, label, value: &str| {
            FormField::text(name, label, value).chars_max(PARTY_FIELD_CHARS_MAX).optional().fault(refused.of(name))
        };
        let roles = vec![
            Choice::new("bidder", "Bids in the sales of the house", self.is_bidder),
            Choice::new("consignor", "Consigns lots to the house", self.is_consignor),
        ];
        let name = FormField::text("name", "Name of the person or firm", self.name.as_str());
        let note = FormField::text("note", "Note for staff", self.note.as_str());
        let mut fields = vec![
            name.chars_max(PARTY_NAME_CHARS_MAX).required().fault(refused.of("name")),
            FormField::boxes("role", "Role", roles).fault(refused.of("role")),
            text("reference", "Reference", &self.reference)
                .hint("The number or code that the house uses, such as C-1042."),
            text("email", "E-mail address", &self.email).chars_max(254),
            text("phone", "Telephone number", &self.phone),
        ];
        fields.extend(self.address.fields(refused));
        fields.extend([
            text("vat", "VAT number", &self.vat_number),
            text("document", "Proof of identity", &self.document)
                .hint("What you have seen, such as “passport”. Your name and the time are kept with it."),
            text("currency", "Currency of deposit and limit", &self.currency).hint("ISO 4217, such as GBP."),
            text("deposit", "Deposit held", &self.deposit),
            text("limit", "Usual spending limit", &self.limit)
                .hint("New registrations in sales of this currency begin with it. Empty: no limit."),
            note.chars_max(PARTY_NOTE_CHARS_MAX).optional().fault(refused.of("note")),
        ]);
        fields
    }

    /// The input; `before` has what the form does not show.
    pub(super) fn input(&self, before: Option<&PartyDetails>) -> Result<PartyInput, Refused> {
        let mut errors = FieldErrors::default();
        let optional = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let before_addresses = before.map_or(&[][..], |before| &before.addresses);
        let address = self.address.model(before_addresses.first(), &mut errors);
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
            addresses: address.into_iter().chain(before_addresses.iter().skip(1).cloned()).collect(),
            deposit,
            limit,
            note: optional(&self.note),
        };
        let input = PartyInput { details, document: optional(&self.document) };
        errors.add_found(at_fields(input.problems(), &pointers()));
        if errors.is_empty() { Ok(input) } else { Err(Refused::of_errors(errors)) }
    }
}

/// Pointers of the use case with the fields of the form, where they differ.
pub(super) fn pointers() -> Vec<(&'static str, &'static str)> {
    // The form has the first address.
    const ADDRESS: [&str; 6] = [
        "/addresses/0/addressLine1",
        "/addresses/0/addressLine2",
        "/addresses/0/city",
        "/addresses/0/county",
        "/addresses/0/postcode",
        "/addresses/0/countryCode",
    ];
    let address = ADDRESS.into_iter().zip(address_fields::FIELDS).map(|(pointer, (_, field))| (pointer, field));
    address.chain([("/vatNumber", "vat"), ("/isBidder", "role")]).collect()
}
