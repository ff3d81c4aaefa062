//! Compares the stored state with the audit log, for `lotwire verify`.
//!
//! It may run while the platform works: a subject that changes during its check is checked again.

use std::collections::{BTreeMap, BTreeSet};

use platform_rules::{LogHash, LogHead};
use uuid::Uuid;

use super::anchor::Anchor;
use super::mismatch::{bid_mismatch, difference, journal_mismatch};
use super::replay::{Openings, Replay, Subject, erased_values};
use crate::Platform;
use crate::audit::entry::hash;
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Bid, JournalRow, LogKind, Page, StoreError, StoreResult};

/// Rows read at once.
pub(super) const ROWS_READ_MAX: usize = 1_000;
/// Checks of a subject that keeps changing, at most.
const CHECKS_MAX: usize = 20;

/// A mistake in a log, or a difference between a stored state and its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Item, auction, registration or party; none for a mistake in the log as a whole.
    pub subject: Option<Uuid>,
    /// Its kind; none for entries and rows without a subject.
    pub kind: Option<LogKind>,
    /// The first wrong entry; none when the mistake is not in an entry.
    pub entry: Option<i64>,
    /// Description of the mistake.
    pub what: String,
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyReport {
    /// Auctions checked.
    pub auctions: u64,
    /// Items checked.
    pub items: u64,
    /// Registrations checked.
    pub registrations: u64,
    /// Parties checked.
    pub parties: u64,
    /// Entries checked.
    pub entries: u64,
    /// Hash over the heads of all checked logs, in the order of the checks.
    pub heads: LogHash,
    /// Entries read in the order in which they were written.
    pub log_entries: u64,
    /// Anchor of these entries. An operator who stores it elsewhere can prove later that none of them was deleted or
    /// changed; see `docs/operate/audit.md`.
    pub anchor: Option<Anchor>,
    /// Given anchors that match.
    pub anchors_held: u64,
    /// Entries of the access log checked.
    pub access_entries: u64,
    /// Number and hash of the access log's last entry. An operator who stores it elsewhere can prove later that no
    /// earlier entry was deleted or changed.
    pub access_anchor: Option<Anchor>,
    /// The mistakes.
    pub broken: Vec<Finding>,
}

/// One check of one subject.
struct SubjectCheck {
    version: i64,
    head: LogHead,
    entries: u64,
    wrong: Option<(Option<i64>, String)>,
}

type Wrong = (Option<i64>, String);

impl Platform {
    /// Verifies an item's log, state, bids and journal, and the registrations that its bids name. For the operator; it
    /// checks no caller.
    ///
    /// Errors: `not_found`, `busy` when it keeps changing.
    pub async fn verify_item(&self, uuid: Uuid) -> PlatformResult<VerifyReport> {
        let mut verified = VerifyReport::default();
        self.verify_subject(LogKind::Item, uuid, &mut verified).await?;
        Ok(verified)
    }

    /// Verifies an auction's log, state and journal, and those of its items and registrations. `progress` is called
    /// after each.
    ///
    /// Errors: `not_found`, `busy` when one keeps changing.
    pub async fn verify_auction(
        &self,
        uuid: Uuid,
        progress: &(dyn Fn(&VerifyReport) + Send + Sync),
    ) -> PlatformResult<VerifyReport> {
        let mut verified = VerifyReport::default();
        self.verify_with_items(uuid, &mut verified, progress).await?;
        Ok(verified)
    }

    /// Verifies every auction, item, registration and party. Also finds entries and rows without a subject, and deleted
    /// entries (see [`Self::verify_log`]). `progress` is called after each subject.
    pub async fn verify_all(
        &self,
        anchors: &[Anchor],
        progress: &(dyn Fn(&VerifyReport) + Send + Sync),
    ) -> PlatformResult<VerifyReport> {
        let mut verified = VerifyReport::default();
        self.walk_log(anchors, &mut verified, progress).await?;
        let mut after = None;
        loop {
            let auctions = self.store().auctions(None, Page { after, limit: ROWS_READ_MAX }).await?;
            let Some(last) = auctions.last().map(|auction| auction.uuid) else { break };
            if after.is_some_and(|after| last <= after) {
                verified.broken.push(out_of_order(LogKind::Auction, last));
                break;
            }
            for auction in auctions {
                self.verify_with_items(auction.uuid, &mut verified, progress).await?;
            }
            after = Some(last);
        }
        self.verify_parties(&mut verified, progress).await?;
        let mut after = None;
        loop {
            let subjects = self.store().audited_subjects(Page { after, limit: ROWS_READ_MAX }).await?;
            let Some(last) = subjects.last().copied() else { break };
            for subject in subjects {
                let broken = self.unlisted(subject).await?;
                let is_new = !verified.broken.iter().any(|known| known.subject == Some(subject));
                verified.broken.extend(broken.filter(|_| is_new));
            }
            after = Some(last);
        }
        self.verify_between_tables(&mut verified).await?;
        self.verify_access(&[], &mut verified).await?;
        Ok(verified)
    }

    /// The mistake of a subject that has a log, and that a list may not contain.
    async fn unlisted(&self, subject: Uuid) -> PlatformResult<Option<Finding>> {
        // An unreadable row exists; it was reported with its auction.
        let kind = if !matches!(self.store().item(subject).await, Ok(None)) {
            LogKind::Item
        } else if !matches!(self.store().registration(subject).await, Ok(None)) {
            LogKind::Registration
        } else if !matches!(self.store().auction(subject).await, Ok(None)) {
            LogKind::Auction
        } else if !matches!(self.store().party(subject).await, Ok(None)) {
            LogKind::Party
        } else {
            let what = "it has a log, and no row".to_owned();
            return Ok(Some(Finding { subject: Some(subject), kind: None, entry: None, what }));
        };
        let what = match self.store().inconsistent_columns(kind, subject).await {
            Ok(columns) => columns.first().map(|column| format!("{column} differs from its state")),
            Err(StoreError::Corrupt(what)) => Some(what),
            Err(error) => return Err(error.into()),
        };
        Ok(what.map(|what| Finding { subject: Some(subject), kind: Some(kind), entry: None, what }))
    }

    async fn verify_with_items(
        &self,
        auction: Uuid,
        verified: &mut VerifyReport,
        progress: &(dyn Fn(&VerifyReport) + Send + Sync),
    ) -> PlatformResult<()> {
        self.verify_listed(LogKind::Auction, auction, verified).await?;
        progress(verified);
        let mut after = None;
        // Positions have no gaps, because items are never deleted.
        let mut place = 0;
        loop {
            let items = self.store().items(auction, Page { after, limit: ROWS_READ_MAX }).await;
            let items = match items {
                Err(StoreError::Corrupt(what)) => {
                    let what = format!("an item of it can't be read: {what}");
                    let kind = Some(LogKind::Auction);
                    verified.broken.push(Finding { subject: Some(auction), kind, entry: None, what });
                    return Ok(());
                }
                items => items?,
            };
            let Some((last, uuid)) = items.last().map(|item| (item.position, item.uuid)) else { break };
            for item in items {
                if item.position > place {
                    let what = missing_places(place, item.position - 1);
                    let kind = Some(LogKind::Auction);
                    verified.broken.push(Finding { subject: Some(auction), kind, entry: None, what });
                }
                place = item.position.saturating_add(1);
                self.verify_listed(LogKind::Item, item.uuid, verified).await?;
                progress(verified);
            }
            if after.is_some_and(|after| last <= after) {
                verified.broken.push(out_of_order(LogKind::Item, uuid));
                return Ok(());
            }
            after = Some(last);
        }
        self.verify_registrations(auction, verified, progress).await
    }

    /// Verifies a subject of a list.
    pub(super) async fn verify_listed(
        &self,
        kind: LogKind,
        uuid: Uuid,
        verified: &mut VerifyReport,
    ) -> PlatformResult<()> {
        match self.verify_subject(kind, uuid, verified).await {
            Err(PlatformError::NotFound(_)) => {
                let what = "its state has a UUID without a row".to_owned();
                verified.broken.push(Finding { subject: Some(uuid), kind: Some(kind), entry: None, what });
                Ok(())
            }
            done => done,
        }
    }

    async fn verify_subject(&self, kind: LogKind, uuid: Uuid, verified: &mut VerifyReport) -> PlatformResult<()> {
        let mut before: Option<SubjectCheck> = None;
        for _ in 0..CHECKS_MAX {
            let check = self.check_once(kind, uuid).await?;
            // A concurrent command can't explain the same mistake twice at the same version.
            let is_certain = check.wrong.is_none()
                || before.as_ref().is_some_and(|before| before.version == check.version && before.wrong == check.wrong);
            if !is_certain {
                before = Some(check);
                continue;
            }
            match kind {
                LogKind::Auction => verified.auctions += 1,
                LogKind::Item => verified.items += 1,
                LogKind::Registration => verified.registrations += 1,
                LogKind::Party => verified.parties += 1,
            }
            verified.entries += check.entries;
            verified.heads = hash(&[&verified.heads.0, uuid.as_bytes(), &check.head.hash.0]);
            if let Some((entry, what)) = check.wrong {
                verified.broken.push(Finding { subject: Some(uuid), kind: Some(kind), entry, what });
            }
            return Ok(());
        }
        Err(PlatformError::Busy)
    }

    async fn check_once(&self, kind: LogKind, uuid: Uuid) -> PlatformResult<SubjectCheck> {
        let mut check = SubjectCheck { version: 0, head: LogHead::default(), entries: 0, wrong: None };
        match self.compare(kind, uuid, &mut check).await {
            Ok(wrong) => check.wrong = wrong,
            // An unreadable row is a mistake of the subject.
            Err(PlatformError::Internal(what)) => check.wrong = Some((None, what)),
            Err(error) => return Err(error),
        }
        Ok(check)
    }

    async fn compare(&self, kind: LogKind, uuid: Uuid, check: &mut SubjectCheck) -> PlatformResult<Option<Wrong>> {
        let (stored, version, head, auctioneer) = self.stored(kind, uuid).await?;
        (check.version, check.head) = (version, head);
        let mut replay = Replay::new(kind, uuid);
        let (erased, nothing) = (self.erased_values(kind, uuid).await?, BTreeSet::new());
        loop {
            let page = Page { after: Some(replay.head.number), limit: ROWS_READ_MAX };
            let entries = self.store().log_entries(uuid, page).await?;
            if entries.is_empty() {
                break;
            }
            for entry in entries {
                check.entries += 1;
                let number = replay.head.number + 1;
                if entry.number != number {
                    return Ok(wrong(number, "it is missing"));
                }
                let erased = erased.get(&number).unwrap_or(&nothing);
                let openings = Openings::Kept { stored: entry.concealed.as_deref(), erased };
                if let Err(what) = replay.take((&entry.content, entry.hash), openings, auctioneer) {
                    return Ok(wrong(number, what));
                }
            }
        }
        if replay.head.number > head.number {
            return Ok(wrong(head.number + 1, format!("its state names entry {} as the last one", head.number)));
        }
        if replay.head.number < head.number {
            return Ok(wrong(
                replay.head.number + 1,
                format!("it is missing: the log should have {} entries", head.number),
            ));
        }
        if head.number > 0 && replay.head.hash != head.hash {
            return Ok(wrong(head.number, "its hash differs from the one in the state"));
        }
        let Some(subject) = &replay.subject else { return Ok(state_wrong("it has no log")) };
        if version < replay.version {
            return Ok(state_wrong(format!("its version is {version}, and the log gives {}", replay.version)));
        }
        if let Some(fields) = difference(&subject.comparable(), &stored.comparable()) {
            return Ok(state_wrong(format!("its state differs from its log in: {fields}")));
        }
        if let Some(column) = self.store().inconsistent_columns(kind, uuid).await?.first() {
            return Ok(state_wrong(format!("{column} differs from its state")));
        }
        if kind == LogKind::Item
            && let Some(what) = bid_mismatch(&replay.bids, &self.all_bids(uuid).await?)
        {
            return Ok(state_wrong(what));
        }
        if let Some(what) = self.registration_mismatch(&stored, &replay.bid_registrations).await? {
            return Ok(state_wrong(what));
        }
        Ok(journal_mismatch(&replay.journal, &self.all_history(uuid).await?).map(|what| (None, what)))
    }

    /// The values that erasures removed from the log of a subject, by entry. Only the logs of persons have erasures.
    async fn erased_values(&self, kind: LogKind, uuid: Uuid) -> PlatformResult<BTreeMap<i64, BTreeSet<String>>> {
        let (mut erased, mut after): (BTreeMap<i64, BTreeSet<String>>, _) = (BTreeMap::new(), None);
        if !matches!(kind, LogKind::Registration | LogKind::Party) {
            return Ok(erased);
        }
        loop {
            let entries = self.store().log_entries(uuid, Page { after, limit: ROWS_READ_MAX }).await?;
            let Some(last) = entries.last().map(|entry| entry.number) else { return Ok(erased) };
            for values in entries.iter().flat_map(|entry| erased_values(&entry.content)) {
                erased.entry(values.entry).or_default().extend(values.values);
            }
            after = Some(last);
        }
    }

    /// The state, its version, its head, and the auctioneer that its events name.
    async fn stored(&self, kind: LogKind, uuid: Uuid) -> PlatformResult<(Subject, i64, LogHead, Uuid)> {
        match kind {
            LogKind::Auction => {
                let auction = self.store().auction(uuid).await?.ok_or(PlatformError::NotFound("auction"))?;
                let (version, head, auctioneer) = (auction.version, auction.log, auction.auctioneer);
                Ok((Subject::Auction(Box::new(auction)), version, head, auctioneer))
            }
            LogKind::Item => {
                let item = self.store().item(uuid).await?.ok_or(PlatformError::NotFound("item"))?;
                let auction = self.store().auction(item.auction).await?;
                let auction =
                    auction.ok_or_else(|| PlatformError::Internal("its auction does not exist".to_owned()))?;
                let (version, head) = (item.version, item.log);
                Ok((Subject::Item(Box::new(item)), version, head, auction.auctioneer))
            }
            LogKind::Registration => {
                let registration = self.store().registration(uuid).await?;
                let registration = registration.ok_or(PlatformError::NotFound("registration"))?;
                let (version, head) = (registration.version, registration.log);
                // A registration announces no events.
                Ok((Subject::Registration(Box::new(registration)), version, head, Uuid::nil()))
            }
            LogKind::Party => {
                let party = self.store().party(uuid).await?.ok_or(PlatformError::NotFound("party"))?;
                let (version, head) = (party.version, party.log);
                Ok((Subject::Party(Box::new(party)), version, head, Uuid::nil()))
            }
        }
    }

    async fn all_bids(&self, item: Uuid) -> StoreResult<Vec<Bid>> {
        let mut bids: Vec<Bid> = Vec::new();
        loop {
            let after = bids.last().map(|bid| bid.number);
            let page = self.store().bids(item, Page { after, limit: ROWS_READ_MAX }).await?;
            if page.is_empty() {
                return Ok(bids);
            }
            bids.extend(page);
        }
    }

    async fn all_history(&self, subject: Uuid) -> StoreResult<Vec<JournalRow>> {
        let mut rows: Vec<JournalRow> = Vec::new();
        loop {
            let after = rows.last().map(|row| row.sequence);
            let page = self.store().history(subject, Page { after, limit: ROWS_READ_MAX }).await?;
            if page.is_empty() {
                return Ok(rows);
            }
            rows.extend(page);
        }
    }
}

/// The finding for a row whose key in the list differs from its state. The caller stops there, because the list would
/// not advance.
pub(super) fn out_of_order(kind: LogKind, subject: Uuid) -> Finding {
    let what = "its row has another place in the list than its state says".to_owned();
    Finding { subject: Some(subject), kind: Some(kind), entry: None, what }
}

fn missing_places(first: i64, last: i64) -> String {
    if first == last {
        return format!("the item at place {first} of its running order is missing");
    }
    format!("the items at places {first} to {last} of its running order are missing")
}

fn wrong(entry: i64, what: impl Into<String>) -> Option<Wrong> {
    Some((Some(entry), what.into()))
}

fn state_wrong(what: impl Into<String>) -> Option<Wrong> {
    Some((None, what.into()))
}
