//! Query parameters: an operation rejects an unknown one.

use http::Method;
use platform_core::Scopes;
use serde_json::{Value, json};

use crate::bidding::Sale;
use crate::fixture::Fixture;

#[tokio::test]
async fn every_operation_rejects_an_unknown_query_parameter() {
    let fixture = Fixture::new();
    let key = fixture.key(None, Scopes::all()).await;
    let (key, session) = (format!("Bearer {key}"), format!("Bearer {}", fixture.session().await));
    let document = serde_json::to_value(platform_api::openapi()).unwrap();
    let mut tried = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        // The health check ignores parameters, which monitors add to bypass a cache.
        if path == "/api/v1/health" {
            continue;
        }
        for method in operations.as_object().unwrap().keys() {
            let is_of_users = path.starts_with("/api/v1/me") || path.starts_with("/api/v1/sessions");
            let bearer = if is_of_users { &session } else { &key };
            let fill = |part: &str| match part {
                "{id}" => "826".to_owned(),
                part if part.starts_with('{') => "019a0000-0000-7000-8000-000000000000".to_owned(),
                part => part.to_owned(),
            };
            let filled = path.split('/').map(fill).collect::<Vec<_>>().join("/");
            let is_file = method == "post" && path.ends_with("/catalogue");
            let kind = if is_file { "text/csv" } else { "application/json" };
            let headers = [("authorization", bearer.as_str()), ("content-type", kind), ("if-match", "\"1\"")];
            let method: Method = method.to_uppercase().parse().unwrap();
            let answer = fixture.send(&method, &format!("{filled}?dryrun=true"), &headers, "{}").await;
            let refusal = (answer.status, answer.code());
            assert_eq!(refusal, (400, "query_invalid".to_owned()), "{method} {path}: {}", answer.text);
            tried += 1;
        }
    }
    assert!(tried > 80, "{tried}");
}

#[tokio::test]
async fn a_bid_with_a_query_parameter_is_rejected() {
    let sale = Sale::timed(json!({}), &[json!({})]).await;
    let bids = sale.path(0, "bids");
    let bid = json!({ "bidder": "12", "amount": 100 });
    let refused = sale.post(&format!("{bids}?dryRun=true"), bid.clone()).await;
    assert_eq!((refused.status, refused.code().as_str()), (400, "query_invalid"), "{}", refused.text);
    assert_eq!(sale.item(0).await["leader"], Value::Null);
    assert_eq!(sale.post(&format!("{bids}?"), bid).await.status, 201, "an empty query was rejected");
}
