//! Completes the OpenAPI document with what operations have in common: the schema of path parameters, the idempotency
//! key, and the errors that each of them can return. A test refuses a response without a description.

use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{Components, Content, OpenApi, Ref, RefOr, Required};

/// POST operations without an idempotency key: repeating them has the same result, or the response is a secret, which
/// the provider does not store.
const POSTS_WITHOUT_IDEMPOTENCY: [&str; 7] = [
    "lotwire.endpoint.retry-blocked-key",
    "lotwire.endpoint.skip-blocked-key",
    "v1.authentication.app-portal-access",
    "v1.authentication.expire-all",
    "v1.authentication.logout",
    "v1.message.bulk-expunge-content",
    "v1.message.precheck",
];

/// Status, description, and name of the body's schema.
type ErrorResponse = (&'static str, &'static str, &'static str);

const ERROR: &str = "HttpErrorOut";
const VALIDATION_ERROR: &str = "HTTPValidationError";

/// Errors of every operation that requires an API key or a token.
const COMMON_ERRORS: [ErrorResponse; 4] = [
    ("401", "The API key or token is missing, unknown or expired (`authentication_failed`).", ERROR),
    (
        "403",
        "The API key lacks the scope, the token lacks the capability, or the operation requires an API key \
         (`insufficient_access`).",
        ERROR,
    ),
    ("429", "The caller exceeded its rate limit (`too_many_requests`). Retry after `Retry-After` seconds.", ERROR),
    (
        "503",
        "The server can't reach its database (`unavailable`), has no memory for the body (`too_many_bodies`), or has too \
         little free disk for new messages and replays (`disk_full`). \
         Retry after `Retry-After` seconds.",
        ERROR,
    ),
];
/// Errors of an operation with parameters or a body.
const INPUT_ERRORS: [ErrorResponse; 1] =
    [("422", "A value is invalid. `detail` lists each invalid value with its place.", VALIDATION_ERROR)];
/// Errors of a list.
const LIST_ERRORS: [ErrorResponse; 1] = [("400", "`limit` is not a number from 0 on (`invalid_limit`).", ERROR)];
/// Errors of an operation with an idempotency key.
const IDEMPOTENCY_ERRORS: [ErrorResponse; 1] = [(
    "400",
    "The idempotency key is invalid (`invalid_idempotency_key`), or the account has reached a limit (`limit_reached`).",
    ERROR,
)];
/// Errors of an operation with a body.
const BODY_ERRORS: [ErrorResponse; 4] = [
    (
        "400",
        "The body arrived incomplete (`body_broken`), or the idempotency key is invalid (`invalid_idempotency_key`).",
        ERROR,
    ),
    ("408", "The body did not arrive within 30 seconds (`request_timeout`).", ERROR),
    ("413", "The body is too large (`payload_too_large`).", ERROR),
    ("415", "The body is compressed (`unsupported_media_type`).", ERROR),
];

/// Errors of records. They describe the operations that declare these statuses, and are not added to others.
const RECORD_ERRORS: [ErrorResponse; 2] = [
    (
        "404",
        "A record that the path names does not exist, or belongs to another account or application (`not_found`).",
        ERROR,
    ),
    ("409", "Another record has the same `uid` (`conflict`).", ERROR),
];

/// Completes the document.
pub(super) fn complete(mut document: OpenApi) -> OpenApi {
    let components = document.components.clone().unwrap_or_default();
    for item in document.paths.paths.values_mut() {
        let others = [&mut item.get, &mut item.put, &mut item.delete, &mut item.patch];
        for operation in others.into_iter().flatten() {
            describe(operation, &components);
        }
        if let Some(operation) = &mut item.post {
            let has_idempotency =
                operation.operation_id.as_deref().is_some_and(|id| !POSTS_WITHOUT_IDEMPOTENCY.contains(&id));
            if has_idempotency {
                operation.parameters.get_or_insert_default().push(idempotency_key().into());
                add(operation, &IDEMPOTENCY_ERRORS);
            }
            describe(operation, &components);
        }
    }
    document
}

fn describe(operation: &mut Operation, components: &Components) {
    if operation.security.is_some() {
        return;
    }
    for parameter in operation.parameters.iter_mut().flatten() {
        let RefOr::T(parameter) = parameter else { continue };
        if parameter.parameter_in == ParameterIn::Path {
            parameter.schema = Some(name());
        }
    }
    if let Some(RefOr::T(body)) = &mut operation.request_body {
        // An empty body means `{}`.
        if all_fields_optional(body, components) {
            body.required = Some(Required::False);
        }
        add(operation, &BODY_ERRORS);
    }
    let parameters = operation.parameters.as_deref().unwrap_or_default();
    // Lists that only this provider has return no 400.
    let is_own_operation = operation.operation_id.as_deref().is_some_and(|id| id.starts_with("lotwire."));
    let is_list = !is_own_operation
        && parameters.iter().any(|parameter| matches!(parameter, RefOr::T(parameter) if parameter.name == "limit"));
    if !parameters.is_empty() || operation.request_body.is_some() {
        add(operation, &INPUT_ERRORS);
    }
    if is_list {
        add(operation, &LIST_ERRORS);
    }
    add(operation, &COMMON_ERRORS);
    for error in &RECORD_ERRORS {
        describe_error(operation, error);
    }
}

/// Adds errors to an operation. An error that the operation declares itself keeps its own description, if it has one.
fn add(operation: &mut Operation, errors: &[ErrorResponse]) {
    for error in errors {
        let (status, description, body) = *error;
        let body = Content::new(Some(Ref::from_schema_name(body)));
        let response = ResponseBuilder::new().description(description).content("application/json", body).build();
        operation.responses.responses.entry(status.to_owned()).or_insert_with(|| response.into());
        describe_error(operation, error);
    }
}

/// Describes a response with this status that the operation declares without a description.
fn describe_error(operation: &mut Operation, (status, description, _): &ErrorResponse) {
    if let Some(RefOr::T(response)) = operation.responses.responses.get_mut(*status)
        && response.description.is_empty()
    {
        (*description).clone_into(&mut response.description);
    }
}

/// The schema of a path parameter: an id, a uid, or the name of an event type.
fn name() -> RefOr<Schema> {
    let name = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(256));
    Schema::from(name.pattern(Some("^[a-zA-Z0-9._-]+$")).build()).into()
}

fn idempotency_key() -> utoipa::openapi::path::Parameter {
    let key = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(255));
    ParameterBuilder::new()
        .name("idempotency-key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "Makes the request safe to repeat. Within 12 hours, the same key with the same request returns the first \
             response again; with another request it returns 422.",
        ))
        .schema(Some(Schema::from(key.pattern(Some("^[!-~]+$")).build())))
        .build()
}

fn all_fields_optional(body: &RequestBody, components: &Components) -> bool {
    body.content.values().all(|content| {
        let RefOr::T(Content { schema: Some(RefOr::Ref(shape)), .. }) = content else { return false };
        let name = shape.ref_location.rsplit('/').next().unwrap_or_default();
        matches!(components.schemas.get(name), Some(RefOr::T(Schema::Object(shape))) if shape.required.is_empty())
    })
}
