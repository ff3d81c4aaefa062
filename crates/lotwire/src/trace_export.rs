//! Exports spans to an OpenTelemetry collector: OTLP over HTTP, protobuf.
//!
//! One worker reads the bounded queue of spans and posts them in batches. A batch that the collector does not accept is
//! sent again while the collector is away; meanwhile the queue fills, and further spans are dropped and counted. Nothing
//! else waits for it.
//!
//! The worker asks the collector once when it starts, so that a collector that does not answer is known before the first
//! span: in the log, once for each outage, and in the metric `lotwire_trace_exporter_up`.

mod metrics;
mod otlp;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use kit_outbound::{AddressPolicy, Client, ClientConfig, Destination, Request, Response, TransportError};
use kit_runtime::backoff::backoff;
use kit_runtime::clock::SharedClock;
use kit_runtime::random::SharedRandom;
use kit_runtime::tasks::Tasks;
use kit_runtime::trace::{FinishedSpan, SpanQueue, Tracer};
use tokio_util::sync::CancellationToken;

use self::metrics::ExportState;
use self::otlp::Service;
use crate::config::Config;

/// Spans that wait for the exporter: about 8 MB.
const QUEUE_SPANS_MAX: usize = 8_192;
/// Spans in one request.
const BATCH_SPANS_MAX: usize = 512;
/// How long the first span of a batch waits for others.
const EXPORT_EVERY: Duration = Duration::from_secs(1);
/// Time limit of a request.
const REQUEST_MAX: Duration = Duration::from_secs(10);
/// Time limit of the last requests of a shutdown.
const FLUSH_MAX: Duration = Duration::from_secs(2);
/// Bytes of the collector's response that are read.
const RESPONSE_BYTES_MAX: usize = 4 << 10;
/// Pauses after failures: doubled from the first to the last.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(30);
/// Path below the endpoint, as the standard sets it.
const PATH: &str = "/v1/traces";

/// The tracer of a node, and the exporter of its spans.
pub(crate) struct Tracing {
    pub(crate) tracer: Tracer,
    exporter: Option<Arc<Exporter>>,
}

/// Sends the spans of the queue to the collector.
struct Exporter {
    queue: SpanQueue,
    to: Destination,
    client: Client,
    service: Service,
    clock: SharedClock,
    random: SharedRandom,
    state: ExportState,
}

/// Why the collector did not take a batch.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    /// A later request may succeed.
    #[error("{0}")]
    Retry(String),
    /// The collector refuses these spans.
    #[error("{0}")]
    Refused(String),
}

impl Tracing {
    /// The tracing of a node; off without `tracing.otlp_endpoint`.
    pub(crate) fn new(config: &Config, clock: &SharedClock, random: &SharedRandom) -> Self {
        let url = format!("{}{PATH}", config.tracing.otlp_endpoint.trim_end_matches('/'));
        let to = url.parse::<Uri>().ok().filter(|_| !config.tracing.otlp_endpoint.is_empty());
        let Some(to) = to else { return Self { tracer: Tracer::off(), exporter: None } };
        let queue = SpanQueue::new(QUEUE_SPANS_MAX);
        let percent = config.tracing.sample_percent;
        let tracer = Tracer::new(queue.clone(), clock.clone(), random.clone(), percent);
        // The operator chose the address, so it may be private.
        let client = Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() });
        let exporter = Exporter {
            queue,
            to: to.into(),
            client,
            service: Service::of_this_process(random.as_ref()),
            clock: clock.clone(),
            random: random.clone(),
            state: ExportState::default(),
        };
        Self { tracer, exporter: Some(Arc::new(exporter)) }
    }

    /// Starts the exporter, if there is one, and returns the source of its metrics.
    pub(crate) fn spawn(&self, tasks: &Tasks) -> Option<Arc<dyn kit_http::metrics::Source>> {
        let exporter = self.exporter.clone()?;
        let source = metrics::source(&exporter);
        tasks.spawn("trace exporter", move |stopping| {
            let exporter = exporter.clone();
            async move { exporter.run(stopping).await }
        });
        Some(source)
    }

    /// Whether the collector answers: what it is, or what is wrong and what to do. None without a collector.
    pub(crate) async fn check(&self) -> Option<Result<String, String>> {
        let exporter = self.exporter.as_ref()?;
        let collector = exporter.to.uri();
        Some(match exporter.send_once(&[]).await {
            Ok(()) => Ok(format!("the collector at {collector} accepts them")),
            Err(error) => Err(format!(
                "the collector at {collector} does not accept them: {error}. Start it, or correct tracing.otlp_endpoint"
            )),
        })
    }

    /// Sends the spans of the requests and attempts that ended with the shutdown.
    pub(crate) async fn flush(&self) {
        if let Some(exporter) = &self.exporter {
            exporter.flush(Vec::new()).await;
        }
    }
}

impl Exporter {
    async fn run(&self, stopping: CancellationToken) {
        let mut batch = Vec::new();
        loop {
            // The first request has no spans and asks whether the collector answers.
            if !self.export(&batch, &stopping).await {
                return;
            }
            batch.clear();
            tokio::select! {
                () = stopping.cancelled() => break,
                () = self.fill(&mut batch) => {}
            }
        }
        self.flush(batch).await;
    }

    /// Sends the spans that wait, if the collector answered the last request.
    async fn flush(&self, mut batch: Vec<FinishedSpan>) {
        self.queue.take(&mut batch, QUEUE_SPANS_MAX).await;
        if !batch.is_empty() && self.state.is_up() {
            let _late = tokio::time::timeout(FLUSH_MAX, self.send(&batch)).await;
        }
    }

    /// Waits for a span, and then for others that follow shortly.
    async fn fill(&self, batch: &mut Vec<FinishedSpan>) {
        self.queue.receive(batch, BATCH_SPANS_MAX).await;
        let more = async {
            while batch.len() < BATCH_SPANS_MAX {
                self.queue.receive(batch, BATCH_SPANS_MAX - batch.len()).await;
            }
        };
        let _full = tokio::time::timeout(EXPORT_EVERY, more).await;
    }

    /// Sends a batch until the collector takes or refuses it. False when the server stops meanwhile.
    async fn export(&self, batch: &[FinishedSpan], stopping: &CancellationToken) -> bool {
        let mut failures = 0_u32;
        loop {
            match self.send(batch).await {
                Ok(()) => return true,
                Err(ExportError::Refused(_)) => return true,
                Err(ExportError::Retry(_)) => {}
            }
            failures = failures.saturating_add(1);
            let pause = backoff(failures, RETRY_MIN, RETRY_MAX, self.random.unit_f64());
            tokio::select! {
                () = stopping.cancelled() => return false,
                () = self.clock.sleep_until(self.clock.now() + pause) => {}
            }
        }
    }

    /// Sends a batch once, and counts and logs the outcome.
    async fn send(&self, batch: &[FinishedSpan]) -> Result<(), ExportError> {
        let outcome = self.send_once(batch).await;
        let was_up = self.state.record(&outcome, self.queue.counts(), batch.len());
        let collector = self.to.uri();
        match &outcome {
            Ok(()) if was_up != Some(true) => tracing::info!(%collector, "traces are exported"),
            Err(ExportError::Retry(reason)) if was_up != Some(false) => {
                tracing::warn!(
                    %collector, reason,
                    "traces can't be exported; the exporter tries again, and drops spans when its queue is full"
                );
            }
            Err(ExportError::Refused(reason)) if was_up != Some(false) => {
                tracing::warn!(%collector, reason, "the collector refuses traces; its spans are dropped");
            }
            _ => {}
        }
        outcome
    }

    async fn send_once(&self, batch: &[FinishedSpan]) -> Result<(), ExportError> {
        let body = otlp::request(&self.service, batch);
        judge(self.client.send_idempotent(|| self.request(&body)).await)
    }

    fn request(&self, body: &Bytes) -> Request {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"))]);
        Request {
            method: Method::POST,
            to: self.to.clone(),
            headers: headers.into(),
            body: body.clone(),
            deadline: REQUEST_MAX,
            response_bytes_max: RESPONSE_BYTES_MAX,
        }
    }
}

/// The statuses after which a request may be repeated are those of the OTLP specification.
fn judge(response: Result<Response, TransportError>) -> Result<(), ExportError> {
    match response {
        Ok(response) if response.status.is_success() => Ok(()),
        Ok(response) => {
            let reason = format!("it answers {}", response.status);
            let is_temporary = matches!(
                response.status,
                StatusCode::TOO_MANY_REQUESTS
                    | StatusCode::BAD_GATEWAY
                    | StatusCode::SERVICE_UNAVAILABLE
                    | StatusCode::GATEWAY_TIMEOUT
            );
            Err(if is_temporary { ExportError::Retry(reason) } else { ExportError::Refused(reason) })
        }
        Err(error) => Err(ExportError::Retry(error.to_string())),
    }
}
