//! Queries of lists with filters. A row must match all filters. A filter may name several values, separated by commas.

use contract::{AuctionStatus, ItemStatus};
use platform_core::port::RegistrationStatus;
use platform_core::sales::lists::{AuctionQuery, ItemQuery, RegistrationQuery};
use platform_rules::{AuctionKind, SaleMode};
use uuid::Uuid;

use crate::errors::ApiError;
use crate::pagination::{PageParams, list_query};

list_query! {
    /// Filters of a list of auctions.
    AuctionListQuery {
        /// UUID of a customer: only auctions of this customer. An API key of one customer sees only that customer's
        /// auctions.
        customer: Option<Uuid>,
        /// UUID of an auctioneer: only auctions of this auctioneer.
        auctioneer: Option<Uuid>,
        /// Status names, separated by commas: only auctions with one of these statuses.
        #[param(example = "PREVIEW,LIVE")]
        status: Option<String>,
        /// `timed` or `webcast`: only auctions of this kind.
        kind: Option<String>,
        /// `true`: only sandbox auctions. `false`: only real ones. Without it, both.
        sandbox: Option<bool>,
    }
}

impl AuctionListQuery {
    pub(crate) fn read(&self) -> Result<(AuctionQuery, PageParams<Uuid>), ApiError> {
        let kind = self.kind.as_deref();
        let kind = kind.map(|name| parse_name("kind", name, &AuctionKind::ALL, AuctionKind::as_str)).transpose()?;
        let filters = AuctionQuery {
            customer: self.customer,
            auctioneer: self.auctioneer,
            statuses: parse_list("status", self.status.as_deref(), AuctionStatus::ALL, |status| status.name())?,
            kind,
            sale_mode: self.sandbox.map(|sandbox| if sandbox { SaleMode::Sandbox } else { SaleMode::Real }),
        };
        Ok((filters, self.page()?))
    }
}

list_query! {
    /// Filters of a list of items.
    ItemListQuery {
        /// Status names, separated by commas: only items with one of these statuses.
        #[param(example = "SOLD,SOLD_BUY_NOW")]
        status: Option<String>,
        /// Only the item with this lot number, as printed, such as `12A`.
        lot_number: Option<String>,
    }
}

impl ItemListQuery {
    pub(crate) fn read(&self) -> Result<(ItemQuery, PageParams<i64>), ApiError> {
        let statuses = parse_list("status", self.status.as_deref(), ItemStatus::ALL, |status| status.name())?;
        let filters = ItemQuery { statuses, lot_number: self.lot_number.clone() };
        Ok((filters, self.page()?))
    }
}

list_query! {
    /// Filters of a list of registrations.
    RegistrationListQuery {
        /// `pending`, `approved`, `refused` or `suspended`, separated by commas: only registrations with one of these
        /// statuses.
        #[param(example = "pending")]
        status: Option<String>,
        /// Only the registration with this paddle.
        paddle: Option<String>,
    }
}

impl RegistrationListQuery {
    pub(crate) fn read(&self) -> Result<(RegistrationQuery, PageParams<Uuid>), ApiError> {
        let known = RegistrationStatus::ALL;
        let statuses = parse_list("status", self.status.as_deref(), &known, RegistrationStatus::as_str)?;
        let filters = RegistrationQuery { statuses, paddle: self.paddle.clone() };
        Ok((filters, self.page()?))
    }
}

/// The values that a parameter names, each once; empty without the parameter.
fn parse_list<T: Copy + PartialEq>(
    parameter: &'static str,
    text: Option<&str>,
    known: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<Vec<T>, ApiError> {
    let mut values = Vec::new();
    for word in text.into_iter().flat_map(|text| text.split(',')) {
        let value = parse_name(parameter, word, known, &name)?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Ok(values)
}

fn parse_name<T: Copy>(
    parameter: &'static str,
    word: &str,
    known: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, ApiError> {
    let value = known.iter().copied().find(|value| name(*value) == word);
    value.ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|value| name(*value)).collect();
        ApiError::invalid_query(parameter, format!("contains {word:?}; send one of {}", names.join(", ")))
    })
}
