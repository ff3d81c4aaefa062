//! `cargo xtask container-test`: builds the image of `packaging/Containerfile` with podman and runs a sale in it, confined as the
//! guide says. The base images are made from Debian's packages, because a test may run where no registry of images is reached.

use std::path::PathBuf;
use std::process::Command;

use crate::package_test::{readme_sale, timed};
use crate::{Failure, cargo, debian, debian_root, fresh, root, run, say, target_dir};

const HELP: &str = "\
cargo xtask container-test [--image NAME]

Builds the container image on a Debian root of its own and runs a sale in it. Needs root; installs Debian's podman if it is missing.
After `cargo xtask dist`, it compiles only our own crates.

  --image NAME      try this image instead of building one
";

/// Base of the stage that compiles: what the official image of Rust has, without the toolchain, which is mounted.
const BUILD_BASE: &str = "localhost/lotwire-test-build";
/// Base of the image.
const RUN_BASE: &str = "localhost/lotwire-test-run";
const IMAGE: &str = "localhost/lotwire-test";
/// Name of the container and of its volume.
const NAME: &str = "lotwire-test";

/// Limits that this machine may set: podman's defaults are above those of a machine that is confined itself.
const OPEN_FILES: &str = "--ulimit=nofile=16384:16384";
const PROCESSES: &str = "--ulimit=nproc=4096:4096";

/// Options of the guide for a confined container.
const CONFINED: [&str; 3] = ["--read-only", "--cap-drop=all", "--security-opt=no-new-privileges"];

/// The server is the fixed user, without capabilities, on a read-only root, and healthy.
const CHECKS: &str = r#"
[ "$(id -u):$(id -g)" = 10001:10001 ]
grep -q '^CapBnd:.0*$' /proc/1/status
! touch /usr/local/bin/lotwire 2>/dev/null
lotwire health
lotwire doctor
"#;

/// Runs `cargo xtask container-test`.
pub(crate) fn run_task(arguments: &[String]) -> Result<(), Failure> {
    match arguments {
        [] => check(),
        [flag, image] if flag == "--image" => try_and_remove(image),
        [help] if help == "--help" => {
            say(HELP);
            Ok(())
        }
        _ => Err(HELP.to_owned()),
    }
}

/// Builds the image and runs it.
pub(crate) fn check() -> Result<(), Failure> {
    let packages = ["podman", "runc", "iptables", "mmdebstrap"];
    debian::ensure(&packages, || ["podman", "runc", "mmdebstrap"].iter().all(|name| debian::on_path(name)))?;
    timed("base images", || {
        make_base(BUILD_BASE, "build-essential,ca-certificates")?;
        make_base(RUN_BASE, "ca-certificates")
    })?;
    timed("image", build_image)?;
    try_and_remove(IMAGE)
}

/// Runs the image, and removes its container and volume also when a check fails.
fn try_and_remove(image: &str) -> Result<(), Failure> {
    let outcome = timed("a sale in the container", || try_image(image));
    let _ = podman(&["rm", "--force", "--ignore", "--volumes", NAME]);
    let _ = podman(&["volume", "rm", "--force", NAME]);
    outcome
}

/// Makes a Debian root with these packages and turns it into an image.
fn make_base(name: &str, packages: &str) -> Result<(), Failure> {
    let archive = target_dir().join("container-base.tar");
    debian_root::make(&archive, packages)?;
    podman(&[
        "import",
        "--change",
        "ENV PATH=/opt/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        &archive.display().to_string(),
        name,
    ])?;
    std::fs::remove_file(&archive).map_err(|error| format!("{}: {error}", archive.display()))
}

/// This machine's toolchain, crates and compiled dependencies are mounted, so that the build needs no network and compiles only
/// what is ours.
fn build_image() -> Result<(), Failure> {
    let cargo_home =
        std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
    let registry = PathBuf::from(cargo_home.map_err(|error| format!("HOME: {error}"))?).join("registry");
    run(cargo().args(["fetch", "--locked"]))?;
    podman(&[
        "build",
        "--format=docker",
        "--file=packaging/Containerfile",
        &format!("--tag={IMAGE}"),
        &format!("--build-arg=BUILD_IMAGE={BUILD_BASE}"),
        &format!("--build-arg=RUN_IMAGE={RUN_BASE}"),
        &format!("--volume={}:/opt/rust:ro", fresh::toolchain()?.display()),
        &format!("--volume={}:/root/.cargo/registry", registry.display()),
        &format!("--volume={}:/lotwire/target", target_dir().display()),
        "--env=CARGO_NET_OFFLINE=true",
        "--network=host",
        "--runtime=runc",
        OPEN_FILES,
        ".",
    ])
}

fn try_image(image: &str) -> Result<(), Failure> {
    let volume = format!("--volume={NAME}:/var/lib/lotwire");
    let mut arguments = vec!["run", "--detach", "--replace", "--name", NAME, "--runtime=runc", OPEN_FILES, PROCESSES];
    arguments.extend(CONFINED);
    arguments.extend([volume.as_str(), "--env=LOTWIRE_PROVIDER__ALLOW_SUBNETS=127.0.0.0/8", image]);
    podman(&arguments)?;
    wait_until_healthy()?;
    inside(CHECKS)?;
    inside(&format!("as_lotwire() {{ \"$@\"; }}\nfail() {{ echo \"$*\" >&2; exit 1; }}\n{}", readme_sale(&root())?))?;
    // SIGTERM, and the time that the guide names.
    podman(&["stop", "--time=60", NAME])?;
    let code = output(&["inspect", "--format={{.State.ExitCode}}", NAME])?;
    if code != "0" {
        return Err(format!("the server ended with status {code} on SIGTERM"));
    }
    podman(&["start", NAME])?;
    wait_until_healthy()?;
    inside("lotwire customer list | grep Hartley\nlotwire verify --all")
}

/// Runs the image's own health check until it passes.
fn wait_until_healthy() -> Result<(), Failure> {
    let script =
        format!("for attempt in $(seq 100); do podman healthcheck run {NAME} && exit; sleep 0.2; done; exit 1");
    run(Command::new("sh").args(["-c", &script])).inspect_err(|_| {
        let _ = podman(&["logs", NAME]);
    })
}

/// Runs a shell script in the container as its user.
fn inside(script: &str) -> Result<(), Failure> {
    podman(&["exec", NAME, "sh", "-euc", script])
}

fn podman(arguments: &[&str]) -> Result<(), Failure> {
    run(Command::new("podman").args(arguments))
}

fn output(arguments: &[&str]) -> Result<String, Failure> {
    let output = Command::new("podman").args(arguments).output().map_err(|error| format!("podman: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
