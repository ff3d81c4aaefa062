//! Consumer applications (service.md section 4, "Create consumer application").

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use provider::model::Application;
use provider::page::ListKey;
use provider::{ApplicationInput, IfTaken, Provider, ids};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::answer::{self, ListResponse};
use crate::ask::{Asked, At, Auth, ListQuery, Sent};
use crate::errors::{ApiError, HttpErrorOut, ValidationErrorOut};

/// An application to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationIn {
    /// Name, for people.
    #[schema(min_length = 1)]
    name: String,
    /// Your own id for it, unique in the account: 1 to 256 of `a-zA-Z0-9-_.`, not beginning with `app_`.
    uid: Option<String>,
    /// Messages a second that its endpoints receive at most.
    #[schema(minimum = 1)]
    throttle_rate: Option<u16>,
    /// Free text pairs.
    metadata: Option<BTreeMap<String, String>>,
}

/// An application.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationOut<'a> {
    /// Your own id for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a str>,
    /// Name, for people.
    name: &'a str,
    /// Messages a second that its endpoints receive at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    throttle_rate: Option<u16>,
    /// `app_…`
    id: &'a str,
    #[schema(value_type = String, format = DateTime)]
    created_at: String,
    #[schema(value_type = String, format = DateTime)]
    updated_at: String,
    /// Free text pairs.
    metadata: &'a BTreeMap<String, String>,
}

/// What to do when the uid is taken.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CreateQuery {
    /// Gives the application that has the uid (200) instead of 409.
    get_if_exists: Option<bool>,
}

impl From<ApplicationIn> for ApplicationInput {
    fn from(body: ApplicationIn) -> Self {
        ApplicationInput {
            name: body.name,
            uid: body.uid,
            throttle_rate: body.throttle_rate,
            metadata: body.metadata.unwrap_or_default(),
        }
    }
}

fn view(application: &Application) -> ApplicationOut<'_> {
    ApplicationOut {
        uid: application.uid.as_deref(),
        name: &application.name,
        throttle_rate: application.throttle_rate,
        id: &application.id,
        created_at: answer::time(application.created_at),
        updated_at: answer::time(application.updated_at),
        metadata: &application.metadata,
    }
}

fn render(application: &Application) -> String {
    answer::text(&view(application))
}

/// Creates an application.
#[utoipa::path(post, path = "/app", operation_id = "v1.application.create", tag = "Application",
    params(CreateQuery), request_body = ApplicationIn,
    responses((status = 201, body = ApplicationOut<'_>), (status = 200, body = ApplicationOut<'_>),
        (status = 401, body = HttpErrorOut<'_>), (status = 409, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn create(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    Asked(query): Asked<CreateQuery>,
    sent: Sent<ApplicationIn>,
) -> Result<Response, ApiError> {
    let if_taken = if query.get_if_exists == Some(true) { IfTaken::Get } else { IfTaken::Refuse };
    let created =
        provider.create_application(&caller, sent.body.into(), if_taken, sent.idempotency.as_ref(), render).await?;
    Ok(answer::created(created, render))
}

/// Lists the account's applications, oldest first unless asked otherwise.
#[utoipa::path(get, path = "/app", operation_id = "v1.application.list", tag = "Application", params(ListQuery),
    responses((status = 200, body = ListResponse<ApplicationOut<'_>>), (status = 401, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn list(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    Asked(query): Asked<ListQuery>,
) -> Result<Response, ApiError> {
    let page = query.page(ListKey::Id(ids::APPLICATION))?;
    Ok(answer::list(&provider.list_applications(&caller, &page).await?, view))
}

/// Gives an application.
#[utoipa::path(get, path = "/app/{app_id}", operation_id = "v1.application.get", tag = "Application",
    params(("app_id" = String, Path, description = "Id or uid")),
    responses((status = 200, body = ApplicationOut<'_>), (status = 401, body = HttpErrorOut<'_>),
        (status = 404, body = HttpErrorOut<'_>)))]
pub(crate) async fn get(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    At([application]): At<1>,
) -> Result<Response, ApiError> {
    Ok(answer::ok(&view(&provider.application(&caller, &application).await?)))
}

/// Replaces an application, or creates one when there is none; the id in the path is not used then.
#[utoipa::path(put, path = "/app/{app_id}", operation_id = "v1.application.update", tag = "Application",
    params(("app_id" = String, Path, description = "Id or uid")), request_body = ApplicationIn,
    responses((status = 200, body = ApplicationOut<'_>), (status = 201, body = ApplicationOut<'_>),
        (status = 401, body = HttpErrorOut<'_>), (status = 409, body = HttpErrorOut<'_>),
        (status = 422, body = ValidationErrorOut)))]
pub(crate) async fn update(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    At([application]): At<1>,
    sent: Sent<ApplicationIn>,
) -> Result<Response, ApiError> {
    Ok(answer::put(provider.put_application(&caller, &application, sent.body.into()).await?, render))
}

/// Deletes an application with its endpoints and whatever waits for them.
#[utoipa::path(delete, path = "/app/{app_id}", operation_id = "v1.application.delete", tag = "Application",
    params(("app_id" = String, Path, description = "Id or uid")),
    responses((status = 204), (status = 401, body = HttpErrorOut<'_>), (status = 404, body = HttpErrorOut<'_>)))]
pub(crate) async fn delete(
    State(provider): State<Provider>,
    Auth(caller): Auth,
    At([application]): At<1>,
) -> Result<Response, ApiError> {
    provider.delete_application(&caller, &application).await?;
    Ok(answer::nothing())
}
