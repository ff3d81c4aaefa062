//! Metrics of the provider and of its API for `/metrics`. Up to twenty parameters `endpoint=ep_…` add the metrics of
//! single endpoints.

use std::sync::Arc;

use http::Method;
use kit_http::metrics::{MetricsFuture, Source};
use kit_http::request_counts::RequestCounts;
use kit_runtime::metrics::{Counter, Family, Labels, Registry};
use provider_core::Provider;
use utoipa::openapi::{OpenApi, PathItem};

/// The metrics of the provider, and the request counts of its API.
pub(crate) struct ProviderMetrics {
    pub(crate) provider: Provider,
    pub(crate) requests: Arc<RequestCounts>,
}

impl Source for ProviderMetrics {
    fn parameter(&self) -> Option<&'static str> {
        Some("endpoint")
    }

    fn gather<'a>(&'a self, named: &'a [String]) -> MetricsFuture<'a> {
        Box::pin(async move { Ok(self.provider.metrics(named).await + &text(&self.requests)) })
    }
}

/// Request counts of every operation of the document, by operation id.
pub(crate) fn requests(document: &OpenApi) -> RequestCounts {
    let operations = document.paths.paths.iter().flat_map(|(path, item)| {
        let operations =
            methods(item).into_iter().filter_map(|(method, operation)| Some((method, operation.as_ref()?)));
        operations.map(move |(method, operation)| {
            let id = operation.operation_id.clone().unwrap_or_else(|| format!("{method} {path}"));
            (method, path.clone(), id)
        })
    });
    RequestCounts::new(operations)
}

type Described = Option<utoipa::openapi::path::Operation>;

fn methods(item: &PathItem) -> [(Method, &Described); 5] {
    [
        (Method::GET, &item.get),
        (Method::PUT, &item.put),
        (Method::POST, &item.post),
        (Method::PATCH, &item.patch),
        (Method::DELETE, &item.delete),
    ]
}

fn text(requests: &RequestCounts) -> String {
    let mut registry = Registry::with_prefix("lotwire_provider");
    let family = Family::<Labels, Counter>::default();
    let help =
        "API requests by operation and status class; the operation `other` counts requests that match no operation";
    registry.register("api_requests", help, family.clone());
    for (operation, class, count) in requests.counts() {
        let labels = vec![("operation", operation.to_owned()), ("status", format!("{class}xx"))];
        family.get_or_create(&labels).inc_by(count);
    }
    kit_runtime::metrics::encode_text(&registry)
}
