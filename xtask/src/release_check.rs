//! `cargo xtask release-check`: the checks that take too long for every change. They run before a release, and before a change
//! to an area that they cover lands.

use std::process::Command;

use crate::{
    Failure, Step, cargo, container_test, dist, failover, package_test, root, run, run_steps, schemathesis, target_dir,
    test_run, upgrade_test, watch_test,
};

/// Kills on each engine.
const KILLS: &str = "10";

/// Runs all steps and stops at the first that fails.
pub(crate) fn run_all() -> Result<(), Failure> {
    let steps: &[Step] = &[
        ("build", || test_run::build().map(drop)),
        ("documentation", documentation),
        ("long stories", test_run::run_long),
        ("schemathesis", || schemathesis::check(&root())),
        ("kill -9, SQLite", || kill("sqlite")),
        ("kill -9, PostgreSQL", || kill("postgres")),
        ("restore, SQLite", || restore("lotwire")),
        ("restore, PostgreSQL dump", || restore("pg-dump")),
        ("restore, PostgreSQL archive", || restore("archive")),
        ("upgrade of the last release", upgrade_test::check),
        ("reverse proxies", crate::proxy_test),
        ("metrics, alerts and dashboard", watch_test::check),
        ("failovers of PostgreSQL", failover::check),
        ("the unit's exposure", dist::unit::check),
        ("the Debian package on a new machine", || {
            package_test::check(&dist::Options { binary: None, revision: 1 }, false)
        }),
        ("the container image", container_test::check),
    ];
    run_steps("release-check", steps)
}

/// Builds the documentation of all crates with warnings denied, and runs its examples.
fn documentation() -> Result<(), Failure> {
    run(cargo()
        .args(["doc", "--workspace", "--no-deps", "--quiet", "--document-private-items"])
        .env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links"))?;
    run(cargo().args(["test", "--workspace", "--doc", "--quiet"]))
}

fn restore(way: &str) -> Result<(), Failure> {
    run(Command::new(target_dir().join("debug/rigs")).args([
        "restore",
        "--rate",
        "100",
        "--seconds",
        "8",
        "--way",
        way,
    ]))
}

fn kill(store: &str) -> Result<(), Failure> {
    run(Command::new(target_dir().join("debug/rigs")).args(["crash", "--kills", KILLS, "--store", store]))
}
