//! Debian's packages that tests need, installed when they are not there.

use std::path::Path;
use std::process::Command;

use crate::{Failure, run, say};

/// Installs `packages` unless `is_there`; an error that names them when that was not enough.
pub(crate) fn ensure(packages: &[&str], is_there: impl Fn() -> bool) -> Result<(), Failure> {
    if is_there() {
        return Ok(());
    }
    let names = packages.join(" ");
    say(&format!("installing Debian's {names}"));
    let privilege: &[&str] = if on_path("sudo") { &["sudo"] } else { &[] };
    for arguments in [&["apt-get", "update", "-qq"][..], &["apt-get", "install", "-y", "-qq"]] {
        let words: Vec<&str> = privilege.iter().chain(arguments).copied().collect();
        let wanted = if arguments.contains(&"install") { packages } else { &[] };
        run(Command::new(words[0]).args(&words[1..]).args(wanted).env("DEBIAN_FRONTEND", "noninteractive"))?;
    }
    if is_there() { Ok(()) } else { Err(format!("this needs Debian's {names}, which could not be installed")) }
}

/// Whether a program of this name can be run.
pub(crate) fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| Path::new(&folder).join(program).exists())
}
