//! Development tasks, run as `cargo xtask <task>`.

mod ci;
mod clients;
mod container_test;
mod debian;
mod debian_root;
mod dist;
mod failover;
mod fresh;
mod fuzz;
mod generate;
mod licences;
mod package_test;
mod provider_facts;
mod release_check;
mod releases;
mod samples;
mod schemathesis;
mod test_run;
mod tidy;
mod upgrade_test;
mod watch_test;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

const HELP: &str = "\
cargo xtask <task>

  ci                  run everything that has to pass before a change lands: format, tidy, licences, clippy, generated files,
                      all tests, a sale, and one kill -9 on each engine
  release-check       run what takes longer, before a release and when what it covers changed: long stories, documentation,
                      OpenAPI against a running server, ten times kill -9 on each engine, failovers of PostgreSQL, restores of
                      backups, reverse proxies, metrics and alerts, the Debian package on a new machine, and the container
  test [NAME …]       build everything and run all tests side by side, or those of the named packages and targets
  tidy                check arrows between crates, references, alert rules, migrations, settings, forbidden phrases, real sleeps
                      and file sizes
  licences            check licences, sources and banned crates of all dependencies against deny.toml
  generate [--check]  write docs/apis/*.json and docs/operate/configuration.md; --check only reports differences
  provider-facts FILE extract what tests compare with from the public OpenAPI document of the webhook API
  clients             install the provider's official clients in other languages, which tests run
  samples [--install]
                      run the App Portal's samples that verify signatures, in every language; --install installs the
                      missing runtimes with apt
  fuzz [--seconds N] [TARGET …]
                      run each fuzz target for N seconds (60)
  schemathesis [platform|provider]
                      send generated requests to target/debug/lotwire and check the responses against OpenAPI
  dist                build the archive, the Debian package, the list of crates and the checksums of a release
                                                                                      (more: cargo xtask dist --help)
  package-test        install, upgrade, remove and purge the Debian package on a new machine, with a sale
                                                                                      (more: cargo xtask package-test --help)
  watch-test          let Debian's Prometheus watch a sale with faults: names of metrics, queries of the dashboard, alert rules
  container-test      build the container image and run a sale in it
  proxy-test          use a server through nginx, Caddy and HAProxy, with the examples in docs/operate/proxies
  upgrade-test        upgrade the databases of the last release during a sale, on both engines, and go back
                                                                                      (more: cargo xtask upgrade-test --help)
  release             add the version and its commit to packaging/releases.toml
  fresh               run both commands of the README in a new Debian root      (more: cargo xtask fresh --help)
  crash --kills N     kill -9 a server N times during a sale and count what arrives   (more: cargo xtask crash --help)
  failover            make a cluster of three PostgreSQL servers fail during a sale on two nodes, and count what is lost
                                                                                      (more: cargo xtask failover --help)
  bench               measure deliveries, ending items and bids                       (more: cargo xtask bench --help)
  restore             back up during a sale, restore elsewhere, and compare both      (more: cargo xtask restore --help)
  screenshots         take pictures of every page: light and dark, desktop and phone  (more: cargo xtask screenshots --help)

Examples:
  cargo xtask ci
  cargo xtask test platform/store story
  cargo xtask generate && git diff docs/
  cargo xtask fuzz --seconds 10 endpoint_url
";

/// The error of a failed task, as text for the person who ran it.
type Failure = String;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rest = arguments.get(1..).unwrap_or_default();
    let outcome = match arguments.first().map(String::as_str) {
        Some("ci") => ci::run_all(),
        Some("tidy") => tidy::run(&root()),
        Some("test") => test_run::run_task(rest),
        Some("upgrade-test") => upgrade_test::run_task(rest),
        Some("release") => releases::run_task(rest),
        Some("release-check") => release_check::run_all(),
        Some("clients") => clients::install(&root()),
        Some("schemathesis") => schemathesis::run_task(&root(), rest),
        Some("generate") => generate::run(&root(), rest),
        Some("licences") => licences::check(),
        Some("provider-facts") => provider_facts::run_task(&root(), rest),
        Some("dist") => dist::run_task(rest),
        Some("container-test") => container_test::run_task(rest),
        Some("proxy-test") => proxy_test(),
        Some("watch-test") => watch_test::check(),
        Some("package-test") => package_test::run_task(rest),
        Some("failover") => failover::run_task(rest),
        Some("fresh") => fresh::run_task(rest),
        Some("samples") => samples::run_task(rest),
        Some("fuzz") => fuzz::run_task(rest),
        Some(rig @ ("crash" | "bench" | "restore")) => run_rig(rig, rest),
        Some("screenshots") => take_screenshots(rest),
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

/// A named part of `ci` or of `release-check`.
type Step = (&'static str, fn() -> Result<(), Failure>);

/// Runs the steps, prints how long each took, and stops at the first that fails.
fn run_steps(task: &str, steps: &[Step]) -> Result<(), Failure> {
    let begin = Instant::now();
    for (name, step) in steps {
        say(&format!("── {name}"));
        let begin = Instant::now();
        step().map_err(|failure| format!("{name}: {failure}"))?;
        say(&format!("   {name}: {:.0} s", begin.elapsed().as_secs_f32()));
    }
    say(&format!("{task}: all {} steps are green after {:.0} s", steps.len(), begin.elapsed().as_secs_f32()));
    Ok(())
}

/// The rigs measure and kill the optimised binary that packages contain.
fn run_rig(rig: &str, arguments: &[String]) -> Result<(), Failure> {
    run(cargo().args(["build", "--profile", "dist", "--quiet", "-p", "lotwire", "-p", "rigs"]))?;
    run(Command::new(target_dir().join("dist/rigs")).arg(rig).args(arguments))
}

/// Uses a server through the reverse proxies of the guide.
fn proxy_test() -> Result<(), Failure> {
    // nginx and HAProxy are where only the path of root leads.
    let is_installed = |name: &str| debian::on_path(name) || Path::new("/usr/sbin").join(name).exists();
    debian::ensure(&["nginx-light", "caddy", "haproxy"], || {
        ["nginx", "caddy", "haproxy"].into_iter().all(is_installed)
    })?;
    run(cargo().args(["build", "--quiet", "-p", "lotwire", "-p", "rigs"]))?;
    run(Command::new(target_dir().join("debug/rigs")).arg("proxies").current_dir(root()))
}

/// Builds without optimisation, which pictures do not need and which takes minutes.
fn take_screenshots(arguments: &[String]) -> Result<(), Failure> {
    debian::ensure(&["chromium"], || debian::on_path("chromium"))?;
    run(cargo().args(["build", "--quiet", "-p", "lotwire", "-p", "rigs"]))?;
    run(Command::new(target_dir().join("debug/rigs")).arg("screenshots").args(arguments))
}

/// Root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

/// The folder in which cargo puts what it builds.
fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// A command of cargo. It doesn't get what the `cargo run` of this task says about this package: build scripts that read it
/// would run again, and much of the workspace would be compiled again.
fn cargo() -> Command {
    let mut command = Command::new(cargo_program());
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
        command.env_remove(name);
    }
    command
}

fn cargo_program() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Runs a command in the workspace's root with the output of this process.
fn run(command: &mut Command) -> Result<(), Failure> {
    command.current_dir(root());
    let shown = format!("{command:?}").replace('"', "");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown}: {status}")),
        Err(error) => Err(format!("{shown}: {error}")),
    }
}

#[expect(clippy::print_stdout, reason = "a task prints for the person who runs it")]
fn say(text: &str) {
    println!("{text}");
}
