//! Development tasks, run as `cargo xtask <task>`.

mod ci;
mod clients;
mod debian;
mod deny;
mod fuzz;
mod generate;
mod schemathesis;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask <task>

  ci                  everything that has to be green: format, clippy, tidy, generated files, tests, a sale, a short crash run
  tidy                check the arrows between crates and the house rules
  deny [--advisories] hold licences and sources of all crates against deny.toml, and advisories where cargo-deny is installed
  generate [--check]  make docs/apis/*.json and docs/operate/configuration.md again; with --check only say whether they differ
  clients             install the provider's official clients in other languages, which tests run
  fuzz [--seconds N] [TARGET …]   feed what reads outside input with anything, N seconds (60) for each target
  schemathesis [platform|provider]   make up requests from the OpenAPI documents, and hold the answers of target/debug/lotwire
                      against them
  crash --kills N     kill -9 a server N times in mid-sale, and count what arrives  (more: cargo xtask crash --help)
  bench               measure the way of a message, the ending of items, and bids      (more: cargo xtask bench --help)
";

/// What a task says when it can't be done.
type Failure = String;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rest = arguments.get(1..).unwrap_or_default();
    let outcome = match arguments.first().map(String::as_str) {
        Some("ci") => ci::run_all(),
        Some("tidy") => tidy::run(&root()),
        Some("clients") => clients::install(&root()),
        Some("schemathesis") => schemathesis::run_task(&root(), rest),
        Some("generate") => generate::run(&root(), rest),
        Some("deny") => deny::run_task(rest),
        Some("fuzz") => fuzz::run_task(rest),
        Some(rig @ ("crash" | "bench")) => run_rig(rig, rest),
        None | Some("--help" | "-h" | "help") => {
            say(HELP);
            Ok(())
        }
        Some(other) => Err(format!("there is no task {other:?}\n\n{HELP}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say(&format!("xtask: {failure}"));
            ExitCode::FAILURE
        }
    }
}

/// The rigs measure and kill the real binary, so both are built as they ship.
fn run_rig(rig: &str, arguments: &[String]) -> Result<(), Failure> {
    run(Command::new(cargo()).args(["build", "--release", "--quiet", "-p", "lotwire", "-p", "rigs"]))?;
    run(Command::new(root().join("target/release/rigs")).arg(rig).args(arguments))
}

/// Root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Runs a command in the workspace's root, its output going where ours goes.
fn run(command: &mut Command) -> Result<(), Failure> {
    command.current_dir(root());
    let shown = format!("{command:?}").replace('"', "");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown}: {status}")),
        Err(error) => Err(format!("{shown}: {error}")),
    }
}

#[expect(clippy::print_stdout, reason = "a task talks to the person who runs it")]
fn say(text: &str) {
    println!("{text}");
}
