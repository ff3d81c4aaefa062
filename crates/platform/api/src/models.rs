//! The JSON shapes of responses, made from the platform's records. No shape has a field for a reserve, a stored secret
//! or a hash of a secret.

mod access_log;
mod api_key;
mod auction;
mod auctioneer;
mod bid;
mod clerks;
mod clock;
mod common;
mod customer;
mod event;
mod item;
mod record;
mod registration;
mod results;
mod ring;
mod users;

pub(crate) use access_log::AccessEntryView;
pub(crate) use api_key::{ApiKeyCreated, ApiKeyView};
pub(crate) use auction::{AuctionView, IncrementView, StaggerView};
pub(crate) use auctioneer::AuctioneerView;
pub(crate) use bid::{BidView, PlacedBidView};
pub(crate) use clerks::{ClerkToChooseView, ClerkView};
pub(crate) use clock::{AdvancedView, ClockView, EndedView};
pub(crate) use common::{
    AddressSchema, AuctioneerSchema, CountrySchema, CurrencyInSchema, CurrencySchema, UrlAttachmentSchema,
};
pub(crate) use customer::{ConsumerView, CustomerView, QuarantinedView};
pub(crate) use event::{EventView, EventsView, HistoryView};
pub(crate) use item::ItemView;
pub(crate) use record::RecordView;
pub(crate) use registration::RegistrationView;
pub(crate) use results::{
    BulkDoneView, ChargesView, ItemResultView, MovedEndsView, RelistedView, ResultsView, UnpaidView,
};
pub(crate) use ring::{InternetBidView, RingView};
pub(crate) use users::{
    ChangedUserView, EnrolledView, MeView, RecoveryCodesView, SessionView, SignedInView, UserView,
    UserWithPasswordView, scopes_of,
};

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct List<T> {
    /// The entries of the page, in the list's stable order.
    pub(crate) data: Vec<T>,
    /// The value to send as `after` for the next page; null on the last page.
    pub(crate) next: Option<String>,
}

/// A time as RFC 3339 in UTC, with milliseconds.
pub(crate) fn time(at: Timestamp) -> String {
    kit_runtime::clock::rfc3339_ms(at)
}
