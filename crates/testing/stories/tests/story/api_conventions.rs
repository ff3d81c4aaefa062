//! Conventions of every operation of the platform's API.

use bytes::Bytes;
use consumer::ApiClient;
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use testkit::site::{CustomerSite, http_client};

use crate::support::{launch, webcast};

/// Sends a request. Returns status, headers and JSON body of the response.
pub async fn request(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> (u16, http::HeaderMap, Value) {
    let mut request = http::Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new()).build_http();
    let response = client.request(request.body(Full::new(Bytes::from(body.to_owned()))).unwrap()).await.unwrap();
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (head.status.as_u16(), head.headers, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_follows_the_conventions() {
    let data = tempfile::tempdir().unwrap();
    let launch = launch(data.path());
    let _server = launch.start(&http_client()).await.unwrap();
    let site = CustomerSite::set_up(&launch, &launch).await.unwrap();
    let base = launch.platform_url();

    unauthenticated_requests_are_refused(&base).await;

    let reader = json!({ "name": "reader", "scopes": ["events:read"], "customer": site.customer });
    let reader = site.platform.post("/api/v1/api-keys", &reader).await.unwrap();
    let reader = format!("Bearer {}", reader.text("/key").unwrap());
    let (status, _, problem) =
        request("GET", &format!("{base}/api/v1/customers"), &[("authorization", &reader)], "").await;
    assert_eq!((status, &problem["code"]), (403, &json!("forbidden")));

    records_of_another_customer_are_404(&site, &base).await;
    preconditions_and_idempotency(&site, &launch, &base).await;

    let (status, headers, problem) =
        request("GET", &format!("{base}/api/v1/nowhere"), &[("x-request-id", "abc-1")], "").await;
    assert_eq!((status, &problem["code"], &problem["requestId"]), (404, &json!("route_not_found"), &json!("abc-1")));
    assert_eq!(headers["content-type"], "application/problem+json");
    let (status, headers, problem) = request("DELETE", &format!("{base}/api/v1/customers"), &[], "").await;
    assert_eq!((status, &problem["code"]), (405, &json!("method_not_allowed")));
    assert_eq!(headers["allow"], "POST,GET,HEAD");
}

async fn unauthenticated_requests_are_refused(base: &str) {
    let (_, _, document) = request("GET", &format!("{base}/api/v1/openapi.json"), &[], "").await;
    let mut requests = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys().filter(|method| *method != "parameters") {
            let uuid = "019a0000-0000-7000-8000-000000000000";
            let path = path.replace("{id}", "1").replace("{uuid}", uuid);
            let path = path.replace("{registration}", uuid).replace("{bid}", uuid).replace("{user}", uuid);
            let path = path.replace("{image}", uuid).replace("{variant}", "320");
            for key in ["", "Bearer lw_wrong", "Basic abc"] {
                let url = format!("{base}{path}");
                let headers = [("authorization", key), ("content-type", "application/json")];
                let (status, headers, problem) = request(&method.to_uppercase(), &url, &headers, "{}").await;
                // Operations that need no authentication.
                let public_status = match (method.as_str(), path.as_str()) {
                    ("get", "/api/v1/health") => Some(200),
                    // A public operation refuses an invalid key, too.
                    ("get", path) if path.starts_with("/api/v1/images/") && !key.starts_with("Bearer") => Some(404),
                    ("post", "/api/v1/sessions") => Some(422),
                    _ => None,
                };
                if let Some(expected) = public_status {
                    assert_eq!(status, expected, "{method} {path}: {problem}");
                    continue;
                }
                assert_eq!((status, &problem["code"]), (401, &json!("unauthenticated")), "{method} {path}");
                assert_eq!(headers["www-authenticate"], "Bearer");
                requests += 1;
            }
        }
    }
    assert!(requests > 80, "{requests}");
}

async fn records_of_another_customer_are_404(site: &CustomerSite, base: &str) {
    let auction = webcast(site, 1).await;
    let item = site.items(&auction).await.unwrap()[0]["uuid"].as_str().unwrap().to_owned();
    let other = site.platform.post("/api/v1/customers", &json!({ "name": "Other" })).await.unwrap();
    let scopes = [
        "auctions:read",
        "auctions:write",
        "bids:write",
        "ring:write",
        "events:read",
        "customers:read",
        "customers:write",
    ];
    let key = json!({ "name": "other", "scopes": scopes, "customer": other.text("/uuid").unwrap() });
    let key = site.platform.post("/api/v1/api-keys", &key).await.unwrap();
    let other = ApiClient::new(http_client(), base.to_owned(), key.text("/key").unwrap()).unwrap();
    for path in [
        format!("/api/v1/auctions/{auction}"),
        format!("/api/v1/auctions/{auction}/items"),
        format!("/api/v1/auctions/{auction}/ring"),
        format!("/api/v1/items/{item}"),
        format!("/api/v1/items/{item}/history"),
        format!("/api/v1/customers/{}", site.customer),
        format!("/api/v1/customers/{}/consumer", site.customer),
        format!("/api/v1/auctioneers/{}", site.auctioneer),
        "/api/v1/reference/auctioneers/1".to_owned(),
        format!("/api/v1/events?customer={}", site.customer),
    ] {
        let error = other.get(&path).await.unwrap_err();
        assert_eq!(error.status().map(|status| status.as_u16()), Some(404), "{path}: {error}");
    }
    let own = site.platform.get("/api/v1/reference/auctioneers/1").await.unwrap().body;
    assert_eq!(
        own,
        json!({ "@class": "com.vendor.scaffold.models.auctionapi.AuctioneerApiModel", "id": 1, "name": "Site" })
    );
}

async fn preconditions_and_idempotency(site: &CustomerSite, launch: &testkit::server::Launch, base: &str) {
    let bearer = format!("Bearer {}", launch.create_staff_key("raw").unwrap());
    let common = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let auction = webcast(site, 2).await;
    let sell = format!("{base}/api/v1/auctions/{auction}/ring/send");
    let (status, _, problem) = request("POST", &sell, &common, "{}").await;
    assert_eq!((status, &problem["code"]), (428, &json!("precondition_required")));
    let (status, _, problem) = request("POST", &sell, &[&common[..], &[("if-match", "\"0.0\"")]].concat(), "{}").await;
    assert_eq!((status, &problem["code"]), (412, &json!("precondition_failed")));

    let customers = format!("{base}/api/v1/customers");
    let with_key = [&common[..], &[("idempotency-key", "k1")]].concat();
    let (status, _, first) = request("POST", &customers, &with_key, r#"{"name":"Twice"}"#).await;
    assert_eq!(status, 201);
    let (status, headers, again) = request("POST", &customers, &with_key, r#"{"name":"Twice"}"#).await;
    assert_eq!(
        (status, &again, &headers["idempotent-replayed"]),
        (201, &first, &http::HeaderValue::from_static("true"))
    );
    let (status, _, problem) = request("POST", &customers, &with_key, r#"{"name":"Thrice"}"#).await;
    assert_eq!((status, &problem["code"]), (422, &json!("idempotency_mismatch")));
    let (status, _, problem) = request("POST", &customers, &common, r#"{"name":"Twice"}"#).await;
    assert_eq!((status, &problem["code"]), (409, &json!("taken")));

    for (body, status, code, pointer) in [
        (r#"{"name":5}"#, 422, "invalid", Some("/name")),
        (r#"{"name":""}"#, 422, "invalid", Some("/name")),
        (r#"{"name":"x","tip":1}"#, 422, "invalid", Some("/tip")),
        (r#"{"name""#, 400, "json_invalid", None),
    ] {
        let (answered, _, problem) = request("POST", &customers, &common, body).await;
        assert_eq!(
            (answered, problem["code"].as_str(), problem["errors"][0]["pointer"].as_str()),
            (status, Some(code), pointer),
            "{body}: {problem}"
        );
    }
    let large = format!(r#"{{"name":"{}"}}"#, "x".repeat(1_100_000));
    let (status, _, problem) = request("POST", &customers, &common, &large).await;
    assert_eq!((status, &problem["code"]), (413, &json!("payload_too_large")));

    let (_, _, page) = request("GET", &format!("{base}/api/v1/customers?limit=1"), &common, "").await;
    let next = page["next"].as_str().unwrap();
    let (_, _, rest) = request("GET", &format!("{base}/api/v1/customers?limit=250&after={next}"), &common, "").await;
    assert_eq!((page["data"].as_array().unwrap().len(), rest["next"].is_null()), (1, true));
    for query in ["limit=0", "limit=251", "limit=x", "after=%25", "nonsense=1"] {
        let (status, _, problem) = request("GET", &format!("{base}/api/v1/customers?{query}"), &common, "").await;
        assert_eq!((status, &problem["code"]), (400, &json!("query_invalid")), "{query}: {problem}");
    }
}
