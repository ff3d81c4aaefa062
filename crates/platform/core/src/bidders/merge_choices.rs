//! What stays of each field when two records of a person are merged. Pure.

use contract::models::AddressModel;

use super::party_input::PARTY_NOTE_CHARS_MAX;
use crate::port::{IdentityCheck, Money, Party, PartyBlock, PartyDetails};

/// Between two notes. A note has no line break.
const NOTES_JOINED_BY: &str = " · ";

/// The record whose value stays. If only one record has a value, this one stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Side {
    /// The record that stays.
    #[default]
    Kept,
    /// The record that is merged into it.
    Merged,
}

/// What stays of a field whose values can stay together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Combine {
    /// The value of the record that stays.
    #[default]
    Kept,
    /// The value of the record that is merged into it.
    Merged,
    /// Both: the sum of two deposits, both notes, the addresses of both.
    Both,
}

/// What a person chose for the fields that differ. The role is what either record has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MergeChoices {
    /// The name.
    pub name: Side,
    /// The reference. The other one keeps naming the person.
    pub reference: Side,
    /// The e-mail address.
    pub email: Side,
    /// The telephone number.
    pub phone: Side,
    /// The VAT number.
    pub vat_number: Side,
    /// The proof of identity.
    pub identity: Side,
    /// The addresses.
    pub addresses: Combine,
    /// The deposit that the house holds.
    pub deposit: Combine,
    /// The usual spending limit.
    pub limit: Side,
    /// The note.
    pub note: Combine,
}

/// What becomes of two records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedDetails {
    /// Details of the record that stays.
    pub kept: PartyDetails,
    /// Details of the record that is merged: its own, with the reference that the other one does not have.
    pub merged: PartyDetails,
    /// The proof of identity that stays.
    pub identity: Option<IdentityCheck>,
    /// The block of either record; that of the record that stays, if both have one.
    pub block: Option<PartyBlock>,
}

impl MergeChoices {
    /// What a form begins with: the record that stays, the lower of two limits, and notes and addresses of both as far as they
    /// fit.
    pub fn usual(kept: &Party, merged: &Party) -> Self {
        let limits = kept.details.limit.as_ref().zip(merged.details.limit.as_ref());
        let is_lower =
            |(kept, merged): (&Money, &Money)| kept.currency == merged.currency && merged.amount < kept.amount;
        let joined = [&kept.details, &merged.details].map(|details| details.note.as_deref().unwrap_or_default());
        let chars = joined[0].chars().count() + NOTES_JOINED_BY.chars().count() + joined[1].chars().count();
        let fits = chars <= PARTY_NOTE_CHARS_MAX;
        Self {
            limit: if limits.is_some_and(is_lower) { Side::Merged } else { Side::Kept },
            note: if fits { Combine::Both } else { Combine::Kept },
            ..Self::default()
        }
    }

    /// The records after the merge.
    pub fn apply(&self, kept: &Party, merged: &Party) -> MergedDetails {
        let (own, other) = (&kept.details, &merged.details);
        let text = |side: Side, of: fn(&PartyDetails) -> &Option<String>| choose(side, of(own), of(other));
        let reference = text(self.reference, |details| &details.reference);
        let left = [&own.reference, &other.reference].into_iter().find(|left| left.is_some() && **left != reference);
        let details = PartyDetails {
            name: if self.name == Side::Kept { own.name.clone() } else { other.name.clone() },
            is_bidder: own.is_bidder || other.is_bidder,
            is_consignor: own.is_consignor || other.is_consignor,
            email: text(self.email, |details| &details.email),
            phone: text(self.phone, |details| &details.phone),
            vat_number: text(self.vat_number, |details| &details.vat_number),
            addresses: self.addresses_of(own, other),
            deposit: combine(self.deposit, &own.deposit, &other.deposit, sum),
            limit: choose(self.limit, &own.limit, &other.limit),
            note: combine(self.note, &own.note, &other.note, |own, other| {
                Some(format!("{own}{NOTES_JOINED_BY}{other}"))
            }),
            reference,
        };
        MergedDetails {
            kept: details,
            merged: PartyDetails { reference: left.cloned().flatten(), ..other.clone() },
            identity: choose(self.identity, &kept.identity, &merged.identity),
            block: kept.block.clone().or_else(|| merged.block.clone()),
        }
    }

    fn addresses_of(&self, own: &PartyDetails, other: &PartyDetails) -> Vec<AddressModel> {
        let (own, other) = (&own.addresses, &other.addresses);
        match self.addresses {
            Combine::Kept if !own.is_empty() => own.clone(),
            Combine::Merged if !other.is_empty() => other.clone(),
            Combine::Kept | Combine::Merged | Combine::Both => {
                let more = other.iter().filter(|address| !own.contains(address));
                own.iter().chain(more).cloned().collect()
            }
        }
    }
}

/// The value of a side, or that of the other one if the side has none.
fn choose<T: Clone>(side: Side, own: &Option<T>, other: &Option<T>) -> Option<T> {
    let (first, second) = if side == Side::Kept { (own, other) } else { (other, own) };
    first.clone().or_else(|| second.clone())
}

fn combine<T: Clone + PartialEq>(
    how: Combine,
    own: &Option<T>,
    other: &Option<T>,
    both: impl Fn(&T, &T) -> Option<T>,
) -> Option<T> {
    match (how, own, other) {
        (Combine::Both, Some(one), Some(two)) if one != two => both(one, two),
        (Combine::Merged, ..) => choose(Side::Merged, own, other),
        _ => choose(Side::Kept, own, other),
    }
}

/// Both deposits; none if they are in two currencies, which a caller refuses.
fn sum(own: &Money, other: &Money) -> Option<Money> {
    let amount = own.amount.checked_add(other.amount).filter(|_| own.currency == other.currency)?;
    Some(Money { amount, currency: own.currency })
}

#[cfg(test)]
mod tests {
    use contract::models::CurrencyCode;
    use jiff::Timestamp;
    use platform_rules::LogHead;
    use uuid::Uuid;

    use super::*;

    fn gbp(amount: i64) -> Option<Money> {
        Some(Money { amount, currency: "GBP".parse::<CurrencyCode>().unwrap() })
    }

    fn record(details: PartyDetails) -> Party {
        Party {
            uuid: Uuid::nil(),
            customer: Uuid::nil(),
            details,
            identity: None,
            block: None,
            erasure: None,
            merged: None,
            actor: "user:1".to_owned(),
            version: 1,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
            log: LogHead::default(),
        }
    }

    fn anna() -> Party {
        record(PartyDetails {
            name: "Anna Bell".to_owned(),
            is_bidder: true,
            reference: Some("C-1".to_owned()),
            email: Some("anna@example.com".to_owned()),
            deposit: gbp(500),
            limit: gbp(9_000),
            note: Some("Collects on Mondays".to_owned()),
            ..PartyDetails::default()
        })
    }

    fn bell() -> Party {
        record(PartyDetails {
            name: "Bell, Anna".to_owned(),
            is_consignor: true,
            reference: Some("C-2".to_owned()),
            phone: Some("020 7946 0958".to_owned()),
            deposit: gbp(200),
            limit: gbp(4_000),
            note: Some("Gate code 12".to_owned()),
            ..PartyDetails::default()
        })
    }

    #[test]
    fn nothing_that_only_one_record_has_is_lost() {
        let found = MergeChoices::default().apply(&anna(), &bell());
        let kept = &found.kept;
        assert_eq!((kept.is_bidder, kept.is_consignor, kept.name.as_str()), (true, true, "Anna Bell"));
        assert_eq!((kept.email.as_deref(), kept.phone.as_deref()), (Some("anna@example.com"), Some("020 7946 0958")));
        assert_eq!((kept.deposit.clone(), kept.limit.clone()), (gbp(500), gbp(9_000)));
        // A choice of the side without a value is that of the other one.
        let other = MergeChoices { email: Side::Merged, addresses: Combine::Merged, ..MergeChoices::default() };
        assert_eq!(other.apply(&anna(), &bell()).kept.email.as_deref(), Some("anna@example.com"));
    }

    #[test]
    fn both_references_keep_naming_the_person() {
        let chosen = |reference| {
            let found = MergeChoices { reference, ..MergeChoices::default() }.apply(&anna(), &bell());
            (found.kept.reference.unwrap(), found.merged.reference.unwrap())
        };
        assert_eq!(chosen(Side::Kept), ("C-1".to_owned(), "C-2".to_owned()));
        assert_eq!(chosen(Side::Merged), ("C-2".to_owned(), "C-1".to_owned()));
        let mut one = anna();
        one.details.reference = None;
        let found = MergeChoices::default().apply(&one, &bell());
        assert_eq!((found.kept.reference.as_deref(), found.merged.reference), (Some("C-2"), None));
    }

    #[test]
    fn the_lower_limit_and_both_notes_are_the_usual_choice_and_deposits_can_be_added() {
        let usual = MergeChoices::usual(&anna(), &bell());
        let found = usual.apply(&anna(), &bell()).kept;
        assert_eq!((found.limit, found.deposit), (gbp(4_000), gbp(500)));
        assert_eq!(found.note.as_deref(), Some("Collects on Mondays · Gate code 12"));
        let both = MergeChoices { deposit: Combine::Both, ..usual }.apply(&anna(), &bell()).kept;
        assert_eq!(both.deposit, gbp(700));
    }

    #[test]
    fn a_block_of_either_record_stays() {
        let block = |reason: &str| {
            Some(PartyBlock { reason: reason.to_owned(), actor: "user:2".to_owned(), at: Timestamp::UNIX_EPOCH })
        };
        let blocked = |mut party: Party, reason| {
            party.block = block(reason);
            party
        };
        let apply = |kept: &Party, merged: &Party| MergeChoices::default().apply(kept, merged).block;
        assert_eq!(apply(&anna(), &blocked(bell(), "unpaid")), block("unpaid"));
        assert_eq!(apply(&blocked(anna(), "rude"), &blocked(bell(), "unpaid")), block("rude"));
        assert_eq!(apply(&anna(), &bell()), None);
    }
}
