//! What the document says of every operation alike: paths, idempotency keys, and what can be refused anywhere.

use http::StatusCode;
use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{Components, Content, OpenApi, Ref, RefOr, Required};

/// POSTs whose answer is not kept for an idempotency key: doing them twice comes to the same, or the answer is a secret.
const POSTS_WITHOUT_IDEMPOTENCY: [&str; 6] = [
    "lotwire.endpoint.skip-blocked-key",
    "v1.authentication.app-portal-access",
    "v1.authentication.expire-all",
    "v1.authentication.logout",
    "v1.message.bulk-expunge-content",
    "v1.message.precheck",
];

/// Status, what it means, and the shape of its body.
type ErrorResponse = (&'static str, &'static str, &'static str);

const ERROR: &str = "HttpErrorOut";
const VALIDATION_ERROR: &str = "HTTPValidationError";

/// What any operation that needs a key may answer.
const COMMON_ERRORS: [ErrorResponse; 4] = [
    ("401", "The key or token is not good (`authentication_failed`).", ERROR),
    ("403", "The key or token is good, and may not do this (`insufficient_access`).", ERROR),
    ("429", "Too many requests in a short time; `Retry-After` has the seconds to wait (`too_many_requests`).", ERROR),
    (
        "503",
        "Not possible at the moment; try again after `Retry-After` seconds (`unavailable`; of a body `too_many_bodies`).",
        ERROR,
    ),
];
/// And one that reads something from the request.
const INPUT_ERRORS: [ErrorResponse; 1] =
    [("422", "Values that are not allowed, and where they are.", VALIDATION_ERROR)];
/// And one of a list.
const LIST_ERRORS: [ErrorResponse; 1] = [("400", "A `limit` that is no number from 0 (`invalid_limit`).", ERROR)];
/// And one that reads an idempotency key.
const IDEMPOTENCY_ERRORS: [ErrorResponse; 1] =
    [("400", "The request can't be done as it is, such as with an idempotency key that is none.", ERROR)];
/// And one that reads a body.
const BODY_ERRORS: [ErrorResponse; 4] = [
    ("400", "The body did not arrive whole, or comes with an idempotency key that is none.", ERROR),
    ("408", "The body did not arrive within 30 seconds (`request_timeout`).", ERROR),
    ("413", "The body is too large (`payload_too_large`).", ERROR),
    ("415", "The body is not said to be JSON, or is compressed (`unsupported_media_type`).", ERROR),
];

/// Adds it.
pub(super) fn complete(mut document: OpenApi) -> OpenApi {
    let components = document.components.clone().unwrap_or_default();
    for item in document.paths.paths.values_mut() {
        let reading = [&mut item.get, &mut item.put, &mut item.delete, &mut item.patch];
        for operation in reading.into_iter().flatten() {
            describe(operation, &components);
        }
        if let Some(operation) = &mut item.post {
            let kept = operation.operation_id.as_deref().is_some_and(|id| !POSTS_WITHOUT_IDEMPOTENCY.contains(&id));
            if kept {
                operation.parameters.get_or_insert_default().push(idempotency_key().into());
                add(operation, &IDEMPOTENCY_ERRORS);
            }
            describe(operation, &components);
        }
        let all = [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch];
        all.into_iter().flatten().for_each(describe_responses);
    }
    document
}

/// Says something of each answer, as OpenAPI wants it: of one that is as expected, the name of its status.
fn describe_responses(operation: &mut Operation) {
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        if response.description.is_empty() {
            let status = status.parse().ok().and_then(|status: StatusCode| status.canonical_reason());
            response.description = format!("{}.", status.unwrap_or("Done"));
        }
    }
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
        // An empty body counts as `{}`.
        if all_fields_optional(body, components) {
            body.required = Some(Required::False);
        }
        add(operation, &BODY_ERRORS);
    }
    let parameters = operation.parameters.as_deref().unwrap_or_default();
    // Our own lists know no 400.
    let is_ours = operation.operation_id.as_deref().is_some_and(|id| id.starts_with("lotwire."));
    let is_list = !is_ours
        && parameters.iter().any(|parameter| matches!(parameter, RefOr::T(parameter) if parameter.name == "limit"));
    if !parameters.is_empty() || operation.request_body.is_some() {
        add(operation, &INPUT_ERRORS);
    }
    if is_list {
        add(operation, &LIST_ERRORS);
    }
    add(operation, &COMMON_ERRORS);
}

/// What the operation says itself stays.
fn add(operation: &mut Operation, refusals: &[ErrorResponse]) {
    for (status, description, body) in refusals {
        let body = Content::new(Some(Ref::from_schema_name(*body)));
        let refusal = ResponseBuilder::new().description(*description).content("application/json", body).build();
        operation.responses.responses.entry((*status).to_owned()).or_insert_with(|| refusal.into());
    }
}

/// An id, a uid, or the name of an event type.
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
        .description(Some("The same request with the same key gets the same answer for 12 hours, and is done once"))
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
