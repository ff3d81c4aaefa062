//! Runs the README's two commands on a bare machine: a new Debian root with a C compiler and the Rust toolchain.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::{Failure, cargo_program, debian, root, run, say};

pub(crate) const HELP: &str = "\
cargo xtask fresh [--suite NAME] [--mirror URL] [--only demo|ci] [--keep]

Makes a new Debian root in target/fresh with build-essential, ca-certificates and this machine's Rust toolchain, copies the last
commit there, runs both commands of the README in it, and prints how long each took. Needs root, and Debian's debootstrap (installed
if missing).

  --suite NAME      Debian's release (bookworm)
  --mirror URL      where Debian's packages come from (http://deb.debian.org/debian)
  --only demo|ci    run one of the two commands
  --keep            leave target/fresh for a look with chroot; otherwise a run that passes removes it
";

/// The two commands, in the README's order. The demonstration ends by itself here.
const COMMANDS: [(&str, &str); 2] = [("demo", "cargo run -p lotwire -- demo --exit"), ("ci", "cargo xtask ci")];

/// Variables that lead clients of package registries through a proxy, where a machine needs one.
const NETWORK_VARIABLES: [&str; 8] = [
    "http_proxy",
    "https_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
];

struct Options {
    suite: String,
    mirror: String,
    only: Option<String>,
    keep: bool,
}

/// Runs `cargo xtask fresh`.
pub(crate) fn run_task(arguments: &[String]) -> Result<(), Failure> {
    if arguments.iter().any(|argument| argument == "--help") {
        say(HELP);
        return Ok(());
    }
    let options = parse(arguments)?;
    let new_root = root().join("target/fresh");
    make_root(&new_root, &options)?;
    for (name, command) in COMMANDS {
        if options.only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        say(&format!("── {command}"));
        let begin = Instant::now();
        run(&mut inside(&new_root, command)?)?;
        say(&format!("   {name}: {:.1} min", begin.elapsed().as_secs_f32() / 60.0));
    }
    if options.keep { Ok(()) } else { remove(&new_root) }
}

fn parse(arguments: &[String]) -> Result<Options, Failure> {
    let mut options = Options {
        suite: "bookworm".to_owned(),
        mirror: "http://deb.debian.org/debian".to_owned(),
        only: None,
        keep: false,
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().cloned().ok_or_else(|| format!("{argument} needs a value\n\n{HELP}"));
        match argument.as_str() {
            "--suite" => options.suite = value()?,
            "--mirror" => options.mirror = value()?,
            "--only" => options.only = Some(value()?),
            "--keep" => options.keep = true,
            other => return Err(format!("there is no option {other:?}\n\n{HELP}")),
        }
    }
    match options.only.as_deref() {
        None | Some("demo" | "ci") => Ok(options),
        Some(other) => Err(format!("--only takes demo or ci, not {other:?}")),
    }
}

/// Creates a new root with the programs that the README requires, and a clone of the last commit in `/lotwire`.
fn make_root(new_root: &Path, options: &Options) -> Result<(), Failure> {
    debian::ensure(&["debootstrap"], || debian::on_path("debootstrap"))?;
    remove(new_root)?;
    run(Command::new("debootstrap")
        .args(["--variant=minbase", "--include=build-essential,ca-certificates", &options.suite])
        .arg(new_root)
        .arg(&options.mirror))?;
    for folder in ["opt/rust", "dev/shm"] {
        std::fs::create_dir_all(new_root.join(folder)).map_err(|error| format!("{folder}: {error}"))?;
    }
    trust_own_authorities(new_root)?;
    run(Command::new("git").args(["clone", "--quiet", "--no-hardlinks"]).arg(root()).arg(new_root.join("lotwire")))
}

/// Copies the certificates that this machine's administrator added to Debian's: a proxy may need them. They are copied, not mounted:
/// packages installed in the root write its list of certificates again.
fn trust_own_authorities(new_root: &Path) -> Result<(), Failure> {
    let added = Path::new("/usr/local/share/ca-certificates");
    for file in std::fs::read_dir(added).ok().into_iter().flatten().flatten() {
        let copy = new_root.join("usr/local/share/ca-certificates").join(file.file_name());
        std::fs::copy(file.path(), copy).map_err(|error| format!("{}: {error}", file.path().display()))?;
    }
    run(Command::new("chroot").arg(new_root).args(["update-ca-certificates", "--fresh"]))
}

/// A command in the root's `/lotwire`. Mounts and processes end with it.
fn inside(new_root: &Path, command: &str) -> Result<Command, Failure> {
    let script = r#"
        set -e
        mount --rbind /dev "$NEW_ROOT/dev"
        mount -t tmpfs tmpfs "$NEW_ROOT/dev/shm"
        mount -t proc proc "$NEW_ROOT/proc"
        mount --bind "$TOOLCHAIN" "$NEW_ROOT/opt/rust"
        cp --dereference /etc/resolv.conf /etc/hosts "$NEW_ROOT/etc/"
        exec chroot "$NEW_ROOT" sh -c "cd /lotwire && $WORDS"
    "#;
    let mut unshare = Command::new("unshare");
    unshare
        .args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script])
        .env_clear()
        .env("NEW_ROOT", new_root)
        .env("TOOLCHAIN", toolchain()?)
        .env("WORDS", command)
        .env("HOME", "/root")
        .env("LANG", "C.UTF-8")
        .env("PATH", "/opt/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    for name in NETWORK_VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            unshare.env(name, value);
        }
    }
    Ok(unshare)
}

/// Folder of the toolchain that runs this task.
pub(crate) fn toolchain() -> Result<PathBuf, Failure> {
    let rustc = Path::new(&cargo_program()).with_file_name("rustc");
    let output = Command::new(rustc).args(["--print", "sysroot"]).output();
    let output = output.map_err(|error| format!("rustc --print sysroot: {error}"))?;
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match std::fs::remove_dir_all(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(format!("{}: {error}", folder.display())),
    }
}
