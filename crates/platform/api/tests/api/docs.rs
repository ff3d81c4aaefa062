//! The page that shows the OpenAPI document.

use http::Method;
use serde_json::Value;

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
        assert!(page.text.contains(&format!("id=\"{target}\"")), "#{target} leads nowhere");
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

#[tokio::test]
async fn a_browser_at_the_root_path_is_redirected_to_the_docs() {
    let fixture = Fixture::new();
    let browser = fixture.send(&Method::GET, "/", &[("accept", "text/html,application/xhtml+xml,*/*;q=0.8")], "").await;
    assert_eq!((browser.status, browser.header("location")), (303, Some("/docs")));
    let program = fixture.send(&Method::GET, "/", &[("accept", "*/*")], "").await;
    assert_eq!((program.status, program.code().as_str()), (404, "route_not_found"));
}
