//! `cargo xtask package-test`: the Debian package on a new machine, as an operator uses it: installed, a sale, upgraded, refused
//! with a wrong configuration, backed up and restored, removed and purged.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::debian_root::DebianRoot;
use crate::{Failure, dist, root, say, target_dir};

const HELP: &str = "\
cargo xtask package-test [--binary FILE] [--keep]

Boots a new Debian machine without a toolchain in target/package-test (mmdebstrap, systemd-nspawn), installs the Debian package,
runs the README's sale against the service, installs the next build over it, restores a backup elsewhere, removes and purges it.
Needs root.

  --binary FILE     package this binary instead of building one
  --keep            leave the machine's files for a look
";

/// What every script begins with.
const PRELUDE: &str = r#"
fail() { echo "package-test: $*" >&2; exit 1; }
as_lotwire() { runuser -u lotwire -- "$@"; }
main_pid() { systemctl show --property MainPID --value lotwire; }
config=/etc/lotwire/lotwire.toml
"#;

/// Nothing of a toolchain is on the machine. The service starts by itself, is ready, and is confined.
const INSTALL: &str = r#"
for tool in cc cargo rustc; do ! command -v $tool || fail "the machine has $tool"; done
apt-get install --yes --quiet /root/first/lotwire_*.deb
systemctl is-active lotwire
systemctl is-enabled lotwire
systemctl show --property StatusText --value lotwire
as_lotwire lotwire health --config $config
grep -q '^Seccomp:.2' /proc/$(main_pid)/status || fail "the system call filter is not in force"
grep -q '^CapBnd:.0*$' /proc/$(main_pid)/status || fail "the server has capabilities"
as_lotwire lotwire doctor --config $config
[ "$(stat --format '%U:%G %a' $config)" = "root:lotwire 640" ] || fail "other users can read $config"
[ "$(stat --format '%U:%G %a' /var/lib/lotwire)" = "lotwire:lotwire 700" ] || fail "other users can read the data"
"#;

/// The README's first command, as the user of the unit.
const DEMO: &str =
    "cd /tmp\nas_lotwire lotwire demo --exit --platform-listen 127.0.0.1:0 --provider-listen 127.0.0.1:0\n";

/// The receiver of the README's sale is on this machine.
const ALLOW_THIS_MACHINE: &str = r#"
sed -i 's|^# allow_subnets = .*|allow_subnets = ["127.0.0.0/8"]|' $config
as_lotwire lotwire config check --config $config
systemctl restart lotwire
systemctl is-active lotwire
"#;

/// A start that takes longer than the unit's limit, here because another process migrates the databases: the server asks for time.
const LONG_START: &str = r#"
dropin=/run/systemd/system/lotwire.service.d
mkdir -p $dropin
printf '[Service]\nTimeoutStartSec=2s\n' > $dropin/limit.conf
systemctl daemon-reload
systemctl stop lotwire
flock /var/lib/lotwire/platform.db.migrate sleep 8 &
sleep 1
begin=$(date +%s)
systemctl start lotwire
[ $(($(date +%s) - begin)) -gt 4 ] || fail "the start did not wait for the migration"
systemctl is-active lotwire
rm -r $dropin
systemctl daemon-reload
"#;

/// The new build runs with the changed configuration and the same data.
const UPGRADE: &str = r#"
before=$(main_pid)
apt-get install --yes --quiet /root/next/lotwire_*.deb
systemctl is-active lotwire
[ "$(main_pid)" != "$before" ] || fail "the old build still runs"
[ "$(readlink /proc/$(main_pid)/exe)" = /usr/bin/lotwire ] || fail "the server is not the installed one"
grep -q '^allow_subnets' $config || fail "the upgrade replaced the changed configuration"
as_lotwire lotwire health --config $config
as_lotwire lotwire customer list --config $config | grep -q Hartley || fail "the upgrade lost a customer"
as_lotwire lotwire verify --all --config $config
"#;

/// The nightly backup, and a restore of it in another directory, whose server starts.
const BACKUP: &str = r#"
systemctl enable --now lotwire-backup.timer
systemctl list-timers --no-pager lotwire-backup.timer | grep lotwire-backup
systemctl start lotwire-backup.service
journalctl --unit lotwire-backup --output cat --no-pager | grep -v systemd
[ "$(stat --format '%U:%G %a' /var/backups/lotwire)" = "lotwire:lotwire 700" ] || fail "other users can read the backups"
backup=$(ls --directory /var/backups/lotwire/lotwire-*)
as_lotwire lotwire restore $backup --verify
elsewhere=/srv/elsewhere
install --directory --owner lotwire --group lotwire --mode 0700 $elsewhere
install --owner lotwire --group lotwire --mode 0600 /var/lib/lotwire/secret.key $elsewhere/
as_lotwire lotwire restore $backup --data-dir $elsewhere
as_lotwire lotwire resume --yes --data-dir $elsewhere
runuser -u lotwire -- lotwire serve --data-dir $elsewhere --platform-listen 127.0.0.1:18080 --provider-listen 127.0.0.1:18071 &
server=$!
elsewhere_is_healthy() { as_lotwire lotwire health --data-dir $elsewhere; }
for second in $(seq 30); do ! elsewhere_is_healthy > /dev/null 2>&1 || break; sleep 1; done
elsewhere_is_healthy
kill $server
wait $server || true
as_lotwire lotwire verify --all --data-dir $elsewhere
as_lotwire lotwire customer list --data-dir $elsewhere | grep -q Hartley || fail "the restore lost a customer"
rm -r $elsewhere
"#;

/// An upgrade whose binary refuses the configuration leaves the old server running, and continues after the correction.
const REFUSED_UPGRADE: &str = r#"
before=$(main_pid)
sed -i 's|^allow_subnets = .*|allow_subnets = "everywhere"|' $config
if apt-get install --yes --quiet --reinstall /root/next/lotwire_*.deb; then fail "a wrong configuration was accepted"; fi
[ "$(main_pid)" = "$before" ] || fail "the server was restarted with a wrong configuration"
as_lotwire lotwire health --data-dir /var/lib/lotwire
sed -i 's|^allow_subnets = .*|allow_subnets = ["127.0.0.0/8"]|' $config
dpkg --configure lotwire
systemctl is-active lotwire
[ "$(main_pid)" != "$before" ] || fail "the new build does not run"
as_lotwire lotwire health --config $config
"#;

/// `remove` keeps data and configuration: a later installation goes on with them.
const REMOVE: &str = r#"
apt-get remove --yes --quiet lotwire
! systemctl is-active --quiet lotwire || fail "the server still runs"
! systemctl is-active --quiet lotwire-backup.timer || fail "the timer of the backup still runs"
[ -e /var/lib/lotwire/platform.db ] && [ -e $config ] || fail "remove deleted data or configuration"
apt-get install --yes --quiet /root/next/lotwire_*.deb
systemctl is-active lotwire
as_lotwire lotwire customer list --config $config | grep -q Hartley || fail "the customer is gone"
"#;

/// `purge` deletes both. The user stays, without a shell and a password.
const PURGE: &str = r#"
apt-get purge --yes --quiet lotwire
! systemctl is-active --quiet lotwire || fail "the server still runs"
for left in /var/lib/lotwire /etc/lotwire /usr/bin/lotwire /etc/systemd/system/multi-user.target.wants/lotwire.service; do
    [ ! -e $left ] || fail "purge left $left"
done
ls --directory /var/backups/lotwire/lotwire-* || fail "purge deleted the backups"
[ "$(dpkg-query --show --showformat '${db:Status-Abbrev}' lotwire 2>/dev/null || true)" = "" ] || fail "dpkg still knows the package"
getent passwd lotwire | grep nologin
getent shadow lotwire | grep '^lotwire:!'
"#;

/// Runs `cargo xtask package-test`.
pub(crate) fn run_task(arguments: &[String]) -> Result<(), Failure> {
    let mut options = dist::Options { binary: None, revision: 1 };
    let mut keep = false;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--binary" => {
                options.binary = Some(rest.next().ok_or(format!("--binary needs a value\n\n{HELP}"))?.into());
            }
            "--keep" => keep = true,
            "--help" => {
                say(HELP);
                return Ok(());
            }
            other => return Err(format!("there is no option {other:?}\n\n{HELP}")),
        }
    }
    check(&options, keep)
}

/// Runs every step and prints how long each took.
pub(crate) fn check(options: &dist::Options, keep: bool) -> Result<(), Failure> {
    let first = dist::build(options)?;
    let next = dist::build_next(options.revision + 1)?;
    let machine = timed("boot", || DebianRoot::boot(&folder()))?;
    for (package, folder) in [(&first, "/root/first"), (&next, "/root/next")] {
        machine.run("copy", &format!("mkdir {folder}"))?;
        machine.copy(package, folder)?;
    }
    let sale = readme_sale(&root())?;
    let steps = [
        ("install", INSTALL),
        ("the README's demonstration", DEMO),
        ("a changed configuration", ALLOW_THIS_MACHINE),
        ("the README's sale", &sale),
        ("a start longer than its limit", LONG_START),
        ("upgrade", UPGRADE),
        ("backup, restored elsewhere", BACKUP),
        ("an upgrade that refuses the configuration", REFUSED_UPGRADE),
        ("remove, install again", REMOVE),
        ("purge", PURGE),
    ];
    for (name, script) in steps {
        timed(name, || machine.run(name, &format!("{PRELUDE}{script}")))?;
    }
    if keep { Ok(()) } else { machine.delete() }
}

fn folder() -> PathBuf {
    target_dir().join("package-test")
}

pub(crate) fn timed<T>(name: &str, step: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    say(&format!("── {name}"));
    let begin = Instant::now();
    let outcome = step()?;
    say(&format!("   {name}: {:.0} s", begin.elapsed().as_secs_f32()));
    Ok(outcome)
}

/// The README's commands that set up a customer and hold a sale, in one shell of the unit's user.
pub(crate) fn readme_sale(root: &Path) -> Result<String, Failure> {
    let readme = std::fs::read_to_string(root.join("README.md")).map_err(|error| format!("README.md: {error}"))?;
    let is_sale = |block: &&str| block.starts_with("account=$(") && block.contains("lotwire sale");
    let block = readme.split("```sh\n").filter_map(|rest| rest.split("```").next()).find(is_sale);
    let commands = block.ok_or("README.md has no block of commands that holds a sale")?;
    Ok(format!(
        "cat > /tmp/sale.sh <<'END'\nexport LOTWIRE_DATA_DIR=/var/lib/lotwire\n{commands}END\n\
         as_lotwire bash -eu /tmp/sale.sh > /tmp/sale.out 2>&1 || {{ cat /tmp/sale.out; fail 'a command of the README failed'; }}\n\
         cat /tmp/sale.out\n\
         grep -q '^3 events received' /tmp/sale.out || fail 'the receiver did not get the events of 3 lots'\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_has_the_sale_that_the_test_runs() {
        let script = readme_sale(&root()).unwrap();
        for command in ["lotwire provider account create", "lotwire customer connect", "lotwire listen", "\nwait\n"] {
            assert!(script.contains(command), "{command}: {script}");
        }
    }
}
