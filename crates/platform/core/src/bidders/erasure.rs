//! Erases a person from the register of a house: the record, and what its registrations have of the person.
//!
//! The logs keep every entry. Each log gets an entry that names the concealed values which the erasure deletes, and a
//! verification accepts no other gap. Bids, lots and purchases stay under the paddle. What invoices need is kept for a
//! configured time after the last purchase; then a worker removes it with a second entry.

use contract::ItemStatus;
use jiff::{SignedDuration, Timestamp};
use platform_rules::{Item, LogHead, Rejection};
use uuid::Uuid;

use super::blocking::is_open;
use crate::audit::{erase_values, party_entries, registration_entries};
use crate::error::{PlatformError, PlatformResult};
use crate::port::{
    ErasedValues, JournalRow, LogKind, Page, Party, PartyChange, PartyErasureWrite, PartyWrite, Registration,
    RegistrationChange, RegistrationStatus, RegistrationWrite, RemainingValues, StoreError, Versioned,
};
use crate::steps::decide::expect_version;
use crate::{Caller, Platform};

/// Tries of an erasure after version conflicts.
const ATTEMPTS_MAX: usize = 5;
/// Rows of a log, a register or an auction that are read at once.
const ROWS_READ_MAX: usize = 250;
/// Records whose kept details one run of the worker removes.
const KEPT_REMOVED_MAX: usize = 100;
/// The actor of what the platform removes by itself.
const TIMER: &str = "timer";
/// The reason of a suspension by an erasure. It stands in the open in the log, so it names no person.
const SUSPENDED_BY_ERASURE: &str = "erased from the register";

/// What the erasure of a person would do.
#[derive(Debug, Clone)]
pub struct ErasurePlan {
    /// The record.
    pub party: Party,
    /// Registrations that lose name, e-mail address and note.
    pub registrations: usize,
    /// Those of them that are suspended or declined, because their sales are not over.
    pub open_registrations: usize,
    /// Until when name, addresses and VAT number are kept for invoices; none when they go at once.
    pub kept_until: Option<Timestamp>,
    /// Why the person can't be erased now.
    pub refusal: Option<Rejection>,
}

/// A registration of a person who is erased, and whether its sale is over.
struct Affected {
    registration: Registration,
    is_over: bool,
}

impl Platform {
    /// What an erasure would do. The access log gets an entry.
    ///
    /// Errors: `not_found`, `forbidden`.
    pub async fn erasure_plan(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<ErasurePlan> {
        caller.require_administrator()?;
        let party = self.party(caller, uuid).await?;
        let affected = self.affected(&party).await?;
        let kept_until = self.kept_until(&party, &affected).await?;
        let refusal = match self.require_erasable(caller, &party).await {
            Err(PlatformError::Rejected(refusal)) => Some(refusal),
            erasable => erasable.map(|()| None)?,
        };
        let registrations = affected.iter().filter(|affected| affected.registration.describes_person()).count();
        let open_registrations = affected.iter().filter(|affected| affected.can_bid()).count();
        Ok(ErasurePlan { party, registrations, open_registrations, kept_until, refusal })
    }

    /// Erases a person: details, proof of identity, note and block of the record, and name, e-mail address and note of its
    /// registrations, with the values of all of these in the logs; the same of records that were merged into it. Registrations
    /// in sales that are not over are suspended. For administrators.
    ///
    /// The check for standing bids can miss a bid that is committed at the same moment.
    ///
    /// Errors: `not_found`, `forbidden`, `precondition_failed`, `record_merged`, `person_leads`, `person_consigns`, `busy`.
    pub async fn erase_party(
        &self,
        caller: &Caller,
        uuid: Uuid,
        expected_version: Option<i64>,
    ) -> PlatformResult<Party> {
        caller.require_administrator()?;
        for _ in 0..ATTEMPTS_MAX {
            let before = self.visible_party(caller, uuid).await?;
            expect_version(expected_version, before.version)?;
            self.require_erasable(caller, &before).await?;
            let affected = self.affected(&before).await?;
            let kept_until = self.kept_until(&before, &affected).await?;
            let mut remaining = Vec::new();
            let (mut state, mut parties) = (before.clone(), Vec::new());
            if before.erasure.is_none() {
                let written = self.erased_party(&before, kept_until, &caller.actor, &mut remaining).await?;
                state = written.party.state.clone();
                parties.push(written);
            }
            for merged in self.store().merged_records(&[uuid]).await? {
                if merged.erasure.is_none() {
                    // What invoices need is in the record that stayed.
                    parties.push(self.erased_party(&merged, None, &caller.actor, &mut remaining).await?);
                }
            }
            // Stores lock them in this order.
            parties.sort_unstable_by_key(|written| written.party.state.uuid);
            let mut registrations = Vec::new();
            for affected in &affected {
                registrations.extend(self.erased_registration(affected, &caller.actor, &mut remaining).await?);
            }
            match self.store().erase_party(PartyErasureWrite { parties, registrations, remaining }).await {
                Ok(()) => {
                    for Affected { registration, .. } in affected {
                        self.registration_cache().forget(registration.auction, &registration.paddle);
                    }
                    self.erase_late_registrations(caller, &state).await?;
                    return Ok(state);
                }
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(PlatformError::Busy)
    }

    /// Erases what was registered between the reads of an erasure and its commit. A later registration reads the party after
    /// it was written.
    async fn erase_late_registrations(&self, caller: &Caller, party: &Party) -> PlatformResult<()> {
        for affected in self.affected(party).await? {
            if affected.registration.describes_person() || affected.can_bid() {
                self.erase_registration(caller, affected.registration.uuid).await?;
            }
        }
        Ok(())
    }

    /// Removes what was kept of erased persons whose time is over; returns their number. For the worker.
    pub async fn remove_kept_details(&self) -> PlatformResult<usize> {
        let due = self.store().parties_kept_until(self.now(), KEPT_REMOVED_MAX).await?;
        let (mut removed, mut failed) = (0, None);
        for before in due {
            match self.remove_kept(&before).await {
                Ok(()) => removed += 1,
                // Another node removed it.
                Err(PlatformError::Busy) => {}
                // One record that can't be read does not keep the others.
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(removed), Err)
    }

    async fn remove_kept(&self, before: &Party) -> PlatformResult<()> {
        let mut remaining = Vec::new();
        let parties = vec![self.erased_party(before, None, TIMER, &mut remaining).await?];
        let erasure = PartyErasureWrite { parties, registrations: Vec::new(), remaining };
        match self.store().erase_party(erasure).await {
            Err(StoreError::Conflict) => Err(PlatformError::Busy),
            written => Ok(written?),
        }
    }

    /// Removes what a registration has of a person who was erased while it was written.
    pub(super) async fn erase_registration(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<Registration> {
        for _ in 0..ATTEMPTS_MAX {
            let registration = self.store().registration(uuid).await?.ok_or(PlatformError::NotFound("registration"))?;
            let affected = Affected { registration, is_over: false };
            let mut remaining = Vec::new();
            let Some(written) = self.erased_registration(&affected, &caller.actor, &mut remaining).await? else {
                return Ok(affected.registration);
            };
            let state = written.registration.state.clone();
            let erasure = PartyErasureWrite { parties: Vec::new(), registrations: vec![written], remaining };
            match self.store().erase_party(erasure).await {
                Ok(()) => {
                    self.registration_cache().forget(state.auction, &state.paddle);
                    return Ok(state);
                }
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(PlatformError::Busy)
    }

    /// Errors: `record_merged`, `person_leads`, `person_consigns`.
    async fn require_erasable(&self, caller: &Caller, party: &Party) -> PlatformResult<()> {
        if party.merged.is_some() {
            return Err(Rejection::RecordMerged.into());
        }
        if let Some(lot) = self.standing_lots(caller, party.uuid).await?.into_iter().next() {
            let (paddle, lot_number) = (lot.registration.paddle, lot.item.lot_number);
            return Err(
                Rejection::PersonLeads { sale: lot.auction.shown_title().to_owned(), paddle, lot_number }.into()
            );
        }
        let mut consigned = self.consigned(party).await?;
        while let Some(items) = self.next_consigned(&mut consigned).await? {
            if let Some(Item { auction, lot_number, .. }) = items.into_iter().find(|item| is_open(item.status)) {
                let sale = self.store().auction(auction).await?.map(|auction| auction.shown_title().to_owned());
                let sale = sale.unwrap_or_default();
                return Err(Rejection::PersonConsigns { sale, lot_number }.into());
            }
        }
        Ok(())
    }

    /// The registrations of the party in the sales of its house.
    async fn affected(&self, party: &Party) -> PlatformResult<Vec<Affected>> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = Page { after, limit: ROWS_READ_MAX };
            let registrations = self.store().registrations_of_party(party.uuid, page).await?;
            let Some(last) = registrations.last().map(|registration| registration.uuid) else { break };
            for registration in registrations.into_iter().filter(|it| it.customer == party.customer) {
                let auction = self.store().auction(registration.auction).await?;
                let is_over = auction.is_none_or(|auction| auction.require_unarchived().is_err());
                all.push(Affected { registration, is_over });
            }
            after = Some(last);
        }
        // Stores lock them in this order.
        all.sort_unstable_by_key(|affected| affected.registration.uuid);
        Ok(all)
    }

    /// Until when invoices need the party: the configured time after its last purchase, and after the last sale of a lot that
    /// it consigned. None when that is over, or there was none.
    async fn kept_until(&self, party: &Party, affected: &[Affected]) -> PlatformResult<Option<Timestamp>> {
        let mut sold: Vec<Uuid> = Vec::new();
        for Affected { registration, .. } in affected {
            sold.extend(self.purchases(registration).await?.into_iter().map(|purchase| purchase.item.uuid));
        }
        let mut consigned = self.consigned(party).await?;
        while let Some(items) = self.next_consigned(&mut consigned).await? {
            sold.extend(items.iter().filter(|item| is_sold(item)).map(|item| item.uuid));
        }
        let mut last_sale: Option<Timestamp> = None;
        for item in sold {
            last_sale = last_sale.max(self.last_status_change(item).await?.map(|JournalRow { at, .. }| at));
        }
        let kept_for = SignedDuration::from_hours(i64::from(self.config().purchases_kept_days) * 24);
        let until = last_sale.and_then(|at| at.checked_add(kept_for).ok());
        Ok(until.filter(|until| *until > self.now()))
    }

    /// The erased party with the entry of its erasure.
    async fn erased_party(
        &self,
        before: &Party,
        kept_until: Option<Timestamp>,
        actor: &str,
        remaining: &mut Vec<RemainingValues>,
    ) -> PlatformResult<PartyWrite> {
        let removed = self.removed_values((LogKind::Party, before.uuid), before.log, remaining).await?;
        let details = kept_until.map(|_| Box::new(before.details.for_invoices()));
        let change = PartyChange::Erased { details, kept_until, removed };
        let mut state = before.clone();
        state.apply(&change, actor, self.now());
        let log = party_entries(&mut state, &[change], self.random().as_ref())?;
        Ok(PartyWrite { party: Versioned { expected_version: before.version, state }, log })
    }

    /// The registration with the entry of its erasure; none when it has nothing of a person and can't bid.
    async fn erased_registration(
        &self,
        affected: &Affected,
        actor: &str,
        remaining: &mut Vec<RemainingValues>,
    ) -> PlatformResult<Option<RegistrationWrite>> {
        let before = &affected.registration;
        let removed = self.removed_values((LogKind::Registration, before.uuid), before.log, remaining).await?;
        if removed.is_empty() && !affected.can_bid() {
            return Ok(None);
        }
        let (status, reason) = match before.status {
            _ if !affected.can_bid() => (before.status, before.reason.clone()),
            RegistrationStatus::Pending => (RegistrationStatus::Refused, Some(SUSPENDED_BY_ERASURE.to_owned())),
            _ => (RegistrationStatus::Suspended, Some(SUSPENDED_BY_ERASURE.to_owned())),
        };
        let change = RegistrationChange::Erased { status, reason, removed };
        let mut state = before.clone();
        state.apply(&change, actor, self.now());
        let log = registration_entries(&mut state, &[change], self.random().as_ref())?;
        let registration = Versioned { expected_version: before.version, state };
        Ok(Some(RegistrationWrite {
            registration,
            log,
            answer: None,
            mail: None,
            notice_cause: None,
            limit_decided: None,
        }))
    }

    /// The values that the erasure removes from a log; what remains of their entries is added to `remaining`.
    async fn removed_values(
        &self,
        (kind, subject): (LogKind, Uuid),
        head: LogHead,
        remaining: &mut Vec<RemainingValues>,
    ) -> PlatformResult<Vec<ErasedValues>> {
        let (mut removed, mut after) = (Vec::new(), 0);
        while after < head.number {
            let entries = self.store().log_entries(subject, Page { after: Some(after), limit: ROWS_READ_MAX }).await?;
            let Some(last) = entries.last().map(|entry| entry.number) else { break };
            for entry in &entries {
                if let Some((values, rest)) = erase_values(kind, entry)? {
                    removed.push(values);
                    remaining.push(rest);
                }
            }
            after = last;
        }
        Ok(removed)
    }
}

fn is_sold(item: &Item) -> bool {
    matches!(item.status, ItemStatus::Sold | ItemStatus::SoldBuyNow)
}

impl Affected {
    fn can_bid(&self) -> bool {
        let status = self.registration.status;
        !self.is_over && matches!(status, RegistrationStatus::Approved | RegistrationStatus::Pending)
    }
}
