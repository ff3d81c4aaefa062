//! A wrong wall clock for one child process: a library that replaces `clock_gettime`, loaded with `LD_PRELOAD`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Variable with the seconds by which the clock is ahead; negative when it is behind.
const AHEAD_VARIABLE: &str = "TESTKIT_CLOCK_AHEAD_S";

const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
  int failed = (int)syscall(SYS_clock_gettime, clock, time);
  const char *ahead = getenv("TESTKIT_CLOCK_AHEAD_S");
  if (!failed && clock == CLOCK_REALTIME && ahead) time->tv_sec += atol(ahead);
  return failed;
}
"#;

/// The variables for a process whose wall clock is `ahead_s` seconds ahead. The C compiler `cc` builds the library in
/// `directory`, which has to outlive the process.
pub(crate) fn variables(directory: &Path, ahead_s: i64) -> std::io::Result<[(&'static str, String); 2]> {
    let library = build(directory)?;
    Ok([("LD_PRELOAD", library.display().to_string()), (AHEAD_VARIABLE, ahead_s.to_string())])
}

fn build(directory: &Path) -> std::io::Result<PathBuf> {
    let (source, library) = (directory.join("skewed_clock.c"), directory.join("skewed_clock.so"));
    std::fs::write(&source, SOURCE)?;
    let status = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status()?;
    if status.success() { Ok(library) } else { Err(std::io::Error::other(format!("cc failed: {status}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(command: &mut Command) -> i64 {
        let output = command.args(["+%s"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
    }

    #[test]
    fn the_clock_of_the_child_process_is_off() {
        let directory = tempfile::tempdir().unwrap();
        for ahead_s in [1_000_000, -1_000_000] {
            let off = seconds(Command::new("date").envs(variables(directory.path(), ahead_s).unwrap()));
            let difference_s = off - seconds(&mut Command::new("date"));
            assert!((difference_s - ahead_s).abs() < 100, "{difference_s}");
        }
    }
}
