//! `cargo xtask ci`: the checks that must pass before a change lands, the fastest first. [`crate::release_check`] has the slower
//! ones.

use std::process::Command;

use crate::{
    Failure, Step, cargo, clients, debian, generate, licences, root, run, run_steps, target_dir, test_run, tidy,
};

/// Runs all steps and stops at the first that fails.
pub(crate) fn run_all() -> Result<(), Failure> {
    let steps: &[Step] = &[
        ("tools", tools),
        ("format", || run(Command::new(cargo()).args(["fmt", "--all", "--check"]))),
        ("tidy", || tidy::run(&root())),
        ("licences and sources", licences::check),
        ("clippy", || {
            run(Command::new(cargo()).args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
        }),
        ("build", || test_run::build().map(drop)),
        ("generated files", || generate::check(&root())),
        ("tests, a sale, kill -9", || {
            let mut jobs = test_run::jobs(test_run::build()?);
            jobs.extend([sale(), kill("sqlite"), kill("postgres")]);
            test_run::run_side_by_side(jobs)
        }),
    ];
    run_steps("ci", steps)
}

/// A demonstration from an empty installation to verified webhooks.
fn sale() -> test_run::Job {
    let mut command = Command::new(target_dir().join("debug/lotwire"));
    command.args(["demo", "--exit", "--json", "--lots", "60", "--platform-listen", "127.0.0.1:0"]);
    command.args(["--provider-listen", "127.0.0.1:0"]);
    test_run::Job { name: "a sale".to_owned(), command }
}

/// One kill during a sale. The release check kills more often.
fn kill(store: &str) -> test_run::Job {
    let mut command = Command::new(target_dir().join("debug/rigs"));
    command.args(["crash", "--kills", "1", "--store", store]);
    test_run::Job { name: format!("kill -9, {store}"), command }
}

/// Installs the programs that the tests start: PostgreSQL, Chromium and curl from the system's packages, and the official clients.
fn tools() -> Result<(), Failure> {
    let has_postgres = || {
        let packaged = std::fs::read_dir("/usr/lib/postgresql").ok().into_iter().flatten().flatten();
        packaged.map(|entry| entry.path()).any(|version| version.join("bin/initdb").exists())
            || debian::on_path("initdb")
            || std::env::var_os("LOTWIRE_TEST_POSTGRES_URL").is_some()
    };
    debian::ensure(&["postgresql"], has_postgres)?;
    debian::ensure(&["chromium"], || debian::on_path("chromium"))?;
    debian::ensure(&["curl", "openssl"], || debian::on_path("curl") && debian::on_path("openssl"))?;
    clients::install(&root())
}
