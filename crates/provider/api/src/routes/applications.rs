//! Consumer applications.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use axum::extract::State;
use axum::response::Response;
use provider_core::model::Application;
use provider_core::page::CursorKey;
use provider_core::port::ApplicationExclusion;
use provider_core::{ApplicationInput, ApplicationPatch, IfExists, PatchField, Provider, ids};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::errors::{ApiError, HttpErrorOut};
use crate::extract::{Auth, JsonBody, ListQuery, PathParams, QueryParams};
use crate::field_aliases::THROTTLE_RATE;
use crate::patch;
use crate::response::{self, ListResponse};

/// A new or replaced application.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationIn {
    /// Display name.
    #[schema(min_length = 1, max_length = 256)]
    name: String,
    /// The caller's own id for the application, unique in the account: 1 to 256 of `a-zA-Z0-9-_.`, not starting with
    /// `app_`.
    #[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    uid: Option<String>,
    /// Throttle rate: messages per second that the application's endpoints receive at most.
    #[schema(minimum = 1, maximum = 65535)]
    throttle_rate: Option<u16>,
    /// Former name of `throttleRate`.
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 65535, deprecated)]
    rate_limit: Option<NonZeroU16>,
    /// Pairs of text that the provider stores unchanged.
    metadata: Option<BTreeMap<String, String>>,
}

/// Changes of an application. An absent field keeps its value.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApplicationPatch)]
pub(crate) struct ApplicationPatchIn {
    /// Display name.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = String, required = false, min_length = 1, max_length = 256)]
    name: PatchField<String>,
    /// The caller's own id; null removes it.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$")]
    uid: PatchField<Option<String>>,
    /// Throttle rate: messages per second that the application's endpoints receive at most; null removes the limit.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 65535)]
    throttle_rate: PatchField<Option<u16>>,
    /// Former name of `throttleRate`.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 65535, deprecated)]
    rate_limit: PatchField<Option<NonZeroU16>>,
    /// Pairs of text, which replace the existing ones.
    #[serde(default, deserialize_with = "patch::field")]
    #[schema(value_type = BTreeMap<String, String>, required = false)]
    metadata: PatchField<BTreeMap<String, String>>,
}

/// An application.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationOut<'a> {
    /// The caller's own id.
    uid: Option<&'a str>,
    /// Display name.
    name: &'a str,
    /// Throttle rate: messages per second that the application's endpoints receive at most.
    throttle_rate: Option<u16>,
    /// Former name of `throttleRate`.
    #[schema(deprecated)]
    rate_limit: Option<u16>,
    /// `app_…`
    id: &'a str,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime)]
    created_at: String,
    /// Time of the last change.
    #[schema(value_type = String, format = DateTime)]
    updated_at: String,
    /// Pairs of text that the provider stores unchanged.
    metadata: &'a BTreeMap<String, String>,
}

/// What to do if another application has the uid.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CreateQuery {
    /// `true` returns the application with this uid (200) instead of 409.
    get_if_exists: Option<bool>,
}

/// The filter of the list of applications.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ApplicationsFilter {
    /// `true` leaves out applications without endpoints.
    exclude_apps_with_no_endpoints: Option<bool>,
    /// `true` leaves out applications whose endpoints are all disabled.
    exclude_apps_with_disabled_endpoints: Option<bool>,
    /// `true` leaves out applications whose endpoints are all at Svix Play.
    exclude_apps_with_svix_play_endpoints: Option<bool>,
}

impl ApplicationsFilter {
    fn exclude(&self) -> Vec<ApplicationExclusion> {
        let exclusions = [
            (self.exclude_apps_with_no_endpoints, ApplicationExclusion::WithoutEndpoints),
            (self.exclude_apps_with_disabled_endpoints, ApplicationExclusion::OnlyDisabledEndpoints),
            (self.exclude_apps_with_svix_play_endpoints, ApplicationExclusion::OnlyPlayEndpoints),
        ];
        exclusions
            .into_iter()
            .filter(|(is_requested, _)| *is_requested == Some(true))
            .map(|(_, exclude)| exclude)
            .collect()
    }
}

impl TryFrom<ApplicationPatchIn> for ApplicationPatch {
    type Error = ApiError;

    fn try_from(body: ApplicationPatchIn) -> Result<Self, ApiError> {
        Ok(ApplicationPatch {
            name: body.name,
            uid: body.uid,
            throttle_rate: THROTTLE_RATE.one_change_of(body.throttle_rate, patch::to_u16(body.rate_limit))?,
            metadata: body.metadata,
        })
    }
}

impl TryFrom<ApplicationIn> for ApplicationInput {
    type Error = ApiError;

    fn try_from(body: ApplicationIn) -> Result<Self, ApiError> {
        Ok(ApplicationInput {
            name: body.name,
            uid: body.uid,
            throttle_rate: THROTTLE_RATE.one_of(body.throttle_rate, body.rate_limit.map(NonZeroU16::get))?,
            metadata: body.metadata.unwrap_or_default(),
        })
    }
}

impl ApplicationIn {
    /// The input of an application that another request contains as its field `application`.
    pub(super) fn inline(self) -> Result<ApplicationInput, ApiError> {
        self.try_into().map_err(|error: ApiError| error.within("application"))
    }
}

fn view(application: &Application) -> ApplicationOut<'_> {
    ApplicationOut {
        uid: application.uid.as_deref(),
        name: &application.name,
        throttle_rate: application.throttle_rate,
        rate_limit: application.throttle_rate,
        id: &application.id,
        created_at: response::time(application.created_at),
        updated_at: response::time(application.updated_at),
        metadata: &application.metadata,
    }
}

fn render(application: &Application) -> String {
    response::text(&view(application))
}

/// Creates a consumer application.
#[utoipa::path(post, path = "/app", operation_id = "v1.application.create", tag = "Application",
    params(CreateQuery), request_body = ApplicationIn,
    responses(
        (status = 201, description = "The created application.", body = ApplicationOut<'_>),
        (status = 200, description = "The existing application with this uid.", body = ApplicationOut<'_>),
        (status = 409, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn create(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    QueryParams(query): QueryParams<CreateQuery>,
    sent: JsonBody<ApplicationIn>,
) -> Result<Response, ApiError> {
    let if_taken = if query.get_if_exists == Some(true) { IfExists::Get } else { IfExists::Refuse };
    let (input, idempotency) = (sent.body.try_into()?, sent.idempotency.as_ref());
    let created = provider.create_application(&caller, input, if_taken, idempotency, render).await?;
    Ok(response::created(created, render))
}

/// Lists the account's applications, oldest first by default.
#[utoipa::path(get, path = "/app", operation_id = "v1.application.list", tag = "Application",
    params(ListQuery, ApplicationsFilter),
    responses(
        (status = 200, description = "A page of applications.", body = ListResponse<ApplicationOut<'_>>),
    ))]
pub(crate) async fn list(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    QueryParams(page): QueryParams<ListQuery>,
    QueryParams(filter): QueryParams<ApplicationsFilter>,
) -> Result<Response, ApiError> {
    let page = page.page(CursorKey::Id(ids::APPLICATION))?;
    Ok(response::list(&provider.list_applications(&caller, &filter.exclude(), &page).await?, view))
}

/// Returns an application.
#[utoipa::path(get, path = "/app/{app_id}", operation_id = "v1.application.get", tag = "Application",
    params(("app_id" = String, Path, description = "Id or uid")),
    responses(
        (status = 200, description = "The application.", body = ApplicationOut<'_>),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
) -> Result<Response, ApiError> {
    Ok(response::ok(&view(&provider.application(&caller, &application).await?)))
}

/// Replaces an application, or creates one if none has the id. A created application gets an id of its own.
#[utoipa::path(put, path = "/app/{app_id}", operation_id = "v1.application.update", tag = "Application",
    params(("app_id" = String, Path, description = "Id or uid")), request_body = ApplicationIn,
    responses(
        (status = 200, description = "The replaced application.", body = ApplicationOut<'_>),
        (status = 201, description = "The created application.", body = ApplicationOut<'_>),
        (status = 409, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn update(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
    sent: JsonBody<ApplicationIn>,
) -> Result<Response, ApiError> {
    Ok(response::put(provider.put_application(&caller, &application, sent.body.try_into()?).await?, render))
}

/// Changes the given fields of an application.
#[utoipa::path(patch, path = "/app/{app_id}", operation_id = "patch_application", tag = "Application",
    params(("app_id" = String, Path, description = "Id or uid")), request_body = ApplicationPatchIn,
    responses(
        (status = 200, description = "The changed application.", body = ApplicationOut<'_>),
        (status = 404, body = HttpErrorOut<'_>),
        (status = 409, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn change(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
    sent: JsonBody<ApplicationPatchIn>,
) -> Result<Response, ApiError> {
    Ok(response::ok(&view(&provider.patch_application(&caller, &application, sent.body.try_into()?).await?)))
}

/// Deletes an application with its endpoints, and cancels their waiting deliveries.
#[utoipa::path(delete, path = "/app/{app_id}", operation_id = "v1.application.delete", tag = "Application",
    params(("app_id" = String, Path, description = "Id or uid")),
    responses(
        (status = 204, description = "No content."),
        (status = 404, body = HttpErrorOut<'_>),
    ))]
pub(crate) async fn delete(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    PathParams([application]): PathParams<1>,
) -> Result<Response, ApiError> {
    provider.delete_application(&caller, &application).await?;
    Ok(response::no_content())
}
