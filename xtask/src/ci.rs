//! `cargo xtask ci`: the checks that must pass before a change lands, the fastest first. [`crate::release_check`] has the slower
//! ones.

use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::{
    Failure, Step, cargo, clients, debian, generate, licences, root, run, run_steps, target_dir, test_run, tidy,
};

/// Runs all steps and stops at the first that fails. The tests' tools are installed beside the steps before the tests, because
/// downloads leave the processors to the compiler.
pub(crate) fn run_all() -> Result<(), Failure> {
    let steps: &[Step] = &[
        ("format", || run(cargo().args(["fmt", "--all", "--check"]))),
        ("tidy", || tidy::run(&root())),
        ("licences and sources", licences::check),
        ("clippy", || run(cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))),
        ("build", || test_run::build().map(drop)),
        ("generated files", || generate::check(&root())),
        ("tools", wait_for_tools),
        ("tests, a sale, kill -9", || test_run::run_without_long(vec![sale(), kill("sqlite"), kill("postgres")])),
    ];
    *INSTALLING.lock().unwrap_or_else(PoisonError::into_inner) = Some(std::thread::spawn(tools));
    // An installation that has begun is not interrupted.
    run_steps("ci", steps).or_else(|failure| wait_for_tools().and(Err(failure)))
}

/// The thread that installs the tools.
static INSTALLING: Mutex<Option<JoinHandle<Result<(), Failure>>>> = Mutex::new(None);

fn wait_for_tools() -> Result<(), Failure> {
    let installing = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(installing) = installing else { return Ok(()) };
    installing.join().map_err(|_| "the installation panicked".to_owned())?
}

/// A demonstration from an empty installation to verified webhooks.
fn sale() -> test_run::Job {
    let mut command = Command::new(target_dir().join("debug/lotwire"));
    command.args(["demo", "--exit", "--json", "--lots", "60", "--platform-listen", "127.0.0.1:0"]);
    command.args(["--provider-listen", "127.0.0.1:0"]);
    command.env("LOTWIRE_SALEROOM__LISTEN", "127.0.0.1:0");
    test_run::Job { name: "a sale".to_owned(), command }
}

/// One kill during a sale. The release check kills more often.
fn kill(store: &str) -> test_run::Job {
    let mut command = Command::new(target_dir().join("debug/rigs"));
    command.args(["crash", "--kills", "1", "--store", store]);
    test_run::Job { name: format!("kill -9, {store}"), command }
}

/// Installs the programs that the tests start: PostgreSQL, Chromium with its headless shell, curl, dnsmasq, and what the official
/// clients need, all by one call of `apt-get`; and the official clients.
fn tools() -> Result<(), Failure> {
    let missing = || {
        let programs = ["chromium", "chromium-headless-shell", "curl", "openssl", "npm"];
        let missing = programs.into_iter().filter(|program| !debian::on_path(program));
        let mut missing: Vec<&str> = missing.collect();
        if !has_postgres() {
            missing.push("postgresql");
        }
        // A name server for records that prove domains. Its folder is not in every user's search path.
        if !debian::on_path("dnsmasq") && !std::path::Path::new("/usr/sbin/dnsmasq").exists() {
            missing.push("dnsmasq-base");
        }
        // Reads the text of printed pages.
        if !debian::on_path("pdftotext") {
            missing.push("poppler-utils");
        }
        if !clients::has_venv("python3") {
            missing.push("python3-venv");
        }
        missing
    };
    debian::ensure(&missing(), || missing().is_empty())?;
    clients::install(&root())
}

fn has_postgres() -> bool {
    let packaged = std::fs::read_dir("/usr/lib/postgresql").ok().into_iter().flatten().flatten();
    packaged.map(|entry| entry.path()).any(|version| version.join("bin/initdb").exists())
        || debian::on_path("initdb")
        || std::env::var_os("LOTWIRE_TEST_POSTGRES_URL").is_some()
}
