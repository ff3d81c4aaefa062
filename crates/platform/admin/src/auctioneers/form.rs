//! The form of an auctioneer.

use contract::models::{AddressModel, CurrencyCode};
use kit_design::field_group::FieldGroup;
use kit_design::fields::{FieldErrors, FormFields};
use kit_design::form_field::{Choice, FormField};
use platform_core::customers::addresses::AddressInput;
use platform_core::customers::auctioneer_input::{AuctioneerInput, AuctioneerPatch};
use platform_core::port::{Auctioneer, Customer};
use uuid::Uuid;

use crate::form_page::{Refused, at_fields};
use platform_words::address_fields::{POINTERS, TypedAddress};

/// What the user typed.
#[derive(Default)]
pub(super) struct Typed {
    pub(super) version: String,
    customer: String,
    name: String,
    currency: String,
    address: TypedAddress,
}

impl Typed {
    pub(super) fn of(auctioneer: &Auctioneer, address: Option<&AddressModel>) -> Self {
        let currency = auctioneer.profile.currency.as_ref().map_or("", |currency| currency.as_str()).to_owned();
        let (version, name) = (auctioneer.version.to_string(), auctioneer.name.clone());
        Self { version, name, currency, address: TypedAddress::of(address), ..Self::default() }
    }

    pub(super) fn read(form: &FormFields) -> Self {
        let text = |name| form.text(name).to_owned();
        Self {
            version: text("version"),
            customer: text("customer"),
            name: text("name"),
            currency: text("currency"),
            address: TypedAddress::read(form),
        }
    }

    /// The fields; with customers to choose from for a new auctioneer.
    pub(super) fn groups(&self, customers: Option<&[Customer]>, refused: &Refused) -> [FieldGroup; 2] {
        let text = |name, label, value: &str| {
            FormField::text(name, label, value).chars_max(200).required().fault(refused.of(name))
        };
        let customer = customers.map(|customers| {
            let choices = customers.iter().map(|customer| {
                let uuid = customer.uuid.to_string();
                let is_chosen = uuid == self.customer;
                Choice::new(uuid, customer.name.clone(), is_chosen)
            });
            FormField::select("customer", "Customer", choices.collect()).whole_row().fault(refused.of("customer"))
        });
        let others = [
            text("name", "Name", &self.name),
            text("currency", "Usual currency", &self.currency).hint("ISO 4217, such as GBP.").optional(),
        ];
        [
            FieldGroup::new("auctioneer", "Auctioneer", customer.into_iter().chain(others)),
            FieldGroup::new("address", "Address", self.address.fields(|name| refused.of(name))),
        ]
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

    /// The customer and the input of a new auctioneer.
    pub(super) fn input(&self) -> Result<(Uuid, AuctioneerInput), Refused> {
        let mut errors = FieldErrors::default();
        let customer = Uuid::try_parse(&self.customer).ok();
        if customer.is_none() {
            errors.add("customer", "is missing: create a customer first");
        }
        let address = self.address.model(None, &mut errors).map(|address| AddressInput::Full(Box::new(address)));
        let currency = self.currency(&mut errors);
        let input = AuctioneerInput { name: self.name.clone(), address, currency, ..AuctioneerInput::default() };
        errors.add_found(at_fields(input.problems(), &POINTERS));
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
        let address = match (self.address.model(before, &mut errors), before) {
            (None, None) => None,
            (None, Some(_)) => Some(None),
            (Some(address), _) => Some(Some(AddressInput::Full(Box::new(address)))),
        };
        let (name, currency) = (Some(self.name.clone()), Some(self.currency(&mut errors)));
        let patch = AuctioneerPatch { name, currency, address, ..AuctioneerPatch::default() };
        errors.add_found(at_fields(patch.problems(auctioneer), &POINTERS));
        if errors.is_empty() { Ok(patch) } else { Err(Refused::of_errors(errors)) }
    }
}
