//! `cargo xtask test`: builds the workspace and runs its test binaries side by side. Most tests wait for servers, browsers and
//! retries, so running one binary at a time would leave the processors idle. Each test starts its own servers on its own ports.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::Value;

use crate::{Failure, cargo, root, say};

/// Jobs that run at the same time.
const JOBS_AT_ONCE: usize = 3;
/// Tests of one binary that run at the same time.
const TESTS_AT_ONCE: &str = "4";
/// Tests whose names begin so take too long for every change.
const LONG: &str = "long::";
/// The targets that take longest, the slowest first. They start first, so that none of them runs alone at the end.
const SLOW_FIRST: &[&str] = &["story", "audit", "adversary", "conformance", "provider_api", "provider", "api"];

/// A command that passes or fails.
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) command: Command,
}

/// A built test binary.
pub(crate) struct TestBinary {
    /// Folder of its package.
    folder: PathBuf,
    target: String,
    executable: PathBuf,
}

/// Builds the workspace and runs all test binaries, or those whose package or target is named; the long tests, too.
pub(crate) fn run_task(names: &[String]) -> Result<(), Failure> {
    let mut binaries = build()?;
    binaries.retain(|binary| names.is_empty() || names.iter().any(|name| binary.is_named(name)));
    if binaries.is_empty() {
        return Err(format!("no test binary is named {}", names.join(" or ")));
    }
    run_side_by_side(jobs(binaries, &[]))
}

/// Runs all tests but the long ones, and these jobs.
pub(crate) fn run_without_long(further: Vec<Job>) -> Result<(), Failure> {
    let mut jobs = jobs(build()?, &["--skip", LONG]);
    jobs.extend(further);
    run_side_by_side(jobs)
}

/// Runs the long tests.
pub(crate) fn run_long() -> Result<(), Failure> {
    let stories = build()?.into_iter().filter(|binary| binary.is_named("story")).collect();
    run_side_by_side(jobs(stories, &[LONG]))
}

/// Builds everything: tests start the binary and the rigs. Building single packages would compile their dependencies again with
/// fewer features.
pub(crate) fn build() -> Result<Vec<TestBinary>, Failure> {
    let mut command = cargo();
    command.args(["build", "--workspace", "--all-targets", "--message-format=json-render-diagnostics"]);
    let output = command.current_dir(root()).stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("cargo build: {}", output.status));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    Ok(messages.lines().filter_map(|line| test_binary(&serde_json::from_str(line).ok()?)).collect())
}

/// The test binary that one of cargo's messages reports.
fn test_binary(message: &Value) -> Option<TestBinary> {
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let folder = PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_owned();
    let target = message["target"]["name"].as_str()?.to_owned();
    Some(TestBinary { folder, target, executable: PathBuf::from(message["executable"].as_str()?) })
}

impl TestBinary {
    /// The name of a binary, such as `crates/platform/store: conformance`.
    fn name(&self) -> String {
        let folder = self.folder.strip_prefix(root()).unwrap_or(&self.folder);
        format!("{}: {}", folder.display(), self.target)
    }

    fn is_named(&self, name: &str) -> bool {
        self.target == name || self.folder.ends_with(name)
    }
}

/// One job for each binary with these arguments, the slowest first.
fn jobs(mut binaries: Vec<TestBinary>, arguments: &[&str]) -> Vec<Job> {
    binaries.sort_by_key(|binary| SLOW_FIRST.iter().position(|target| *target == binary.target).unwrap_or(usize::MAX));
    let job = |binary: &TestBinary| {
        let mut command = Command::new(&binary.executable);
        command.args(["--test-threads", TESTS_AT_ONCE]).args(arguments);
        // Cargo runs tests in the folder of their package.
        command.current_dir(&binary.folder).env("CARGO_MANIFEST_DIR", &binary.folder);
        Job { name: binary.name(), command }
    };
    binaries.iter().map(job).collect()
}

/// Runs the jobs, [`JOBS_AT_ONCE`] at a time, in their order. Prints the output of each when it ends. The error names the jobs that
/// failed.
pub(crate) fn run_side_by_side(jobs: Vec<Job>) -> Result<(), Failure> {
    let count = jobs.len();
    let (waiting, failed) = (Mutex::new(VecDeque::from(jobs)), Mutex::new(Vec::new()));
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    std::thread::scope(|scope| {
        for _ in 0..JOBS_AT_ONCE {
            scope.spawn(|| {
                while let Some(job) = next() {
                    if let Err(name) = run_job(job) {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).push(name);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!("{} of {count} jobs failed: {}", failed.len(), failed.join(", ")))
}

/// Runs a job and prints its output. Returns its name if it failed.
fn run_job(mut job: Job) -> Result<(), String> {
    let begin = Instant::now();
    let (printed, passed) = match job.command.stdin(Stdio::null()).output() {
        Ok(output) => ([output.stdout, output.stderr].concat(), output.status.success()),
        Err(error) => (error.to_string().into_bytes(), false),
    };
    let outcome = if passed { "passed" } else { "FAILED" };
    let took = begin.elapsed().as_secs_f32();
    // Printed by one call, so that the output of two jobs does not mix.
    let printed = String::from_utf8_lossy(&printed);
    say(&format!("── {}: {outcome} after {took:.1} s\n{}", job.name, printed.trim_end()));
    if passed { Ok(()) } else { Err(job.name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_binary_is_read_from_a_message_of_cargo() {
        let message = |test: bool| {
            serde_json::json!({
                "reason": "compiler-artifact",
                "manifest_path": root().join("crates/contract/Cargo.toml"),
                "target": { "name": "models" },
                "profile": { "test": test },
                "executable": "/target/debug/deps/models-1",
            })
        };
        let binary = test_binary(&message(true)).unwrap();
        assert_eq!(binary.name(), "crates/contract: models");
        assert!(binary.is_named("contract") && binary.is_named("models") && !binary.is_named("store"));
        assert!(test_binary(&message(false)).is_none());
    }

    #[test]
    fn all_jobs_run_and_the_error_names_those_that_failed() {
        let job = |name: &str| Job { name: name.to_owned(), command: Command::new(name) };
        assert_eq!(run_side_by_side(vec![job("true"), job("true")]), Ok(()));
        let failure =
            run_side_by_side(vec![job("false"), job("true"), job("true"), job("no-such-program")]).unwrap_err();
        assert!(failure.starts_with("2 of 4 jobs failed: ") && failure.contains("false"), "{failure}");
    }
}
