//! The list of all crates in the binary, with versions, licences and checksums, as CycloneDX (an SBOM).

use std::path::Path;
use std::process::Command;

use super::debian_package::install_tool;
use super::{commit_time, make_dir, quoted, version};
use crate::{Failure, root, run, target_dir};

/// Version of the tool, which the CycloneDX project maintains.
const CARGO_CYCLONEDX_VERSION: &str = "0.5.9";

/// Writes `lotwire-VERSION.cdx.json`.
pub(super) fn write(packages: &Path) -> Result<(), Failure> {
    let tool = install_tool("cargo-cyclonedx", CARGO_CYCLONEDX_VERSION)?;
    // The tool writes a file beside the manifest of every crate of the workspace, so it works on a copy.
    let copy = target_dir().join("dist/sources");
    copy_sources(&copy)?;
    let name = format!("lotwire-{}.cdx", version());
    run(Command::new(tool)
        .args([
            "cyclonedx",
            "--format",
            "json",
            "--spec-version",
            "1.5",
            "--override-filename",
            &name,
            "--manifest-path",
        ])
        .arg(copy.join("crates/lotwire/Cargo.toml"))
        .env("SOURCE_DATE_EPOCH", commit_time()?))?;
    let file = format!("{name}.json");
    let written = copy.join("crates/lotwire").join(&file);
    let text = std::fs::read_to_string(&written).map_err(|error| format!("{}: {error}", written.display()))?;
    // Where the sources were is of no use to a reader.
    let text = text.replace(&copy.display().to_string(), "/lotwire");
    std::fs::write(packages.join(&file), text).map_err(|error| format!("{file}: {error}"))?;
    std::fs::remove_dir_all(&copy).map_err(|error| format!("{}: {error}", copy.display()))
}

/// Copies the sources, without what git ignores.
fn copy_sources(copy: &Path) -> Result<(), Failure> {
    make_dir(copy)?;
    let files = "git ls-files -z --cached --others --exclude-standard";
    let script = format!(
        "cd {} && {files} | tar --create --null --files-from=- | tar --extract --directory {}",
        quoted(&root()),
        quoted(copy)
    );
    run(Command::new("sh").args(["-c", &script]))
}
