//! The account itself: an addition of ours, which official clients don't know.

use axum::extract::State;
use axum::response::Response;
use provider_core::model::{Account, PayloadCheck};
use provider_core::{Caller, Provider};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};
use crate::extract::{Auth, JsonBody};
use crate::response;

/// What to change of the account; what is left out stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AccountPatch {
    /// What becomes of a message whose payload does not match its event type's schema.
    payload_check: Option<PayloadCheckMode>,
}

/// What becomes of a message whose payload does not match its event type's schema.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PayloadCheckMode {
    /// Nothing is checked.
    Off,
    /// It is accepted, counted and logged without its content.
    Warn,
    /// It is refused with 422, which says where in the payload.
    Reject,
}

/// The account that the key belongs to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccountOut<'a> {
    /// `org_…`
    id: &'a str,
    /// Name, for people.
    name: &'a str,
    payload_check: PayloadCheckMode,
    /// Messages that did not match, on the node that answers, since it began.
    payload_mismatches: PayloadMismatches,
    /// Requests a second at most, on each node.
    requests_per_second_max: u32,
    /// Endpoints of each application at most.
    endpoints_max: usize,
    #[schema(value_type = String, format = DateTime)]
    created_at: String,
}

/// Messages that did not match their event type's schema.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PayloadMismatches {
    /// Accepted all the same.
    warned: u64,
    /// Refused.
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

fn view<'a>(provider: &Provider, caller: &Caller, account: &'a Account) -> AccountOut<'a> {
    let (settings, config, counts) = (&account.settings, provider.config(), provider.payload_counts(caller));
    AccountOut {
        id: &account.id,
        name: &account.name,
        payload_check: settings.payload_check.into(),
        payload_mismatches: PayloadMismatches { warned: counts.warned, rejected: counts.rejected },
        requests_per_second_max: settings.requests_per_second_max.unwrap_or(config.requests_per_second_max),
        endpoints_max: settings.endpoints_max.map_or(config.endpoints_max, |max| max as usize),
        created_at: response::time(account.created_at),
    }
}

/// Gives the account that the key belongs to, with its limits.
#[utoipa::path(get, path = "/account", operation_id = "v1.account.get", tag = "Account",
    responses((status = 200, body = AccountOut<'_>), (status = 401, body = HttpErrorOut<'_>)))]
pub(crate) async fn get(State(provider): State<Provider>, Auth(caller): Auth) -> Result<Response, ApiError> {
    let account = provider.account(&caller.account).await?;
    Ok(response::ok(&view(&provider, &caller, &account)))
}

/// Changes settings of the account. Limits are set by whoever runs the server.
#[utoipa::path(patch, path = "/account", operation_id = "v1.account.patch", tag = "Account",
    request_body = AccountPatch,
    responses((status = 200, body = AccountOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn update(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    sent: JsonBody<AccountPatch>,
) -> Result<Response, ApiError> {
    let mut account = provider.account(&caller.account).await?;
    if let Some(mode) = sent.body.payload_check {
        account.settings.payload_check = mode.into();
        provider.update_account(account.clone()).await?;
    }
    Ok(response::ok(&view(&provider, &caller, &account)))
}
