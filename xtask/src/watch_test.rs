//! `cargo xtask watch-test`: checks metrics, alert rules and dashboard with Debian's Prometheus, which scrapes real servers.

use std::process::Command;

use crate::{Failure, cargo, debian, run, target_dir};

/// Installs Prometheus if it is missing, builds the server and runs the rig.
pub(crate) fn check() -> Result<(), Failure> {
    debian::ensure(&["prometheus"], || ["prometheus", "promtool"].iter().all(|name| debian::on_path(name)))?;
    run(cargo().args(["build", "--quiet", "-p", "lotwire", "-p", "rigs"]))?;
    run(Command::new(target_dir().join("debug/rigs")).arg("watch"))
}
