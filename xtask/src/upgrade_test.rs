//! `cargo xtask upgrade-test`: upgrades the last release to the present build during sales, on both engines, and goes back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::releases::{self, Release, git};
use crate::{Failure, cargo, root, run, say, target_dir};

const HELP: &str = "\
cargo xtask upgrade-test [--from BINARY] [--store sqlite|postgres] [--kills N]

Builds the last release of packaging/releases.toml from its commit in target/releases (once, about 6 minutes), and runs it through
sales with kill -9 while its nodes are replaced by the present build, one after the other. Checks that no event is lost, that the
audit log holds, that the old version goes on with the newer tables or refuses them, and that it restores the copy of the databases.

  --from BINARY     upgrade this binary instead of the last release
  --store ENGINE    upgrade on this engine only
  --kills N         kills of each node in each stage (3)
";

/// Runs `cargo xtask upgrade-test`.
pub(crate) fn run_task(arguments: &[String]) -> Result<(), Failure> {
    let (mut from, mut stores, mut kills) = (None, vec!["sqlite", "postgres"], "3");
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--help" {
            say(HELP);
            return Ok(());
        }
        let value = rest.next().ok_or_else(|| format!("{argument} needs a value\n\n{HELP}"))?;
        match argument.as_str() {
            "--from" => from = Some(PathBuf::from(value)),
            "--store" => stores = vec![value],
            "--kills" => kills = value,
            other => return Err(format!("there is no option {other:?}\n\n{HELP}")),
        }
    }
    let from = match from {
        Some(binary) => binary,
        None => last_release()?,
    };
    run(cargo().args(["build", "--quiet", "-p", "lotwire", "-p", "rigs"]))?;
    for store in stores {
        let rig = target_dir().join("debug/rigs");
        run(Command::new(rig).args(["upgrade", "--store", store, "--kills", kills, "--from"]).arg(&from))?;
    }
    Ok(())
}

/// The check before a release, from the last one.
pub(crate) fn check() -> Result<(), Failure> {
    if releases::read(&root())?.is_empty() {
        say("upgrade-test: nothing was released yet");
        return Ok(());
    }
    run_task(&[])
}

/// The binary of the last release, built from its commit.
fn last_release() -> Result<PathBuf, Failure> {
    let releases = releases::read(&root())?;
    let release = releases.last().ok_or("nothing was released yet: name a binary with --from")?;
    require_its_migrations(release)?;
    let folder = target_dir().join("releases").join(&release.version);
    let binary = folder.join("lotwire");
    if binary.exists() {
        return Ok(binary);
    }
    say(&format!("building {} from {}", release.version, release.commit));
    let source = folder.join("source");
    if !source.exists() {
        run(Command::new("git")
            .args(["worktree", "add", "--detach"])
            .arg(&source)
            .arg(&release.commit)
            .current_dir(root()))?;
    }
    let build = ["build", "--quiet", "--locked", "-p", "lotwire", "--target-dir"];
    let built = folder.join("build");
    // Tasks run in the root of this workspace, so the release's own manifest is named.
    let manifest = source.join("Cargo.toml");
    let outcome = run(cargo().args(build).arg(&built).arg("--manifest-path").arg(manifest));
    run(Command::new("git").args(["worktree", "remove", "--force"]).arg(&source).current_dir(root()))?;
    outcome?;
    require_version(&built.join("debug/lotwire"), &release.version)?;
    std::fs::copy(built.join("debug/lotwire"), &binary).map_err(|error| format!("{}: {error}", binary.display()))?;
    std::fs::remove_dir_all(&built).map_err(|error| format!("{}: {error}", built.display()))?;
    Ok(binary)
}

/// The binary says that it is this version, so that no build is compared with itself.
fn require_version(binary: &Path, version: &str) -> Result<(), Failure> {
    let output = Command::new(binary).arg("--version").output();
    let output = output.map_err(|error| format!("{}: {error}", binary.display()))?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if said == format!("lotwire {version}") {
        return Ok(());
    }
    Err(format!("{} says {said:?}, and is not {version}", binary.display()))
}

/// The commit of a release has the migrations that the list names.
fn require_its_migrations(release: &Release) -> Result<(), Failure> {
    let mut found = BTreeMap::new();
    for path in release.migrations.keys() {
        let text = git(&["show", &format!("{}:{path}", release.commit)])?;
        found.insert(path.clone(), releases::hash(text.as_bytes()));
    }
    if found == release.migrations {
        return Ok(());
    }
    Err(format!(
        "{}: the migrations of {} are not those of its commit {}",
        releases::FILE,
        release.version,
        release.commit
    ))
}
