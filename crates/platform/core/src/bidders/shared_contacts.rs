//! Bidders of a sale who share an e-mail address, a telephone number or a postal address with a consignor of the house, or with
//! another bidder of the sale. Staff read them before they let someone bid on the lots of a relative.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::access::access_log::AccessEvent;
use crate::error::PlatformResult;
use crate::port::{ContactKind, Page, Party, PartyDetails, PartyFilter, Registration};
use crate::{Caller, Platform, Scope};

/// Registrations and consignors that are compared. The page says when there are more.
const BIDDERS_MAX: usize = 2_000;
const CONSIGNORS_MAX: usize = 5_000;
/// Rows of one read.
const READ_AT_ONCE: usize = 250;

/// Persons who share a contact detail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedContact {
    /// What they share.
    pub kind: ContactKind,
    /// At least two persons, bidders of the sale first; at least one is one.
    pub people: Vec<SharingPerson>,
}

/// A person who shares a contact detail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharingPerson {
    /// The record in the register.
    pub party: Party,
    /// The registration of a bidder of the sale.
    pub registration: Option<Registration>,
}

/// The shared contact details of a sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedContacts {
    /// Those that consignors share first.
    pub shared: Vec<SharedContact>,
    /// Every bidder and every consignor was compared.
    pub is_complete: bool,
}

impl SharedContact {
    /// A consignor is among them.
    pub fn has_consignor(&self) -> bool {
        self.people.iter().any(|person| person.party.details.is_consignor)
    }
}

/// The persons of a sale and of the register, by record.
#[derive(Default)]
struct People {
    people: BTreeMap<Uuid, SharingPerson>,
    keys: BTreeMap<(ContactKind, String), BTreeSet<Uuid>>,
}

impl People {
    fn add(&mut self, party: Party, registration: Option<Registration>) {
        if party.erasure.is_some() {
            return;
        }
        self.add_keys(party.uuid, &party.details);
        let known = self.people.entry(party.uuid).or_insert(SharingPerson { party, registration: None });
        known.registration = registration.or(known.registration.take());
    }

    fn add_keys(&mut self, party: Uuid, details: &PartyDetails) {
        for key in details.contact_keys() {
            self.keys.entry(key).or_default().insert(party);
        }
    }

    fn shared(self) -> Vec<SharedContact> {
        let Self { people, keys } = self;
        let shared = keys.into_iter().filter_map(|((kind, _), parties)| {
            let mut found: Vec<SharingPerson> = parties.iter().filter_map(|party| people.get(party)).cloned().collect();
            found.sort_by_key(|person| (person.registration.is_none(), person.party.uuid));
            let is_of_sale = found.first().is_some_and(|person| person.registration.is_some());
            (found.len() > 1 && is_of_sale).then_some(SharedContact { kind, people: found })
        });
        let mut shared: Vec<SharedContact> = shared.collect();
        shared.sort_by_key(|shared| !shared.has_consignor());
        shared
    }
}

impl Platform {
    /// What bidders of a sale share with consignors of the house and with each other. The access log gets an entry.
    ///
    /// Errors: `not_found`.
    pub async fn shared_contacts(&self, caller: &Caller, auction: Uuid) -> PlatformResult<SharedContacts> {
        caller.require(Scope::BiddersRead)?;
        caller.require(Scope::PartiesRead)?;
        let auction = self.visible_bidders(caller, auction).await?;
        let found = self.shared_contacts_of(auction.uuid, auction.customer).await?;
        let records = found.shared.iter().map(|shared| shared.people.len()).sum::<usize>();
        let records = u64::try_from(records).unwrap_or(u64::MAX);
        let event = AccessEvent::RegisterListed { customer: auction.customer, records };
        self.note_alone(self.note(caller, event)?).await?;
        Ok(found)
    }

    pub(super) async fn shared_contacts_of(&self, auction: Uuid, customer: Uuid) -> PlatformResult<SharedContacts> {
        let mut people = People::default();
        let (mut after, mut bidders, mut is_complete) = (None, 0, true);
        loop {
            let page = Page { after, limit: READ_AT_ONCE };
            let registrations = self.store().registrations(auction, page).await?;
            let Some(last) = registrations.last() else { break };
            after = Some(last.uuid);
            bidders += registrations.len();
            self.add_bidders(&mut people, registrations).await?;
            if bidders >= BIDDERS_MAX {
                is_complete = false;
                break;
            }
        }
        let filter = PartyFilter { is_consignor: true, ..PartyFilter::default() };
        let (mut after, mut consignors) = (None, 0);
        loop {
            let page = Page { after: after.take(), limit: READ_AT_ONCE };
            let found = self.store().parties(customer, &filter, page).await?;
            let Some(last) = found.last() else { break };
            after = Some((last.keys().name, last.uuid));
            consignors += found.len();
            found.into_iter().for_each(|party| people.add(party, None));
            if consignors >= CONSIGNORS_MAX {
                is_complete = false;
                break;
            }
        }
        Ok(SharedContacts { shared: people.shared(), is_complete })
    }

    /// Adds the records of these registrations, with what their accounts say beside the register.
    async fn add_bidders(&self, people: &mut People, registrations: Vec<Registration>) -> PlatformResult<()> {
        let named: Vec<Uuid> = registrations.iter().filter_map(|registration| registration.party).collect();
        let mut parties = self.store().parties_of(&named).await?;
        // A record that was merged leads to the one that stands for its person.
        let merged = parties.iter().filter(|party| party.record() != party.uuid);
        let merged: BTreeMap<Uuid, Uuid> = merged.map(|party| (party.uuid, party.record())).collect();
        let standing: Vec<Uuid> = merged.values().copied().collect();
        parties.extend(self.store().parties_of(&standing).await?);
        let record_of = |party: Uuid| merged.get(&party).copied().unwrap_or(party);
        let records: BTreeMap<Uuid, Party> = parties.into_iter().map(|party| (party.uuid, party)).collect();
        let known: Vec<Uuid> = records.keys().copied().collect();
        for account in self.store().bidder_accounts_of(&known).await? {
            let details = account.profile.details;
            let of_account = PartyDetails {
                email: Some(account.email),
                phone: details.phone,
                addresses: details.address.into_iter().collect(),
                ..PartyDetails::default()
            };
            if let Some(party) = account.profile.party {
                people.add_keys(record_of(party), &of_account);
            }
        }
        for registration in registrations {
            let record = registration.party.and_then(|party| records.get(&record_of(party)));
            if let Some(party) = record.filter(|party| party.customer == registration.customer) {
                people.add(party.clone(), Some(registration));
            }
        }
        Ok(())
    }
}
