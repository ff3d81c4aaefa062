//! `/metrics` for Prometheus: the metrics of the platform, the provider and the process.
//!
//! Served on a port of its own, so that the public port needs no access rule for it, and a scraper no API key.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};

use crate::Surface;

/// Maximum number of query parameters of one scrape.
const NAMED_MAX: usize = 20;
/// The end marker of an OpenMetrics text.
const END: &str = "# EOF\n";
const OPEN_METRICS: &str = "application/openmetrics-text";
const OPEN_METRICS_CONTENT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PROMETHEUS_CONTENT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The future of [`Source::gather`]; the error says why there are no metrics. Boxed, because the trait is used as `dyn
/// Source`.
pub type MetricsFuture<'a> = Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;

/// A part of the process with metrics.
pub trait Source: Send + Sync + 'static {
    /// The query parameter that selects objects with metrics of their own, such as `endpoint`.
    fn parameter(&self) -> Option<&'static str> {
        None
    }

    /// The metrics as OpenMetrics text without the end marker, with those of the objects in `named`.
    fn gather<'a>(&'a self, named: &'a [String]) -> MetricsFuture<'a>;
}

/// Serves the metrics of these sources at `/metrics`: as OpenMetrics to clients that accept it, to others in the text
/// format of Prometheus. 400 for an unknown parameter or too many of them; 503 when a
/// source fails.
pub fn surface(sources: Vec<Arc<dyn Source>>) -> Surface {
    crate::finish(Router::new().route("/metrics", get(metrics)).with_state(Arc::new(sources)))
}

async fn metrics(
    State(sources): State<Arc<Vec<Arc<dyn Source>>>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let pairs = query.iter().flat_map(|query| query.split('&')).filter(|pair| !pair.is_empty());
    let pairs: Vec<(&str, &str)> = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect();
    let known = |name: &str| sources.iter().any(|source| source.parameter() == Some(name));
    if let Some((unknown, _)) = pairs.iter().find(|(name, _)| !known(name)) {
        return plain(StatusCode::BAD_REQUEST, format!("the parameter {unknown:?} is not known\n"));
    }
    if pairs.len() > NAMED_MAX {
        return plain(StatusCode::BAD_REQUEST, format!("give at most {NAMED_MAX} parameters\n"));
    }
    let mut text = String::new();
    for source in sources.iter() {
        let named = pairs.iter().filter(|(name, _)| source.parameter() == Some(name));
        let named: Vec<String> = named.map(|(_, value)| (*value).to_owned()).collect();
        match source.gather(&named).await {
            Ok(gathered) => text.push_str(&gathered),
            Err(error) => {
                tracing::warn!(error, "the metrics of a source are not available");
                return plain(StatusCode::SERVICE_UNAVAILABLE, "not available at the moment\n".to_owned());
            }
        }
    }
    let accepted = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    if accepted.contains(OPEN_METRICS) {
        text.push_str(END);
        return ([(CONTENT_TYPE, OPEN_METRICS_CONTENT)], text).into_response();
    }
    ([(CONTENT_TYPE, PROMETHEUS_CONTENT)], prometheus_text(&text)).into_response()
}

/// OpenMetrics text in the text format of Prometheus: the family of a counter is named as its samples are, that of an
/// `info` is a gauge, and units are part of the name only.
fn prometheus_text(open_metrics: &str) -> String {
    let (mut text, mut help) = (String::with_capacity(open_metrics.len()), None);
    for line in open_metrics.lines() {
        if let Some(described) = line.strip_prefix("# HELP ") {
            help = described.split_once(' ');
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|typed| typed.split_once(' ')) {
            let (suffix, kind) = match kind {
                "counter" => ("_total", "counter"),
                "info" => ("_info", "gauge"),
                "unknown" => ("", "untyped"),
                other => ("", other),
            };
            if let Some((_, help)) = help.take() {
                text.push_str(&format!("# HELP {name}{suffix} {help}\n"));
            }
            text.push_str(&format!("# TYPE {name}{suffix} {kind}\n"));
        } else if !line.starts_with("# UNIT ") {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

fn plain(status: StatusCode, text: String) -> Response {
    (status, [(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http::Request;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;

    struct FakeSource(Result<&'static str, &'static str>);

    impl Source for FakeSource {
        fn parameter(&self) -> Option<&'static str> {
            self.0.ok().map(|_| "lot")
        }

        fn gather<'a>(&'a self, named: &'a [String]) -> MetricsFuture<'a> {
            Box::pin(async move { self.0.map(|text| format!("{text} {}\n", named.join(","))).map_err(str::to_owned) })
        }
    }

    async fn ask(sources: Vec<Arc<dyn Source>>, uri: &str) -> (u16, String) {
        let request = Request::get(uri).header("accept", "application/openmetrics-text;version=1.0.0,*/*;q=0.1");
        let answer = surface(sources).oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let status = answer.status().as_u16();
        (status, String::from_utf8(answer.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap())
    }

    #[tokio::test]
    async fn the_texts_of_all_sources_are_joined_and_end_with_the_marker() {
        let sources =
            || -> Vec<Arc<dyn Source>> { vec![Arc::new(FakeSource(Ok("sold"))), Arc::new(FakeSource(Ok("bid")))] };
        assert_eq!(ask(sources(), "/metrics").await, (200, "sold \nbid \n# EOF\n".to_owned()));
        assert_eq!(ask(sources(), "/metrics?lot=1&lot=2").await, (200, "sold 1,2\nbid 1,2\n# EOF\n".to_owned()));
        assert_eq!(ask(sources(), "/metrics?lots=1").await.0, 400);
        assert_eq!(ask(sources(), &format!("/metrics?{}", "lot=1&".repeat(21))).await.0, 400);
        assert_eq!(ask(vec![Arc::new(FakeSource(Err("asleep")))], "/metrics").await.0, 503);
    }

    #[test]
    fn the_format_of_prometheus_names_a_family_as_its_samples() {
        let open_metrics = "# HELP sold Lots sold.\n# TYPE sold counter\nsold_total 3\n\
             # HELP sale_seconds Time.\n# TYPE sale_seconds gauge\n# UNIT sale_seconds seconds\nsale_seconds 0.5\n\
             # HELP build Version.\n# TYPE build info\nbuild_info{version=\"1\"} 1\n";
        let prometheus = "# HELP sold_total Lots sold.\n# TYPE sold_total counter\nsold_total 3\n\
             # HELP sale_seconds Time.\n# TYPE sale_seconds gauge\nsale_seconds 0.5\n\
             # HELP build_info Version.\n# TYPE build_info gauge\nbuild_info{version=\"1\"} 1\n";
        assert_eq!(prometheus_text(open_metrics), prometheus);
    }
}
