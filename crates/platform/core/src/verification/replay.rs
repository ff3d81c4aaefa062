//! Replays a log: checks each entry against the one before it, and applies its change to the state.

use std::collections::{BTreeMap, BTreeSet};

use contract::event::{AuctionStatusChange, Event, ItemStatusChange};
use contract::{AuctionStatus, ItemStatus};
use platform_rules::{Auction, AuctionChange, Item, ItemChange, LogHash, LogHead, RegistrationRef};
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use crate::audit::OPENED;
use crate::audit::commitments::{Commitments, blank_commitments, open_commitments};
use crate::audit::entry::{Content, chain, chain_begin};
use crate::port::{
    Bid, ErasedValues, JournalRow, LogKind, Party, PartyChange, Registration, RegistrationChange, StruckBid,
    SubjectKind,
};

/// What the reader knows of concealed values.
#[derive(Debug, Clone, Copy)]
pub(super) enum Openings<'a> {
    /// The values of an entry, as the platform stores them; none when it stores no value. Those that a later entry erased
    /// are missing.
    Kept { stored: Option<&'a str>, erased: &'a BTreeSet<String> },
    /// No value, as outside of the platform.
    Unknown,
}

/// The state of a subject by its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    Auction(Box<Auction>),
    Item(Box<Item>),
    Registration(Box<Registration>),
    Party(Box<Party>),
}

/// The result of the entries so far.
#[derive(Debug)]
pub(super) struct Replay {
    kind: LogKind,
    uuid: Uuid,
    pub(super) head: LogHead,
    /// Version that the last entry led to.
    pub(super) version: i64,
    pub(super) subject: Option<Subject>,
    pub(super) bids: Vec<Bid>,
    /// Entries of registrations that bids were accepted under, each with its hash and the bidder's paddle.
    pub(super) bid_registrations: BTreeMap<(Uuid, i64), (LogHash, String)>,
    /// Rows of the journal without cursors; announced rows have a body.
    pub(super) journal: Vec<JournalRow>,
    /// Stored values that describe a person, by entry and pointer. An erasure has to name all of them.
    erasable: BTreeSet<(i64, String)>,
}

impl Replay {
    /// The state before the first entry.
    pub(super) fn new(kind: LogKind, uuid: Uuid) -> Self {
        let head = LogHead { number: 0, hash: chain_begin(uuid) };
        let (bids, bid_registrations, journal) = (Vec::new(), BTreeMap::new(), Vec::new());
        let erasable = BTreeSet::new();
        Self { kind, uuid, head, version: 0, subject: None, bids, bid_registrations, journal, erasable }
    }

    /// Checks and applies the next entry; `auctioneer` is the one that events name. Errors: a description of the
    /// mistake.
    pub(super) fn take(
        &mut self,
        (content, hash): (&str, LogHash),
        openings: Openings<'_>,
        auctioneer: Uuid,
    ) -> Result<(), String> {
        if chain(self.head.hash, content) != hash {
            return Err("its hash is not that of its content and the entry before".to_owned());
        }
        let entry: Content = parse(content)?;
        let number = self.head.number + 1;
        if entry.subject != self.uuid || entry.kind != self.kind.as_str() || entry.number != number {
            let Content { kind, subject, number, .. } = entry;
            return Err(format!("its content is that of entry {number} of {kind} {subject}"));
        }
        if entry.version < self.version {
            return Err(format!("it has version {}, and the entry before has {}", entry.version, self.version));
        }
        let mut change = entry.change.clone();
        let mut erasable = Vec::new();
        match openings {
            Openings::Unknown => {
                blank_commitments(self.kind, &mut change).map_err(|pointer| format!("{pointer} should be concealed"))?
            }
            Openings::Kept { stored, erased } => {
                let kept: Commitments = stored.map(parse).transpose()?.unwrap_or_default();
                if stored.is_some() && kept.is_empty() {
                    return Err("its list of concealed values is empty".to_owned());
                }
                erasable = open_commitments(self.kind, &mut change, &kept, erased)?;
            }
        }
        self.apply(&entry, change, auctioneer)?;
        self.erasable.extend(erasable.into_iter().map(|pointer| (number, pointer)));
        self.head = LogHead { number, hash };
        self.version = entry.version;
        Ok(())
    }

    fn apply(&mut self, entry: &Content, change: Value, auctioneer: Uuid) -> Result<(), String> {
        let opens = change.get("change").and_then(Value::as_str) == Some(OPENED);
        if opens != self.subject.is_none() {
            return Err("only the first entry of a log has the state that it opens with".to_owned());
        }
        if opens {
            let state = change.get("state").cloned().unwrap_or_default();
            let subject = match self.kind {
                LogKind::Auction => Subject::Auction(Box::new(parsed(state)?)),
                LogKind::Item => Subject::Item(Box::new(parsed(state)?)),
                LogKind::Registration => Subject::Registration(Box::new(parsed(state)?)),
                LogKind::Party => Subject::Party(Box::new(parsed(state)?)),
            };
            if subject.uuid() != self.uuid {
                return Err("the state that it opens with belongs to another subject".to_owned());
            }
            self.subject = Some(subject);
            return Ok(());
        }
        match &mut self.subject {
            Some(Subject::Auction(auction)) => {
                let change: AuctionChange = parsed(change)?;
                if entry.cause != change.cause() || entry.reason.as_deref() != change.reason() {
                    return Err("its cause or reason is not that of its change".to_owned());
                }
                auction.apply(&change);
                self.journal.extend(auction_row(auction, &change, entry, auctioneer));
            }
            Some(Subject::Item(item)) => {
                let change: ItemChange = parsed(change)?;
                if entry.cause != change.cause() || entry.reason.as_deref() != change.reason() {
                    return Err("its cause or reason is not that of its change".to_owned());
                }
                item.apply(&change);
                self.journal.extend(item_row(item, &change, entry, auctioneer));
                take_bid(&mut self.bids, item.uuid, &change, entry)?;
                take_registration(&mut self.bid_registrations, &change)?;
            }
            Some(Subject::Registration(registration)) => {
                let change: RegistrationChange = parsed(change)?;
                if let RegistrationChange::Erased { removed, .. } = &change {
                    check_erasure(entry.number, removed, &self.erasable)?;
                }
                if entry.cause != change.cause() || entry.reason.as_deref() != change.reason() {
                    return Err("its cause or reason is not that of its change".to_owned());
                }
                registration.apply(&change, &entry.actor, entry.at);
            }
            Some(Subject::Party(party)) => {
                let change: PartyChange = parsed(change)?;
                if let PartyChange::Erased { removed, .. } = &change {
                    check_erasure(entry.number, removed, &self.erasable)?;
                }
                if entry.cause != change.cause() || entry.reason.is_some() {
                    return Err("its cause or reason is not that of its change".to_owned());
                }
                party.apply(&change, &entry.actor, entry.at);
            }
            None => {}
        }
        Ok(())
    }
}

impl Subject {
    fn uuid(&self) -> Uuid {
        match self {
            Self::Auction(auction) => auction.uuid,
            Self::Item(item) => item.uuid,
            Self::Registration(registration) => registration.uuid,
            Self::Party(party) => party.uuid,
        }
    }

    /// The state as JSON without the fields that changes do not determine: the head, and the version. The version of a
    /// registration or a party counts its changes, so it stays.
    pub(super) fn comparable(&self) -> Value {
        let value = match self {
            Self::Auction(auction) => serde_json::to_value(auction),
            Self::Item(item) => serde_json::to_value(item),
            Self::Registration(registration) => serde_json::to_value(registration),
            Self::Party(party) => serde_json::to_value(party),
        };
        let mut value = value.unwrap_or_default();
        if let Some(object) = value.as_object_mut() {
            if !matches!(self, Self::Registration(_) | Self::Party(_)) {
                object.remove("version");
            }
            object.remove("log");
        }
        value
    }
}

/// An erasure names values of earlier entries only, and leaves none that describes the person. That a named value is
/// missing was checked with its entry.
fn check_erasure(number: i64, removed: &[ErasedValues], erasable: &BTreeSet<(i64, String)>) -> Result<(), String> {
    if let Some(values) = removed.iter().find(|values| !(1..number).contains(&values.entry)) {
        return Err(format!("it erases values of entry {}, which is not before it", values.entry));
    }
    match erasable.first() {
        Some((entry, pointer)) => Err(format!("it erases a person and leaves the value of {pointer} in entry {entry}")),
        None => Ok(()),
    }
}

/// The values that the erasures of a log removed, by entry. Other entries have none.
pub(super) fn erased_values(content: &str) -> Vec<ErasedValues> {
    #[derive(serde::Deserialize)]
    struct Erasure {
        change: Erased,
    }
    #[derive(serde::Deserialize)]
    #[serde(tag = "change", rename_all = "camelCase")]
    enum Erased {
        Erased { removed: Vec<ErasedValues> },
    }
    match serde_json::from_str(content) {
        Ok(Erasure { change: Erased::Erased { removed } }) => removed,
        // Another change. The replay reports an entry that can't be read.
        Err(_) => Vec::new(),
    }
}

fn take_bid(bids: &mut Vec<Bid>, item: Uuid, change: &ItemChange, entry: &Content) -> Result<(), String> {
    let (number, struck) = match change {
        ItemChange::BidAccepted { record, .. } => {
            if usize::try_from(record.number) != Ok(bids.len() + 1) {
                return Err(format!("bid {} does not follow bid {}", record.number, bids.len()));
            }
            bids.push(Bid::of(item, record, &entry.actor));
            return Ok(());
        }
        ItemChange::BidStruck { number, struck, reason, .. } => {
            let (actor, reason) = (entry.actor.clone(), reason.clone());
            (*number, Some(StruckBid { strike: struck.strike, after: struck.after, reason, actor, at: entry.at }))
        }
        ItemChange::BidReinstated { number, .. } => (*number, None),
        _ => return Ok(()),
    };
    let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let bid = place.and_then(|place| bids.get_mut(place)).ok_or_else(|| format!("there is no bid {number}"))?;
    bid.struck = struck;
    Ok(())
}

fn take_registration(
    bid_registrations: &mut BTreeMap<(Uuid, i64), (LogHash, String)>,
    change: &ItemChange,
) -> Result<(), String> {
    let (registration, bidder) = match change {
        ItemChange::BidAccepted { record, .. } => (record.registration, &record.bidder),
        ItemChange::BuyerChanged { bidder, registration, .. } => (*registration, bidder),
        _ => return Ok(()),
    };
    let Some(RegistrationRef { uuid, entry, hash }) = registration else { return Ok(()) };
    let named = (hash, bidder.clone());
    if *bid_registrations.entry((uuid, entry)).or_insert_with(|| named.clone()) != named {
        return Err(format!("entry {entry} of registration {uuid} has another hash or paddle in an earlier bid"));
    }
    Ok(())
}

fn auction_row(auction: &Auction, change: &AuctionChange, entry: &Content, auctioneer: Uuid) -> Option<JournalRow> {
    let AuctionChange::StatusChanged { from, to, .. } = change else { return None };
    let event = AuctionStatusChange { auctioneer_uuid: auctioneer, auction_uuid: auction.uuid, status: *to };
    let (from, event) = (from.map(AuctionStatus::name), (!auction.rehearsal).then_some(Event::from(event)));
    Some(row(SubjectKind::Auction, auction.sequence, (from, to.name()), event, entry))
}

fn item_row(item: &Item, change: &ItemChange, entry: &Content, auctioneer: Uuid) -> Option<JournalRow> {
    let ItemChange::StatusChanged { from, to, announced, .. } = change else { return None };
    let event =
        ItemStatusChange { item_uuid: item.uuid, auctioneer_uuid: auctioneer, auction_uuid: item.auction, status: *to };
    let is_published = *announced && !item.rehearsal;
    let (from, event) = (from.map(ItemStatus::name), is_published.then_some(Event::from(event)));
    Some(row(SubjectKind::Item, item.sequence, (from, to.name()), event, entry))
}

fn row(
    kind: SubjectKind,
    sequence: i64,
    (from, to): (Option<&str>, &str),
    event: Option<Event>,
    entry: &Content,
) -> JournalRow {
    JournalRow {
        cursor: 0,
        subject: entry.subject,
        kind,
        sequence,
        from: from.map(str::to_owned),
        to: to.to_owned(),
        cause: entry.cause.as_str().to_owned(),
        actor: entry.actor.clone(),
        at: entry.at,
        reason: entry.reason.clone(),
        body: event.map(|event| event.to_json()),
        restore_number: None,
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("it can't be read: {error}"))
}

fn parsed<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| format!("its change can't be read: {error}"))
}
