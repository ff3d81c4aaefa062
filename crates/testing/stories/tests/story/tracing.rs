//! Traces and the log of one lot: a clerk sells it over HTTP with a `traceparent`, and the sale is followed to its webhooks,
//! by the spans that a collector receives and by one search of the log.

use std::collections::HashMap;

use http::header::IF_MATCH;
use http::{HeaderMap, HeaderName, HeaderValue};
use opentelemetry_proto::tonic::common::v1::any_value::Value as Attribute;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, Span};
use serde_json::{Value, json};
use testkit::request_log::{RecordedRequest, RequestLog, resource_spans};
use testkit::server::{Launch, Server};
use testkit::site::{CustomerSite, http_client};

use crate::support::{Clerk, WAIT_MAX, launch, webcast};

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// A running server with a customer, and a webcast whose only lot waits for the hammer.
struct Sale {
    site: CustomerSite,
    auction: String,
    item: String,
    _server: Server,
}

impl Sale {
    async fn open(launch: &Launch) -> Self {
        let server = launch.start(&http_client()).await.unwrap();
        let site = CustomerSite::set_up(launch, launch).await.unwrap();
        let auction = webcast(&site, 1).await;
        let item = site.items(&auction).await.unwrap().remove(0);
        let clerk = Clerk::new(site.platform.clone(), &auction);
        clerk.command("send", &json!({ "item": item["uuid"] })).await;
        let bid = json!({ "source": "room", "bidder": "room", "amount": item["minimumBid"] });
        clerk.command("bid", &bid).await;
        let item = item["uuid"].as_str().unwrap().to_owned();
        Self { site, auction, item, _server: server }
    }

    /// Adds an endpoint with this URL. `traceparent` is its option of that name, if it is set.
    async fn add_endpoint(&self, url: &str, traceparent: Option<bool>, headers: Value) {
        let path = format!("/api/v1/app/{}/endpoint/", self.site.application);
        let mut endpoint = json!({ "url": url, "headers": headers });
        if let Some(traceparent) = traceparent {
            endpoint["traceparent"] = json!(traceparent);
        }
        let added = self.site.provider.post(&path, &endpoint).await.unwrap().body;
        assert_eq!(added["traceparent"].as_bool(), traceparent.filter(|sent| *sent), "{added}");
    }

    /// The hammer falls, by a request with the header `traceparent` of its caller.
    async fn sell(&self) {
        let ring = format!("/api/v1/auctions/{}/ring", self.auction);
        let etag = self.site.platform.get(&ring).await.unwrap().etag.unwrap();
        let headers = [
            (IF_MATCH, etag),
            (TRACEPARENT, HeaderValue::from_static(CALLER)),
            (HeaderName::from_static("x-request-id"), HeaderValue::from_static("hammer-1")),
        ];
        let headers = HeaderMap::from_iter(headers);
        self.site.platform.post_with_headers(&format!("{ring}/sell"), headers, &json!({})).await.unwrap();
    }
}

/// The webhook of the sale.
fn of_sale(requests: &[RecordedRequest]) -> Option<&RecordedRequest> {
    requests.iter().find(|request| request.body.windows(6).any(|part| part == b"\"SOLD\""))
}

/// Waits for the webhook of the sale. Returns its header `traceparent`.
async fn header_of_sale(receiver: &RequestLog) -> Option<String> {
    let requests = receiver.wait_until(WAIT_MAX, |requests| of_sale(requests).is_some()).await;
    let sale = of_sale(&requests).expect("the sale was announced");
    sale.headers.get(TRACEPARENT).map(|value| value.to_str().unwrap().to_owned())
}

fn spans(requests: &[RecordedRequest]) -> Vec<Span> {
    let scopes = resource_spans(requests).into_iter().flat_map(|process| process.scope_spans);
    scopes.flat_map(|scope| scope.spans).collect()
}

fn text(span: &Span, name: &str) -> String {
    attributes(span).remove(name).unwrap_or_default()
}

fn attributes(span: &Span) -> HashMap<String, String> {
    let value = |value: &Attribute| match value {
        Attribute::StringValue(text) => text.clone(),
        Attribute::IntValue(number) => number.to_string(),
        other => panic!("{other:?}"),
    };
    let pairs = span.attributes.iter();
    pairs.filter_map(|pair| Some((pair.key.clone(), value(pair.value.as_ref()?.value.as_ref()?)))).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The ids of the only link of a span.
fn link(span: &Span) -> (Vec<u8>, Vec<u8>) {
    let [link] = &span.links[..] else { panic!("{span:?}") };
    (link.trace_id.clone(), link.span_id.clone())
}

#[tokio::test]
async fn the_spans_of_a_sale_lead_from_the_clerks_request_to_the_webhook() {
    let data = tempfile::tempdir().unwrap();
    let (collector, asking, silent) = (RequestLog::bind().await, RequestLog::bind().await, RequestLog::bind().await);
    let own_header = RequestLog::bind().await;
    // Requests of other callers are not recorded.
    let launch =
        launch(data.path()).set("TRACING__OTLP_ENDPOINT", &collector.url()).set("TRACING__SAMPLE_PERCENT", "0");
    let sale = Sale::open(&launch).await;
    sale.add_endpoint(&asking.url(), Some(true), json!({})).await;
    sale.add_endpoint(&silent.url(), None, json!({})).await;
    sale.add_endpoint(&own_header.url(), Some(true), json!({ "Traceparent": "by hand" })).await;
    sale.sell().await;

    let sent = header_of_sale(&asking).await.expect("the endpoint asked for the header");
    assert_eq!(header_of_sale(&silent).await, None);
    assert_eq!(header_of_sale(&own_header).await.as_deref(), Some("by hand"));

    // Four attempts: those endpoints, and the one of the site.
    let is_complete =
        |requests: &[RecordedRequest]| spans(requests).iter().filter(|span| span.name == "deliver").count() == 4;
    let requests = collector.wait_until(WAIT_MAX, is_complete).await;
    assert!(requests.iter().all(|request| request.path == "/v1/traces"));
    let spans = spans(&requests);
    let named = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let (publishes, deliveries) = (named("publish"), named("deliver"));
    let [publish] = &publishes[..] else { panic!("{spans:#?}") };
    // The request of the clerk is in the trace of its caller.
    let clerk = spans.iter().find(|span| hex(&span.trace_id) == TRACE).expect("the clerk's request has a span");
    assert_eq!(hex(&clerk.parent_span_id), "b7ad6b7169203331");
    assert_eq!(text(clerk, "http.response.status_code"), "200");
    assert!(text(clerk, "url.path").ends_with("/ring/sell"), "{clerk:?}");
    // The event is published in a trace of its own, which links to that request.
    assert_eq!(link(publish), (clerk.trace_id.clone(), clerk.span_id.clone()));
    assert_ne!(publish.trace_id, clerk.trace_id);
    assert_eq!(text(publish, "lotwire.item_id"), sale.item);
    // The provider's request is a part of publishing.
    let accept = spans.iter().find(|span| span.parent_span_id == publish.span_id).expect("the provider has a span");
    assert_eq!((&accept.trace_id, &*accept.name), (&publish.trace_id, "v1.message.create"));
    // Each attempt is a trace of its own, which links to that.
    let message = text(publish, "lotwire.message_id");
    for delivery in &deliveries {
        assert_eq!(link(delivery), (accept.trace_id.clone(), accept.span_id.clone()));
        let attributes = attributes(delivery);
        assert!(attributes["lotwire.event_id"].starts_with(&format!("{}.", sale.item)), "{attributes:?}");
        assert_eq!((&*attributes["lotwire.message_id"], &*attributes["lotwire.attempt"]), (&*message, "1"));
        assert_eq!(attributes["lotwire.status"], "delivered");
    }
    // The header names the attempt that carried it.
    let of_header = deliveries
        .iter()
        .filter(|delivery| sent == format!("00-{}-{}-01", hex(&delivery.trace_id), hex(&delivery.span_id)));
    assert_eq!(of_header.count(), 1, "{sent}");
    let process: &ResourceSpans = &resource_spans(&requests)[0];
    let names: Vec<_> =
        process.resource.iter().flat_map(|resource| &resource.attributes).map(|pair| &*pair.key).collect();
    assert_eq!(names, ["service.name", "service.version", "service.instance.id"]);
    assert_eq!(launch.metric("lotwire_trace_exporter_up").await.unwrap(), 1.0);
    assert_eq!(launch.metric("lotwire_trace_spans_total{result=\"dropped\"}").await.unwrap(), 0.0);
}

#[tokio::test]
async fn a_collector_that_is_down_delays_nothing_and_is_counted() {
    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("log");
    let gone = RequestLog::bind().await;
    let (address, asking) = (gone.address(), RequestLog::bind().await);
    drop(gone);
    let launch =
        launch(data.path()).set("TRACING__OTLP_ENDPOINT", &format!("http://{address}")).log_json_to(&log, "info");
    let sale = Sale::open(&launch).await;
    sale.add_endpoint(&asking.url(), Some(true), json!({})).await;
    sale.sell().await;
    assert!(header_of_sale(&asking).await.is_some(), "the trace continues at the receiver");
    let failures =
        async { while launch.metric("lotwire_trace_exports_total{result=\"failure\"}").await.unwrap() < 2.0 {} };
    tokio::time::timeout(WAIT_MAX, failures).await.expect("failed exports are counted");
    assert_eq!(launch.metric("lotwire_trace_exporter_up").await.unwrap(), 0.0);
    let warnings =
        lines(&log, |line| line["fields"]["message"].as_str().is_some_and(|text| text.contains("can't be exported")));
    assert_eq!(warnings.len(), 1, "an outage is logged once: {warnings:?}");

    // When the collector is back, it gets what waited.
    let collector = RequestLog::bind_at(address).await;
    let has_sale = |requests: &[RecordedRequest]| spans(requests).iter().any(|span| span.name == "publish");
    let requests = collector.wait_until(WAIT_MAX, has_sale).await;
    assert!(has_sale(&requests), "the spans were kept");
    let is_up = async { while launch.metric("lotwire_trace_exporter_up").await.unwrap() < 1.0 {} };
    tokio::time::timeout(WAIT_MAX, is_up).await.expect("the exporter works again");
}

/// The lines of a JSON log that meet a condition.
fn lines(log: &std::path::Path, is_wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
    let text = std::fs::read_to_string(log).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| is_wanted(line)).collect()
}

#[tokio::test]
async fn one_search_of_the_log_tells_the_story_of_a_lot_also_without_traces() {
    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("log");
    let asking = RequestLog::bind().await;
    let launch = launch(data.path()).log_json_to(&log, "info,story=debug");
    let sale = Sale::open(&launch).await;
    sale.add_endpoint(&asking.url(), Some(true), json!({})).await;
    sale.sell().await;
    // Without a collector, the caller's position is passed on unchanged.
    assert_eq!(header_of_sale(&asking).await.as_deref(), Some(CALLER));
    let of_lot = || lines(&log, |line| line.to_string().contains(&sale.item) && line["target"] == "story");
    let is_attempt_of_sale =
        |line: &&Value| line["fields"]["message"] == "delivery attempted" && line["fields"]["trace_id"] == TRACE;
    let is_told = async {
        while of_lot().iter().filter(is_attempt_of_sale).count() < 2 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(WAIT_MAX, is_told).await.expect("the deliveries are logged");
    let story = of_lot();
    let line = |message: &str| {
        let found = story.iter().rfind(|line| line["fields"]["message"] == message);
        found.unwrap_or_else(|| panic!("no line {message:?} in {story:#?}"))
    };
    let sold = &line("status changed")["fields"];
    assert_eq!((&sold["to"], &sold["cause"]), (&json!("SOLD"), &json!("sold_in_ring")));
    assert_eq!((&sold["request_id"], &sold["auction_id"]), (&json!("hammer-1"), &json!(sale.auction)));
    let (published, accepted) = (line("event published"), line("message accepted"));
    let attempted = &story.iter().rfind(is_attempt_of_sale).unwrap()["fields"];
    for fields in [sold, &published["fields"], attempted] {
        assert_eq!((&fields["event_id"], &fields["trace_id"]), (&sold["event_id"], &json!(TRACE)), "{fields}");
    }
    // The provider's line has the trace and the request in the span of the request.
    assert_eq!(accepted["span"]["trace_id"], TRACE);
    assert!(accepted["span"]["request_id"].is_string(), "{accepted}");
    for fields in [&published["fields"], attempted] {
        assert_eq!(fields["message_id"], accepted["fields"]["message_id"]);
    }
    assert_eq!((&attempted["attempt"], &attempted["code"]), (&json!(1), &json!(200)));
}
