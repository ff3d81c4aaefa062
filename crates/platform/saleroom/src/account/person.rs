//! The fields in which bidders enter who they are.

use contract::models::AddressModel;
use kit_design::fields::{FieldErrors, FormFields};
use kit_design::form_field::{Choice, FormField};
use platform_core::port::Language;
use platform_core::saleroom::BidderDetails;
use platform_words::address_fields::TypedAddress;
use platform_words::{own_name, tag};

use crate::house::House;

/// Time zones that the form suggests.
const TIME_ZONES: &[&str] = &[
    "Europe/London",
    "Europe/Berlin",
    "Europe/Paris",
    "Europe/Madrid",
    "Europe/Rome",
    "Europe/Vienna",
    "Europe/Zurich",
    "Europe/Brussels",
    "Europe/Athens",
    "America/New_York",
    "America/Chicago",
    "America/Los_Angeles",
    "America/Mexico_City",
    "America/Sao_Paulo",
    "Asia/Dubai",
    "Asia/Hong_Kong",
    "Asia/Tokyo",
    "Australia/Sydney",
    "UTC",
];

/// A person as they typed it.
#[derive(Debug, Clone, Default)]
pub(super) struct TypedPerson {
    name: String,
    phone: String,
    address: TypedAddress,
    language: String,
    time_zone: String,
}

impl TypedPerson {
    pub(super) fn of(details: &BidderDetails) -> Self {
        Self {
            name: details.name.clone(),
            phone: details.phone.clone().unwrap_or_default(),
            address: TypedAddress::of(details.address.as_ref()),
            language: details.language.map(tag).unwrap_or_default().to_owned(),
            time_zone: details.time_zone.clone().unwrap_or_default(),
        }
    }

    pub(super) fn read(form: &FormFields) -> Self {
        Self {
            name: form.text("name").to_owned(),
            phone: form.text("phone").to_owned(),
            address: TypedAddress::read(form),
            language: form.text("language").to_owned(),
            time_zone: form.text("timeZone").to_owned(),
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
            language: Language::ALL.into_iter().find(|language| tag(*language) == self.language),
            time_zone: Some(self.time_zone.clone()).filter(|name| !name.is_empty()),
        }
    }

    /// The fields: those that the house asks for have to be filled in. It is shown an address only if it asks for one.
    pub(super) fn fields(&self, house: &House<0>, errors: &FieldErrors) -> Vec<FormField> {
        let (asked, words) = (&house.saleroom.house.saleroom, house.words);
        let name = FormField::text("name", words.of("field-name"), self.name.as_str())
            .kind("text", "name")
            .chars_max(200)
            .hint(words.of("field-name-hint"));
        let phone = FormField::text("phone", words.of("field-phone"), self.phone.as_str())
            .kind("tel", "tel")
            .chars_max(60)
            .with(errors);
        let mut fields =
            vec![name.with(errors).required(), if asked.asks_phone { phone.required() } else { phone.optional() }];
        if asked.asks_address {
            fields.extend(self.address.fields(|name| errors.of(name)));
        }
        fields
    }

    /// The same fields, and those about the pages that an account has and a new one does not ask for.
    pub(super) fn all_fields(&self, house: &House<0>, errors: &FieldErrors) -> Vec<FormField> {
        let (offers, words) = (&house.saleroom.house.saleroom, house.words);
        let any = Choice::of("", words.of("field-language-any"), &self.language);
        let offered = Language::ALL.into_iter().filter(|language| offers.offers(*language));
        let own = offered.map(|language| Choice::of(tag(language), own_name(language), &self.language));
        let language =
            FormField::select("language", words.of("field-language"), [any].into_iter().chain(own).collect())
                .hint(words.of("field-language-hint"));
        let time_zone = FormField::text("timeZone", words.of("field-time-zone"), self.time_zone.as_str())
            .chars_max(64)
            .attribute("spellcheck", "false")
            .hint(words.of("field-time-zone-hint"))
            .suggesting(TIME_ZONES.iter().copied())
            .optional();
        let mut fields = self.fields(house, errors);
        fields.extend([language.with(errors), time_zone.with(errors)]);
        fields
    }
}
