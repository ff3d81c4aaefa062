//! Merges two records of a person in the register of a house. A person decides it; nothing is merged by itself.
//!
//! The record that stays gets the details that the person chose. The other record names it from then on, and keeps its
//! registrations, bids and lots: stores list those of all records of a person together, and the rules bar a person from the
//! lots of each record. A merge raises the version of each registration in a sale that is not over, so that every node decides
//! the next bid on what it reads after the merge.

use std::collections::BTreeSet;

use platform_rules::{Auction, Rejection};
use uuid::Uuid;

use super::blocking::SUSPENDED_BY_BLOCK;
use super::merge_choices::{Combine, MergeChoices, MergedDetails};
use super::party::is_on_sale_or_sold;
use super::party_input::PartyInput;
use crate::audit::{party_entries, registration_entries};
use crate::error::{PlatformError, PlatformResult, Problem};
use crate::port::{
    Page, Party, PartyChange, PartyMergeWrite, PartyWrite, Registration, RegistrationChange, RegistrationStatus,
    RegistrationWrite, StoreError, Versioned,
};
use crate::steps::decide::expect_version;
use crate::steps::input::require_usable;
use crate::{Caller, Platform, Scope};

/// Tries of a merge after version conflicts.
const ATTEMPTS_MAX: usize = 5;
/// Registrations that are read at once.
const ROWS_READ_MAX: usize = 250;
/// Records that can be merged into one.
pub const MERGED_RECORDS_MAX: usize = 50;

/// Lots of a consignor that a plan of a merge counts.
pub const CONSIGNED_COUNTED_MAX: usize = 1_000;

/// What a merge of two records would do.
#[derive(Debug, Clone)]
pub struct MergePlan {
    /// The record that stays.
    pub kept: Party,
    /// The record that is merged into it.
    pub merged: Party,
    /// Registrations of the merged record.
    pub registrations: usize,
    /// Lots that it bought.
    pub purchases: usize,
    /// Lots that it consigns, counted to [`CONSIGNED_COUNTED_MAX`].
    pub consigned_lots: usize,
    /// Sales that are not over, for which both are registered.
    pub shared_sales: Vec<SharedSale>,
    /// Registrations that are suspended or declined, because one of the records is blocked.
    pub suspended: usize,
    /// E-mail address of the account in the saleroom that acts for the person afterwards.
    pub account: Option<String>,
    /// Why the records can't be merged now.
    pub refusal: Option<Rejection>,
}

/// A sale for which both records are registered.
#[derive(Debug, Clone)]
pub struct SharedSale {
    /// The sale.
    pub auction: Auction,
    /// Paddles of both records.
    pub paddles: Vec<String>,
}

/// Both records, with the version of each that the caller saw; none for any version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordPair {
    /// The record that stays.
    pub kept: Uuid,
    /// The record that is merged into it.
    pub merged: Uuid,
    /// Versions of both.
    pub versions: Option<(i64, i64)>,
}

impl Platform {
    /// What a merge would do. The access log gets an entry for each record.
    ///
    /// Errors: `not_found`, `other_house`, `same_record`.
    pub async fn merge_plan(&self, caller: &Caller, pair: RecordPair) -> PlatformResult<MergePlan> {
        caller.require(Scope::PartiesWrite)?;
        let (kept, merged) = (self.party(caller, pair.kept).await?, self.party(caller, pair.merged).await?);
        require_one_house(&kept, &merged)?;
        let refusal = match self.require_mergeable(&kept, &merged).await {
            Err(PlatformError::Rejected(refusal)) => Some(refusal),
            mergeable => mergeable.map(|()| None)?,
        };
        let (mut registrations, mut purchases, mut after) = (0, 0, None);
        loop {
            let page = Page { after, limit: ROWS_READ_MAX };
            let found = self.store().registrations_of_party(merged.uuid, page).await?;
            let Some(last) = found.last().map(|registration| registration.uuid) else { break };
            for registration in found.iter().filter(|registration| registration.customer == merged.customer) {
                registrations += 1;
                purchases += self.purchases(registration).await?.len();
            }
            after = Some(last);
        }
        let (mut consigned_lots, mut consigned) = (0, self.consigned(&merged).await?);
        while let Some(items) = self.next_consigned(&mut consigned).await? {
            consigned_lots += items.len();
            if consigned_lots >= CONSIGNED_COUNTED_MAX {
                consigned_lots = CONSIGNED_COUNTED_MAX;
                break;
            }
        }
        let open = [self.open_in_house(&kept).await?, self.open_in_house(&merged).await?];
        let is_blocked = kept.block.is_some() || merged.block.is_some();
        let suspended = open.iter().flatten().filter(|registration| is_blocked && can_bid(registration)).count();
        let mut shared_sales = Vec::new();
        let sales: BTreeSet<Uuid> = open[0].iter().map(|registration| registration.auction).collect();
        for sale in sales {
            let of_sale = open.iter().flatten().filter(|registration| registration.auction == sale);
            if open[1].iter().any(|registration| registration.auction == sale)
                && let Some(auction) = self.store().auction(sale).await?
            {
                let paddles = of_sale.map(|registration| registration.paddle.clone()).collect();
                shared_sales.push(SharedSale { auction, paddles });
            }
        }
        let account = match self.account_of(kept.uuid).await? {
            None => self.account_of(merged.uuid).await?,
            known => known,
        };
        Ok(MergePlan {
            kept,
            merged,
            registrations,
            purchases,
            consigned_lots,
            shared_sales,
            suspended,
            account,
            refusal,
        })
    }

    /// The records that were merged into this one.
    ///
    /// Errors: `not_found`.
    pub async fn merged_records(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<Vec<Party>> {
        caller.require(Scope::PartiesRead)?;
        self.visible_party(caller, uuid).await?;
        Ok(self.store().merged_records(&[uuid]).await?)
    }

    /// Merges a record into another one. Nothing brings it back. Returns the record that stays. A bid that was placed at the same
    /// moment can stand on a lot of the person's own: [`Platform::standing_lots`] lists it.
    ///
    /// Errors: `not_found`, `precondition_failed`, `other_house`, `same_record`, `record_merged`, `person_erased`,
    /// `too_many_merged`, `vendor_has_bid`, `invalid`, `busy`.
    pub async fn merge_parties(
        &self,
        caller: &Caller,
        pair: RecordPair,
        choices: &MergeChoices,
    ) -> PlatformResult<Party> {
        caller.require(Scope::PartiesWrite)?;
        for _ in 0..ATTEMPTS_MAX {
            let kept = self.visible_party(caller, pair.kept).await?;
            let merged = self.visible_party(caller, pair.merged).await?;
            require_one_house(&kept, &merged)?;
            expect_version(pair.versions.map(|versions| versions.0), kept.version)?;
            expect_version(pair.versions.map(|versions| versions.1), merged.version)?;
            self.require_mergeable(&kept, &merged).await?;
            let after = choices.apply(&kept, &merged);
            require_usable(problems(choices, &kept, &merged, &after), None)?;
            let Some((state, followed)) = self.try_merge(caller, (&kept, &merged), after).await? else { continue };
            for registration in self.open_in_house(&state).await? {
                if followed.contains(&registration.uuid) {
                    self.registration_cache().forget(registration.auction, &registration.paddle);
                } else {
                    // It was made between the reads of the merge and its commit.
                    self.follow(&caller.actor, &state, registration).await?;
                }
            }
            return Ok(state);
        }
        Err(PlatformError::Busy)
    }

    /// Writes a merge, and returns the record that stays with the registrations that were written; none when a record or a
    /// registration changed meanwhile.
    async fn try_merge(
        &self,
        caller: &Caller,
        (kept, merged): (&Party, &Party),
        after: MergedDetails,
    ) -> PlatformResult<Option<(Party, BTreeSet<Uuid>)>> {
        let MergedDetails { kept: details, merged: left, identity, block } = after;
        let is_blocked = block.is_some();
        let taken = PartyChange::TookOver { record: merged.uuid, details: Box::new(details), identity, block };
        let into = kept.uuid;
        let written = self.changed_party(kept, taken, &caller.actor)?;
        let state = written.party.state.clone();
        let mut parties = vec![
            written,
            self.changed_party(merged, PartyChange::Merged { into, details: Box::new(left) }, &caller.actor)?,
        ];
        for earlier in self.store().merged_records(&[merged.uuid]).await? {
            let details = Box::new(earlier.details.clone());
            parties.push(self.changed_party(&earlier, PartyChange::Merged { into, details }, &caller.actor)?);
        }
        let of_kept = self.open_in_house(kept).await?;
        let mut taken: BTreeSet<Uuid> = of_kept.iter().map(|registration| registration.auction).collect();
        let mut registrations = Vec::new();
        for registration in of_kept {
            let party = registration.party;
            registrations.push(self.followed(&registration, party, is_blocked, &caller.actor)?);
        }
        for registration in self.open_in_house(merged).await? {
            // A sale has one registration of each record, so a second paddle keeps the record that it names.
            let party = if taken.insert(registration.auction) { Some(into) } else { registration.party };
            registrations.push(self.followed(&registration, party, is_blocked, &caller.actor)?);
        }
        // Stores lock them in this order.
        parties.sort_unstable_by_key(|written| written.party.state.uuid);
        registrations.sort_unstable_by_key(|written| written.registration.state.uuid);
        let followed = registrations.iter().map(|written| written.registration.state.uuid).collect();
        let merge = PartyMergeWrite { kept: into, merged: merged.uuid, parties, registrations };
        match self.store().merge_parties(merge).await {
            Ok(()) => Ok(Some((state, followed))),
            Err(StoreError::Conflict) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Errors: `record_merged`, `person_erased`, `too_many_merged`, `vendor_has_bid`.
    async fn require_mergeable(&self, kept: &Party, merged: &Party) -> PlatformResult<()> {
        for party in [kept, merged] {
            if party.merged.is_some() {
                return Err(Rejection::RecordMerged.into());
            }
            if party.erasure.is_some() {
                return Err(Rejection::PersonErased.into());
            }
        }
        let earlier = self.store().merged_records(&[kept.uuid, merged.uuid]).await?.len();
        if earlier >= MERGED_RECORDS_MAX {
            return Err(Rejection::TooManyMerged { maximum: MERGED_RECORDS_MAX }.into());
        }
        if let [first, second] = [self.account_of(kept.uuid).await?, self.account_of(merged.uuid).await?]
            && let (Some(first), Some(second)) = (first, second)
        {
            return Err(Rejection::TwoAccounts { first, second }.into());
        }
        self.require_no_own_bid(kept, merged.uuid).await?;
        self.require_no_own_bid(merged, kept.uuid).await
    }

    /// E-mail address of the account that acts for a record's person, if there is one.
    async fn account_of(&self, party: Uuid) -> PlatformResult<Option<String>> {
        let records = self.store().records_of_person(party).await?;
        Ok(self.store().bidder_accounts_of(&records).await?.into_iter().next().map(|account| account.email))
    }

    /// Refuses a merge while a bid of a bidder counts on a lot of this consignor, in a sale that is not over. The check can miss
    /// a bid that is committed at the same moment.
    async fn require_no_own_bid(&self, bidder: &Party, consignor: Uuid) -> PlatformResult<()> {
        let items_max = self.config().auction_items_max;
        for (registration, auction) in self.open_registrations(bidder.uuid).await? {
            if registration.customer != bidder.customer {
                continue;
            }
            let items = self.store().items_of_vendor(consignor, auction.uuid, items_max).await?;
            for item in items.iter().filter(|item| is_on_sale_or_sold(item)) {
                if self.counts_on(item, &registration.paddle).await? {
                    let (paddle, lot_number) = (registration.paddle, item.lot_number.clone());
                    return Err(
                        Rejection::PersonHasBid { sale: auction.shown_title().to_owned(), paddle, lot_number }.into()
                    );
                }
            }
        }
        Ok(())
    }

    /// The registrations of a person in sales of the house that are not over.
    async fn open_in_house(&self, party: &Party) -> PlatformResult<Vec<Registration>> {
        let open = self.open_registrations(party.uuid).await?.into_iter().map(|(registration, _)| registration);
        Ok(open.filter(|registration| registration.customer == party.customer).collect())
    }

    /// Lets a registration that names a merged record name the one that stayed, unless the sale has a registration of that one.
    pub(super) async fn follow_merge(&self, actor: &str, registration: Registration) -> PlatformResult<Registration> {
        match self.party_of(&registration).await? {
            Some(kept) if registration.party != Some(kept.uuid) => self.follow(actor, &kept, registration).await,
            _ => Ok(registration),
        }
    }

    /// Raises the version of a registration of a merged record.
    async fn follow(&self, actor: &str, kept: &Party, registration: Registration) -> PlatformResult<Registration> {
        let mut state = registration;
        for party in [Some(kept.uuid), state.party] {
            let written = self.followed(&state, party, kept.block.is_some(), actor)?;
            let followed = written.registration.state.clone();
            match self.store().put_registration(written).await {
                Ok(()) => {
                    state = followed;
                    break;
                }
                Err(StoreError::Taken(_)) => {}
                // Another change of the registration: it reads the merge.
                Err(StoreError::Conflict) => break,
                Err(error) => return Err(error.into()),
            }
        }
        self.registration_cache().forget(state.auction, &state.paddle);
        Ok(state)
    }

    fn changed_party(&self, before: &Party, change: PartyChange, actor: &str) -> PlatformResult<PartyWrite> {
        let mut state = before.clone();
        state.apply(&change, actor, self.now());
        let log = party_entries(&mut state, &[change], self.random().as_ref())?;
        Ok(PartyWrite { party: Versioned { expected_version: before.version, state }, log })
    }

    /// A registration after the merge of its record.
    fn followed(
        &self,
        before: &Registration,
        party: Option<Uuid>,
        is_blocked: bool,
        actor: &str,
    ) -> PlatformResult<RegistrationWrite> {
        let suspended = Some(SUSPENDED_BY_BLOCK.to_owned());
        let (status, reason) = match before.status {
            RegistrationStatus::Pending if is_blocked => (RegistrationStatus::Refused, suspended),
            RegistrationStatus::Approved if is_blocked => (RegistrationStatus::Suspended, suspended),
            status => (status, before.reason.clone()),
        };
        let change = RegistrationChange::PersonMerged { party, status, reason };
        let mut state = before.clone();
        state.apply(&change, actor, self.now());
        let log = registration_entries(&mut state, &[change], self.random().as_ref())?;
        let registration = Versioned { expected_version: before.version, state };
        Ok(RegistrationWrite { registration, log, answer: None, mail: None, notice_cause: None, limit_decided: None })
    }
}

fn can_bid(registration: &Registration) -> bool {
    matches!(registration.status, RegistrationStatus::Approved | RegistrationStatus::Pending)
}

fn require_one_house(kept: &Party, merged: &Party) -> PlatformResult<()> {
    if kept.customer != merged.customer {
        return Err(Rejection::OtherHouse.into());
    }
    if kept.uuid == merged.uuid { Err(Rejection::SameRecord.into()) } else { Ok(()) }
}

/// What is wrong with the record that a merge would leave.
fn problems(choices: &MergeChoices, kept: &Party, merged: &Party, after: &MergedDetails) -> Vec<Problem> {
    let input = PartyInput { details: after.kept.clone(), document: None };
    let mut problems = input.problems();
    let deposits = kept.details.deposit.is_some() && merged.details.deposit.is_some();
    if choices.deposit == Combine::Both && deposits && after.kept.deposit.is_none() {
        let message = "are in two currencies, or too large together: choose one of them";
        problems.push(Problem::new("/deposit", message));
    }
    problems
}
