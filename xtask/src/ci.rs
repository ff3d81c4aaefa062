//! Everything that has to pass before a change lands, the fastest checks first.

use std::process::Command;
use std::time::Instant;

use crate::{Failure, cargo, clients, debian, generate, licences, root, run, say, schemathesis, target_dir, tidy};

/// Runs all steps and stops at the first that fails.
pub(crate) fn run_all() -> Result<(), Failure> {
    type Step = (&'static str, fn() -> Result<(), Failure>);
    let steps: &[Step] = &[
        ("tools", tools),
        ("format", || run(Command::new(cargo()).args(["fmt", "--all", "--check"]))),
        ("tidy", || tidy::run(&root())),
        ("licences and sources", licences::check),
        ("clippy", || {
            run(Command::new(cargo()).args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
        }),
        ("documentation", || {
            run(Command::new(cargo())
                .args(["doc", "--workspace", "--no-deps", "--quiet", "--document-private-items"])
                .env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links"))
        }),
        // One build of everything: building single packages would compile their dependencies again with fewer features.
        ("build", || run(Command::new(cargo()).args(["build", "--workspace", "--all-targets"]))),
        ("generated files", || generate::check(&root())),
        ("tests", || run(Command::new(cargo()).args(["test", "--workspace", "--no-fail-fast"]))),
        ("schemathesis", || schemathesis::check(&root())),
        ("a sale", || {
            run(Command::new(target_dir().join("debug/lotwire"))
                .args(["demo", "--exit", "--json", "--lots", "60"])
                .args(FREE_PORTS))
        }),
        ("kill -9, SQLite", || crash("sqlite")),
        ("kill -9, PostgreSQL", || crash("postgres")),
    ];
    let begin = Instant::now();
    for (name, step) in steps {
        say(&format!("── {name}"));
        let begin = Instant::now();
        step().map_err(|failure| format!("{name}: {failure}"))?;
        say(&format!("   {name}: {:.0} s", begin.elapsed().as_secs_f32()));
    }
    say(&format!("ci: all {} steps are green after {:.0} s", steps.len(), begin.elapsed().as_secs_f32()));
    Ok(())
}

const FREE_PORTS: [&str; 4] = ["--platform-listen", "127.0.0.1:0", "--provider-listen", "127.0.0.1:0"];

fn crash(store: &str) -> Result<(), Failure> {
    run(Command::new(target_dir().join("debug/rigs")).args(["crash", "--kills", "5", "--store", store]))
}

/// Installs what the tests start themselves: PostgreSQL, Chromium and curl from the system's packages, and the official clients.
fn tools() -> Result<(), Failure> {
    let has_postgres = || {
        let packaged = std::fs::read_dir("/usr/lib/postgresql").ok().into_iter().flatten().flatten();
        packaged.map(|entry| entry.path()).any(|version| version.join("bin/initdb").exists())
            || debian::on_path("initdb")
            || std::env::var_os("LOTWIRE_TEST_POSTGRES_URL").is_some()
    };
    debian::ensure(&["postgresql"], has_postgres)?;
    debian::ensure(&["chromium"], || debian::on_path("chromium"))?;
    debian::ensure(&["curl", "openssl"], || debian::on_path("curl") && debian::on_path("openssl"))?;
    clients::install(&root())
}
