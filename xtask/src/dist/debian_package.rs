//! The Debian package, which cargo-deb makes from the metadata in `crates/lotwire/Cargo.toml`.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::commit_time;
use crate::{Failure, cargo, debian, root, run, target_dir};

/// Version of cargo-deb that makes the packages.
const CARGO_DEB_VERSION: &str = "3.8.0";

/// Writes the package below `packages` and returns its path.
pub(super) fn build(staging: &Path, packages: &Path, revision: u32) -> Result<PathBuf, Failure> {
    // Debian's policy wants man pages compressed. For a further revision they are already.
    let compress = r#"for page in "$0"/*.1; do [ ! -e "$page" ] || gzip --no-name --best "$page"; done"#;
    run(Command::new("sh").args(["-c", compress]).arg(staging.join("man")))?;
    // dpkg-shlibdeps, which finds the libraries that the binary needs.
    debian::ensure(&["dpkg-dev"], || debian::on_path("dpkg-shlibdeps"))?;
    let tool = install_tool("cargo-deb", CARGO_DEB_VERSION)?;
    run(Command::new(tool)
        .args(["deb", "--package", "lotwire", "--profile", "dist", "--no-build", "--no-strip", "--locked"])
        .arg(format!("--deb-revision={revision}"))
        .arg("--output")
        .arg(packages)
        .env("SOURCE_DATE_EPOCH", commit_time()?))?;
    let is_package = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "deb");
    let files = std::fs::read_dir(packages).map_err(|error| format!("{}: {error}", packages.display()))?;
    let found = files.flatten().map(|file| file.path()).find(is_package);
    found.ok_or_else(|| "cargo-deb wrote no package".to_owned())
}

/// A subcommand of cargo on the path, or installed in target/tools, in this version.
pub(super) fn install_tool(name: &str, version: &str) -> Result<PathBuf, Failure> {
    let tools = target_dir().join("tools");
    let installed = tools.join("bin").join(name);
    if debian::on_path(name) {
        return Ok(PathBuf::from(name));
    }
    if !installed.exists() {
        run(cargo()
            .args(["install", name, "--locked", "--quiet", "--version", version, "--root"])
            .arg(&tools)
            .current_dir(root()))?;
    }
    Ok(installed)
}
