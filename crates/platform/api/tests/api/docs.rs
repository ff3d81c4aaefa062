//! The page that shows the OpenAPI document.

use http::Method;
use serde_json::{Value, json};

use crate::fixture::Fixture;

#[tokio::test]
async fn the_page_shows_every_operation_with_its_scopes_and_loads_nothing_external() {
    let fixture = Fixture::new();
    let page = fixture.send(&Method::GET, "/docs/", &[], "").await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'self';"), "{policy}");
    let document = serde_json::to_value(platform_api::openapi()).unwrap();
    for operations in document["paths"].as_object().unwrap().values() {
        for operation in operations.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            let begins = format!("<article id=\"{id}\">");
            let article = page.text.split_once(&begins).unwrap_or_else(|| panic!("{id} is not shown")).1;
            let article = article.split_once("</article>").unwrap().0;
            let scopes =
                operation["security"].as_array().unwrap().iter().flat_map(|one| one["key"].as_array()).flatten();
            for scope in scopes.filter_map(Value::as_str) {
                assert!(article.contains(&format!("href=\"#scope-{scope}\"")), "{id}: {scope}");
            }
        }
    }
    for target in page.text.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(page.text.contains(&format!("id=\"{target}\"")), "the page has no element with the id {target}");
    }
    for address in page.text.split("href=\"/").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert_eq!(fixture.send(&Method::GET, &format!("/{address}"), &[], "").await.status, 200, "/{address}");
    }
    assert!(!page.text.contains("<script") && !page.text.contains("http-equiv"));
}

#[test]
fn schema_names_are_unique_and_request_bodies_are_described() {
    assert_eq!(platform_api::ambiguous_schemas(), [""; 0]);
    let document = serde_json::to_value(platform_api::openapi()).unwrap();
    let fields = |path: &str| {
        let body = &document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        let name = body.as_str().unwrap().rsplit('/').next().unwrap();
        let properties = document["components"]["schemas"][name]["properties"].as_object().unwrap();
        properties.keys().map(String::as_str).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(fields("/api/v1/customers/{uuid}/consumer/quarantine/send"), "cursors outOfOrder");
    assert_eq!(fields("/api/v1/auctions/{uuid}/ring/send"), "item");
}

#[test]
fn the_common_models_require_the_fields_that_the_contract_requires() {
    let document = serde_json::to_value(platform_api::openapi()).unwrap();
    let schemas = &document["components"]["schemas"];
    for (name, required) in [
        ("AuctioneerApiModel", json!(["@class"])),
        ("UrlAttachmentApiModel", json!(["@class", "url"])),
        ("AddressModel", json!(["@class", "addressLine1", "addressLine2", "postcode", "countryCode"])),
        ("CountryModel", json!(["@class", "code"])),
        ("CurrencyModel", json!(["@class", "code"])),
    ] {
        assert_eq!(schemas[name]["required"], required, "{name}");
    }
    for name in ["CountryModel", "CurrencyModel"] {
        let entry = &schemas[format!("ReferenceData_{name}")]["properties"]["data"]["items"];
        assert_eq!(entry["required"], json!(["@class", "code"]), "{name} in reference data");
    }
}

#[tokio::test]
async fn the_documents_are_revalidated_by_their_tags() {
    let fixture = Fixture::new();
    for path in ["/api/v1/openapi.json", "/api/v1/asyncapi.json"] {
        let first = fixture.send(&Method::GET, path, &[], "").await;
        let tag = first.header("etag").unwrap().to_owned();
        assert_eq!((first.status, first.header("cache-control")), (200, Some("no-cache")), "{path}");
        assert_eq!(first.header("content-type"), Some("application/json"), "{path}");
        let current = fixture.send(&Method::GET, path, &[("if-none-match", &tag)], "").await;
        assert_eq!((current.status, current.text.as_str(), current.header("etag")), (304, "", Some(tag.as_str())));
        let outdated = fixture.send(&Method::GET, path, &[("if-none-match", "\"0\"")], "").await;
        assert_eq!((outdated.status, &outdated.text), (200, &first.text), "{path}");
    }
}

#[tokio::test]
async fn a_browser_at_the_root_path_is_redirected_to_the_docs() {
    let fixture = Fixture::new();
    let browser = fixture.send(&Method::GET, "/", &[("accept", "text/html,application/xhtml+xml,*/*;q=0.8")], "").await;
    assert_eq!((browser.status, browser.header("location")), (303, Some("/docs")));
    let program = fixture.send(&Method::GET, "/", &[("accept", "*/*")], "").await;
    assert_eq!((program.status, program.code().as_str()), (404, "route_not_found"));
}
