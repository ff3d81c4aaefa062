//! Generated files in the repository, which `lotwire` prints. CI prints them again and fails on a difference.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Failure, cargo, say, target_dir};

/// File, and the arguments of `lotwire` that print it.
const GENERATED: &[(&str, &[&str])] = &[
    ("docs/operate/configuration.md", &["config", "reference"]),
    ("docs/apis/asyncapi.json", &["asyncapi"]),
    ("docs/apis/openapi/platform.json", &["openapi", "platform"]),
    ("docs/apis/openapi/provider.json", &["openapi", "provider"]),
    ("docs/apis/openapi/saleroom.json", &["openapi", "saleroom"]),
];

/// `generate [--check]`.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), Failure> {
    let build = || crate::run(cargo().args(["build", "--quiet", "-p", "lotwire"]));
    match arguments {
        [] => {
            build()?;
            write(root)
        }
        [flag] if flag == "--check" => {
            build()?;
            check(root)
        }
        _ => Err("usage: cargo xtask generate [--check]".to_owned()),
    }
}

/// Fails when a committed file differs from what `target/debug/lotwire` prints.
pub(crate) fn check(root: &Path) -> Result<(), Failure> {
    let differing: Vec<&str> = differing(root)?.into_iter().map(|(file, _)| file).collect();
    if differing.is_empty() {
        return Ok(());
    }
    Err(format!("{} differ from the code; run `cargo xtask generate` and commit", differing.join(", ")))
}

fn write(root: &Path) -> Result<(), Failure> {
    for (file, text) in differing(root)? {
        let path = root.join(file);
        let folder = path.parent().unwrap_or(root);
        fs::create_dir_all(folder).and_then(|()| fs::write(&path, text)).map_err(|error| format!("{file}: {error}"))?;
        say(&format!("generate: {file}"));
    }
    Ok(())
}

/// The files that differ, with their new text.
fn differing(root: &Path) -> Result<Vec<(&'static str, Vec<u8>)>, Failure> {
    let mut differing = Vec::new();
    for (file, arguments) in GENERATED {
        let output = Command::new(target_dir().join("debug/lotwire"))
            .args(*arguments)
            .output()
            .map_err(|error| format!("lotwire {}: {error}", arguments.join(" ")))?;
        if !output.status.success() {
            return Err(format!("lotwire {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)));
        }
        if fs::read(root.join(file)).ok().as_deref() != Some(&output.stdout) {
            differing.push((*file, output.stdout));
        }
    }
    Ok(differing)
}
