//! `/metrics`: request counts of the API, the provider's metrics, and the page that documents them.

use std::sync::Arc;

use axum::body::Body;
use http::Request;
use http_body_util::BodyExt as _;
use serde_json::json;
use tower::ServiceExt as _;

use crate::fixture::Fixture;

/// The operator's page about metrics.
const PAGE: &str = include_str!("../../../../../docs/operate/health-and-alerts.md");

async fn scrape(figures: &Arc<dyn kit_http::metrics::Source>) -> String {
    let request = Request::get("/metrics").body(Body::empty()).unwrap();
    let answer = kit_http::metrics::surface(vec![Arc::clone(figures)]).oneshot(request).await.unwrap();
    assert_eq!(answer.status(), 200);
    String::from_utf8(answer.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

#[tokio::test]
async fn requests_are_counted_by_operation_and_status_class() {
    let fixture = Fixture::new().await;
    let surface = provider_api::surface(fixture.provider.clone());
    let requests = kit_http::request_counts::metrics_source(vec![("provider", surface.request_counts().unwrap())]);
    let call = async |method: &str, path: &str, body: &str| {
        let request = Request::builder().method(method).uri(format!("/api/v1{path}"));
        let request = request.header("authorization", format!("Bearer {}", fixture.key));
        let request = request.header("content-type", "application/json").body(Body::from(body.to_owned())).unwrap();
        surface.clone().oneshot(request).await.unwrap().status().as_u16()
    };
    let message = json!({"eventType": "a", "payload": {}}).to_string();
    for (method, path, body, status) in [
        ("POST", "/app", r#"{"name":"n","uid":"app"}"#, 201),
        ("POST", "/app/", r#"{"name":""}"#, 422),
        ("GET", "/app/app", "", 200),
        ("GET", "/app/none", "", 404),
        ("POST", "/app/app/msg", &message, 202),
        ("POST", "/app/app/msg/", &message, 202),
        ("POST", "/app/app/msg", "{", 422),
        ("GET", "/nowhere", "", 404),
    ] {
        assert_eq!(call(method, path, body).await, status, "{method} {path}");
    }
    let text = scrape(&requests).await;
    for (operation, status, count) in [
        ("v1.application.create", "2xx", 1),
        ("v1.application.create", "4xx", 1),
        ("v1.application.get", "2xx", 1),
        ("v1.application.get", "4xx", 1),
        ("v1.message.create", "2xx", 2),
        ("v1.message.create", "4xx", 1),
        ("v1.message.create", "5xx", 0),
        ("v1.endpoint.create", "2xx", 0),
        ("other", "4xx", 1),
    ] {
        let labels = format!("{{port=\"provider\",operation=\"{operation}\",status=\"{status}\"}}");
        let line = format!("lotwire_http_requests_total{labels} {count}\n");
        assert!(text.contains(&line), "no {line}in {text}");
    }
    let text = scrape(&provider_api::metrics(fixture.provider.clone())).await;
    assert!(text.contains("lotwire_provider_messages_accepted_total 2\n"), "{text}");
}

#[tokio::test]
async fn the_documentation_lists_every_metric_and_no_other() {
    let fixture = Fixture::new().await;
    fixture.application("app").await;
    let endpoint = fixture.endpoint().await;
    let figures = provider_api::metrics(fixture.provider.clone());
    let gathered = figures.gather(std::slice::from_ref(&endpoint)).await.unwrap();
    let mut shown: Vec<String> = gathered
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .map(|line| {
            let (name, kind) = line.split_once(' ').unwrap();
            if kind == "counter" { format!("{name}_total") } else { name.to_owned() }
        })
        .collect();
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `lotwire_provider_"));
    let mut explained: Vec<String> =
        rows.map(|row| format!("lotwire_provider_{}", row.split(['`', '{']).next().unwrap())).collect();
    shown.sort();
    explained.sort();
    assert_eq!(shown, explained);
    // The alerts use existing metrics.
    for word in PAGE
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with("lotwire_provider_"))
    {
        let family = word.trim_end_matches("_bucket").trim_end_matches("_count").trim_end_matches("_sum");
        assert!(shown.iter().any(|name| name == family), "{word} is in the handbook and not shown");
    }
}
