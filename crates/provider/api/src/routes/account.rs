//! The account of the API key. Official clients have no call for these operations.

use axum::extract::State;
use axum::response::Response;
use provider_core::model::{Account, PayloadCheck, UnknownEventTypes};
use provider_core::{Caller, Provider};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::errors::ApiError;
use crate::extract::{Auth, JsonBody};
use crate::response;

/// Changes of the account. An absent field keeps its value.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AccountPatch {
    /// What the provider does with a message whose payload does not match the schema of its event type.
    payload_check: Option<PayloadCheckMode>,
    /// What the provider does with a message whose event type is not registered.
    unknown_event_types: Option<UnknownEventTypesMode>,
}

/// What the provider does with a message whose payload does not match the schema of its event type.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PayloadCheckMode {
    /// The provider checks no payload.
    Off,
    /// The provider accepts the message, counts it, and logs the mismatch without the payload.
    Warn,
    /// The provider refuses the message with 422 and names the place in the payload.
    Reject,
}

/// What the provider does with a message whose event type is not registered.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UnknownEventTypesMode {
    /// The provider accepts the message.
    Accept,
    /// The provider accepts the message, and the dashboard lists its event type with the key that sent it.
    Warn,
    /// The provider refuses the message with 400 `unknown_event_type`.
    Reject,
}

/// The account of the API key.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccountOut<'a> {
    /// `org_…`
    id: &'a str,
    /// Display name.
    name: &'a str,
    /// What the provider does with a message whose payload does not match the schema of its event type.
    payload_check: PayloadCheckMode,
    /// What the provider does with a message whose event type is not registered.
    unknown_event_types: UnknownEventTypesMode,
    /// Messages whose payload did not match, counted by the responding node since its start.
    payload_mismatches: PayloadMismatches,
    /// Rate limit: requests per second on each node.
    requests_per_second_max: u32,
    /// Endpoints that one application may have.
    endpoints_max: usize,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime)]
    created_at: String,
}

/// Messages whose payload did not match the schema of its event type.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PayloadMismatches {
    /// Accepted messages (`payloadCheck` is `warn`).
    warned: u64,
    /// Refused messages (`payloadCheck` is `reject`).
    rejected: u64,
}

impl From<PayloadCheckMode> for PayloadCheck {
    fn from(mode: PayloadCheckMode) -> Self {
        match mode {
            PayloadCheckMode::Off => Self::Off,
            PayloadCheckMode::Warn => Self::Warn,
            PayloadCheckMode::Reject => Self::Reject,
        }
    }
}

impl From<PayloadCheck> for PayloadCheckMode {
    fn from(check: PayloadCheck) -> Self {
        match check {
            PayloadCheck::Off => Self::Off,
            PayloadCheck::Warn => Self::Warn,
            PayloadCheck::Reject => Self::Reject,
        }
    }
}

impl From<UnknownEventTypesMode> for UnknownEventTypes {
    fn from(mode: UnknownEventTypesMode) -> Self {
        match mode {
            UnknownEventTypesMode::Accept => Self::Accept,
            UnknownEventTypesMode::Warn => Self::Warn,
            UnknownEventTypesMode::Reject => Self::Reject,
        }
    }
}

impl From<UnknownEventTypes> for UnknownEventTypesMode {
    fn from(handling: UnknownEventTypes) -> Self {
        match handling {
            UnknownEventTypes::Accept => Self::Accept,
            UnknownEventTypes::Warn => Self::Warn,
            UnknownEventTypes::Reject => Self::Reject,
        }
    }
}

fn view<'a>(provider: &Provider, caller: &Caller, account: &'a Account) -> AccountOut<'a> {
    let (settings, config, counts) = (&account.settings, provider.config(), provider.payload_counts(caller));
    AccountOut {
        id: &account.id,
        name: &account.name,
        payload_check: settings.payload_check.into(),
        unknown_event_types: settings.unknown_event_types.into(),
        payload_mismatches: PayloadMismatches { warned: counts.warned, rejected: counts.rejected },
        requests_per_second_max: settings.requests_per_second_max.unwrap_or(config.requests_per_second_max),
        endpoints_max: settings.endpoints_max.map_or(config.endpoints_max, |max| max as usize),
        created_at: response::time(account.created_at),
    }
}

/// Returns the account of the API key, with its limits.
#[utoipa::path(get, path = "/account", operation_id = "v1.account.get", tag = "Account",
    responses(
        (status = 200, description = "The account.", body = AccountOut<'_>),
    ))]
pub(crate) async fn get(State(provider): State<Provider>, Auth(caller): Auth) -> Result<Response, ApiError> {
    let account = provider.account(&caller.account).await?;
    Ok(response::ok(&view(&provider, &caller, &account)))
}

/// Changes settings of the account. The operator of the server sets the limits.
#[utoipa::path(patch, path = "/account", operation_id = "v1.account.patch", tag = "Account",
    request_body = AccountPatch,
    responses(
        (status = 200, description = "The changed account.", body = AccountOut<'_>),
    ))]
pub(crate) async fn update(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    sent: JsonBody<AccountPatch>,
) -> Result<Response, ApiError> {
    let mut account = provider.account(&caller.account).await?;
    let AccountPatch { payload_check, unknown_event_types } = sent.body;
    if let Some(mode) = payload_check {
        account.settings.payload_check = mode.into();
    }
    if let Some(mode) = unknown_event_types {
        account.settings.unknown_event_types = mode.into();
    }
    if payload_check.is_some() || unknown_event_types.is_some() {
        provider.update_account(account.clone()).await?;
    }
    Ok(response::ok(&view(&provider, &caller, &account)))
}
