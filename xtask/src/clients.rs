//! Installs the provider's official clients in other languages below `target/clients`, and an issuer of OpenID Connect, in the
//! versions that `crates/testing/stories/clients` names. The stories in `crates/testing/stories` run them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Failure, debian, run};

/// Installs each client that is missing or has another version.
pub(crate) fn install(root: &Path) -> Result<(), Failure> {
    let (from, to) = (root.join("crates/testing/stories/clients"), root.join("target/clients"));
    python(&from.join("python"), &to.join("python"))?;
    javascript(&from.join("javascript"), &to.join("javascript"))
}

/// Creates a Python environment in `to` with the packages of the `requirements.txt` in `from`.
pub(crate) fn python(from: &Path, to: &Path) -> Result<(), Failure> {
    python_by("python3", from, to)
}

/// The same with a certain interpreter: `/usr/bin/python3` is one that every user of the machine may run.
pub(crate) fn python_by(interpreter: &str, from: &Path, to: &Path) -> Result<(), Failure> {
    let wanted = from.join("requirements.txt");
    let installed = to.join("requirements.txt");
    if same(&wanted, &installed) {
        return Ok(());
    }
    debian::ensure(&["python3", "python3-venv"], || has_venv(interpreter))?;
    run(Command::new(interpreter).args(["-m", "venv", "--clear"]).arg(to))?;
    run(Command::new(to.join("bin/pip"))
        .args(["install", "--quiet", "--disable-pip-version-check", "-r"])
        .arg(&wanted))?;
    copy(&wanted, &installed)
}

/// True when this interpreter can create an environment with `pip`.
pub(crate) fn has_venv(interpreter: &str) -> bool {
    let imported = Command::new(interpreter).args(["-c", "import venv, ensurepip"]).output();
    imported.is_ok_and(|output| output.status.success())
}

fn javascript(from: &Path, to: &Path) -> Result<(), Failure> {
    // Node.js looks for libraries beside the script, so the script is copied to them.
    fs::create_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
    for file in ["whole_surface.mjs", "web_crypto.mjs", "issuer.mjs", "package.json"] {
        copy(&from.join(file), &to.join(file))?;
    }
    let wanted = from.join("package-lock.json");
    let installed = to.join("package-lock.json");
    if same(&wanted, &installed) {
        return Ok(());
    }
    debian::ensure(&["nodejs", "npm"], || debian::on_path("node") && debian::on_path("npm"))?;
    copy(&wanted, &installed)?;
    run(Command::new("npm").args(["ci", "--silent", "--no-audit", "--no-fund", "--prefix"]).arg(to))
        .inspect_err(|_| drop(fs::remove_file(&installed)))
}

fn same(one: &Path, other: &Path) -> bool {
    matches!((fs::read(one), fs::read(other)), (Ok(one), Ok(other)) if one == other)
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::copy(from, to).map(drop).map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}
