//! Completes the OpenAPI document with what all operations have in common: their scopes, unique operation ids,
//! descriptions of shared parameters, and the errors that each of them can return. A test refuses a document with an
//! undescribed part.

use http::Method;
use utoipa::openapi::header::Header;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr, Required, Response, ResponseBuilder};

use crate::operations::{Access, access};

/// Name of the security scheme of API keys.
const KEY: &str = "key";
/// Name of the security scheme of users' sessions.
const SESSION: &str = "session";
const PROBLEM: &str = "#/components/schemas/Problem";
const PROBLEM_JSON: &str = "application/problem+json";
/// The description of every response 304.
const NOT_MODIFIED: &str = "No content. The caller's copy, which `If-None-Match` names, is current.";

/// Paths without a parameter whose query or body can name a record that does not exist.
const PATHS_WITH_REFERENCES: [&str; 3] = ["/api/v1/api-keys", "/api/v1/auctioneers", "/api/v1/auctions"];

/// Adds what all operations have in common.
pub(crate) fn complete(mut document: OpenApi) -> OpenApi {
    let components = document.components.get_or_insert_default();
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("An API key (`lw_…`) with the scopes that the operation needs."))
        .build();
    components.add_security_scheme(KEY, SecurityScheme::Http(scheme));
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "The token of a user's session (`lws_…`), which `POST /sessions` returns. It works wherever an API key does.",
        ))
        .build();
    components.add_security_scheme(SESSION, SecurityScheme::Http(scheme));
    for shared in COMMON_ERRORS {
        components.responses.insert(shared.name.to_owned(), RefOr::T(shared.response()));
    }
    for (path, item) in &mut document.paths.paths {
        for (method, operation) in operations(item) {
            complete_operation(&method, path, operation);
        }
    }
    document
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (Method, &mut Operation)> {
    let of = [
        (Method::GET, &mut item.get),
        (Method::PUT, &mut item.put),
        (Method::POST, &mut item.post),
        (Method::DELETE, &mut item.delete),
        (Method::PATCH, &mut item.patch),
    ];
    of.into_iter().filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

fn complete_operation(method: &Method, path: &str, operation: &mut Operation) {
    let access = access(method, path);
    operation.security = Some(security(access));
    let tag = operation.tags.iter().flatten().next().map_or("", String::as_str);
    let name = operation.operation_id.as_deref().unwrap_or_default().replace('_', "-");
    operation.operation_id = Some(format!("{tag}.{name}"));
    for parameter in operation.parameters.iter_mut().flatten() {
        if let RefOr::T(parameter) = parameter {
            describe_parameter(path, parameter);
        }
    }
    if *method == Method::POST {
        operation.parameters.get_or_insert_default().push(idempotency_key().into());
    }
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(own) = response else { continue };
        if status == "304" {
            NOT_MODIFIED.clone_into(&mut own.description);
        }
        if is_problem(own)
            && let Some(shared) = COMMON_ERRORS.iter().find(|shared| shared.status == status)
        {
            *response = shared.reference();
        }
    }
    for shared in &COMMON_ERRORS {
        if shared.is_for(access, path, operation) {
            let responses = &mut operation.responses.responses;
            responses.entry(shared.status.to_owned()).or_insert_with(|| shared.reference());
        }
    }
}

fn security(access: Option<Access>) -> Vec<SecurityRequirement> {
    match access {
        Some(Access::Public) => vec![SecurityRequirement::default()],
        Some(Access::OneOf(scopes)) => {
            scopes.iter().map(|scope| SecurityRequirement::new(KEY, [scope.name()])).collect()
        }
        Some(Access::User) => vec![SecurityRequirement::new::<_, [&str; 0], _>(SESSION, [])],
        Some(Access::AnyKey) | None => vec![SecurityRequirement::new::<_, [&str; 0], _>(KEY, [])],
    }
}

fn idempotency_key() -> Parameter {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(255))
        .pattern(Some("^[!-~]+$"))
        .build();
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "Makes the request safe to repeat. Within 24 hours, the same idempotency key with the same request returns the \
             first response again (`Idempotent-Replayed: true`); with another request it returns 422 `idempotency_mismatch`. \
             The server stores no error: it decides the repeated request again. 1 to 255 visible ASCII characters.",
        ))
        .schema(Some(text))
        .build()
}

/// Describes a parameter that many operations have: a UUID or id in the path, `If-Match`, `If-None-Match`.
fn describe_parameter(path: &str, parameter: &mut Parameter) {
    if parameter.description.is_some() {
        return;
    }
    let description = match parameter.name.as_str() {
        "If-Match" => {
            "The strong `ETag` of the state that the caller read, such as `\"7\"`. If the state has changed since, the \
             server does nothing and returns 412."
                .to_owned()
        }
        "If-None-Match" => "The `ETag` of the caller's copy. If the copy is current, the response is 304.".to_owned(),
        name => format!("{} of the {}.", if name == "id" { "Id" } else { "UUID" }, subject(path, name)),
    };
    parameter.description = Some(description);
}

/// What a parameter of the path identifies: the collection before it, in the singular.
fn subject<'a>(path: &'a str, name: &str) -> &'a str {
    let before = path.split("/{").take_while(|part| !part.starts_with(&format!("{name}}}"))).last().unwrap_or(path);
    match before.rsplit('/').next().unwrap_or_default() {
        "api-keys" => "API key",
        "addresses" => "address",
        "countries" => "country",
        "currencies" => "currency",
        "clerks" => "user",
        collection => collection.strip_suffix('s').unwrap_or(collection),
    }
}

fn is_problem(response: &Response) -> bool {
    let Some(RefOr::T(content)) = response.content.get("application/json") else { return false };
    matches!(&content.schema, Some(RefOr::Ref(schema)) if schema.ref_location == PROBLEM)
}

/// An error that many operations can return.
struct CommonError {
    status: &'static str,
    name: &'static str,
    description: &'static str,
}

#[rustfmt::skip]
const COMMON_ERRORS: [CommonError; 14] = [
    CommonError { status: "400", name: "BadRequest", description: "The server can't read the request: the body, the path, the query or a header. Codes `json_invalid`, `path_invalid`, `query_invalid`, `idempotency_key_invalid`, `if_match_invalid`." },
    CommonError { status: "401", name: "Unauthenticated", description: "The request has no `Authorization` header (`authorization_missing`), or the API key or session is unknown, revoked or expired (`unauthenticated`). For `POST /sessions`: `sign_in_refused`, `code_required` or `code_refused`." },
    CommonError { status: "403", name: "Forbidden", description: "The caller lacks the scope, or the operation is only for the platform's own staff or for users (`forbidden`); a signed-in user sent a wrong password or code (`password_refused`, `code_refused`); or a user with the role clerk is not assigned to the webcast (`clerk_not_assigned`)." },
    CommonError { status: "404", name: "NotFound", description: "The record does not exist, or belongs to another customer. Code `not_found`." },
    CommonError { status: "408", name: "RequestTimeout", description: "The body did not arrive in time. Code `request_timeout`." },
    CommonError { status: "409", name: "Conflict", description: "A rule forbids the change in the present state, a unique value is already used (`taken`), or other requests change the same record at the same time (`busy`; repeat the request). The code names the rule." },
    CommonError { status: "412", name: "PreconditionFailed", description: "The record has changed since the state that `If-Match` names. Read it again. Code `precondition_failed`." },
    CommonError { status: "413", name: "PayloadTooLarge", description: "The body is larger than 1 MiB (a catalogue: 64 MiB). Code `payload_too_large`." },
    CommonError { status: "415", name: "UnsupportedMediaType", description: "The `Content-Type` is wrong, or the body is compressed. Code `unsupported_media_type`." },
    CommonError { status: "422", name: "Invalid", description: "A field is wrong or missing; `errors` names it. Codes `invalid`, `field_invalid`, `reason_required`, `idempotency_mismatch` and those of the operation." },
    CommonError { status: "428", name: "PreconditionRequired", description: "The request needs `If-Match` with the `ETag` of the state that the caller read. Code `precondition_required`." },
    CommonError { status: "429", name: "RateLimited", description: "The API key has used its quota (`rate_limited`), or there were too many attempts at a password or code (`too_many_attempts`). Wait for the seconds in `Retry-After`." },
    CommonError { status: "502", name: "ProviderFailed", description: "The delivery provider rejected the credentials or was not reachable. Code `provider_refused`." },
    CommonError { status: "503", name: "Unavailable", description: "The database is not available (`unavailable`), too many large bodies are in memory (`too_many_bodies`), or the server has too little free disk for new auctions, lots, catalogues and images (`disk_full`). Repeat the request after the seconds in `Retry-After`." },
];

impl CommonError {
    fn reference(&self) -> RefOr<Response> {
        RefOr::Ref(Ref::from_response_name(self.name))
    }

    fn response(&self) -> Response {
        let content = ContentBuilder::new().schema(Some(Ref::new(PROBLEM))).build();
        let mut response = ResponseBuilder::new().description(self.description).content(PROBLEM_JSON, content);
        if self.status == "429" {
            response = response.header("Retry-After", retry_after());
        }
        response.build()
    }

    /// True if every operation of this kind can return this error.
    fn is_for(&self, access: Option<Access>, path: &str, operation: &Operation) -> bool {
        let is_public = access == Some(Access::Public);
        let has_parameters = operation.parameters.iter().flatten().any(is_validated);
        match self.status {
            "400" => has_parameters || operation.request_body.is_some(),
            "401" | "429" => !is_public,
            "403" => matches!(access, Some(Access::OneOf(_) | Access::User)),
            "404" => path.contains('{') || PATHS_WITH_REFERENCES.contains(&path),
            "408" | "413" | "415" => operation.request_body.is_some(),
            "422" => has_parameters || operation.request_body.is_some(),
            "503" => true,
            _ => false,
        }
    }
}

/// A malformed `If-None-Match` matches nothing; the server never rejects it.
fn is_validated(parameter: &RefOr<Parameter>) -> bool {
    !matches!(parameter, RefOr::T(parameter) if parameter.name == "If-None-Match")
}

fn retry_after() -> Header {
    let mut header = Header::new(ObjectBuilder::new().schema_type(Type::Integer).build());
    header.description = Some("Seconds to wait before the next request.".to_owned());
    header
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn every_operation_is_listed_with_its_access_and_has_a_unique_id() {
        let mut document = crate::openapi();
        let mut ids = BTreeSet::new();
        let mut listed = BTreeSet::new();
        for (path, item) in &mut document.paths.paths {
            for (method, operation) in operations(item) {
                assert!(access(&method, path).is_some(), "add {method} {path} to operations.rs");
                assert!(ids.insert(operation.operation_id.clone()), "{method} {path}: {:?}", operation.operation_id);
                listed.insert((method.to_string(), path.clone()));
            }
        }
        for (method, path) in crate::operations::all() {
            assert!(
                listed.contains(&(method.to_string(), path.clone())),
                "{method} {path} is not an operation of the router"
            );
        }
    }

    #[test]
    fn every_description_names_the_scopes_that_the_guard_checks() {
        let mut document = crate::openapi();
        for (path, item) in &mut document.paths.paths {
            for (method, operation) in operations(item) {
                let Some(Access::OneOf(scopes)) = access(&method, path) else { continue };
                let text = format!("{:?} {:?}", operation.summary, operation.description);
                for scope in scopes {
                    assert!(text.contains(&format!("`{}`", scope.name())), "{method} {path}: {text}");
                }
            }
        }
    }

    #[test]
    fn every_operation_response_parameter_and_field_is_described() {
        let document = serde_json::to_value(crate::openapi()).unwrap();
        let mut undescribed = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let name = format!("{method} {path}");
                for part in ["summary", "description"] {
                    require_text(&operation[part], format!("{name} {part}"), &mut undescribed);
                }
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    let at = format!("{name} parameter {}", parameter["name"]);
                    require_text(&parameter["description"], at, &mut undescribed);
                }
                for (status, response) in operation["responses"].as_object().unwrap() {
                    if response.get("$ref").is_none() {
                        require_text(&response["description"], format!("{name} {status}"), &mut undescribed);
                    }
                }
            }
        }
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            require_fields(name, schema, &mut undescribed);
        }
        assert_eq!(undescribed, [""; 0], "{}", undescribed.join("\n"));
    }

    fn require_text(text: &Value, at: String, undescribed: &mut Vec<String>) {
        if matches!(text.as_str(), None | Some("" | "Done.")) {
            undescribed.push(at);
        }
    }

    fn require_fields(name: &str, schema: &Value, undescribed: &mut Vec<String>) {
        for (field, property) in schema["properties"].as_object().into_iter().flatten() {
            // The description of an optional object stands beside its reference.
            let alternatives = property["oneOf"].as_array().into_iter().flatten();
            let text = std::iter::once(property).chain(alternatives).map(|schema| &schema["description"]);
            let text = text.into_iter().find(|text| text.is_string()).unwrap_or(&Value::Null);
            require_text(text, format!("{name}.{field}"), undescribed);
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            require_fields(name, part, undescribed);
        }
    }
}
