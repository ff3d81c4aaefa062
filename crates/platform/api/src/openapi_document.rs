//! What all operations have in common in the OpenAPI document, added once: the scopes that they need, unique operation ids,
//! the headers that they take, and the errors that any of them may answer with.

use http::Method;
use utoipa::openapi::header::Header;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr, Required, Response, ResponseBuilder};

use crate::operations::{Access, access};

/// Name of the security scheme.
const KEY: &str = "key";
/// And of what people sign in for.
const SESSION: &str = "session";
const PROBLEM: &str = "#/components/schemas/Problem";
const PROBLEM_JSON: &str = "application/problem+json";

/// Addresses whose query or body may name a record that is not there.
const PATHS_WITH_REFERENCES: [&str; 3] = ["/api/v1/api-keys", "/api/v1/auctioneers", "/api/v1/auctions"];

/// The document with what its operations have in common.
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
            "The token of a session (`lws_…`), which `POST /sessions` gives. It is taken wherever a key is.",
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
    if *method == Method::POST {
        operation.parameters.get_or_insert_default().push(idempotency_key().into());
    }
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response {
            describe(response);
        }
    }
    for (status, response) in &mut operation.responses.responses {
        if let (Some(shared), RefOr::T(said)) =
            (COMMON_ERRORS.iter().find(|shared| shared.status == status), &*response)
            && said.content.contains_key(PROBLEM_JSON)
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
        Some(Access::Person) => vec![SecurityRequirement::new::<_, [&str; 0], _>(SESSION, [])],
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
            "Makes repeating safe: within 24 hours the same key with the same request gives the first answer again \
             (`Idempotent-Replayed: true`), with another request 422. Refusals are not kept: they are decided anew.",
        ))
        .schema(Some(text))
        .build()
}

/// Words for a response that has none, and the media type of problems.
fn describe(response: &mut Response) {
    if let Some(content) = response.content.get("application/json") {
        let RefOr::T(inner) = content else { return };
        if matches!(&inner.schema, Some(RefOr::Ref(to)) if to.ref_location == PROBLEM) {
            let problem = content.clone();
            response.content.shift_remove("application/json");
            response.content.insert(PROBLEM_JSON.to_owned(), problem);
        }
    }
    if response.description.is_empty() {
        response.description = "Done.".to_owned();
    }
}

/// An error that many operations answer with.
struct CommonError {
    status: &'static str,
    name: &'static str,
    description: &'static str,
}

#[rustfmt::skip]
const COMMON_ERRORS: [CommonError; 14] = [
    CommonError { status: "400", name: "BadRequest", description: "The request can't be read: JSON, address, query or a header. Codes `json_invalid`, `path_invalid`, `query_invalid`, `idempotency_key_invalid`, `if_match_invalid`." },
    CommonError { status: "401", name: "Unauthenticated", description: "No key or session, or one that is unknown or expired (`unauthenticated`); at signing in, `sign_in_refused`, `code_required` or `code_refused`." },
    CommonError { status: "403", name: "Forbidden", description: "The key has not the scope, or it is only for the platform's own staff, or for people (`forbidden`); a person's password or code is not the one (`password_refused`, `code_refused`); or a person with the role clerk is not assigned to the webcast (`clerk_not_assigned`)." },
    CommonError { status: "404", name: "NotFound", description: "There is no such record for this key. Code `not_found`." },
    CommonError { status: "408", name: "RequestTimeout", description: "The body did not arrive in time. Code `request_timeout`." },
    CommonError { status: "409", name: "Conflict", description: "The rules forbid it as things stand, a unique name is taken, or others change it at the same time (`busy`). The code says which rule." },
    CommonError { status: "412", name: "PreconditionFailed", description: "It has changed since the version in `If-Match`. Code `precondition_failed`." },
    CommonError { status: "413", name: "PayloadTooLarge", description: "The body is larger than 1 MiB (a catalogue: 64 MiB). Code `payload_too_large`." },
    CommonError { status: "415", name: "UnsupportedMediaType", description: "The body is not of the type that is taken, or is compressed. Code `unsupported_media_type`." },
    CommonError { status: "422", name: "Invalid", description: "Values that can't be used; `errors` says where. Codes `invalid`, `field_invalid`, `idempotency_mismatch` and others." },
    CommonError { status: "428", name: "PreconditionRequired", description: "Send `If-Match` with the `ETag` of what you saw. Code `precondition_required`." },
    CommonError { status: "429", name: "RateLimited", description: "The key has used its quota; `Retry-After` says how many seconds to wait (`rate_limited`); or there were too many attempts at a password or code (`too_many_attempts`)." },
    CommonError { status: "502", name: "ProviderFailed", description: "The delivery provider did not do what was asked of it. Code `provider_refused`." },
    CommonError { status: "503", name: "Unavailable", description: "The database can't be reached just now (`unavailable`), or too much of other requests' bodies is in memory (`too_many_bodies`); try again." },
];

impl CommonError {
    fn reference(&self) -> RefOr<Response> {
        RefOr::Ref(Ref::from_response_name(self.name))
    }

    fn response(&self) -> Response {
        let content = ContentBuilder::new().schema(Some(Ref::new(PROBLEM))).build();
        let mut response = ResponseBuilder::new().description(self.description).content(PROBLEM_JSON, content);
        if self.status == "429" {
            response =
                response.header("Retry-After", Header::new(ObjectBuilder::new().schema_type(Type::Integer).build()));
        }
        response.build()
    }

    /// True when every operation like this one may answer with it.
    fn is_for(&self, access: Option<Access>, path: &str, operation: &Operation) -> bool {
        let is_public = access == Some(Access::Public);
        let has_parameters = operation.parameters.as_ref().is_some_and(|parameters| !parameters.is_empty());
        match self.status {
            "400" => has_parameters || operation.request_body.is_some(),
            "401" | "429" => !is_public,
            "403" => matches!(access, Some(Access::OneOf(_) | Access::Person)),
            "404" => path.contains('{') || PATHS_WITH_REFERENCES.contains(&path),
            "408" | "413" | "415" => operation.request_body.is_some(),
            "422" => has_parameters || operation.request_body.is_some(),
            "503" => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_operation_is_listed_with_what_it_needs_and_has_an_id_of_its_own() {
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
            assert!(listed.contains(&(method.to_string(), path.clone())), "{method} {path} is no operation any more");
        }
    }

    #[test]
    fn what_a_description_says_of_scopes_is_what_is_checked() {
        let mut document = crate::openapi();
        for (path, item) in &mut document.paths.paths {
            for (method, operation) in operations(item) {
                let Some(Access::OneOf(scopes)) = access(&method, path) else { continue };
                let said = format!("{:?} {:?}", operation.summary, operation.description);
                for scope in scopes {
                    assert!(said.contains(&format!("`{}`", scope.name())), "{method} {path}: {said}");
                }
            }
        }
    }
}
