//! Match keys: what two records of a register have in common when they are likely about one person or firm.

use std::collections::BTreeSet;

use super::{Party, PartyDetails, phone_digits, search_form};

/// Last digits of a telephone number that are compared, so that country codes and a zero before the area code do not matter.
const PHONE_DIGITS_COMPARED: usize = 8;
/// Digits of the shortest telephone number that is compared.
const PHONE_DIGITS_MIN: usize = 7;
/// Letters and digits of the shortest VAT number that is compared.
const VAT_CHARS_MIN: usize = 5;

/// Characters of a name, a postcode or a VAT number that are compared: an index has a limit.
const KEY_CHARS_MAX: usize = 200;

/// What two records have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchReason {
    /// The e-mail address, with any capitals.
    Email,
    /// The last eight digits of the telephone number.
    Phone,
    /// The VAT number, without spaces and punctuation.
    VatNumber,
    /// The words of the name in any order, and a postcode.
    NameAndPostcode,
}

impl MatchReason {
    /// All reasons, the strongest first.
    pub const ALL: [Self; 4] = [Self::Email, Self::Phone, Self::VatNumber, Self::NameAndPostcode];

    fn prefix(self) -> &'static str {
        match self {
            Self::Email => "email:",
            Self::Phone => "phone:",
            Self::VatNumber => "vat:",
            Self::NameAndPostcode => "name:",
        }
    }

    pub(crate) fn key(self, value: &str) -> String {
        format!("{}{value}", self.prefix())
    }

    /// The reason that a match key stands for.
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| key.starts_with(reason.prefix()))
    }
}

impl PartyDetails {
    /// The match keys: records that share one are likely duplicates.
    pub fn match_keys(&self) -> BTreeSet<String> {
        let mut keys = BTreeSet::new();
        let email = self.email.as_deref().map(|email| email.trim().to_lowercase()).filter(|email| !email.is_empty());
        keys.extend(email.map(|email| MatchReason::Email.key(&email)));
        keys.extend(self.phone.as_deref().and_then(compared_digits).map(|phone| MatchReason::Phone.key(&phone)));
        let vat = self.vat_number.as_deref().map(letters_and_digits).filter(|vat| vat.chars().count() >= VAT_CHARS_MIN);
        keys.extend(vat.map(|vat| MatchReason::VatNumber.key(&vat)));
        let name = sorted_words(&self.name);
        let postcodes = self.addresses.iter().map(|address| letters_and_digits(&address.postcode));
        let postcodes = postcodes.filter(|postcode| !postcode.is_empty() && !name.is_empty());
        keys.extend(postcodes.map(|postcode| MatchReason::NameAndPostcode.key(&format!("{name}|{postcode}"))));
        keys
    }

    /// What these details and others have in common.
    pub fn match_reasons(&self, other: &Self) -> Vec<MatchReason> {
        let (own, others) = (self.match_keys(), other.match_keys());
        let common: BTreeSet<MatchReason> =
            own.intersection(&others).filter_map(|key| MatchReason::of_key(key)).collect();
        common.into_iter().collect()
    }
}

/// A contact detail by which two persons can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContactKind {
    /// The e-mail address, with any capitals.
    Email,
    /// The last eight digits of the telephone number.
    Phone,
    /// The first line and the postcode of a postal address, without spaces and punctuation.
    Address,
}

impl PartyDetails {
    /// The contact details in the form in which they are compared. Persons with different names share an address when they live
    /// together, so an address alone does not make two records likely duplicates.
    pub(crate) fn contact_keys(&self) -> BTreeSet<(ContactKind, String)> {
        let mut keys = BTreeSet::new();
        let email = self.email.as_deref().map(|email| email.trim().to_lowercase()).filter(|email| !email.is_empty());
        keys.extend(email.map(|email| (ContactKind::Email, email)));
        keys.extend(self.phone.as_deref().and_then(compared_digits).map(|phone| (ContactKind::Phone, phone)));
        for address in &self.addresses {
            let (line, postcode) = (letters_and_digits(&address.address_line1), letters_and_digits(&address.postcode));
            if !line.is_empty() && !postcode.is_empty() {
                keys.insert((ContactKind::Address, format!("{line}|{postcode}")));
            }
        }
        keys
    }
}

impl Party {
    /// The match keys of the record; none for one that was erased, or merged into another one.
    pub fn match_keys(&self) -> BTreeSet<String> {
        if self.erasure.is_some() || self.merged.is_some() { BTreeSet::new() } else { self.details.match_keys() }
    }
}

fn compared_digits(phone: &str) -> Option<String> {
    let digits = phone_digits(phone);
    let digits = digits.trim_start_matches('0');
    let compared = digits.get(digits.len().saturating_sub(PHONE_DIGITS_COMPARED)..)?;
    (compared.len() >= PHONE_DIGITS_MIN).then(|| compared.to_owned())
}

fn letters_and_digits(text: &str) -> String {
    search_form(text).chars().filter(|char| char.is_alphanumeric()).take(KEY_CHARS_MAX).collect()
}

/// The words of a name in alphabetical order, so that “Bell, Anna” is “Anna Bell”.
fn sorted_words(name: &str) -> String {
    let form = search_form(name);
    let mut words: Vec<&str> =
        form.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words.join(" ").chars().take(KEY_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use contract::models::AddressModel;

    use super::*;

    fn person(name: &str) -> PartyDetails {
        PartyDetails { name: name.to_owned(), ..PartyDetails::default() }
    }

    fn at(postcode: &str) -> AddressModel {
        AddressModel { postcode: postcode.to_owned(), ..AddressModel::default() }
    }

    #[test]
    fn records_match_by_address_number_vat_or_name_with_postcode() {
        use MatchReason::{Email, NameAndPostcode, Phone, VatNumber};
        let email = |text: &str| PartyDetails { email: Some(text.to_owned()), ..person("A") };
        let phone = |text: &str| PartyDetails { phone: Some(text.to_owned()), ..person("A") };
        let vat = |text: &str| PartyDetails { vat_number: Some(text.to_owned()), ..person("A") };
        let lives = |name: &str, postcode: &str| PartyDetails { addresses: vec![at(postcode)], ..person(name) };
        let table = [
            (email("Anna@Example.com"), email("anna@example.COM "), vec![Email]),
            (email("anna@example.com"), email("anna@example.org"), vec![]),
            (phone("+44 (0)20 7946 0958"), phone("020 7946 0958"), vec![Phone]),
            (phone("+49 30 123456"), phone("0049 (0)30/12-34-56"), vec![Phone]),
            (phone("020 7946 0958"), phone("020 7946 0959"), vec![]),
            (phone("12 34"), phone("12 34"), vec![]),
            (vat("GB 123 4567 89"), vat("gb123456789"), vec![VatNumber]),
            (vat("none"), vat("none"), vec![]),
            (lives("Bell, Anna", "OX1 1AA"), lives("Anna  BELL", "ox11aa"), vec![NameAndPostcode]),
            (lives("Jörg Müller", "10115"), lives("Jorg Muller", "10115"), vec![NameAndPostcode]),
            (lives("Anna Bell", "OX1 1AA"), lives("Anna Bell", "OX1 1AB"), vec![]),
            (lives("Anna Bell", ""), lives("Anna Bell", ""), vec![]),
            (person("Anna Bell"), person("Anna Bell"), vec![]),
            (person(""), person(""), vec![]),
        ];
        for (one, other, wanted) in table {
            assert_eq!(one.match_reasons(&other), wanted, "{one:?} {other:?}");
            assert_eq!(other.match_reasons(&one), wanted, "{one:?} {other:?}");
        }
    }

    #[test]
    fn any_of_several_addresses_matches_and_every_reason_is_named() {
        let both = |postcodes: [&str; 2]| PartyDetails {
            email: Some("anna@example.com".to_owned()),
            addresses: postcodes.map(at).to_vec(),
            ..person("Anna Bell")
        };
        let found = both(["OX1 1AA", "YO1 7HH"]).match_reasons(&both(["EH1 1YZ", "YO1 7HH"]));
        assert_eq!(found, [MatchReason::Email, MatchReason::NameAndPostcode]);
    }
}
