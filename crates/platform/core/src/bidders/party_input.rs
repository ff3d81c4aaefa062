//! The input of a record in the register, and its checks.

use contract::models::AddressModel;
use kit_identity::user::is_email;
use platform_rules::AMOUNT_MAX;

use crate::customers::addresses;
use crate::customers::addresses::AddressInput;
use crate::error::Problem;
use crate::port::{IdentityCheck, Money, PartyDetails};
use crate::steps::input::check_text;

/// Characters of a name.
pub const PARTY_NAME_CHARS_MAX: usize = 200;
/// Characters of a reference, a telephone number, a VAT number and the description of a document.
pub const PARTY_FIELD_CHARS_MAX: usize = 60;
/// Characters of a note.
pub const PARTY_NOTE_CHARS_MAX: usize = 2_000;
/// Addresses of one party.
pub const PARTY_ADDRESSES_MAX: usize = 5;

/// A person or firm as staff enter it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartyInput {
    /// Name of the person or firm; 1 to 200 characters.
    pub name: String,
    /// It bids. A party bids, consigns or both.
    pub is_bidder: bool,
    /// It consigns.
    pub is_consignor: bool,
    /// The house's own reference, unique in the house; 1 to 60 characters.
    pub reference: Option<String>,
    /// E-mail address.
    pub email: Option<String>,
    /// Telephone number; 1 to 60 characters.
    pub phone: Option<String>,
    /// VAT identification number; 1 to 60 characters.
    pub vat_number: Option<String>,
    /// Postal addresses, at most 5. An id is ignored: these addresses are not reference data.
    pub addresses: Vec<AddressModel>,
    /// The proof of identity that the caller saw, such as "passport"; 1 to 60 characters.
    pub document: Option<String>,
    /// The deposit that the house holds.
    pub deposit: Option<Money>,
    /// The spending limit of new registrations in sales of this currency.
    pub limit: Option<Money>,
    /// A note of the staff; 1 to 2,000 characters.
    pub note: Option<String>,
}

impl PartyInput {
    /// The input that would leave a party as it is.
    pub fn of(details: &PartyDetails) -> Self {
        let PartyDetails { name, is_bidder, is_consignor, reference, email, phone, vat_number, .. } = details.clone();
        let PartyDetails { addresses, identity, deposit, limit, note, .. } = details.clone();
        let document = identity.map(|identity| identity.document);
        Self {
            name,
            is_bidder,
            is_consignor,
            reference,
            email,
            phone,
            vat_number,
            addresses,
            document,
            deposit,
            limit,
            note,
        }
    }

    /// The details, with the proof of identity as `seen`, which has who saw it and when. A proof that stays keeps its first
    /// time.
    pub(super) fn details(
        &self,
        before: Option<&IdentityCheck>,
        seen: impl Fn(String) -> IdentityCheck,
    ) -> PartyDetails {
        let input = self.clone();
        let kept = before.filter(|before| Some(&before.document) == input.document.as_ref()).cloned();
        PartyDetails {
            name: input.name,
            is_bidder: input.is_bidder,
            is_consignor: input.is_consignor,
            reference: input.reference,
            email: input.email,
            phone: input.phone,
            vat_number: input.vat_number,
            addresses: input.addresses.into_iter().map(|address| AddressModel { id: None, ..address }).collect(),
            identity: kept.or_else(|| input.document.map(seen)),
            deposit: input.deposit,
            limit: input.limit,
            note: input.note,
        }
    }

    /// All problems of the values by themselves.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut check = |pointer: &str, text: Option<&String>, chars_max| {
            if let Some(Err(message)) = text.map(|text| check_text(text, chars_max)) {
                problems.push(Problem::new(pointer, message));
            }
        };
        check("/name", Some(&self.name), PARTY_NAME_CHARS_MAX);
        check("/reference", self.reference.as_ref(), PARTY_FIELD_CHARS_MAX);
        check("/phone", self.phone.as_ref(), PARTY_FIELD_CHARS_MAX);
        check("/vatNumber", self.vat_number.as_ref(), PARTY_FIELD_CHARS_MAX);
        check("/document", self.document.as_ref(), PARTY_FIELD_CHARS_MAX);
        check("/note", self.note.as_ref(), PARTY_NOTE_CHARS_MAX);
        if !self.is_bidder && !self.is_consignor {
            problems.push(Problem::new("/isBidder", "is neither a bidder nor a consignor: choose at least one"));
        }
        if self.email.as_deref().is_some_and(|email| !is_email(email)) {
            problems.push(Problem::new("/email", "is not an e-mail address"));
        }
        for (pointer, money) in [("/deposit", &self.deposit), ("/limit", &self.limit)] {
            if money.as_ref().is_some_and(|money| !(0..=AMOUNT_MAX).contains(&money.amount)) {
                problems.push(Problem::new(pointer, format!("must be from 0 to {AMOUNT_MAX} minor units")));
            }
        }
        if self.addresses.len() > PARTY_ADDRESSES_MAX {
            let message = format!("are {}, at most {PARTY_ADDRESSES_MAX} are possible", self.addresses.len());
            problems.push(Problem::new("/addresses", message));
        }
        for (place, address) in self.addresses.iter().take(PARTY_ADDRESSES_MAX).enumerate() {
            let found = addresses::problems(&AddressInput::Full(Box::new(address.clone())));
            problems.extend(found.into_iter().map(|problem| {
                let field = problem.pointer.rsplit('/').next().unwrap_or_default();
                Problem::new(format!("/addresses/{place}/{field}"), problem.message.clone())
            }));
        }
        problems
    }
}
