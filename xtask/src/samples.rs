//! Runs the samples of the pages in every language: those that verify signatures, against a request that a provider really
//! signed, and those that send a message, to a real provider.

use crate::{Failure, cargo, debian, run};

/// The programs that the samples need beside those of the build, with Debian's packages.
const RUNTIMES: &[(&str, &[&str])] = &[
    ("node", &["nodejs"]),
    ("tsc", &["node-typescript"]),
    ("go", &["golang-go"]),
    ("php", &["php-cli"]),
    ("ruby", &["ruby"]),
    ("javac", &["default-jdk-headless"]),
    ("mcs", &["mono-mcs", "mono-runtime", "libmono-system-core4.0-cil"]),
    ("curl", &["curl"]),
    ("openssl", &["openssl"]),
    ("python3", &["python3"]),
];

/// `cargo xtask samples [--install]`. Without the flag, a missing runtime is an error.
pub(crate) fn run_task(arguments: &[String]) -> Result<(), Failure> {
    let is_installing = match arguments {
        [] => false,
        [flag] if flag == "--install" => true,
        _ => return Err("usage: cargo xtask samples [--install]".to_owned()),
    };
    for (program, packages) in RUNTIMES {
        if is_installing {
            debian::ensure(packages, || debian::on_path(program))?;
        } else if !debian::on_path(program) {
            let names = packages.join(" ");
            return Err(format!("{program} is not installed; `cargo xtask samples --install` installs {names}"));
        }
    }
    run(cargo().args(["build", "--quiet", "-p", "lotwire"]))?;
    run(cargo()
        .args(["test", "-p", "stories", "--test", "story", "--", "verify_samples", "send_samples"])
        .env("SAMPLES_RUN", "all"))
}
