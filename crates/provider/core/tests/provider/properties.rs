//! Properties that hold for any sequence of calls, failures and pauses, on each store. The clock is a test clock, and the
//! receivers are a [`Transport`] with random responses, so that a schedule of thirty hours takes milliseconds.

mod ordering;
mod schedule;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use jiff::Timestamp;
use kit_outbound::{Exchange, Headers, Request, Response};
use kit_runtime::clock::{Clock as _, TestClock};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use provider_core::ProviderConfig;
use provider_core::dispatcher::{ExchangeFuture, Transport};
use provider_core::model::Endpoint;
use provider_core::port::Store;
use tokio::sync::Notify;

use crate::fixture::{Fixture, provider_with};

pub(crate) const NOW: &str = "2026-11-21T06:28:03.123Z";

/// Polls without a change after which the workers count as idle.
const POLLS_UNTIL_IDLE: u32 = 32;

/// A request that arrived, with its time.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    pub(crate) at: Timestamp,
    pub(crate) body: Bytes,
    pub(crate) headers: Headers,
}

/// Returns a status and an optional `Retry-After` for a request. The first argument is the earlier requests.
pub(crate) type Answer = Box<dyn Fn(&[Arrival], &Arrival) -> (u16, Option<String>) + Send + Sync>;

/// All receivers of a test, as one [`Transport`].
pub(crate) struct FakeReceivers {
    pub(crate) clock: Arc<TestClock>,
    pub(crate) arrivals: Mutex<Vec<Arrival>>,
    arrived: Notify,
    answer: Answer,
}

impl FakeReceivers {
    fn new(clock: Arc<TestClock>, answer: Answer) -> Arc<Self> {
        Arc::new(Self { clock, arrivals: Mutex::default(), arrived: Notify::new(), answer })
    }

    /// Waits until a request arrives, at most `within` of real time.
    async fn wait_for_arrival(&self, within: Duration) {
        let _ = tokio::time::timeout(within, self.arrived.notified()).await;
    }
}

impl Transport for FakeReceivers {
    fn send(&self, request: Request) -> ExchangeFuture<'_> {
        Box::pin(async move {
            // Another request may overtake this one here, if the dispatcher allows it.
            tokio::task::yield_now().await;
            let arrival = Arrival { at: self.clock.now(), body: request.body, headers: request.headers };
            let mut arrivals = self.arrivals.lock().unwrap();
            let (status, retry_after) = (self.answer)(&arrivals, &arrival);
            arrivals.push(arrival);
            self.arrived.notify_one();
            let headers = retry_after.map(|text| (http::header::RETRY_AFTER, HeaderValue::try_from(text).unwrap()));
            Exchange::untimed(Ok(Response {
                status: StatusCode::from_u16(status).unwrap(),
                headers: headers.into_iter().collect(),
                body: Bytes::new(),
                truncated: false,
            }))
        })
    }
}

/// How far the clock advances when no worker makes progress.
const IDLE_STEP: Duration = Duration::from_millis(100);

/// A fixture with a fake clock and fake receivers.
pub(crate) struct ClockedFixture {
    pub(crate) fixture: Fixture,
    pub(crate) receivers: Arc<FakeReceivers>,
    /// Times to which the clock advanced because no worker made progress. How many there are depends on the host.
    idle_steps: Mutex<Vec<Timestamp>>,
}

impl ClockedFixture {
    pub(crate) async fn new(store: Arc<dyn Store>, config: ProviderConfig, answer: Answer) -> Self {
        let clock = Arc::new(TestClock::new(NOW.parse().unwrap()));
        let receivers = FakeReceivers::new(Arc::clone(&clock), answer);
        let provider = provider_with(clock, Arc::clone(&store), config, Arc::clone(&receivers) as _);
        let fixture = Fixture::of(provider, store).await;
        fixture.provider.spawn_workers(&fixture.tasks);
        Self { fixture, receivers, idle_steps: Mutex::default() }
    }

    /// A fixture on an existing store, as after a restart of the process at another time. `key` is the account's API key.
    pub(crate) async fn again(
        store: Arc<dyn Store>,
        config: ProviderConfig,
        answer: Answer,
        now: Timestamp,
        key: String,
    ) -> Self {
        let clock = Arc::new(TestClock::new(now));
        let receivers = FakeReceivers::new(Arc::clone(&clock), answer);
        let provider = provider_with(clock, Arc::clone(&store), config, Arc::clone(&receivers) as _);
        let caller = provider.authenticate(&key).await.unwrap();
        let fixture = Fixture { store, provider, tasks: kit_runtime::tasks::Tasks::new(), caller, key };
        fixture.provider.spawn_workers(&fixture.tasks);
        Self { fixture, receivers, idle_steps: Mutex::default() }
    }

    pub(crate) fn arrivals(&self) -> Vec<Arrival> {
        self.receivers.arrivals.lock().unwrap().clone()
    }

    /// How far the clock advanced between two times because no worker made progress.
    pub(crate) fn idle_between(&self, from: Timestamp, to: Timestamp) -> Duration {
        let steps = self.idle_steps.lock().unwrap();
        IDLE_STEP * steps.iter().filter(|&&step| from < step && step <= to).count() as u32
    }

    /// Advances the clock from one due time to the next until no delivery waits for the endpoint. Work that is due takes
    /// real time. If the state does not change for [`POLLS_UNTIL_IDLE`] polls, a worker may be sleeping for longer than any
    /// row waits, so the clock advances by [`IDLE_STEP`]. On a busy host that also happens while work is under way:
    /// assertions about times subtract [`ClockedFixture::idle_between`].
    pub(crate) async fn until_nothing_waits(&self, endpoint: &Endpoint) {
        let store = &self.fixture.store;
        let clock = &self.receivers.clock;
        let finished = async {
            let mut previous = None;
            let mut unchanged_polls = 0;
            loop {
                let backlog = store.backlog(&endpoint.id).await.unwrap();
                if backlog.deliveries == 0 {
                    break;
                }
                let due = store.next_due().await.unwrap();
                let until = store.paused_until(&endpoint.id, clock.now()).await.unwrap().max(due);
                if let Some(until) = until
                    && until > clock.now()
                {
                    clock.set(until);
                }
                self.receivers.wait_for_arrival(Duration::from_micros(300)).await;
                let state = Some((backlog, due, self.receivers.arrivals.lock().unwrap().len()));
                unchanged_polls = if state == previous { unchanged_polls + 1 } else { 0 };
                previous = state;
                if unchanged_polls >= POLLS_UNTIL_IDLE {
                    clock.advance(IDLE_STEP);
                    self.idle_steps.lock().unwrap().push(clock.now());
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(60), finished)
            .await
            .expect("a delivery is still outstanding after 60 seconds");
    }

    pub(crate) async fn end(self) {
        self.fixture.tasks.shutdown(Duration::from_secs(10)).await.unwrap();
    }
}

/// Draws `cases` for each kind of store (SQLite in a temporary folder, SQLite in a file, PostgreSQL) and runs `story` on a
/// new store for each.
pub(crate) fn on_each_store<S: Strategy>(
    cases: [u32; 3],
    strategy: impl Fn() -> S,
    story: impl AsyncFn(Arc<dyn Store>, S::Value) -> Result<(), TestCaseError>,
) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for (kind, cases) in cases.into_iter().enumerate() {
        let config = Config { cases, failure_persistence: None, max_shrink_iters: 30, ..Config::default() };
        let result = TestRunner::new(config).run(&strategy(), |drawn| {
            let directory = tempfile::tempdir().unwrap();
            runtime.block_on(async {
                let store = match kind {
                    0 => provider_store::sqlite::open_temporary().unwrap(),
                    1 => provider_store::sqlite::open(&directory.path().join("provider.db")).await.unwrap(),
                    _ => {
                        let url = testkit::postgres::fresh_database().await.unwrap();
                        let config =
                            provider_store::postgres::PostgresConfig { url, pool_size: 4, ..Default::default() };
                        provider_store::postgres::open(&config).await.unwrap()
                    }
                };
                story(store, drawn).await
            })
        });
        if let Err(error) = result {
            panic!("{}: {error}", ["temporary SQLite", "SQLite", "PostgreSQL"][kind]);
        }
    }
}
