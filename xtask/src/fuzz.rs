//! Runs the fuzz targets (`fuzz/`), one after the other, and says what came of each.
//!
//! cargo-fuzz, installed below `target` when it is not there, builds them with coverage and without a sanitizer: nothing of ours is
//! unsafe, and so any toolchain does. CI plays the committed seeds through the same functions as ordinary tests.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::{Failure, cargo, debian, root, run, say};

const SECONDS_DEFAULT: u32 = 60;
/// An input of a target is not longer than this.
const INPUT_BYTES_MAX: u32 = 4_096;
/// One input may take this long.
const INPUT_SECONDS_MAX: u32 = 10;
const CARGO_FUZZ_VERSION: &str = "0.13.2";

/// `--seconds N` for each target, then names of targets; all when there are none. A target that finds something does not keep the
/// others from being run.
pub(crate) fn run_task(arguments: &[String]) -> Result<(), Failure> {
    let (seconds, names) = read(arguments)?;
    let targets = targets(&root())?;
    if let Some(unknown) = names.iter().find(|name| !targets.contains(name)) {
        return Err(format!("there is no target {unknown}; there are {}", targets.join(", ")));
    }
    let cargo_fuzz = install()?;
    let chosen: Vec<&String> = targets.iter().filter(|target| names.is_empty() || names.contains(target)).collect();
    say(&format!("building {} targets with coverage (some minutes the first time)", chosen.len()));
    for target in &chosen {
        run(cargo_fuzz_command(&cargo_fuzz, "build").arg(target))?;
    }
    let begin = Instant::now();
    let mut found = Vec::new();
    say(&format!("{:<20} {:>10} {:>8} {:>10}", "target", "inputs", "a second", "new kept"));
    for target in &chosen {
        let (succeeded, log) = fuzz(&cargo_fuzz, target, seconds)?;
        let figure = |name| figure(&log, name);
        let (inputs, rate, new) =
            (figure("number_of_executed_units"), figure("average_exec_per_sec"), figure("new_units_added"));
        say(&format!(
            "{target:<20} {inputs:>10} {rate:>8} {new:>10}{}",
            if succeeded { "" } else { "  found something" }
        ));
        if !succeeded {
            found.push((*target).clone());
        }
    }
    let took = begin.elapsed().as_secs();
    if found.is_empty() {
        say(&format!("fuzz: nothing found in {} targets, {seconds} s each, {took} s in all", chosen.len()));
        return Ok(());
    }
    Err(format!(
        "{} found something after {took} s: see target/fuzz/<target>.log, and the input in fuzz/artifacts/<target>; \
         a fixed one goes into fuzz/seeds/<target>",
        found.join(", ")
    ))
}

/// The program, which is installed when it is not there in its version.
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
        let mut install = Command::new(cargo());
        install.args(["install", "cargo-fuzz", "--locked", "--quiet", "--version", CARGO_FUZZ_VERSION, "--root"]);
        run(install.arg(&folder))?;
    }
    Ok(program)
}

fn cargo_fuzz_command(program: &Path, what: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["fuzz", what, "--fuzz-dir", "fuzz", "--dev", "--sanitizer", "none", "--features", "libfuzzer"]);
    command
}

/// Whether it found nothing, and what it said.
fn fuzz(program: &Path, target: &str, seconds: u32) -> Result<(bool, String), Failure> {
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
    Ok((status.success(), String::from_utf8_lossy(&fs::read(&path).map_err(failed)?).into_owned()))
}

/// A figure of libFuzzer's final statistics; `-` when it did not come to them.
fn figure(log: &str, name: &str) -> String {
    let mut lines = log.lines().filter_map(|line| line.strip_prefix("stat::")?.split_once(':'));
    lines.find(|(is, _)| *is == name).map_or("-".to_owned(), |(_, value)| value.trim().to_owned())
}

/// The seeds through the targets, with any toolchain; what is compiled is shared with everything else.
pub(crate) fn play_seeds() -> Result<(), Failure> {
    let mut test = Command::new(cargo());
    run(test.args(["test", "--quiet", "--manifest-path", "fuzz/Cargo.toml"]).env("CARGO_TARGET_DIR", "target"))
}

fn read(arguments: &[String]) -> Result<(u32, Vec<String>), Failure> {
    match arguments {
        [flag, seconds, names @ ..] if flag == "--seconds" => {
            let seconds = seconds.parse().map_err(|_| format!("--seconds takes a number, not {seconds:?}"))?;
            Ok((seconds, names.to_vec()))
        }
        [flag, ..] if flag.starts_with('-') => Err("usage: cargo xtask fuzz [--seconds N] [TARGET …]".to_owned()),
        names => Ok((SECONDS_DEFAULT, names.to_vec())),
    }
}

/// Each has a folder of seeds.
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
    fn a_figure_is_found_among_what_libfuzzer_says() {
        let log = "#2\tINITED cov: 90 ft: 91\nDone 41371 runs in 6 second(s)\nstat::number_of_executed_units: 41371\n\
                   stat::average_exec_per_sec:     6895\nstat::new_units_added:          12\n";
        assert_eq!(figure(log, "number_of_executed_units"), "41371");
        assert_eq!(figure(log, "average_exec_per_sec"), "6895");
        assert_eq!(figure("==1== ERROR: libFuzzer: deadly signal", "new_units_added"), "-");
    }
}
