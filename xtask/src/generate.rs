//! Files that are made from the code and committed: CI makes them again and fails on a difference.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Failure, cargo, say};

/// File, and the arguments of `lotwire` that print it.
const GENERATED: &[(&str, &[&str])] = &[
    ("docs/operate/configuration.md", &["config", "reference"]),
    ("docs/apis/asyncapi.json", &["asyncapi"]),
    ("docs/apis/openapi/platform.json", &["openapi", "platform"]),
    ("docs/apis/openapi/provider.json", &["openapi", "provider"]),
];

/// Makes the files, or with `--check` says which of them differ.
pub(crate) fn run_task(root: &Path, check: bool) -> Result<(), Failure> {
    crate::run(Command::new(cargo()).args(["build", "--quiet", "-p", "lotwire"]))?;
    let mut differing = Vec::new();
    for (file, arguments) in GENERATED {
        let output = Command::new(root.join("target/debug/lotwire"))
            .args(*arguments)
            .output()
            .map_err(|error| format!("lotwire {}: {error}", arguments.join(" ")))?;
        if !output.status.success() {
            return Err(format!("lotwire {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)));
        }
        let path = root.join(file);
        if fs::read(&path).ok().as_deref() == Some(&output.stdout) {
            continue;
        }
        differing.push(*file);
        if !check {
            let folder = path.parent().unwrap_or(root);
            fs::create_dir_all(folder)
                .and_then(|()| fs::write(&path, &output.stdout))
                .map_err(|error| format!("{file}: {error}"))?;
            say(&format!("generate: {file}"));
        }
    }
    if check && !differing.is_empty() {
        return Err(format!("{} differ from the code; run `cargo xtask generate` and commit", differing.join(", ")));
    }
    Ok(())
}

/// `generate [--check]`.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), Failure> {
    match arguments {
        [] => run_task(root, false),
        [flag] if flag == "--check" => run_task(root, true),
        _ => Err("generate takes --check or nothing".to_owned()),
    }
}
