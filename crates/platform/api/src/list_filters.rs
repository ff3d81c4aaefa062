//! Queries of lists that can be narrowed. What may be one of several is given with commas between them.

use contract::{AuctionStatus, ItemStatus};
use platform_core::lists::{AuctionQuery, ItemQuery, RegistrationQuery};
use platform_core::port::RegistrationStatus;
use platform_rules::{AuctionKind, SaleMode};
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::errors::ApiError;
use crate::extract::{PageParams, page};

/// Which auctions, and which page of them.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuctionListQuery {
    /// Of this customer only.
    customer: Option<Uuid>,
    /// Held by this auctioneer only.
    auctioneer: Option<Uuid>,
    /// With this status only, such as `LIVE`; several with commas between them.
    #[param(example = "PREVIEW,LIVE")]
    status: Option<String>,
    /// `timed` or `webcast` only.
    kind: Option<String>,
    /// `true`: sandbox auctions only; `false`: real ones only. Both without.
    sandbox: Option<bool>,
    /// `next` of the page before.
    after: Option<String>,
    /// At most this many, 1 to 250; 50 without.
    #[param(minimum = 1, maximum = 250)]
    limit: Option<u32>,
}

impl AuctionListQuery {
    pub(crate) fn read(&self) -> Result<(AuctionQuery, PageParams<Uuid>), ApiError> {
        let kind = self.kind.as_deref();
        let kind = kind.map(|name| parse_name("kind", name, &AuctionKind::ALL, AuctionKind::as_str)).transpose()?;
        let wanted = AuctionQuery {
            customer: self.customer,
            auctioneer: self.auctioneer,
            statuses: parse_list("status", self.status.as_deref(), AuctionStatus::ALL, |status| status.name())?,
            kind,
            sale_mode: self.sandbox.map(|sandbox| if sandbox { SaleMode::Sandbox } else { SaleMode::Real }),
        };
        Ok((wanted, page(self.after.as_deref(), self.limit)?))
    }
}

/// Which items of an auction, and which page of them.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ItemListQuery {
    /// With this status only, such as `SOLD`; several with commas between them.
    #[param(example = "SOLD,SOLD_BUY_NOW")]
    status: Option<String>,
    /// The item with this lot number, as printed.
    lot_number: Option<String>,
    /// `next` of the page before.
    after: Option<String>,
    /// At most this many, 1 to 250; 50 without.
    #[param(minimum = 1, maximum = 250)]
    limit: Option<u32>,
}

impl ItemListQuery {
    pub(crate) fn read(&self) -> Result<(ItemQuery, PageParams<i64>), ApiError> {
        let statuses = parse_list("status", self.status.as_deref(), ItemStatus::ALL, |status| status.name())?;
        let wanted = ItemQuery { statuses, lot_number: self.lot_number.clone() };
        Ok((wanted, page(self.after.as_deref(), self.limit)?))
    }
}

/// Which registrations for an auction, and which page of them.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RegistrationListQuery {
    /// That stand at this only: `pending`, `approved`, `refused`, `suspended`; several with commas between them.
    #[param(example = "pending")]
    status: Option<String>,
    /// Of this paddle only.
    paddle: Option<String>,
    /// `next` of the page before.
    after: Option<String>,
    /// At most this many, 1 to 250; 50 without.
    #[param(minimum = 1, maximum = 250)]
    limit: Option<u32>,
}

impl RegistrationListQuery {
    pub(crate) fn read(&self) -> Result<(RegistrationQuery, PageParams<Uuid>), ApiError> {
        let known = RegistrationStatus::ALL;
        let statuses = parse_list("status", self.status.as_deref(), &known, RegistrationStatus::as_str)?;
        let wanted = RegistrationQuery { statuses, paddle: self.paddle.clone() };
        Ok((wanted, page(self.after.as_deref(), self.limit)?))
    }
}

/// What a parameter names, with commas between them, each once; nothing when it is not there.
fn parse_list<T: Copy + PartialEq>(
    parameter: &'static str,
    text: Option<&str>,
    known: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<Vec<T>, ApiError> {
    let mut found = Vec::new();
    for word in text.into_iter().flat_map(|text| text.split(',')) {
        let one = parse_name(parameter, word, known, &name)?;
        if !found.contains(&one) {
            found.push(one);
        }
    }
    Ok(found)
}

fn parse_name<T: Copy>(
    parameter: &'static str,
    word: &str,
    known: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, ApiError> {
    let found = known.iter().copied().find(|one| name(*one) == word);
    found.ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|one| name(*one)).collect();
        ApiError::invalid_query(parameter, format!("has {word:?}, which is none of {}", names.join(", ")))
    })
}
