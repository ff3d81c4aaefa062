//! The fields in which bidders enter who they are.

use contract::models::AddressModel;
use kit_design::fields::{FieldErrors, FormFields};
use kit_design::form_field::FormField;
use platform_core::saleroom::BidderDetails;
use platform_words::address_fields::TypedAddress;

use crate::house::House;

/// A person as they typed it.
#[derive(Debug, Clone, Default)]
pub(super) struct TypedPerson {
    name: String,
    phone: String,
    address: TypedAddress,
}

impl TypedPerson {
    pub(super) fn of(details: &BidderDetails) -> Self {
        Self {
            name: details.name.clone(),
            phone: details.phone.clone().unwrap_or_default(),
            address: TypedAddress::of(details.address.as_ref()),
        }
    }

    pub(super) fn read(form: &FormFields) -> Self {
        Self {
            name: form.text("name").to_owned(),
            phone: form.text("phone").to_owned(),
            address: TypedAddress::read(form),
        }
    }

    /// The details. The address keeps the lines that the form does not show, and all of them in a form without an address.
    pub(super) fn details(
        &self,
        house: &House<0>,
        replaced: Option<&AddressModel>,
        errors: &mut FieldErrors,
    ) -> BidderDetails {
        let shows_address = house.saleroom.house.saleroom.asks_address;
        BidderDetails {
            name: self.name.clone(),
            phone: Some(self.phone.clone()).filter(|phone| !phone.is_empty()),
            address: if shows_address { self.address.model(replaced, errors) } else { replaced.cloned() },
            ..BidderDetails::default()
        }
    }

    /// The fields: those that the house asks for have to be filled in. It is shown an address only if it asks for one.
    pub(super) fn fields(&self, house: &House<0>, errors: &FieldErrors) -> Vec<FormField> {
        let asked = &house.saleroom.house.saleroom;
        let name = FormField::text("name", "Name", self.name.as_str())
            .kind("text", "name")
            .chars_max(200)
            .hint("The house sees it. Other bidders see your paddle number only.");
        let phone =
            FormField::text("phone", "Telephone", self.phone.as_str()).kind("tel", "tel").chars_max(60).with(errors);
        let mut fields =
            vec![name.with(errors).required(), if asked.asks_phone { phone.required() } else { phone.optional() }];
        if asked.asks_address {
            fields.extend(self.address.fields(|name| errors.of(name)));
        }
        fields
    }
}
