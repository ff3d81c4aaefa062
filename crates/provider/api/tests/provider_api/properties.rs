//! Property tests of the API on each store: proptest generates sequences of calls and shrinks those that fail.

mod idempotency;
mod pagination;

use std::sync::Arc;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use provider_core::ProviderConfig;
use provider_core::port::Store;
use tokio::runtime::{Builder, Runtime};

use crate::fixture::Fixture;

/// Makes a fixture on a new, empty store. Each case gets one.
pub(super) type MakeFixture = fn(&Runtime) -> Fixture;

fn fixture_on(runtime: &Runtime, store: Arc<dyn Store>) -> Fixture {
    let config = ProviderConfig { endpoints_max: 1_000, ..ProviderConfig::default() };
    runtime.block_on(Fixture::on(store, config))
}

pub(super) fn sqlite(runtime: &Runtime) -> Fixture {
    fixture_on(runtime, provider_store::sqlite::open_temporary().unwrap())
}

pub(super) fn postgres(runtime: &Runtime) -> Fixture {
    let store = runtime.block_on(async {
        let url = testkit::postgres::fresh_database().await.unwrap();
        let config = provider_store::postgres::PostgresConfig { url, pool_size: 4, ..Default::default() };
        provider_store::postgres::open(&config).await.unwrap()
    });
    fixture_on(runtime, store)
}

/// Generates `cases` of a story and runs each on a new fixture.
pub(super) fn play<S: Strategy>(
    cases: u32,
    make: MakeFixture,
    strategy: S,
    story: impl AsyncFn(&Fixture, S::Value) -> Result<(), TestCaseError>,
) {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 50, ..Config::default() };
    let result = TestRunner::new(config).run(&strategy, |drawn| {
        let fixture = {
            let _entered = runtime.enter();
            make(&runtime)
        };
        runtime.block_on(story(&fixture, drawn))
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// A test on each store for each property, with the given number of cases. PostgreSQL makes a database for each case, so it gets
/// fewer of them.
macro_rules! on_each_store {
    ($($property:ident: $sqlite:literal, $postgres:literal;)+) => {
        mod sqlite { $(#[test] fn $property() { super::$property($sqlite, crate::properties::sqlite); })+ }
        mod postgres { $(#[test] fn $property() { super::$property($postgres, crate::properties::postgres); })+ }
    };
}
pub(super) use on_each_store;
