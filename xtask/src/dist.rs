//! `cargo xtask dist`: what is released, in target/dist/packages. A stripped binary with man pages and completions as an archive and
//! as a Debian package, the list of all crates in it, and checksums.

mod debian_package;
mod sbom;
pub(crate) mod unit;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, cargo, root, run, say, target_dir};

const HELP: &str = "\
cargo xtask dist [--binary FILE] [--revision N]

Builds the release's files in target/dist/packages: an archive, a Debian package, a CycloneDX list of all crates in the binary, and
SHA256SUMS. Building the binary takes about 6 minutes on two cores.

  --binary FILE     package this binary instead of building one, for a try of the packaging
  --revision N      Debian's revision of the package (1)
";

/// Files of the repository in the archive, and their names there.
const ARCHIVE_FILES: &[(&str, &str)] = &[
    ("packaging/lotwire.toml", "lotwire.toml"),
    ("packaging/systemd/lotwire.service", "lotwire.service"),
    ("README.md", "README.md"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("LICENSE-MIT", "LICENSE-MIT"),
];

/// What to build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    /// Packaged instead of a new build.
    pub(crate) binary: Option<PathBuf>,
    pub(crate) revision: u32,
}

/// Runs `cargo xtask dist`.
pub(crate) fn run_task(arguments: &[String]) -> Result<(), Failure> {
    if arguments.iter().any(|argument| argument == "--help") {
        say(HELP);
        return Ok(());
    }
    build(&parse(arguments)?).map(drop)
}

fn parse(arguments: &[String]) -> Result<Options, Failure> {
    let mut options = Options { binary: None, revision: 1 };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value\n\n{HELP}"));
        match argument.as_str() {
            "--binary" => options.binary = Some(PathBuf::from(value()?)),
            "--revision" => {
                let revision = value()?;
                options.revision = revision.parse().map_err(|_| format!("{revision:?} is not a number\n\n{HELP}"))?;
            }
            other => return Err(format!("there is no option {other:?}\n\n{HELP}")),
        }
    }
    Ok(options)
}

/// Builds everything and returns the Debian package.
pub(crate) fn build(options: &Options) -> Result<PathBuf, Failure> {
    let binary = match &options.binary {
        Some(binary) => root().join(binary),
        None => {
            run(cargo().args(["build", "--profile", "dist", "--locked", "-p", "lotwire"]))?;
            target_dir().join("dist/lotwire")
        }
    };
    let staging = staging();
    stage(&binary, &staging)?;
    unit::check()?;
    check_configuration(&staging)?;
    let packages = packages_dir();
    empty(&packages)?;
    archive(&staging, &packages)?;
    let package = debian_package::build(&staging, &packages, options.revision)?;
    sbom::write(&packages)?;
    checksums(&packages)?;
    say(&format!("dist: {}", packages.display()));
    Ok(package)
}

/// Packages what the last [`build`] packaged as the next revision, in target/dist/next: what an upgrade is tried with.
pub(crate) fn build_next(revision: u32) -> Result<PathBuf, Failure> {
    let next = target_dir().join("dist/next");
    empty(&next)?;
    debian_package::build(&staging(), &next, revision)
}

/// Where the release's files are.
pub(crate) fn packages_dir() -> PathBuf {
    target_dir().join("dist/packages")
}

/// What the packages contain besides files of the repository. The metadata of the Debian package names this folder.
fn staging() -> PathBuf {
    target_dir().join("dist/staging")
}

/// Copies the binary, strips it, and lets it write its man pages and completions.
fn stage(binary: &Path, staging: &Path) -> Result<(), Failure> {
    empty(staging)?;
    let staged = staging.join("lotwire");
    fs::copy(binary, &staged).map_err(|error| format!("{}: {error}", binary.display()))?;
    run(Command::new("strip").arg("--strip-all").arg(&staged))?;
    run(Command::new(&staged).arg("command-line-files").arg(staging))
}

/// The shipped configuration is valid for the shipped binary.
fn check_configuration(staging: &Path) -> Result<(), Failure> {
    run(Command::new(staging.join("lotwire"))
        .args(["config", "check", "--config"])
        .arg(root().join("packaging/lotwire.toml")))
}

/// `lotwire-VERSION-ARCHITECTURE-linux.tar.gz`, the same bytes from the same commit and compiler.
fn archive(staging: &Path, packages: &Path) -> Result<(), Failure> {
    let name = format!("lotwire-{}-{}-linux", version(), std::env::consts::ARCH);
    let contents = target_dir().join("dist").join(&name);
    if contents.exists() {
        fs::remove_dir_all(&contents).map_err(|error| format!("{}: {error}", contents.display()))?;
    }
    run(Command::new("cp").args(["--recursive", "--preserve=mode"]).arg(staging).arg(&contents))?;
    for (file, name) in ARCHIVE_FILES {
        fs::copy(root().join(file), contents.join(name)).map_err(|error| format!("{file}: {error}"))?;
    }
    run(Command::new("tar")
        .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX", "--create"])
        .arg(format!("--mtime=@{}", commit_time()?))
        .args(["--use-compress-program=gzip --no-name -9", "--directory"])
        .arg(target_dir().join("dist"))
        .arg("--file")
        .arg(packages.join(format!("{name}.tar.gz")))
        .arg(&name))?;
    fs::remove_dir_all(&contents).map_err(|error| format!("{}: {error}", contents.display()))
}

/// Writes SHA256SUMS, which `sha256sum --check SHA256SUMS` reads.
fn checksums(packages: &Path) -> Result<(), Failure> {
    let script = "sha256sum -- $(ls | grep -v SHA256SUMS) > SHA256SUMS && cat SHA256SUMS";
    run(Command::new("sh").args(["-c", &format!("cd {} && {script}", quoted(packages))]))
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// Seconds of the last commit since 1970: the time of all files in the packages.
fn commit_time() -> Result<String, Failure> {
    let output = Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root()).output();
    let output = output.map_err(|error| format!("git log: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The version of all crates.
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// A folder without the files of an earlier build, which have another version or revision.
fn empty(folder: &Path) -> Result<(), Failure> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    make_dir(folder)
}

fn make_dir(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_revision_and_a_binary_are_options() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(parse(&[]), Ok(Options { binary: None, revision: 1 }));
        let options = Options { binary: Some("target/debug/lotwire".into()), revision: 2 };
        assert_eq!(parse(&words("--binary target/debug/lotwire --revision 2")), Ok(options));
        for wrong in ["--revision", "--revision two", "--binray lotwire"] {
            assert!(parse(&words(wrong)).is_err_and(|why| why.contains(HELP)), "{wrong}");
        }
    }

    #[test]
    fn the_files_of_the_archive_exist() {
        for (file, _) in ARCHIVE_FILES {
            assert!(root().join(file).is_file(), "{file}");
        }
    }
}
