//! Everything that the platform holds about a person, as one JSON document for the person (`docs/run-sales/register.md`).

use std::collections::BTreeMap;

use jiff::Timestamp;
use platform_rules::Item;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::blocking::ITEMS_OF_BIDDER_MAX;
use super::purchases::{PartySale, Purchase, PurchaseState};
use crate::access::access_log::{AccessContent, AccessEvent};
use crate::audit::{Content, reveal};
use crate::error::{PlatformError, PlatformResult};
use crate::port::{Bid, KeptLateBid, LimitRequest, LotOffer, Page, Party, Registration, StoredMail};
use crate::{Caller, Platform, Scope};

/// The `format` of the document.
const FORMAT: &str = "lotwire.person.1";
/// Rows that are read at once.
const ROWS_READ_MAX: usize = 250;
/// Bids of an item that are read at once.
const BIDS_READ_MAX: usize = 5_000;
/// Offers to one registration, and late bids of it.
const OFFERS_MAX: usize = 5_000;
/// Entries of the access log in the document: the latest ones.
const ACCESS_ENTRIES_MAX: usize = 10_000;

/// What the platform holds about a person.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PartyExport {
    /// `lotwire.person.1`.
    pub format: &'static str,
    /// When it was written.
    pub exported_at: Timestamp,
    /// Name of the house.
    pub house: String,
    /// The record, with its block and its erasure.
    pub person: Party,
    /// Records of the same person that were merged into it.
    pub merged_records: Vec<ExportedRecord>,
    /// Registrations with bids, purchases and telephone bookings, the latest first.
    pub registrations: Vec<ExportedRegistration>,
    /// Lots that the person consigns.
    pub consigned_lots: Vec<ExportedLot>,
    /// Changes of the record.
    pub changes: Vec<ExportedChange>,
    /// Who opened or exported the record: the latest 10,000 entries of the access log, the latest first.
    pub access_log: Vec<ExportedAccess>,
}

/// A record that was merged into the person's record.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedRecord {
    /// The record.
    pub record: Party,
    /// Changes of the record.
    pub changes: Vec<ExportedChange>,
}

/// A registration for an auction.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedRegistration {
    /// Title of the auction.
    pub auction_title: String,
    /// Currency of its amounts, which are minor units; ISO 4217.
    pub currency: String,
    /// The registration.
    pub registration: Registration,
    /// Bids of the paddle, by lot.
    pub bids: Vec<ExportedBid>,
    /// Lots that were bought, also those that were not paid.
    pub purchases: Vec<ExportedLot>,
    /// Booked telephone bids.
    pub telephone_bookings: Vec<ExportedBooking>,
    /// Mails to the bidder that are kept: the latest 250, the latest first.
    pub mails: Vec<ExportedMail>,
    /// The latest request for a higher limit.
    pub limit_request: Option<ExportedRequest>,
    /// Lots that the house offered to the bidder after they did not sell, the latest first.
    pub offers: Vec<ExportedOffer>,
    /// Bids of the bidder that arrived after the end of their lot, the latest first.
    pub late_bids: Vec<ExportedLateBid>,
    /// Changes of the registration.
    pub changes: Vec<ExportedChange>,
}

/// A request for a higher limit.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedRequest {
    /// The limit that the bidder asked for, minor units.
    pub amount: i64,
    /// What the bidder wrote.
    pub words: String,
    /// When.
    pub asked_at: Timestamp,
    /// The limit that the house set, minor units.
    pub granted: Option<i64>,
    /// Why the house declined.
    pub reason: Option<String>,
}

impl From<LimitRequest> for ExportedRequest {
    fn from(request: LimitRequest) -> Self {
        let LimitRequest { amount, words, asked_at, decision, .. } = request;
        let (granted, reason) = decision.map(|decision| (decision.granted, decision.reason)).unwrap_or_default();
        Self { amount, words, asked_at, granted, reason }
    }
}

/// A bid that arrived after the end of its lot.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedLateBid {
    /// The lot.
    pub item: Uuid,
    /// Minor units.
    pub amount: i64,
    /// When the server received it.
    pub received_at: Timestamp,
    /// Milliseconds after the end of the lot.
    pub late_ms: i64,
}

/// A lot that the house offered to the bidder.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedOffer {
    /// The lot.
    pub item: Uuid,
    /// Hammer price, minor units.
    pub amount: i64,
    /// When it was offered.
    pub offered_at: Timestamp,
    /// The bidder could answer before this time.
    pub until: Timestamp,
    /// `accepted`, `declined`, `withdrawn` or `lapsed`; none before.
    pub outcome: Option<&'static str>,
    /// When it ended by that.
    pub ended_at: Option<Timestamp>,
}

impl From<LotOffer> for ExportedOffer {
    fn from(offer: LotOffer) -> Self {
        let LotOffer { item, amount, offered_at, until, ended, .. } = offer;
        let (outcome, ended_at) = ended.map(|end| (end.outcome.name(), end.at)).unzip();
        Self { item, amount, offered_at, until, outcome, ended_at }
    }
}

/// A mail to the bidder.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedMail {
    /// Address of the recipient.
    pub to: String,
    /// Subject.
    pub subject: String,
    /// Text.
    pub text: String,
    /// When it was queued.
    pub queued_at: Timestamp,
    /// `waiting`, `sent` or `failed`.
    pub state: &'static str,
}

/// A bid.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedBid {
    /// The lot.
    pub item: Uuid,
    /// Its number.
    pub lot_number: String,
    /// Amount, minor units.
    pub amount: i64,
    /// Maximum, minor units.
    pub maximum: i64,
    /// When it was placed.
    pub at: Timestamp,
    /// True when it does not count any more.
    pub is_struck: bool,
}

/// A lot that the person bought or consigns.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedLot {
    /// The lot.
    pub item: Uuid,
    /// Its auction.
    pub auction: Uuid,
    /// Its number.
    pub lot_number: String,
    /// Its title.
    pub title: String,
    /// Its status.
    pub status: contract::ItemStatus,
    /// The price, minor units.
    pub price: Option<i64>,
    /// ISO 4217.
    pub currency: String,
    /// True when staff recorded that the buyer did not pay.
    pub is_unpaid: bool,
}

/// A telephone booking.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedBooking {
    /// The lot.
    pub item: Uuid,
    /// The telephone number.
    pub telephone: String,
    /// Line, or who calls.
    pub line: String,
}

/// An entry of an audit log, with the values that it conceals. A value that was erased is `concealed:` and a hash.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedChange {
    /// Number in its log.
    pub number: i64,
    /// When.
    pub at: Timestamp,
    /// Who: the e-mail address of a user, `key:<uuid>`, `timer` or `command-line`.
    pub by: String,
    /// What changed.
    pub change: Value,
}

/// An entry of the access log.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedAccess {
    /// Number in the log.
    pub number: i64,
    /// When.
    pub at: Timestamp,
    /// Who, as in [`ExportedChange::by`].
    pub by: String,
    /// What they did.
    #[serde(flatten)]
    pub event: AccessEvent,
}

/// Names of actors that were looked up.
#[derive(Default)]
struct ActorNames(BTreeMap<String, String>);

impl Platform {
    /// Everything that the platform holds about a person, in all records of the person. The access log gets an entry. Needs
    /// `parties:write`.
    ///
    /// Errors: `not_found`.
    pub async fn export_party(&self, caller: &Caller, uuid: Uuid) -> PlatformResult<PartyExport> {
        caller.require(Scope::PartiesWrite)?;
        let named = self.visible_party(caller, uuid).await?;
        let person = self.kept_party(named.customer, uuid).await?.unwrap_or(named);
        let uuid = person.uuid;
        self.note_alone(self.note(caller, AccessEvent::PartyExported { party: uuid })?).await?;
        let house = self.store().customer(person.customer).await?.ok_or(PlatformError::NotFound("customer"))?;
        let mut names = ActorNames::default();
        let (mut registrations, mut after) = (Vec::new(), None);
        loop {
            let page = Page { after, limit: ROWS_READ_MAX };
            let sales = self.sales_of_party(caller, uuid, page).await?;
            let Some(last) = sales.last().map(|sale| sale.registration.uuid) else { break };
            for sale in sales.into_iter().filter(|sale| sale.registration.customer == person.customer) {
                registrations.push(self.exported_registration(sale, &mut names).await?);
            }
            after = Some(last);
        }
        let mut consigned_lots = Vec::new();
        let mut consigned = self.consigned(&person).await?;
        while let Some(items) = self.next_consigned(&mut consigned).await? {
            for item in items {
                let auction = self.store().auction(item.auction).await?.ok_or(PlatformError::NotFound("auction"))?;
                consigned_lots.push(ExportedLot::of(item, auction.currency, false));
            }
        }
        let mut merged_records = Vec::new();
        let mut access_log = self.exported_accesses(uuid, &mut names).await?;
        for record in self.store().merged_records(&[uuid]).await? {
            let changes = self.exported_changes(record.uuid, &mut names).await?;
            access_log.extend(self.exported_accesses(record.uuid, &mut names).await?);
            merged_records.push(ExportedRecord { record, changes });
        }
        access_log.sort_by_key(|access| std::cmp::Reverse(access.number));
        access_log.dedup_by_key(|access| access.number);
        access_log.truncate(ACCESS_ENTRIES_MAX);
        Ok(PartyExport {
            format: FORMAT,
            exported_at: self.now(),
            house: house.name,
            registrations,
            consigned_lots,
            changes: self.exported_changes(uuid, &mut names).await?,
            access_log,
            merged_records,
            person,
        })
    }

    async fn exported_registration(
        &self,
        sale: PartySale,
        names: &mut ActorNames,
    ) -> PlatformResult<ExportedRegistration> {
        let PartySale { auction, registration, purchases } = sale;
        let mut bids = Vec::new();
        for item in self.store().items_of_bidder(auction.uuid, &registration.paddle, ITEMS_OF_BIDDER_MAX).await? {
            bids.extend(self.exported_bids(&item, &registration.paddle).await?);
        }
        let booked = self.store().telephone_bookings(auction.uuid).await?.into_iter();
        let booked = booked.filter(|booking| booking.paddle == registration.paddle);
        let telephone_bookings = booked
            .map(|booking| ExportedBooking { item: booking.item, telephone: booking.telephone, line: booking.line })
            .collect();
        let mails = self.store().mails_of_registration(registration.uuid, ROWS_READ_MAX).await?;
        let mails = mails.into_iter().map(|StoredMail { mail, state, .. }| ExportedMail {
            to: mail.recipient,
            subject: mail.subject,
            text: mail.text,
            queued_at: mail.queued_at,
            state: state.name(),
        });
        let currency = auction.currency;
        let bought = |purchase: Purchase| {
            ExportedLot::of(purchase.item, currency.clone(), purchase.state == PurchaseState::NotPaid)
        };
        let purchases = purchases.into_iter().map(bought).collect();
        Ok(ExportedRegistration {
            auction_title: auction.title,
            currency,
            bids,
            purchases,
            telephone_bookings,
            mails: mails.collect(),
            limit_request: self.store().limit_request(registration.uuid).await?.map(ExportedRequest::from),
            offers: self.exported_offers(registration.uuid).await?,
            late_bids: self.exported_late_bids(&registration).await?,
            changes: self.exported_changes(registration.uuid, names).await?,
            registration,
        })
    }

    /// The bids of a paddle on an item, in order.
    pub(crate) async fn exported_bids(&self, item: &Item, paddle: &str) -> PlatformResult<Vec<ExportedBid>> {
        let (mut exported, mut after) = (Vec::new(), None);
        loop {
            let bids = self.store().bids(item.uuid, Page { after, limit: BIDS_READ_MAX }).await?;
            let Some(last) = bids.last().map(|bid| bid.number) else { return Ok(exported) };
            let of_paddle = bids.into_iter().filter(|bid| bid.bidder == paddle);
            exported.extend(of_paddle.map(|Bid { amount, maximum, at, struck, .. }| ExportedBid {
                item: item.uuid,
                lot_number: item.lot_number.clone(),
                amount,
                maximum: maximum.reveal(),
                at,
                is_struck: struck.is_some(),
            }));
            after = Some(last);
        }
    }

    /// The offers to a registration.
    pub(crate) async fn exported_offers(&self, registration: Uuid) -> PlatformResult<Vec<ExportedOffer>> {
        let offers = self.store().offers_to(registration, OFFERS_MAX).await?;
        Ok(offers.into_iter().map(ExportedOffer::from).collect())
    }

    /// The late bids with a paddle.
    pub(crate) async fn exported_late_bids(&self, registration: &Registration) -> PlatformResult<Vec<ExportedLateBid>> {
        let (auction, paddle) = (registration.auction, registration.paddle.as_str());
        let kept = self.store().late_bids_of(auction, Some(paddle), OFFERS_MAX).await?;
        let exported = |bid: KeptLateBid| ExportedLateBid {
            item: bid.item,
            amount: bid.amount,
            received_at: bid.received_at,
            late_ms: bid.late_ms,
        };
        Ok(kept.into_iter().map(exported).collect())
    }

    async fn exported_changes(&self, subject: Uuid, names: &mut ActorNames) -> PlatformResult<Vec<ExportedChange>> {
        let (mut changes, mut after) = (Vec::new(), None);
        loop {
            let entries = self.store().log_entries(subject, Page { after, limit: ROWS_READ_MAX }).await?;
            let Some(last) = entries.last().map(|entry| entry.number) else { return Ok(changes) };
            for entry in entries {
                let Content { number, at, actor, change, .. } = reveal(&entry)?;
                changes.push(ExportedChange { number, at, by: self.actor_name(&actor, names).await?, change });
            }
            after = Some(last);
        }
    }

    async fn exported_accesses(&self, party: Uuid, names: &mut ActorNames) -> PlatformResult<Vec<ExportedAccess>> {
        let mut accesses = Vec::new();
        for entry in self.store().access_entries_naming(party, ACCESS_ENTRIES_MAX).await? {
            let content: AccessContent = serde_json::from_str(&entry.content)
                .map_err(|error| PlatformError::Internal(format!("entry {}: {error}", entry.number)))?;
            let by = self.actor_name(&content.actor, names).await?;
            accesses.push(ExportedAccess { number: entry.number, at: content.at, by, event: content.event });
        }
        Ok(accesses)
    }

    /// The e-mail address of a user; other actors as logs name them.
    async fn actor_name(&self, actor: &str, names: &mut ActorNames) -> PlatformResult<String> {
        if let Some(name) = names.0.get(actor) {
            return Ok(name.clone());
        }
        let uuid = actor.strip_prefix("user:").and_then(|uuid| Uuid::try_parse(uuid).ok());
        let user = match uuid {
            Some(uuid) => self.store().user(uuid).await?,
            None => None,
        };
        let name = user.map_or_else(|| actor.to_owned(), |user| user.email);
        names.0.insert(actor.to_owned(), name.clone());
        Ok(name)
    }
}

impl ExportedLot {
    fn of(item: Item, currency: String, is_unpaid: bool) -> Self {
        let price = item.price();
        let Item { uuid, auction, lot_number, title, status, .. } = item;
        Self { item: uuid, auction, lot_number, title, status, price, currency, is_unpaid }
    }
}
