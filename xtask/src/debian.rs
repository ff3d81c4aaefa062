//! Installs the Debian packages that tests need.

use std::path::Path;
use std::process::Command;

use crate::{Failure, run, say};

/// Installs `packages` unless `is_installed`. The error names them if they still can't be found.
pub(crate) fn ensure(packages: &[&str], is_installed: impl Fn() -> bool) -> Result<(), Failure> {
    if is_installed() {
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
    if is_installed() { Ok(()) } else { Err(format!("this needs Debian's {names}, which could not be installed")) }
}

/// True when a program of this name is on the path.
pub(crate) fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| Path::new(&folder).join(program).exists())
}
