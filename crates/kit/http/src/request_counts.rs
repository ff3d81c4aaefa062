//! Counts requests by operation and status class, and measures them by operation. A request costs a path look-up without
//! allocation and three atomic additions.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{Method, StatusCode};
use kit_runtime::metrics::{
    self, Collector, ConstCounter, DescriptorEncoder, DurationHistogram, EncodeMetric as _, Registry, Unit,
};
use utoipa::openapi::path::Operation as Described;
use utoipa::openapi::{OpenApi, PathItem};

use crate::metrics::{MetricsFuture, Source};

/// Status classes that are shown even with a count of zero.
const ALWAYS: [usize; 3] = [2, 4, 5];
/// Name for requests to no operation: unknown paths, documentation, preflight requests.
const OTHER: &str = "other";
/// Name for requests to what is mounted beside the API: pages.
const PAGES: &str = "pages";

/// The counts of a surface.
#[derive(Debug)]
pub struct RequestCounts {
    /// The operations of each path, by method.
    paths: matchit::Router<Vec<(Method, usize)>>,
    operations: Vec<Operation>,
    other: Operation,
    pages: Operation,
}

#[derive(Debug, Default)]
struct Operation {
    name: String,
    /// Counts by the first digit of the status code.
    classes: [AtomicU64; 6],
    /// From the head of a request to the head of its response.
    took: DurationHistogram,
}

impl Operation {
    fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

/// The operation of a request, in the [`RequestCounts`] that returned it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountedOperation {
    /// The operation with this index.
    Of(usize),
    /// No operation.
    Other,
    /// A page.
    Page,
}

impl RequestCounts {
    /// Counts every operation of the document, by operation id.
    pub fn of_document(document: &OpenApi) -> Self {
        let operations = document.paths.paths.iter().flat_map(|(path, item)| {
            let operations =
                methods(item).into_iter().filter_map(|(method, operation)| Some((method, operation.as_ref()?)));
            operations.map(move |(method, operation)| {
                let id = operation.operation_id.clone().unwrap_or_else(|| format!("{method} {path}"));
                (method, path.clone(), id)
            })
        });
        Self::new(operations)
    }

    /// Counts these operations: method, path in the syntax of the router, name. An operation whose path conflicts with
    /// another one counts as `other`.
    pub fn new(operations: impl IntoIterator<Item = (Method, String, String)>) -> Self {
        let (mut by_path, mut counted) = (BTreeMap::<String, Vec<(Method, usize)>>::new(), Vec::new());
        for (method, path, name) in operations {
            by_path.entry(path).or_default().push((method, counted.len()));
            counted.push(Operation::named(&name));
        }
        let mut paths = matchit::Router::new();
        for (path, methods) in by_path {
            if let Err(error) = paths.insert(path, methods) {
                tracing::warn!(%error, "the path of an operation conflicts with another; its requests count as \
                `other`");
            }
        }
        Self { paths, operations: counted, other: Operation::named(OTHER), pages: Operation::named(PAGES) }
    }

    /// The operation of a request. HEAD counts as GET.
    pub(crate) fn operation(&self, method: &Method, path: &str) -> CountedOperation {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let methods = self.paths.at(path).ok().map(|found| found.value);
        let found = methods.and_then(|methods| methods.iter().find(|(known, _)| known == method));
        found.map_or(CountedOperation::Other, |(_, index)| CountedOperation::Of(*index))
    }

    /// The name of an operation.
    pub(crate) fn name(&self, operation: CountedOperation) -> &str {
        &self.find(operation).name
    }

    fn find(&self, operation: CountedOperation) -> &Operation {
        match operation {
            CountedOperation::Of(index) => self.operations.get(index).unwrap_or(&self.other),
            CountedOperation::Other => &self.other,
            CountedOperation::Page => &self.pages,
        }
    }

    pub(crate) fn count(&self, operation: CountedOperation, status: StatusCode, took: Duration) {
        let operation = self.find(operation);
        operation.took.observe(took);
        if let Some(class) = operation.classes.get(usize::from(status.as_u16() / 100)) {
            class.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The counts: name of the operation, first digit of the status code, number of responses. The usual classes are
    /// present from the start, so that a rate includes the first response.
    fn counts(&self) -> impl Iterator<Item = (&str, usize, u64)> {
        let counts = |operation: &'_ Operation| operation.classes.each_ref().map(|count| count.load(Ordering::Relaxed));
        self.all().flat_map(move |operation| {
            let counts = counts(operation).into_iter().enumerate();
            let shown = counts.filter(|(class, count)| *count > 0 || ALWAYS.contains(class));
            shown.map(|(class, count)| (operation.name.as_str(), class, count))
        })
    }

    fn all(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().chain([&self.other, &self.pages])
    }
}

fn methods(item: &PathItem) -> [(Method, &Option<Described>); 5] {
    [
        (Method::GET, &item.get),
        (Method::PUT, &item.put),
        (Method::POST, &item.post),
        (Method::PATCH, &item.patch),
        (Method::DELETE, &item.delete),
    ]
}

/// The requests of the ports of this process, each with its name, such as `platform`.
pub fn metrics_source(ports: Vec<(&'static str, Arc<RequestCounts>)>) -> Arc<dyn Source> {
    let mut registry = Registry::with_prefix("lotwire_http");
    registry.register_collector(Box::new(Ports(ports)));
    Arc::new(RequestMetrics(registry))
}

struct RequestMetrics(Registry);

impl Source for RequestMetrics {
    fn gather<'a>(&'a self, _named: &'a [String]) -> MetricsFuture<'a> {
        Box::pin(async { Ok(metrics::encode_text(&self.0)) })
    }
}

#[derive(Debug)]
struct Ports(Vec<(&'static str, Arc<RequestCounts>)>);

impl Collector for Ports {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let help = "Responses by port, operation and status class; `other` are requests to no operation, `pages` those to pages";
        let counter = ConstCounter::new(0_u64).metric_type();
        let mut family = encoder.encode_descriptor("requests", help, None, counter)?;
        for (port, requests) in &self.0 {
            for (operation, class, count) in requests.counts() {
                let status = format!("{class}xx");
                let labels = [("port", *port), ("operation", operation), ("status", status.as_str())];
                ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
            }
        }
        let help = "From the head of a request to the head of its response, by port and operation";
        let histogram = DurationHistogram::default().metric_type();
        let mut family = encoder.encode_descriptor("request_duration", help, Some(&Unit::Seconds), histogram)?;
        for (port, requests) in &self.0 {
            for operation in requests.all().filter(|operation| operation.took.is_used()) {
                let labels = [("port", *port), ("operation", operation.name.as_str())];
                operation.took.encode(family.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests() -> RequestCounts {
        let operations = [
            ("GET", "/lots", "lots.list"),
            ("POST", "/lots", "lots.create"),
            ("GET", "/lots/{lot}", "lots.get"),
            ("PUT", "/lots/{lot}", "lots.put"),
            ("GET", "/lots/open", "lots.open"),
            ("GET", "/lots/{lot}/bids", "bids.list"),
        ];
        RequestCounts::new(
            operations.map(|(method, path, name)| (method.parse().unwrap(), path.to_owned(), name.to_owned())),
        )
    }

    #[test]
    fn a_request_is_counted_for_its_operation_and_class() {
        let requests = requests();
        for (method, path, status) in [
            ("GET", "/lots", 200),
            ("HEAD", "/lots", 200),
            ("POST", "/lots", 201),
            ("POST", "/lots", 422),
            ("GET", "/lots/7", 404),
            ("PUT", "/lots/7", 200),
            ("GET", "/lots/open", 200),
            ("GET", "/lots/7/bids", 503),
            ("DELETE", "/lots/7", 405),
            ("GET", "/nowhere", 404),
            ("GET", "/lots/7/bids", 302),
        ] {
            let asked = requests.operation(&method.parse().unwrap(), path);
            requests.count(asked, StatusCode::from_u16(status).unwrap(), Duration::from_millis(3));
        }
        requests.count(CountedOperation::Page, StatusCode::OK, Duration::ZERO);
        let counts: Vec<_> = requests.counts().collect();
        for expected in [
            ("lots.list", 2, 2),
            ("lots.create", 2, 1),
            ("lots.create", 4, 1),
            ("lots.get", 4, 1),
            ("lots.get", 5, 0),
            ("lots.put", 2, 1),
            ("lots.open", 2, 1),
            ("bids.list", 5, 1),
            ("bids.list", 3, 1),
            ("other", 4, 2),
            ("pages", 2, 1),
        ] {
            assert!(counts.contains(&expected), "no {expected:?} in {counts:?}");
        }
        assert!(!counts.iter().any(|(operation, class, _)| (*operation, *class) == ("lots.list", 3)), "{counts:?}");
    }
    #[tokio::test]
    async fn the_metrics_name_port_and_operation_and_show_latencies_of_called_operations_only() {
        let counts = Arc::new(requests());
        counts.count(counts.operation(&Method::POST, "/lots"), StatusCode::CREATED, Duration::from_millis(3));
        let text = metrics_source(vec![("platform", counts), ("provider", Arc::new(requests()))]);
        let text = text.gather(&[]).await.unwrap();
        for line in [
            "# TYPE lotwire_http_requests counter",
            r#"lotwire_http_requests_total{port="platform",operation="lots.create",status="2xx"} 1"#,
            r#"lotwire_http_requests_total{port="provider",operation="lots.create",status="2xx"} 0"#,
            r#"lotwire_http_requests_total{port="provider",operation="pages",status="5xx"} 0"#,
            "# TYPE lotwire_http_request_duration_seconds histogram",
            r#"lotwire_http_request_duration_seconds_bucket{le="0.005",port="platform",operation="lots.create"} 1"#,
            r#"lotwire_http_request_duration_seconds_count{port="platform",operation="lots.create"} 1"#,
        ] {
            assert!(text.lines().any(|found| found == line), "no {line} in {text}");
        }
        assert_eq!(text.lines().filter(|line| line.contains("_duration_seconds_count")).count(), 1, "{text}");
    }
}
