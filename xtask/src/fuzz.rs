//! Runs the fuzz targets (`fuzz/`) one after the other and reports the result of each.
//!
//! The task installs cargo-fuzz below `target` if it is missing. It builds with coverage and without a sanitizer: our code has no
//! `unsafe`, so a stable toolchain suffices. CI plays the committed seeds through the same functions as ordinary tests.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::{Failure, cargo, debian, root, run, say};

const HELP: &str = "\
cargo xtask fuzz [--seconds N] [TARGET …]

Feeds what reads outside input with anything: N seconds (60, at most a day) for each target, one after the other; all of them when
none is named. The first time builds for some minutes. Ends with an error when something was found.

  fuzz/artifacts/TARGET   inputs that were found to break something
  target/fuzz/TARGET.log  what libFuzzer said
  fuzz/corpus/TARGET      inputs that reached new code, kept for the next time
  fuzz/seeds/TARGET       the committed ones, which tests play: a mended find goes there
";

const SECONDS_DEFAULT: u32 = 60;
/// The range starts at 1, because 0 means no limit to libFuzzer.
const SECONDS: std::ops::RangeInclusive<u32> = 1..=86_400;
/// Maximum length of an input.
const INPUT_BYTES_MAX: u32 = 4_096;
/// Time limit for one input.
const INPUT_SECONDS_MAX: u32 = 10;
const CARGO_FUZZ_VERSION: &str = "0.13.2";

/// The command that the command line requests.
#[derive(Debug, PartialEq, Eq)]
enum FuzzCommand {
    Help,
    /// Seconds for each of these targets; of all when none is named.
    Run(u32, Vec<String>),
}

/// The result of a target.
enum FuzzOutcome {
    Nothing,
    /// Inputs that break something.
    Found(Vec<PathBuf>),
    /// The run failed, and not because of an input.
    Failed,
}

/// Runs the named targets, or all, for `--seconds N` each. The other targets run even if one finds something.
pub(crate) fn run_task(arguments: &[String]) -> Result<(), Failure> {
    let (seconds, names) = match read(arguments)? {
        FuzzCommand::Help => {
            let targets = targets(&root())?.join(", ");
            say(&format!("{HELP}\nTargets: {targets}"));
            return Ok(());
        }
        FuzzCommand::Run(seconds, names) => (seconds, names),
    };
    let targets = targets(&root())?;
    if let Some(unknown) = names.iter().find(|name| !targets.contains(name)) {
        return Err(format!("there is no target {unknown}; there are {}", targets.join(", ")));
    }
    let cargo_fuzz = install()?;
    let chosen: Vec<&String> = targets.iter().filter(|target| names.is_empty() || names.contains(target)).collect();
    let count = chosen.len();
    say(&format!("building {count} targets with coverage (some minutes the first time)"));
    for target in &chosen {
        run(cargo_fuzz_command(&cargo_fuzz, "build").arg(target))?;
    }
    let begin = Instant::now();
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    say(&format!("each runs for {seconds} s, all of them for {} s", u64::from(seconds) * count as u64));
    say(&format!("{:<20} {:>10} {:>8} {:>10}", "target", "inputs", "a second", "new kept"));
    for target in &chosen {
        begin_line(&format!("{target:<20} "));
        let (came, log) = fuzz(&cargo_fuzz, target, seconds)?;
        let figure = |name| figure(&log, name);
        let (inputs, rate, new) =
            (figure("number_of_executed_units"), figure("average_exec_per_sec"), figure("new_units_added"));
        let words = match &came {
            FuzzOutcome::Nothing => "",
            FuzzOutcome::Found(_) => "  found something",
            FuzzOutcome::Failed => "  did not run",
        };
        say(&format!("{inputs:>10} {rate:>8} {new:>10}{words}"));
        match came {
            FuzzOutcome::Nothing => {}
            FuzzOutcome::Found(inputs) => found.extend(inputs),
            FuzzOutcome::Failed => failed.push(format!("target/fuzz/{target}.log")),
        }
    }
    let took = begin.elapsed().as_secs();
    if !failed.is_empty() {
        return Err(format!("targets that did not run to their end say why in {}", failed.join(", ")));
    }
    if found.is_empty() {
        say(&format!("fuzz: nothing found in {count} targets, {seconds} s each, {took} s in all"));
        return Ok(());
    }
    let found: Vec<_> = found.iter().map(|input| format!("\n  {}", input.display())).collect();
    Err(format!(
        "after {took} s, these inputs break something (target/fuzz/TARGET.log says what):{}\n\
         put one into fuzz/seeds/TARGET, and `cargo test -p fuzz` plays it until it is mended and after",
        found.concat()
    ))
}

/// Prints the beginning of a line, to which the caller adds the figures of the run.
#[expect(clippy::print_stdout, reason = "a task talks to the person who runs it")]
fn begin_line(text: &str) {
    print!("{text}");
    let _ = std::io::stdout().flush();
}

/// The path of cargo-fuzz, which is installed first if it is missing or has another version.
fn install() -> Result<PathBuf, Failure> {
    let folder = root().join("target/cargo-fuzz");
    let program = folder.join("bin/cargo-fuzz");
    let of_version = || {
        let output = Command::new(&program).args(["fuzz", "--version"]).output();
        output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(CARGO_FUZZ_VERSION))
    };
    // libFuzzer is C++.
    debian::ensure(&["g++"], || debian::on_path("c++"))?;
    if !of_version() {
        say(&format!("installing cargo-fuzz {CARGO_FUZZ_VERSION} in {}", folder.display()));
        let mut install = cargo();
        install.args(["install", "cargo-fuzz", "--locked", "--quiet", "--version", CARGO_FUZZ_VERSION, "--root"]);
        run(install.arg(&folder))?;
    }
    Ok(program)
}

fn cargo_fuzz_command(program: &Path, what: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["fuzz", what, "--fuzz-dir", "fuzz", "--release", "--debug-assertions"]);
    command.args(["--sanitizer", "none", "--features", "libfuzzer"]);
    command
}

/// Runs a target. Returns its outcome and its log.
fn fuzz(program: &Path, target: &str, seconds: u32) -> Result<(FuzzOutcome, String), Failure> {
    let (corpus, logs) = (root().join("fuzz/corpus").join(target), root().join("target/fuzz"));
    for folder in [&corpus, &logs] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let path = logs.join(format!("{target}.log"));
    let failed = |error| format!("{}: {error}", path.display());
    let log = File::create(&path).map_err(failed)?;
    let mut fuzz = cargo_fuzz_command(program, "run");
    fuzz.args([target, &format!("fuzz/corpus/{target}"), &format!("fuzz/seeds/{target}"), "--"]);
    fuzz.args([
        format!("-max_total_time={seconds}"),
        format!("-max_len={INPUT_BYTES_MAX}"),
        format!("-timeout={INPUT_SECONDS_MAX}"),
        "-print_final_stats=1".to_owned(),
    ]);
    fuzz.current_dir(root()).stdout(Stdio::null()).stderr(log);
    let status = fuzz.status().map_err(failed)?;
    let log = String::from_utf8_lossy(&fs::read(&path).map_err(failed)?).into_owned();
    let outcome = match found(&log) {
        _ if status.success() => FuzzOutcome::Nothing,
        none if none.is_empty() => FuzzOutcome::Failed,
        found => FuzzOutcome::Found(found),
    };
    Ok((outcome, log))
}

/// The paths of the failing inputs in the log of libFuzzer, relative to the workspace's root if they are below it.
fn found(log: &str) -> Vec<PathBuf> {
    let written = log.lines().filter_map(|line| line.split_once("Test unit written to "));
    let from_root = |path: &Path| path.strip_prefix(root()).unwrap_or(path).to_owned();
    written.map(|(_, path)| from_root(Path::new(path.trim()))).collect()
}

/// A figure of libFuzzer's final statistics; `-` when the log has none.
fn figure(log: &str, name: &str) -> String {
    let mut lines = log.lines().filter_map(|line| line.strip_prefix("stat::")?.split_once(':'));
    lines.find(|(is, _)| *is == name).map_or("-".to_owned(), |(_, value)| value.trim().to_owned())
}

fn read(arguments: &[String]) -> Result<FuzzCommand, Failure> {
    let mut seconds = SECONDS_DEFAULT;
    let mut names = Vec::new();
    let mut arguments = arguments.iter().map(String::as_str);
    while let Some(argument) = arguments.next() {
        let value = match argument {
            "--help" | "-h" => return Ok(FuzzCommand::Help),
            "--seconds" => arguments.next().unwrap_or_default(),
            _ => match argument.strip_prefix("--seconds=") {
                Some(value) => value,
                None if argument.starts_with('-') => return Err(format!("there is no {argument}\n\n{HELP}")),
                None => {
                    names.push(argument.to_owned());
                    continue;
                }
            },
        };
        let number = value.parse().ok().filter(|number| SECONDS.contains(number));
        let (least, most) = (SECONDS.start(), SECONDS.end());
        seconds = number.ok_or_else(|| format!("--seconds takes a number from {least} to {most}, not {value:?}"))?;
    }
    Ok(FuzzCommand::Run(seconds, names))
}

/// The names of the targets, each of which has a folder of seeds.
fn targets(root: &Path) -> Result<Vec<String>, Failure> {
    let folder = root.join("fuzz/seeds");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_found_in_the_log_of_libfuzzer() {
        let log = "#2\tINITED cov: 90 ft: 91\nDone 41371 runs in 6 second(s)\nstat::number_of_executed_units: 41371\n\
                   stat::average_exec_per_sec:     6895\nstat::new_units_added:          12\n";
        assert_eq!(figure(log, "number_of_executed_units"), "41371");
        assert_eq!(figure(log, "average_exec_per_sec"), "6895");
        assert_eq!(figure("==1== ERROR: libFuzzer: deadly signal", "new_units_added"), "-");
    }

    #[test]
    fn the_path_of_a_failing_input_is_found_in_the_log() {
        let path = root().join("fuzz/artifacts/page/crash-1f");
        let log = format!(
            "==7== ERROR: libFuzzer: deadly signal\nartifact_prefix='x/'; Test unit written to {}\n",
            path.display()
        );
        assert_eq!(found(&log), [Path::new("fuzz/artifacts/page/crash-1f")]);
        assert!(found("error: could not compile `fuzz`").is_empty());
    }

    #[test]
    fn seconds_and_targets_are_read_in_any_order_and_zero_seconds_are_refused() {
        let read = |text: &str| read(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let run = |seconds, names: &[&str]| {
            Ok(FuzzCommand::Run(seconds, names.iter().map(|name| (*name).to_owned()).collect()))
        };
        assert_eq!(read(""), run(60, &[]));
        assert_eq!(read("--seconds 5 page"), run(5, &["page"]));
        assert_eq!(read("page --seconds=5 headers"), run(5, &["page", "headers"]));
        assert_eq!(read("page -h"), Ok(FuzzCommand::Help));
        for wrong in ["--seconds", "--seconds 0", "--seconds -1", "--seconds ten", "--seconds 86401"] {
            assert!(read(wrong).unwrap_err().contains("1 to 86400"), "{wrong}");
        }
        assert!(read("--second 5").unwrap_err().contains("there is no --second\n"));
    }
}
