//! The register of a house: enters, changes, finds and reads the people and firms that bid or consign.

use std::collections::BTreeSet;

use platform_rules::LogHead;
use uuid::Uuid;

use super::party_input::PartyInput;
use crate::access::access_log::AccessEvent;
use crate::audit::party_entries;
use crate::caller::visible;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{
    Page, Party, PartyChange, PartyFilter, PartyPosition, PartyWrite, StoreError, Versioned, phone_digits, search_form,
};
use crate::steps::decide::expect_version;
use crate::steps::input::require_usable;
use crate::{Caller, Platform, Scope};

/// Tries of a change after version conflicts.
const ATTEMPTS_MAX: usize = 5;
/// Words of a search that are compared.
const WORDS_MAX: usize = 8;
/// Digits from which a search without letters is read as a part of a telephone number.
const PHONE_DIGITS_MIN: usize = 3;

/// Which part of a register to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PartyKind {
    /// Everyone.
    #[default]
    All,
    /// Bidders.
    Bidders,
    /// Consignors.
    Consignors,
    /// Those who may not bid.
    Blocked,
}

/// What a search of a register found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundParties {
    /// One page of them, by name.
    pub parties: Vec<Party>,
    /// How many there are on all pages.
    pub count: u64,
}

impl Platform {
    /// Enters a person or firm in the register of a house.
    ///
    /// Errors: `not_found` (customer), `invalid`, `taken` (reference).
    pub async fn create_party(&self, caller: &Caller, customer: Uuid, input: &PartyInput) -> PlatformResult<Party> {
        caller.require(Scope::PartiesWrite)?;
        self.visible_customer(caller, customer).await?;
        require_usable(input.problems(), None)?;
        let entry = self.new_party(caller, customer, input)?;
        let state = entry.party.state.clone();
        self.store().put_party(entry).await?;
        Ok(state)
    }

    /// A new record with its log entries, to be written.
    pub(crate) fn new_party(&self, caller: &Caller, customer: Uuid, input: &PartyInput) -> PlatformResult<PartyWrite> {
        let now = self.now();
        let (details, identity) = input.clone().into_details(None, (&caller.actor, now));
        let mut state = Party {
            uuid: self.ids().uuid_v7(),
            customer,
            details,
            identity,
            block: None,
            erasure: None,
            merged: None,
            actor: caller.actor.clone(),
            version: 1,
            created_at: now,
            updated_at: now,
            log: LogHead::default(),
        };
        let log = party_entries(&mut state, &[], self.random().as_ref())?;
        Ok(PartyWrite { party: Versioned { expected_version: 0, state }, log })
    }

    /// Replaces the details of a party.
    ///
    /// Errors: `not_found`, `precondition_failed`, `person_erased`, `invalid`, `taken` (reference), `busy`.
    pub async fn change_party(
        &self,
        caller: &Caller,
        uuid: Uuid,
        input: &PartyInput,
        expected_version: Option<i64>,
    ) -> PlatformResult<Party> {
        require_usable(input.problems(), None)?;
        let change = |state: &Party| {
            let (details, identity) = input.clone().into_details(state.identity.clone(), (&caller.actor, self.now()));
            Ok(PartyChange::Edited { details: Box::new(details), identity })
        };
        self.rewrite_party(caller, uuid, change, expected_version).await
    }

    /// A party, also one that was merged into another one. The access log gets an entry.
    ///
    /// Errors: `not_found`.
    pub async fn party(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<Party> {
        let party = self.visible_party(caller, uuid).await?;
        self.note_alone(self.note(caller, AccessEvent::PartyViewed { party: uuid })?).await?;
        Ok(party)
    }

    /// Parties of a house by name, e-mail address, telephone number, reference or paddle; all of them without a text. The access
    /// log gets an entry without the text.
    ///
    /// Errors: `not_found` (customer).
    pub async fn find_parties(
        &self,
        caller: &Caller,
        customer: Uuid,
        (kind, text): (PartyKind, &str),
        page: Page<PartyPosition>,
    ) -> PlatformResult<FoundParties> {
        caller.require(Scope::PartiesRead)?;
        self.visible_customer(caller, customer).await?;
        let filter = filter(kind, text);
        let parties = self.store().parties(customer, &filter, page).await?;
        let count = self.store().count_parties(customer, &filter).await?;
        let records = u64::try_from(parties.len()).unwrap_or(u64::MAX);
        self.note_alone(self.note(caller, AccessEvent::RegisterListed { customer, records })?).await?;
        Ok(FoundParties { parties, count })
    }

    /// Those of the UUIDs that are records in the register of a house; none for a caller who may not read it.
    pub async fn known_parties(
        &self,
        caller: &Caller,
        customer: Uuid,
        uuids: &[Uuid],
    ) -> PlatformResult<BTreeSet<Uuid>> {
        if caller.require(Scope::PartiesRead).is_err() || !caller.can_see(customer) || uuids.is_empty() {
            return Ok(BTreeSet::new());
        }
        let found = self.store().parties_of(uuids).await?;
        Ok(found.into_iter().filter(|party| party.customer == customer).map(|party| party.uuid).collect())
    }

    /// The position of a party in the lists of its house, where the next page begins.
    pub fn position_of(party: &Party) -> PartyPosition {
        (party.keys().name, party.uuid)
    }

    pub(super) async fn visible_party(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<Party> {
        caller.require_one_of(&[Scope::PartiesRead, Scope::PartiesWrite])?;
        visible(caller, self.store().party(uuid).await?, "party", |party| party.customer)
    }

    /// Applies the change that `change` decides, and again after a version conflict.
    pub(super) async fn rewrite_party(
        &self,
        caller: &Caller,
        uuid: Uuid,
        change: impl Fn(&Party) -> PlatformResult<PartyChange> + Send + Sync,
        expected_version: Option<i64>,
    ) -> PlatformResult<Party> {
        caller.require(Scope::PartiesWrite)?;
        for _ in 0..ATTEMPTS_MAX {
            let before = self.visible_party(caller, uuid).await?;
            expect_version(expected_version, before.version)?;
            if before.erasure.is_some() {
                return Err(platform_rules::Rejection::PersonErased.into());
            }
            if before.merged.is_some() {
                return Err(platform_rules::Rejection::RecordMerged.into());
            }
            let (mut state, change) = (before.clone(), change(&before)?);
            state.apply(&change, &caller.actor, self.now());
            let log = party_entries(&mut state, &[change], self.random().as_ref())?;
            let party = Versioned { expected_version: before.version, state: state.clone() };
            match self.store().put_party(PartyWrite { party, log }).await {
                Ok(()) => return Ok(state),
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(PlatformError::Busy)
    }
}

fn filter(kind: PartyKind, text: &str) -> PartyFilter {
    let text = text.trim();
    let digits = phone_digits(text);
    let is_number = text.chars().all(|char| char.is_ascii_digit() || char == ' ' || "+()-/.".contains(char));
    let words = if is_number && digits.len() >= PHONE_DIGITS_MIN {
        // Of a number that is stored with its country code, the zeros before the area code are missing.
        vec![digits.trim_start_matches('0').to_owned()]
    } else {
        text.split_whitespace().take(WORDS_MAX).map(search_form).collect()
    };
    PartyFilter {
        is_bidder: kind == PartyKind::Bidders,
        is_consignor: kind == PartyKind::Consignors,
        is_blocked: kind == PartyKind::Blocked,
        words,
        paddle: Some(text.to_owned()).filter(|text| !text.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_compares_words_without_accents_or_the_digits_of_a_telephone_number() {
        let found = filter(PartyKind::Bidders, "  Müller  GMBH ");
        assert_eq!(found.words, ["muller", "gmbh"]);
        assert!(found.is_bidder && !found.is_consignor && !found.is_blocked);
        assert_eq!(found.paddle.as_deref(), Some("Müller  GMBH"));
        assert_eq!(filter(PartyKind::All, "+49 (0)30/12-34").words, ["490301234"]);
        assert_eq!(filter(PartyKind::All, "020 7946").words, ["207946"]);
        assert_eq!(filter(PartyKind::All, "12").words, ["12"]);
        assert_eq!(filter(PartyKind::All, " "), PartyFilter::default());
    }
}
