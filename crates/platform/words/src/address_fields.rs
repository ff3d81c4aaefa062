//! The fields of a postal address in a form.

use std::borrow::Cow;

use contract::models::{AddressCountryCode, AddressModel};
use kit_design::fields::{FieldErrors, FormFields};
use kit_design::form_field::FormField;

use crate::Words;

/// Characters of each line.
const LINE_CHARS_MAX: usize = 200;

/// Pointers of the fields of an address, below the one of the address, with the fields of the form.
pub const FIELDS: [(&str, &str); 6] = [
    ("addressLine1", "line1"),
    ("addressLine2", "line2"),
    ("city", "city"),
    ("county", "county"),
    ("postcode", "postcode"),
    ("countryCode", "country"),
];

/// The same with the pointers of a record that has one address.
pub const POINTERS: [(&str, &str); 6] = [
    ("/address/addressLine1", "line1"),
    ("/address/addressLine2", "line2"),
    ("/address/city", "city"),
    ("/address/county", "county"),
    ("/address/postcode", "postcode"),
    ("/address/countryCode", "country"),
];

/// Countries that the form suggests.
const COUNTRIES: &[&str] = &["GB", "IE", "FR", "DE", "NL", "BE", "IT", "ES", "CH", "US"];

/// The code of ISO 3166-1 in capitals. Addresses on the wire name the United Kingdom `uk`; people know it as GB.
fn shown_country(code: &AddressCountryCode) -> String {
    match code.as_str() {
        "uk" => "GB".to_owned(),
        code => code.to_uppercase(),
    }
}

/// The name of a field of one of several addresses. Those of the first address have no number.
pub fn field_at(name: &str, place: usize) -> String {
    if place == 0 { name.to_owned() } else { format!("{name}-{}", place + 1) }
}

/// An address as the user typed it.
#[derive(Debug, Clone, Default)]
pub struct TypedAddress {
    /// Place of the stored address that it replaces, in a form of several; empty for a new one.
    from: String,
    line1: String,
    line2: String,
    city: String,
    county: String,
    postcode: String,
    country: String,
}

impl TypedAddress {
    /// The address as a form shows it.
    pub fn of(address: Option<&AddressModel>) -> Self {
        let Some(address) = address.cloned() else { return Self::default() };
        Self {
            from: String::new(),
            line1: address.address_line1,
            line2: address.address_line2,
            city: address.city.unwrap_or_default(),
            county: address.county.unwrap_or_default(),
            postcode: address.postcode,
            country: shown_country(&address.country_code),
        }
    }

    /// The address at this place of the stored ones.
    pub fn stored(addresses: &[AddressModel], place: usize) -> Self {
        Self { from: place.to_string(), ..Self::of(addresses.get(place)) }
    }

    /// Reads the fields of a form.
    pub fn read(form: &FormFields) -> Self {
        Self::read_at(form, 0)
    }

    /// Reads one of several addresses.
    pub fn read_at(form: &FormFields, place: usize) -> Self {
        let text = |name| form.text(&field_at(name, place)).to_owned();
        Self {
            from: text("from"),
            line1: text("line1"),
            line2: text("line2"),
            city: text("city"),
            county: text("county"),
            postcode: text("postcode"),
            country: text("country"),
        }
    }

    /// The fields, with the fault of each by its name.
    pub fn fields(&self, fault_of: impl Fn(&str) -> String) -> [FormField; 6] {
        self.fields_at(fault_of, 0)
    }

    /// The fields of one of several addresses.
    pub fn fields_at(&self, fault_of: impl Fn(&str) -> String, place: usize) -> [FormField; 6] {
        let words = Words::of_request();
        let text = |name: &str, label: Cow<'static, str>, value: &str| {
            let name = field_at(name, place);
            let fault = fault_of(&name);
            FormField::text(name, label, value).chars_max(LINE_CHARS_MAX).optional().fault(fault)
        };
        [
            text("line1", words.of("field-line1"), &self.line1).hint(words.of("field-line1-hint")),
            text("line2", words.of("field-line2"), &self.line2),
            text("city", words.of("field-city"), &self.city),
            text("county", words.of("field-county"), &self.county),
            text("postcode", words.of("field-postcode"), &self.postcode),
            text("country", words.of("field-country"), &self.country)
                .hint(words.of("field-country-hint"))
                .attribute("autocapitalize", "characters")
                .suggesting(COUNTRIES.iter().copied()),
        ]
    }

    /// The address, with the id and the lines that the form does not show of the one that it replaces; none when every line
    /// is empty.
    pub fn model(&self, replaced: Option<&AddressModel>, errors: &mut FieldErrors) -> Option<AddressModel> {
        self.model_at(replaced, errors, 0)
    }

    /// One of several addresses, which replaces the one of `stored` that it was made from.
    pub fn model_of(&self, stored: &[AddressModel], errors: &mut FieldErrors, place: usize) -> Option<AddressModel> {
        let replaced = self.from.parse::<usize>().ok().and_then(|from| stored.get(from));
        self.model_at(replaced, errors, place)
    }

    /// The place of the stored address that it replaces, as a form carries it unseen.
    pub fn carried(&self, place: usize) -> (String, String) {
        (field_at("from", place), self.from.clone())
    }

    fn model_at(
        &self,
        replaced: Option<&AddressModel>,
        errors: &mut FieldErrors,
        place: usize,
    ) -> Option<AddressModel> {
        let words = Words::of_request();
        let lines = [&self.line1, &self.line2, &self.city, &self.county, &self.postcode];
        if lines.iter().all(|line| line.is_empty()) {
            return None;
        }
        for (field, value) in [("line1", &self.line1), ("postcode", &self.postcode)] {
            if value.is_empty() {
                errors.add(field_at(field, place), words.of("fault-line"));
            }
        }
        let country_code = match self.country.as_str() {
            "" => AddressCountryCode::default(),
            text => text.to_lowercase().parse().unwrap_or_else(|_| {
                errors.add(field_at("country", place), words.of("fault-country"));
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
}

/// An address on one line: `12 Cooper Street, Bath BA1 1AA, UK`.
pub fn one_line(address: &AddressModel) -> String {
    let town = [address.city.as_deref().unwrap_or_default(), &address.postcode].join(" ");
    let lines = [
        address.address_line1.as_str(),
        &address.address_line2,
        address.address_line3.as_deref().unwrap_or_default(),
        address.address_line4.as_deref().unwrap_or_default(),
        town.trim(),
        address.county.as_deref().unwrap_or_default(),
        &address.country_code.as_str().to_uppercase(),
    ];
    lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ")
}
