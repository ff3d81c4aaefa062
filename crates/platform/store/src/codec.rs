//! Encoding of values in columns, shared by both engines. Times outside of the JSON states are stored in milliseconds,
//! the resolution of the runtime's clocks.

use std::collections::BTreeSet;
use std::time::Duration;

use contract::ItemStatus;
use contract::event::EventType;
use jiff::Timestamp;
use kit_runtime::trace::TraceParent;
use platform_core::bidding::bid::{BidSource, StruckBid};
use platform_core::journal::SubjectKind;
use platform_core::port::{
    BulkChange, Contact, DeliveryState, Language, MailKind, MailState, NoticeKind, OfferOutcome, Party,
    ProviderAddress, ReadingOutcome, Registration, RegistrationStatus, SiteTokenKind, StoreError, StoreResult, User,
};
use platform_core::{Role, Scope};
use platform_rules::{Auction, AuctionKind, Item, SaleMode, StrikeReason};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

pub(crate) fn corrupt(error: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt(error.to_string())
}

/// The JSON text of an aggregate or a list.
pub(crate) fn to_json<T: Serialize>(value: &T) -> StoreResult<String> {
    serde_json::to_string(value).map_err(corrupt)
}

pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> StoreResult<T> {
    serde_json::from_str(text).map_err(corrupt)
}

/// A stored position in a trace. An invalid one counts as none: nothing but traces depends on it.
pub(crate) fn trace_parent(stored: Option<&str>) -> Option<TraceParent> {
    stored?.parse().ok()
}

/// Milliseconds since 1970.
pub(crate) fn ms(at: Timestamp) -> i64 {
    at.as_millisecond()
}

pub(crate) fn interval_ms(interval: Duration) -> i64 {
    i64::try_from(interval.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) fn time(ms: i64) -> StoreResult<Timestamp> {
    Timestamp::from_millisecond(ms).map_err(corrupt)
}

/// The user that an actor names. `None` for other actors, such as keys and the command line.
pub(crate) fn user_of(actor: &str) -> Option<Uuid> {
    Uuid::try_parse(actor.strip_prefix("user:")?).ok()
}

/// True if the user is enabled and has a role with this scope.
pub(crate) fn may(user: &User, scope: Scope) -> bool {
    user.disabled_at.is_none() && Role::parse(&user.profile.role).is_some_and(|role| role.scopes().contains(scope))
}

/// The column `provider_url`, which is NULL for the embedded provider.
pub(crate) fn provider_url(provider: &ProviderAddress) -> Option<&str> {
    match provider {
        ProviderAddress::Embedded => None,
        ProviderAddress::Url(url) => Some(url),
    }
}

/// The provider of the column `provider_url`.
pub(crate) fn provider_address(url: Option<String>) -> ProviderAddress {
    url.map_or(ProviderAddress::Embedded, ProviderAddress::Url)
}

pub(crate) fn contact_name(contact: Contact) -> &'static str {
    match contact {
        Contact::Untried => "untried",
        Contact::Working => "working",
        Contact::Refused => "refused",
        Contact::Unreachable => "unreachable",
    }
}

pub(crate) fn contact(name: &str) -> StoreResult<Contact> {
    let all = [Contact::Untried, Contact::Working, Contact::Refused, Contact::Unreachable];
    let found = all.into_iter().find(|contact| contact_name(*contact) == name);
    found.ok_or_else(|| corrupt(format!("{name} is not a contact state of a connection")))
}

pub(crate) fn outcome_name(outcome: ReadingOutcome) -> &'static str {
    match outcome {
        ReadingOutcome::Never => "never",
        ReadingOutcome::Read => "read",
        ReadingOutcome::NoRight => "no_right",
        ReadingOutcome::Failed => "failed",
    }
}

pub(crate) fn outcome(name: &str) -> StoreResult<ReadingOutcome> {
    let all = [ReadingOutcome::Never, ReadingOutcome::Read, ReadingOutcome::NoRight, ReadingOutcome::Failed];
    let found = all.into_iter().find(|outcome| outcome_name(*outcome) == name);
    found.ok_or_else(|| corrupt(format!("{name} is not an outcome of a reading of endpoints")))
}

/// The column `kind` of a token of a web site.
pub(crate) fn site_token_number(kind: SiteTokenKind) -> i16 {
    match kind {
        SiteTokenKind::Access => 0,
        SiteTokenKind::Refresh => 1,
    }
}

pub(crate) fn site_token_kind(number: i16) -> StoreResult<SiteTokenKind> {
    match number {
        0 => Ok(SiteTokenKind::Access),
        1 => Ok(SiteTokenKind::Refresh),
        number => Err(corrupt(format!("{number} is not a kind of token"))),
    }
}

/// The column `state` of a delivery. Conditions of indexes rely on it: only delivered events have 0.
pub(crate) fn delivery_code(state: DeliveryState) -> i16 {
    match state {
        DeliveryState::Delivered => 0,
        DeliveryState::Waiting => 1,
        DeliveryState::Failed => 2,
    }
}

pub(crate) fn delivery_state(code: i16) -> StoreResult<DeliveryState> {
    match code {
        0 => Ok(DeliveryState::Delivered),
        1 => Ok(DeliveryState::Waiting),
        2 => Ok(DeliveryState::Failed),
        other => Err(corrupt(format_args!("{other} is not a state of a delivery"))),
    }
}

/// The column `state` of a mail. Conditions of indexes rely on it: only waiting mails have 0.
pub(crate) fn mail_state_code(state: MailState) -> i16 {
    match state {
        MailState::Waiting => 0,
        MailState::Sent => 1,
        MailState::Failed => 2,
    }
}

pub(crate) fn mail_state(code: i16) -> StoreResult<MailState> {
    let found = MailState::ALL.into_iter().find(|state| mail_state_code(*state) == code);
    found.ok_or_else(|| corrupt(format_args!("{code} is not a state of a mail")))
}

pub(crate) fn notice_kind(name: &str) -> StoreResult<NoticeKind> {
    NoticeKind::parse(name).ok_or_else(|| corrupt(format_args!("{name} is not a kind of notice")))
}

pub(crate) fn offer_outcome(name: &str) -> StoreResult<OfferOutcome> {
    OfferOutcome::parse(name).ok_or_else(|| corrupt(format_args!("{name} is not an end of an offer")))
}

pub(crate) fn mail_kind(name: &str) -> StoreResult<MailKind> {
    MailKind::parse(name).ok_or_else(|| corrupt(format_args!("{name} is not a kind of mail")))
}

pub(crate) fn language(name: &str) -> StoreResult<Language> {
    Language::parse(name).ok_or_else(|| corrupt(format_args!("{name} is not a language of mails")))
}

/// The end of an item of a real sale, for the timer, in milliseconds. It is rounded up, so that no item is due early.
/// `None` in a sandbox, because the timer does not end items there.
pub(crate) fn end_ms(item: &Item) -> Option<i64> {
    end_in(item, SaleMode::Real)
}

/// The end of an item of a sandbox auction, for the clock of that auction, in milliseconds.
pub(crate) fn sandbox_end_ms(item: &Item) -> Option<i64> {
    end_in(item, SaleMode::Sandbox)
}

/// The time that the clock of a sandbox auction is being advanced to, in milliseconds.
pub(crate) fn clock_target_ms(auction: &Auction) -> Option<i64> {
    auction.clock?.target.map(ms)
}

fn end_in(item: &Item, sale_mode: SaleMode) -> Option<i64> {
    item.effective_end_time.filter(|_| item.sale_mode() == sale_mode).map(ms_rounded_up)
}

/// Milliseconds since 1970, rounded up.
pub(crate) fn ms_rounded_up(at: Timestamp) -> i64 {
    let rest = i64::from(at.subsec_nanosecond().rem_euclid(1_000_000) != 0);
    // Before 1970, truncation rounds up.
    ms(at) + if at >= Timestamp::UNIX_EPOCH { rest } else { 0 }
}

/// A dimension or size of an image, which the database stores as a signed number.
pub(crate) fn image_number<T: TryFrom<i64>>(number: i64) -> StoreResult<T> {
    T::try_from(number).map_err(|_| corrupt(format_args!("{number} is not a size of an image")))
}

pub(crate) fn import_of(bulk_change: &BulkChange) -> Option<Uuid> {
    bulk_change.operation.import_id()
}

/// True when the item has an accepted bid that did not lapse.
pub(crate) fn has_bids(item: &Item) -> bool {
    item.has_bids()
}

pub(crate) fn erased_at_ms(party: &Party) -> Option<i64> {
    party.erasure.as_ref().map(|erasure| ms(erasure.at))
}

pub(crate) fn kept_until_ms(party: &Party) -> Option<i64> {
    party.erasure.as_ref()?.kept_until.map(ms)
}

/// Codes of item statuses, for the conditions of partial indexes.
pub(crate) const DRAFT: i32 = ItemStatus::Draft.code();
pub(crate) const PREVIEW: i32 = ItemStatus::Preview.code();
pub(crate) const LIVE: i32 = ItemStatus::Live.code();
pub(crate) const SUSPENDED: i32 = ItemStatus::Suspended.code();
pub(crate) const PASSED: i32 = ItemStatus::Passed.code();
pub(crate) const SOLD: i32 = ItemStatus::Sold.code();
pub(crate) const SOLD_BUY_NOW: i32 = ItemStatus::SoldBuyNow.code();
pub(crate) const UNSOLD: i32 = ItemStatus::Unsold.code();

pub(crate) fn kind_code(kind: SubjectKind) -> i16 {
    match kind {
        SubjectKind::Auction => 1,
        SubjectKind::Item => 2,
    }
}

pub(crate) fn kind(code: i16) -> StoreResult<SubjectKind> {
    match code {
        1 => Ok(SubjectKind::Auction),
        2 => Ok(SubjectKind::Item),
        other => Err(corrupt(format_args!("{other} is not a kind of subject"))),
    }
}

pub(crate) fn auction_kind_code(kind: AuctionKind) -> i16 {
    match kind {
        AuctionKind::Timed => 1,
        AuctionKind::Webcast => 2,
    }
}

pub(crate) fn registration_status_code(status: RegistrationStatus) -> i16 {
    match status {
        RegistrationStatus::Pending => 1,
        RegistrationStatus::Approved => 2,
        RegistrationStatus::Refused => 3,
        RegistrationStatus::Suspended => 4,
    }
}

pub(crate) fn event_type(kind: SubjectKind) -> EventType {
    match kind {
        SubjectKind::Auction => EventType::AuctionStatusChange,
        SubjectKind::Item => EventType::ItemStatusChange,
    }
}

pub(crate) fn source_code(source: BidSource) -> i16 {
    match source {
        BidSource::Internet => 1,
        BidSource::Room => 2,
        BidSource::Commission => 3,
        BidSource::Absentee => 4,
        BidSource::BuyNow => 5,
        BidSource::PostSaleOffer => 6,
    }
}

pub(crate) fn source(code: i16) -> StoreResult<BidSource> {
    match code {
        1 => Ok(BidSource::Internet),
        2 => Ok(BidSource::Room),
        3 => Ok(BidSource::Commission),
        4 => Ok(BidSource::Absentee),
        5 => Ok(BidSource::BuyNow),
        6 => Ok(BidSource::PostSaleOffer),
        other => Err(corrupt(format_args!("{other} is not a source of bids"))),
    }
}

pub(crate) fn strike_code(strike: StrikeReason) -> i16 {
    match strike {
        StrikeReason::Cancelled => 1,
        StrikeReason::Undone => 2,
        StrikeReason::Retracted => 3,
        StrikeReason::Lowered => 4,
    }
}

pub(crate) fn strike(code: i16) -> StoreResult<StrikeReason> {
    match code {
        1 => Ok(StrikeReason::Cancelled),
        2 => Ok(StrikeReason::Undone),
        3 => Ok(StrikeReason::Retracted),
        4 => Ok(StrikeReason::Lowered),
        other => Err(corrupt(format_args!("{other} is not a reason for striking a bid"))),
    }
}

/// The columns of a struck bid: code, number of the last bid when it was struck, reason, actor, time. All are `None`
/// for a bid that was not struck.
pub(crate) type StruckColumns = (Option<i16>, Option<i64>, Option<String>, Option<String>, Option<i64>);

pub(crate) fn struck_columns(struck: Option<&StruckBid>) -> StruckColumns {
    let Some(struck) = struck else { return (None, None, None, None, None) };
    let StruckBid { strike, after, reason, actor, at } = struck;
    (Some(strike_code(*strike)), Some(*after), reason.clone(), Some(actor.clone()), Some(ms(*at)))
}

pub(crate) fn struck((code, after, reason, actor, at): StruckColumns) -> StoreResult<Option<StruckBid>> {
    let Some(code) = code else {
        if after.is_some() || reason.is_some() || actor.is_some() || at.is_some() {
            return Err(corrupt("a bid is not struck, but has columns of a struck bid"));
        }
        return Ok(None);
    };
    let (Some(after), Some(actor), Some(at)) = (after, actor, at) else {
        return Err(corrupt("a struck bid has no actor, no time or no number of the last bid"));
    };
    Ok(Some(StruckBid { strike: strike(code)?, after, reason, actor, at: time(at)? }))
}

/// The column `merged_into`.
pub(crate) fn merged_into(party: &Party) -> Option<Uuid> {
    party.merged.as_ref().map(|merged| merged.into)
}

/// The columns of `auctions` except the state.
pub(crate) struct AuctionColumns {
    pub(crate) uuid: Uuid,
    pub(crate) customer: Uuid,
    pub(crate) auctioneer: Uuid,
    pub(crate) kind: i16,
    pub(crate) status: i32,
    pub(crate) version: i64,
    pub(crate) sandbox: bool,
    pub(crate) clock_target_ms: Option<i64>,
}

/// The columns of `items` except the state.
pub(crate) struct ItemColumns {
    pub(crate) uuid: Uuid,
    pub(crate) auction: Uuid,
    pub(crate) position: i64,
    pub(crate) lot_number: String,
    pub(crate) status: i32,
    pub(crate) has_bids: bool,
    pub(crate) effective_end_ms: Option<i64>,
    pub(crate) sandbox_end_ms: Option<i64>,
    /// Empty where a node of the version before wrote the item.
    pub(crate) vendor: Option<Uuid>,
    pub(crate) category: Option<String>,
    pub(crate) version: i64,
}

/// The columns of `registrations` except the state and the spending version, which the state does not contain.
pub(crate) struct RegistrationColumns {
    pub(crate) uuid: Uuid,
    pub(crate) auction: Uuid,
    pub(crate) paddle: String,
    pub(crate) number: Option<i64>,
    pub(crate) party: Option<Uuid>,
    pub(crate) status: i16,
    pub(crate) version: i64,
}

/// The columns of `parties` except the state.
pub(crate) struct PartyColumns {
    pub(crate) uuid: Uuid,
    pub(crate) customer: Uuid,
    pub(crate) name: String,
    pub(crate) search: String,
    pub(crate) reference: Option<String>,
    pub(crate) is_bidder: bool,
    pub(crate) is_consignor: bool,
    pub(crate) is_blocked: bool,
    pub(crate) erased_at_ms: Option<i64>,
    pub(crate) kept_until_ms: Option<i64>,
    pub(crate) merged_into: Option<Uuid>,
    /// Lower than the version, or none, where an earlier program wrote the record: then the keys are not compared.
    pub(crate) keys_version: Option<i64>,
    /// The match keys of `party_keys`.
    pub(crate) keys: BTreeSet<String>,
    pub(crate) version: i64,
}

/// The finding for a journal row whose customer differs from the customer in the state of its subject.
pub(crate) const JOURNAL_CUSTOMER: &str = "journal.customer";

impl AuctionColumns {
    /// The customer in the state, and the columns that differ from the state.
    pub(crate) fn inconsistent(&self, state: &Auction) -> (Uuid, Vec<&'static str>) {
        let columns = [
            ("auctions.uuid", self.uuid == state.uuid),
            ("auctions.customer", self.customer == state.customer),
            ("auctions.auctioneer", self.auctioneer == state.auctioneer),
            ("auctions.kind", self.kind == auction_kind_code(state.kind)),
            ("auctions.status", self.status == state.status.code()),
            ("auctions.version", self.version == state.version),
            ("auctions.sandbox", self.sandbox == (state.sale_mode() == SaleMode::Sandbox)),
            ("auctions.clock_target_ms", self.clock_target_ms == clock_target_ms(state)),
        ];
        (state.customer, inconsistent(&columns))
    }
}

impl ItemColumns {
    /// The customer in the state, and the columns that differ from the state.
    pub(crate) fn inconsistent(&self, state: &Item) -> (Uuid, Vec<&'static str>) {
        let columns = [
            ("items.uuid", self.uuid == state.uuid),
            ("items.auction", self.auction == state.auction),
            ("items.position", self.position == state.position),
            ("items.lot_number", self.lot_number == state.lot_number),
            ("items.vendor", self.vendor.is_none() || self.vendor == state.vendor),
            ("items.category", self.category == state.category),
            ("items.status", self.status == state.status.code()),
            ("items.has_bids", self.has_bids == has_bids(state)),
            ("items.effective_end_ms", self.effective_end_ms == end_ms(state)),
            ("items.sandbox_end_ms", self.sandbox_end_ms == sandbox_end_ms(state)),
            ("items.version", self.version == state.version),
        ];
        (state.customer, inconsistent(&columns))
    }
}

impl PartyColumns {
    /// The customer in the state, and the columns that differ from the state.
    pub(crate) fn inconsistent(&self, state: &Party) -> (Uuid, Vec<&'static str>) {
        let keys = state.keys();
        let columns = [
            ("parties.uuid", self.uuid == state.uuid),
            ("parties.customer", self.customer == state.customer),
            ("parties.name", self.name == keys.name),
            ("parties.search", self.search == keys.search),
            ("parties.reference", self.reference == state.details.reference),
            ("parties.is_bidder", self.is_bidder == state.details.is_bidder),
            ("parties.is_consignor", self.is_consignor == state.details.is_consignor),
            ("parties.is_blocked", self.is_blocked == state.block.is_some()),
            ("parties.erased_at_ms", self.erased_at_ms == erased_at_ms(state)),
            ("parties.kept_until_ms", self.kept_until_ms == kept_until_ms(state)),
            ("parties.merged_into", self.merged_into == merged_into(state)),
            ("parties.keys_version", self.keys_version.is_none_or(|version| version <= state.version)),
            ("party_keys.key", self.keys_version != Some(state.version) || state.match_keys() == self.keys),
            ("parties.version", self.version == state.version),
        ];
        (state.customer, inconsistent(&columns))
    }
}

impl RegistrationColumns {
    /// The customer in the state, and the columns that differ from the state.
    pub(crate) fn inconsistent(&self, state: &Registration) -> (Uuid, Vec<&'static str>) {
        let columns = [
            ("registrations.uuid", self.uuid == state.uuid),
            ("registrations.auction", self.auction == state.auction),
            ("registrations.paddle", self.paddle == state.paddle),
            ("registrations.number", self.number == state.number()),
            ("registrations.party", self.party == state.party),
            ("registrations.status", self.status == registration_status_code(state.status)),
            ("registrations.version", self.version == state.version),
        ];
        (state.customer, inconsistent(&columns))
    }
}

fn inconsistent(columns: &[(&'static str, bool)]) -> Vec<&'static str> {
    columns.iter().filter(|(_, is_right)| !is_right).map(|(column, _)| *column).collect()
}
