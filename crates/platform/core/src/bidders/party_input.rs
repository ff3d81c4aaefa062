//! The input of a record in the register, and its checks.

use jiff::Timestamp;
use kit_mail::is_address;
use platform_rules::AMOUNT_MAX;

use crate::customers::addresses;
use crate::customers::addresses::AddressInput;
use crate::error::Problem;
use crate::port::{IdentityCheck, PartyDetails};
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
    /// The details. The ids of addresses are ignored, because these addresses are not reference data.
    pub details: PartyDetails,
    /// The proof of identity that the caller saw, such as "passport"; 1 to 60 characters.
    pub document: Option<String>,
}

impl PartyInput {
    /// The details to store, and the proof of identity: the one from before if its document stays, otherwise a new one of the
    /// caller.
    pub(super) fn into_details(
        self,
        before: Option<IdentityCheck>,
        (actor, now): (&str, Timestamp),
    ) -> (PartyDetails, Option<IdentityCheck>) {
        let Self { mut details, document } = self;
        details.addresses.iter_mut().for_each(|address| address.id = None);
        let seen = |document| IdentityCheck { document, seen_by: actor.to_owned(), seen_at: now };
        let kept = before.filter(|before| Some(&before.document) == document.as_ref());
        (details, kept.or_else(|| document.map(seen)))
    }

    /// All problems of the values by themselves.
    pub fn problems(&self) -> Vec<Problem> {
        let (details, mut problems) = (&self.details, Vec::new());
        let mut check = |pointer: &str, text: Option<&String>, chars_max| {
            if let Some(Err(message)) = text.map(|text| check_text(text, chars_max)) {
                problems.push(Problem::new(pointer, message));
            }
        };
        check("/name", Some(&details.name), PARTY_NAME_CHARS_MAX);
        check("/reference", details.reference.as_ref(), PARTY_FIELD_CHARS_MAX);
        check("/phone", details.phone.as_ref(), PARTY_FIELD_CHARS_MAX);
        check("/vatNumber", details.vat_number.as_ref(), PARTY_FIELD_CHARS_MAX);
        check("/document", self.document.as_ref(), PARTY_FIELD_CHARS_MAX);
        check("/note", details.note.as_ref(), PARTY_NOTE_CHARS_MAX);
        if !details.is_bidder && !details.is_consignor {
            problems.push(Problem::new("/isBidder", "is neither a bidder nor a consignor: choose at least one"));
        }
        if details.email.as_deref().is_some_and(|email| !is_address(email)) {
            problems.push(Problem::new("/email", "is not an e-mail address"));
        }
        for (pointer, money) in [("/deposit", &details.deposit), ("/limit", &details.limit)] {
            if money.as_ref().is_some_and(|money| !(0..=AMOUNT_MAX).contains(&money.amount)) {
                problems.push(Problem::new(pointer, format!("must be from 0 to {AMOUNT_MAX} minor units")));
            }
        }
        if details.addresses.len() > PARTY_ADDRESSES_MAX {
            let message = format!("are {}, at most {PARTY_ADDRESSES_MAX} are possible", details.addresses.len());
            problems.push(Problem::new("/addresses", message));
        }
        for (place, address) in details.addresses.iter().take(PARTY_ADDRESSES_MAX).enumerate() {
            let found = addresses::problems(&AddressInput::Full(Box::new(address.clone())));
            problems.extend(found.into_iter().map(|problem| {
                let field = problem.pointer.rsplit('/').next().unwrap_or_default();
                Problem::new(format!("/addresses/{place}/{field}"), problem.message.clone())
            }));
        }
        problems
    }
}
