//! Property tests of the API on each store: proptest generates sequences of calls and shrinks those that fail.

mod idempotency;
mod pagination;

use std::sync::Arc;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use provider_core::ProviderConfig;
use provider_core::port::Store;

use crate::fixture::Fixture;

/// A fixture on a store of its own for each case, with the guard that keeps the store.
pub(super) type MakeFixture = fn(&tokio::runtime::Runtime) -> (Fixture, Option<tempfile::TempDir>);

fn fixture_on(runtime: &tokio::runtime::Runtime, store: Arc<dyn Store>) -> Fixture {
    let config = ProviderConfig { endpoints_max: 1_000, ..ProviderConfig::default() };
    runtime.block_on(Fixture::on(store, config))
}

pub(super) fn memory(runtime: &tokio::runtime::Runtime) -> (Fixture, Option<tempfile::TempDir>) {
    (fixture_on(runtime, provider_store::sqlite::open_temporary().unwrap()), None)
}

pub(super) fn sqlite(runtime: &tokio::runtime::Runtime) -> (Fixture, Option<tempfile::TempDir>) {
    let directory = tempfile::tempdir().unwrap();
    let store = runtime.block_on(provider_store::sqlite::open(&directory.path().join("provider.db"))).unwrap();
    (fixture_on(runtime, store), Some(directory))
}

pub(super) fn postgres(runtime: &tokio::runtime::Runtime) -> (Fixture, Option<tempfile::TempDir>) {
    let store = runtime.block_on(async {
        let url = testkit::postgres::fresh_database().await.unwrap();
        provider_store::postgres::open(&provider_store::postgres::PostgresConfig {
            url,
            pool_size: 4,
            ..Default::default()
        })
        .await
        .unwrap()
    });
    (fixture_on(runtime, store), None)
}

/// Generates `cases` of a story and runs each on a new fixture.
pub(super) fn play<S: Strategy>(
    cases: u32,
    make: MakeFixture,
    strategy: S,
    story: impl AsyncFn(&Fixture, S::Value) -> Result<(), TestCaseError>,
) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 50, ..Config::default() };
    let result = TestRunner::new(config).run(&strategy, |drawn| {
        let (fixture, _kept) = {
            let _entered = runtime.enter();
            make(&runtime)
        };
        runtime.block_on(story(&fixture, drawn))
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// A test on each store for each property, with the given number of cases.
macro_rules! on_each_store {
    ($($property:ident: $memory:literal, $sqlite:literal, $postgres:literal;)+) => {
        mod memory { $(#[test] fn $property() { super::$property($memory, crate::properties::memory); })+ }
        mod sqlite { $(#[test] fn $property() { super::$property($sqlite, crate::properties::sqlite); })+ }
        mod postgres { $(#[test] fn $property() { super::$property($postgres, crate::properties::postgres); })+ }
    };
}
pub(super) use on_each_store;
