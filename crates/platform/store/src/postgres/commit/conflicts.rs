//! Conflict check: compares the changes of a batch with the stored rows and with the earlier changes of the batch.

use std::collections::{HashMap, HashSet};

use kit_engine::postgres::Transaction;
use platform_core::port::{Change, ExpectedRegistration, StoreError, StoreResult, Versioned};
use platform_rules::Item;
use uuid::Uuid;

use crate::batch::RejectedChanges;
use crate::codec::{LIVE, end_ms};
use crate::postgres::rows::{self, SqlResult};
use crate::postgres::{bulk_changes, lot_offers, registrations};

/// The stored values that a change can conflict with.
#[derive(Default)]
pub(super) struct ConflictChecker {
    /// Versions of existing auctions.
    auctions: HashMap<Uuid, i64>,
    items: HashMap<Uuid, LockedItem>,
    /// Items by auction and lot number.
    lots: HashMap<(Uuid, String), Uuid>,
    /// Items by auction and position.
    positions: HashMap<(Uuid, i64), Uuid>,
    /// Used idempotency keys, by caller.
    answers: HashSet<(Uuid, String)>,
    /// The next spending version of each registration.
    spending_versions: HashMap<Uuid, i64>,
    /// Versions of registrations by auction and paddle.
    registrations: HashMap<(Uuid, String), i64>,
    /// Current steps of bulk changes, by auction.
    bulk_change_steps: HashMap<Uuid, i64>,
    /// Open offers that the changes accept.
    open_offers: HashSet<Uuid>,
    rejected: RejectedChanges,
    ends_earlier: bool,
    /// Existing items with another position or lot number.
    moved: Vec<Uuid>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockMode {
    /// All items. The lock waits for other transactions.
    Wait,
    /// Items that no other transaction has locked. The other items count as missing.
    SkipLocked,
}

/// The columns of an item that are compared.
struct LockedItem {
    version: i64,
    position: i64,
    lot: String,
    /// The end of the item, if the clock can end it.
    end: Option<i64>,
}

impl LockedItem {
    fn of(item: &Item) -> Self {
        let end = if item.status.code() == LIVE { end_ms(item) } else { None };
        LockedItem { version: item.version, position: item.position, lot: item.lot_number.clone(), end }
    }
}

impl ConflictChecker {
    /// Locks the rows of the changes, in the order of their UUIDs, and reads them.
    pub(super) async fn load(db: &Transaction<'_>, changes: &[&Change], locks: LockMode) -> SqlResult<Self> {
        let (auctions, items, spending_versions, registrations, answers) = tokio::try_join!(
            biased;
            lock_auctions(db, changes),
            lock_items(db, changes, locks),
            registrations::lock_spending_versions(db, changes),
            registrations::lock_registrations(db, changes),
            used_keys(db, changes)
        )?;
        let bulk_change_steps = bulk_changes::lock(db, changes).await?;
        let open_offers = lot_offers::lock(db, changes).await?;
        let mut checker = ConflictChecker {
            auctions,
            items,
            answers,
            spending_versions,
            registrations,
            bulk_change_steps,
            open_offers,
            ..Self::default()
        };
        checker.load_occupied_positions(db, changes).await?;
        Ok(checker)
    }

    /// Reads the items that have the lot numbers and positions that the changes assign. Skips items that keep their lot
    /// number and position.
    async fn load_occupied_positions(&mut self, db: &Transaction<'_>, changes: &[&Change]) -> SqlResult<()> {
        let (mut auctions, mut lots, mut positions) = (Vec::new(), Vec::new(), Vec::new());
        for Versioned { state, .. } in changes.iter().flat_map(|change| &change.items) {
            let stays = |kept: &LockedItem| kept.position == state.position && kept.lot == state.lot_number;
            if !self.items.get(&state.uuid).is_some_and(stays) {
                auctions.push(state.auction);
                lots.push(state.lot_number.as_str());
                positions.push(state.position);
            }
        }
        if auctions.is_empty() {
            return Ok(());
        }
        let select = "SELECT i.auction, i.lot_number, i.position, i.uuid \
             FROM unnest($1::uuid[], $2::text[]) AS n (auction, lot) \
             JOIN items i ON i.auction = n.auction AND i.lot_number = n.lot \
             UNION SELECT i.auction, i.lot_number, i.position, i.uuid \
             FROM unnest($1::uuid[], $3::bigint[]) AS n (auction, place) \
             JOIN items i ON i.auction = n.auction AND i.position = n.place";
        let holders = rows::list(db, select, &[&auctions, &lots, &positions], |row| {
            Ok((rows::get(row, 0)?, rows::get(row, 1)?, rows::get(row, 2)?, rows::get(row, 3)?))
        })
        .await?;
        for (auction, lot, position, holder) in holders {
            self.lots.insert((auction, lot), holder);
            self.positions.insert((auction, position), holder);
        }
        Ok(())
    }

    /// Results for the changes of one call, in order; see [`ConflictChecker::check_and_apply`]. They do not depend on
    /// changes of other calls that were rejected.
    pub(super) fn check_all(&mut self, changes: &[Change]) -> Vec<StoreResult<()>> {
        self.rejected = RejectedChanges::default();
        changes.iter().map(|change| self.check_and_apply(change)).collect()
    }

    /// True when all items of these changes exist and are locked.
    pub(super) fn locked_items_of(&self, changes: &[Change]) -> bool {
        changes.iter().flat_map(|change| &change.items).all(|item| self.items.contains_key(&item.state.uuid))
    }

    /// Checks a change. If it has no conflict, later changes are compared with its result.
    fn check_and_apply(&mut self, change: &Change) -> StoreResult<()> {
        let checked = self.rejected.check(change).and_then(|()| self.check(change));
        self.rejected.note(change, &checked);
        checked?;
        if let Some(answer) = &change.answer {
            self.answers.insert((answer.caller, answer.key.clone()));
        }
        if let Some(auction) = &change.auction {
            self.auctions.insert(auction.state.uuid, auction.state.version);
        }
        // All positions and lot numbers are freed first, because items of one change may exchange them.
        for Versioned { state, .. } in &change.items {
            self.free_positions(state);
        }
        for Versioned { state, .. } in &change.items {
            self.apply_item(state);
        }
        if let Some(spending_version) = change.spending_version {
            self.spending_versions.insert(spending_version.registration, spending_version.expected + 1);
        }
        if let Some(accepted) = &change.accepted_offer {
            self.open_offers.remove(&accepted.offer);
        }
        if let Some(step) = &change.bulk_change {
            match &step.bulk_change {
                Some(bulk_change) => drop(self.bulk_change_steps.insert(step.auction, bulk_change.step)),
                None => drop(self.bulk_change_steps.remove(&step.auction)),
            }
        }
        Ok(())
    }

    fn check(&self, change: &Change) -> StoreResult<()> {
        if change.answer.as_ref().is_some_and(|answer| self.answers.contains(&(answer.caller, answer.key.clone()))) {
            return Err(StoreError::Replayed);
        }
        if let Some(auction) = &change.auction {
            let found = self.auctions.get(&auction.state.uuid).copied();
            same_version(found, auction.expected_version)?;
        }
        if let Some(spending_version) = change.spending_version {
            same_version(
                self.spending_versions.get(&spending_version.registration).copied(),
                spending_version.expected,
            )?;
        }
        if let Some(ExpectedRegistration { auction, paddle, version }) = &change.registration {
            same_version(self.registrations.get(&(*auction, paddle.clone())).copied(), *version)?;
        }
        if change.accepted_offer.as_ref().is_some_and(|accepted| !self.open_offers.contains(&accepted.offer)) {
            return Err(StoreError::Conflict);
        }
        if change
            .bulk_change
            .as_ref()
            .is_some_and(|step| self.bulk_change_steps.get(&step.auction).copied() != step.expected_step)
        {
            return Err(StoreError::Conflict);
        }
        let (mut lots, mut positions) = (HashSet::new(), HashSet::new());
        let changed: HashSet<Uuid> = change.items.iter().map(|item| item.state.uuid).collect();
        for Versioned { expected_version, state } in &change.items {
            same_version(self.items.get(&state.uuid).map(|kept| kept.version), *expected_version)?;
            // The sets find two items of this change with the same lot number or position.
            let is_of_other_change = |holder: &Uuid| !changed.contains(holder);
            if self.lots.get(&(state.auction, state.lot_number.clone())).is_some_and(is_of_other_change)
                || !lots.insert((state.auction, &state.lot_number))
            {
                return Err(StoreError::Taken("lotNumber"));
            }
            // Another transaction has inserted an item at this position. The caller reads the auction again and chooses
            // another position.
            if self.positions.get(&(state.auction, state.position)).is_some_and(is_of_other_change)
                || !positions.insert((state.auction, state.position))
            {
                return Err(StoreError::Conflict);
            }
        }
        Ok(())
    }

    fn free_positions(&mut self, item: &Item) {
        if let Some(before) = self.items.get(&item.uuid) {
            self.lots.remove(&(item.auction, before.lot.clone()));
            self.positions.remove(&(item.auction, before.position));
            if before.position != item.position || before.lot != item.lot_number {
                self.moved.push(item.uuid);
            }
        }
    }

    fn apply_item(&mut self, item: &Item) {
        let kept = LockedItem::of(item);
        let end_before = self.items.get(&item.uuid).and_then(|before| before.end).unwrap_or(i64::MAX);
        self.ends_earlier |= kept.end.is_some_and(|end| end < end_before);
        self.lots.insert((item.auction, kept.lot.clone()), item.uuid);
        self.positions.insert((item.auction, kept.position), item.uuid);
        self.items.insert(item.uuid, kept);
    }

    /// Existing items that the changes give another position or lot number.
    pub(super) fn moved(&self) -> &[Uuid] {
        &self.moved
    }

    /// True when a change gives an item an end, or an earlier end.
    pub(super) fn ends_earlier(&self) -> bool {
        self.ends_earlier
    }
}

fn same_version(found: Option<i64>, expected: i64) -> StoreResult<()> {
    if found.unwrap_or(0) == expected { Ok(()) } else { Err(StoreError::Conflict) }
}

async fn lock_auctions(db: &Transaction<'_>, changes: &[&Change]) -> SqlResult<HashMap<Uuid, i64>> {
    let wanted: Vec<Uuid> = changes.iter().filter_map(|change| Some(change.auction.as_ref()?.state.uuid)).collect();
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let lock = "SELECT uuid, version FROM auctions WHERE uuid = ANY($1) ORDER BY uuid FOR UPDATE";
    let found = rows::list(db, lock, &[&wanted], |row| Ok((rows::get(row, 0)?, rows::get(row, 1)?))).await?;
    Ok(found.into_iter().collect())
}

async fn lock_items(
    db: &Transaction<'_>,
    changes: &[&Change],
    locks: LockMode,
) -> SqlResult<HashMap<Uuid, LockedItem>> {
    let wanted: Vec<Uuid> = changes.iter().flat_map(|change| &change.items).map(|item| item.state.uuid).collect();
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let lock = "SELECT uuid, version, position, lot_number, status, effective_end_ms FROM items WHERE uuid = ANY($1) \
         ORDER BY uuid FOR UPDATE";
    let lock = match locks {
        LockMode::Wait => lock.to_owned(),
        LockMode::SkipLocked => format!("{lock} SKIP LOCKED"),
    };
    let found = rows::list(db, &lock, &[&wanted], |row| {
        let end = if rows::get::<i32>(row, 4)? == LIVE { rows::get(row, 5)? } else { None };
        let (version, position, lot) = (rows::get(row, 1)?, rows::get(row, 2)?, rows::get(row, 3)?);
        Ok((rows::get(row, 0)?, LockedItem { version, position, lot, end }))
    })
    .await?;
    Ok(found.into_iter().collect())
}

async fn used_keys(db: &Transaction<'_>, changes: &[&Change]) -> SqlResult<HashSet<(Uuid, String)>> {
    let answers = changes.iter().filter_map(|change| change.answer.as_ref());
    let (callers, keys): (Vec<Uuid>, Vec<&str>) = answers.map(|answer| (answer.caller, answer.key.as_str())).unzip();
    if callers.is_empty() {
        return Ok(HashSet::new());
    }
    let select = "SELECT a.caller, a.key FROM unnest($1::uuid[], $2::text[]) AS n (caller, key) \
         JOIN idempotent_answers a ON a.caller = n.caller AND a.key = n.key";
    let used = rows::list(db, select, &[&callers, &keys], |row| Ok((rows::get(row, 0)?, rows::get(row, 1)?))).await?;
    Ok(used.into_iter().collect())
}
