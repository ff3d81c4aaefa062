//! Completes the OpenAPI document with what operations have in common: who may call them, their ids, the parameters in the path, and
//! the errors that each of them can return.

use utoipa::OpenApi;
use utoipa::openapi::path::{Operation, Parameter};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi as Described, Ref, RefOr, ResponseBuilder};

const TOKEN: &str = "token";
const PROBLEM: &str = "#/components/schemas/Problem";
/// Groups of operations that need a bidder.
const OF_BIDDERS: [&str; 2] = ["bidder", "bids"];

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Bidders' API of a saleroom",
        description = "For web sites of an auction house that show its sales, and take bids, in pages of their own. The house lists \
            the site in the administration. Everyone reads sales and lots. A bidder who allows it to the site is known by an access \
            token: open `/{house}/authorize` in the top window with `response_type=code`, `client_id` (the origin of the site), \
            `redirect_uri`, `state`, `code_challenge` and `code_challenge_method=S256`, and exchange the code at `/{house}/token`. \
            Amounts are integers in minor units of the sale's currency. Errors are problem details (RFC 9457) with a stable `code`.",
    ),
    components(schemas(kit_http::problem::Problem)),
    tags(
        (name = "sales", description = "Sales on view, for everyone."),
        (name = "lots", description = "Lots on view, for everyone."),
        (name = "live", description = "Live streams, for everyone."),
        (name = "bidder", description = "The bidder, their registrations and lots."),
        (name = "bids", description = "Bids of the bidder."),
        (name = "tokens", description = "Tokens for sites, by a code that works once (RFC 6749, RFC 7636)."),
    ),
)]
pub(super) struct Document;

/// Adds what operations have in common.
pub(super) fn complete(mut document: Described) -> Described {
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "An access token (`lwa_…`), which `POST /{house}/token` returns. It works for one hour, at one house.",
        ))
        .build();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(TOKEN, SecurityScheme::Http(scheme));
    for item in document.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.delete];
        for operation in operations.into_iter().filter_map(Option::as_mut) {
            complete_operation(operation);
        }
    }
    document
}

fn complete_operation(operation: &mut Operation) {
    let tag = operation.tags.iter().flatten().next().cloned().unwrap_or_default();
    let name = operation.operation_id.as_deref().unwrap_or_default().replace('_', "-");
    operation.operation_id = Some(format!("{tag}.{name}"));
    let needs_bidder = OF_BIDDERS.contains(&tag.as_str());
    operation.security = Some(vec![match needs_bidder {
        true => SecurityRequirement::new::<_, [&str; 0], _>(TOKEN, []),
        false => SecurityRequirement::default(),
    }]);
    if operation.description.is_none() {
        operation.description = operation.summary.as_ref().map(|summary| format!("{summary}."));
    }
    for parameter in operation.parameters.iter_mut().flatten() {
        if let RefOr::T(parameter) = parameter {
            describe(parameter);
        }
    }
    for (status, words) in [
        ("429", "Too many requests (`rate_limited`). Wait for the seconds in `Retry-After`."),
        ("503", "The saleroom is closed for the moment, or the server is busy. Wait for the seconds in `Retry-After`."),
    ] {
        let problem = ContentBuilder::new().schema(Some(Ref::new(PROBLEM))).build();
        let response = ResponseBuilder::new().description(words).content("application/problem+json", problem).build();
        operation.responses.responses.entry(status.to_owned()).or_insert(RefOr::T(response));
    }
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        if response.description.is_empty() {
            words_of(status).clone_into(&mut response.description);
        }
        // Errors are problem details.
        let is_problem = response.content.get("application/json").is_some_and(|content| {
            matches!(content, RefOr::T(content) if matches!(&content.schema, Some(RefOr::Ref(schema)) if schema.ref_location == PROBLEM))
        });
        if is_problem && let Some(content) = response.content.shift_remove("application/json") {
            response.content.insert("application/problem+json".to_owned(), content);
        }
    }
}

fn words_of(status: &str) -> &'static str {
    match status {
        "400" => "The server can't read the request. Codes `query_invalid`, `json_invalid`, `idempotency_key_missing`.",
        "401" => "No token (`authorization_missing`), or one that does not work here (`unauthenticated`).",
        "404" => "There is no such record at this house. Code `not_found`.",
        "409" => "A rule forbids it in the present state. The code names the rule.",
        "422" => "A field is wrong or missing; `errors` names it.",
        _ => "An error.",
    }
}

fn describe(parameter: &mut Parameter) {
    if parameter.description.is_some() {
        return;
    }
    let words = match parameter.name.as_str() {
        "house" => "Address of the house, such as `hartley-sons`.",
        "sale" => "UUID of the sale.",
        "lot" => "UUID of the lot.",
        "image" => "UUID of the picture.",
        "variant" => "`small`, `large` or `full`.",
        "Idempotency-Key" => "Names the bid: 1 to 255 visible ASCII characters, kept for 24 hours.",
        _ => return,
    };
    parameter.description = Some(words.to_owned());
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_part_of_the_document_is_described_and_every_operation_has_its_own_id() {
        let document = serde_json::to_value(crate::api::document()).unwrap();
        let mut ids = BTreeSet::new();
        let mut undescribed = Vec::new();
        let has_text = |value: &serde_json::Value| value.as_str().is_some_and(|text| !text.is_empty());
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let name = format!("{method} {path}");
                assert!(ids.insert(operation["operationId"].to_string()), "{name}");
                for part in ["summary", "description"] {
                    if !has_text(&operation[part]) {
                        undescribed.push(format!("{name} {part}"));
                    }
                }
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    if !has_text(&parameter["description"]) {
                        undescribed.push(format!("{name} {}", parameter["name"]));
                    }
                }
                for (status, response) in operation["responses"].as_object().unwrap() {
                    if !has_text(&response["description"]) {
                        undescribed.push(format!("{name} {status}"));
                    }
                }
            }
        }
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            for (field, part) in schema["properties"].as_object().into_iter().flatten() {
                // A field that may be null has its description beside the reference.
                let is_described = has_text(&part["description"]) || has_text(&part["oneOf"][0]["description"]);
                if part.get("$ref").is_none() && !is_described {
                    undescribed.push(format!("{name}.{field}"));
                }
            }
        }
        assert_eq!(undescribed, Vec::<String>::new());
        assert!(crate::api::ambiguous_schemas().is_empty());
    }
}
