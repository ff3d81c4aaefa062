//! Runs the fuzz targets (`fuzz/`), one after the other.
//!
//! cargo-fuzz builds them with coverage and without a sanitizer: nothing of ours is unsafe, and so any toolchain does. Where
//! there is no cargo-fuzz, the committed seeds are played through the same functions as ordinary tests.

use std::path::Path;
use std::process::Command;

use crate::{Failure, cargo, root, run, say};

const SECONDS_DEFAULT: u32 = 60;
/// An input of a target is not longer than this.
const INPUT_BYTES_MAX: u32 = 4_096;
/// One input may take this long.
const INPUT_SECONDS_MAX: u32 = 10;

/// `--seconds N` for each target, then names of targets; all when there are none.
pub(crate) fn run_task(arguments: &[String]) -> Result<(), Failure> {
    let (seconds, names) = read(arguments)?;
    let targets = targets(&root())?;
    if let Some(unknown) = names.iter().find(|name| !targets.contains(name)) {
        return Err(format!("there is no target {unknown}; there are {}", targets.join(", ")));
    }
    let has_cargo_fuzz =
        Command::new(cargo()).args(["fuzz", "--version"]).output().is_ok_and(|out| out.status.success());
    if !has_cargo_fuzz {
        say("there is no cargo-fuzz (cargo install cargo-fuzz): only the seeds are played");
        return play_seeds();
    }
    for target in targets.iter().filter(|target| names.is_empty() || names.contains(target)) {
        say(&format!("── {target}, {seconds} s"));
        let corpus = format!("fuzz/corpus/{target}");
        std::fs::create_dir_all(root().join(&corpus)).map_err(|error| format!("{corpus}: {error}"))?;
        let mut fuzz = Command::new(cargo());
        fuzz.args(["fuzz", "run", "--fuzz-dir", "fuzz", "--dev", "--sanitizer", "none", "--features", "libfuzzer"]);
        fuzz.args([target, &corpus, &format!("fuzz/seeds/{target}"), "--"]);
        fuzz.args([
            format!("-max_total_time={seconds}"),
            format!("-max_len={INPUT_BYTES_MAX}"),
            format!("-timeout={INPUT_SECONDS_MAX}"),
            "-print_final_stats=1".to_owned(),
        ]);
        run(&mut fuzz)?;
    }
    Ok(())
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
