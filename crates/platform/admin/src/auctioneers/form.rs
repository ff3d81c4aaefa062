//! The form of an auctioneer.

use contract::models::{AddressCountryCode, AddressModel, CurrencyCode};
use kit_design::fields::{FieldErrors, FormFields};
use kit_design::form_field::{Choice, FormField};
use platform_core::customers::addresses::AddressInput;
use platform_core::customers::auctioneer_input::{AuctioneerInput, AuctioneerPatch};
use platform_core::port::{Auctioneer, Customer};
use uuid::Uuid;

use crate::form_page::{Refused, at_fields};

/// Pointers of the use case with their fields.
pub(super) const FIELDS: &[(&str, &str)] = &[
    ("/address/addressLine1", "line1"),
    ("/address/addressLine2", "line2"),
    ("/address/city", "city"),
    ("/address/county", "county"),
    ("/address/postcode", "postcode"),
    ("/address/countryCode", "country"),
];

/// What the user typed.
#[derive(Default)]
pub(super) struct Typed {
    pub(super) version: String,
    customer: String,
    name: String,
    currency: String,
    line1: String,
    line2: String,
    city: String,
    county: String,
    postcode: String,
    country: String,
}

impl Typed {
    pub(super) fn of(auctioneer: &Auctioneer, address: Option<&AddressModel>) -> Self {
        let currency = auctioneer.profile.currency.as_ref().map_or("", |currency| currency.as_str()).to_owned();
        let (version, name) = (auctioneer.version.to_string(), auctioneer.name.clone());
        let typed = Self { version, name, currency, ..Self::default() };
        let Some(address) = address.cloned() else { return typed };
        Self {
            line1: address.address_line1,
            line2: address.address_line2,
            city: address.city.unwrap_or_default(),
            county: address.county.unwrap_or_default(),
            postcode: address.postcode,
            country: address.country_code.as_str().to_owned(),
            ..typed
        }
    }

    pub(super) fn read(form: &FormFields) -> Self {
        let text = |name| form.text(name).to_owned();
        Self {
            version: text("version"),
            customer: text("customer"),
            name: text("name"),
            currency: text("currency"),
            line1: text("line1"),
            line2: text("line2"),
            city: text("city"),
            county: text("county"),
            postcode: text("postcode"),
            country: text("country"),
        }
    }

    /// The fields; with customers to choose from for a new auctioneer.
    pub(super) fn fields(&self, customers: Option<&[Customer]>, refused: &Refused) -> Vec<FormField> {
        let text = |name, label, value: &str| {
            FormField::text(name, label, value).chars_max(200).required().fault(refused.of(name))
        };
        let customer = customers.map(|customers| {
            let choices = customers.iter().map(|customer| {
                let uuid = customer.uuid.to_string();
                let is_chosen = uuid == self.customer;
                Choice::new(uuid, customer.name.clone(), is_chosen)
            });
            FormField::select("customer", "Customer", choices.collect()).fault(refused.of("customer"))
        });
        let others = [
            text("name", "Name", &self.name),
            text("currency", "Usual currency", &self.currency).hint("ISO 4217, such as GBP.").optional(),
            text("line1", "Address, line 1", &self.line1)
                .hint("An address has at least this line and a postcode. Leave all of them empty for none.")
                .optional(),
            text("line2", "Address, line 2", &self.line2).optional(),
            text("city", "City", &self.city).optional(),
            text("county", "County", &self.county).optional(),
            text("postcode", "Postcode", &self.postcode).optional(),
            text("country", "Country code", &self.country).hint("Two letters; uk if it stays empty.").optional(),
        ];
        customer.into_iter().chain(others).collect()
    }

    fn currency(&self, errors: &mut FieldErrors) -> Option<CurrencyCode> {
        if self.currency.is_empty() {
            return None;
        }
        let code = self.currency.to_uppercase().parse().ok();
        if code.is_none() {
            errors.add("currency", "is not a currency: write its three letters, such as GBP");
        }
        code
    }

    /// The address, with the id of the one that it replaces; none when every line is empty.
    fn address(&self, replaced: Option<&AddressModel>, errors: &mut FieldErrors) -> Option<AddressModel> {
        let lines = [&self.line1, &self.line2, &self.city, &self.county, &self.postcode];
        if lines.iter().all(|line| line.is_empty()) {
            return None;
        }
        for (field, value) in [("line1", &self.line1), ("postcode", &self.postcode)] {
            if value.is_empty() {
                errors.add(field, "is empty: an address has it");
            }
        }
        let country_code = match self.country.as_str() {
            "" => AddressCountryCode::default(),
            text => text.to_lowercase().parse().unwrap_or_else(|_| {
                errors.add("country", "is not a country code: write two letters, such as uk");
                AddressCountryCode::default()
            }),
        };
        let optional = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        Some(AddressModel {
            id: replaced.and_then(|address| address.id),
            address_line1: self.line1.clone(),
            address_line2: self.line2.clone(),
            address_line3: replaced.and_then(|address| address.address_line3.clone()),
            address_line4: replaced.and_then(|address| address.address_line4.clone()),
            county: optional(&self.county),
            city: optional(&self.city),
            postcode: self.postcode.clone(),
            longitude: replaced.and_then(|address| address.longitude.clone()),
            latitude: replaced.and_then(|address| address.latitude.clone()),
            country_code,
        })
    }

    /// The customer and the input of a new auctioneer.
    pub(super) fn input(&self) -> Result<(Uuid, AuctioneerInput), Refused> {
        let mut errors = FieldErrors::default();
        let customer = Uuid::try_parse(&self.customer).ok();
        if customer.is_none() {
            errors.add("customer", "is missing: create a customer first");
        }
        let address = self.address(None, &mut errors).map(|address| AddressInput::Full(Box::new(address)));
        let currency = self.currency(&mut errors);
        let input = AuctioneerInput { name: self.name.clone(), address, currency, ..AuctioneerInput::default() };
        errors.add_found(at_fields(input.problems(), FIELDS));
        match customer {
            Some(customer) if errors.is_empty() => Ok((customer, input)),
            _ => Err(Refused::of_errors(errors)),
        }
    }

    /// The change of an auctioneer that has this address.
    pub(super) fn patch(
        &self,
        auctioneer: &Auctioneer,
        before: Option<&AddressModel>,
    ) -> Result<AuctioneerPatch, Refused> {
        let mut errors = FieldErrors::default();
        let address = match (self.address(before, &mut errors), before) {
            (None, None) => None,
            (None, Some(_)) => Some(None),
            (Some(address), _) => Some(Some(AddressInput::Full(Box::new(address)))),
        };
        let (name, currency) = (Some(self.name.clone()), Some(self.currency(&mut errors)));
        let patch = AuctioneerPatch { name, currency, address, ..AuctioneerPatch::default() };
        errors.add_found(at_fields(patch.problems(auctioneer), FIELDS));
        if errors.is_empty() { Ok(patch) } else { Err(Refused::of_errors(errors)) }
    }
}
