//! A new Debian machine for a test: a root made by mmdebstrap, booted by systemd-nspawn with its own processes, users and network.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::{Failure, debian, run, say};

const SUITE: &str = "bookworm";
const MIRROR: &str = "http://deb.debian.org/debian";
/// What a Debian server has: systemd, and what maintainer scripts use. No compiler and no toolchain.
const PACKAGES: &str = "adduser,ca-certificates,dbus,systemd,systemd-sysv";

/// A booted machine. It is stopped when it is dropped.
pub(crate) struct DebianRoot {
    folder: PathBuf,
    container: Child,
    /// Process id, on this machine, of its first process.
    init: u32,
}

impl DebianRoot {
    /// Makes a new root in `folder` and boots it.
    pub(crate) fn boot(folder: &Path) -> Result<Self, Failure> {
        debian::ensure(&["mmdebstrap", "systemd-container"], || {
            debian::on_path("mmdebstrap") && debian::on_path("systemd-nspawn")
        })?;
        remove(folder)?;
        make(folder, PACKAGES)?;
        let log = folder.with_extension("log");
        let file = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let container = Command::new("systemd-nspawn")
            .arg(format!("--directory={}", folder.display()))
            .args(["--boot", "--private-network", "--register=no", "--keep-unit", "--quiet"])
            .stdin(Stdio::null())
            .stdout(file)
            .spawn()
            .map_err(|error| format!("systemd-nspawn: {error}"))?;
        let mut machine = Self { folder: folder.to_owned(), container, init: 0 };
        machine.wait_for_boot().map_err(|why| format!("{why}; the console's output is in {}", log.display()))?;
        Ok(machine)
    }

    /// Waits until systemd runs in the container, then until it has started every unit.
    fn wait_for_boot(&mut self) -> Result<(), Failure> {
        let children = format!("/proc/{0}/task/{0}/children", self.container.id());
        while self.init == 0 {
            if let Some(status) = self.container.try_wait().map_err(|error| error.to_string())? {
                return Err(format!("systemd-nspawn: {status}"));
            }
            let text = std::fs::read_to_string(&children).unwrap_or_default();
            let child = text.split_whitespace().next().and_then(|id| id.parse().ok());
            // Before it becomes systemd, the process sets the container up.
            self.init = child.filter(|id| command_name(*id) == "systemd").unwrap_or_default();
            std::thread::yield_now();
        }
        // Until systemd listens on its socket, the command fails at once.
        let wait = "for attempt in $(seq 300); do
                systemctl is-system-running --wait >/dev/null 2>&1 && exit
                sleep 0.2
            done
            systemctl list-units --failed
            exit 1";
        self.run("boot", wait)
    }

    /// Runs a shell script as root on the machine, with the output of this process. It ends at the first command that fails.
    pub(crate) fn run(&self, name: &str, script: &str) -> Result<(), Failure> {
        let status = Command::new("nsenter")
            .arg(format!("--target={}", self.init))
            .args([
                "--all",
                "env",
                "--ignore-environment",
                "HOME=/root",
                "LANG=C.UTF-8",
                "DEBIAN_FRONTEND=noninteractive",
            ])
            .args(["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "sh", "-euc", script])
            .status()
            .map_err(|error| format!("nsenter: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("{name}: {status}")) }
    }

    /// Copies a file to a folder of the machine.
    pub(crate) fn copy(&self, file: &Path, folder: &str) -> Result<(), Failure> {
        run(Command::new("cp").arg(file).arg(self.folder.join(folder.trim_start_matches('/'))))
    }

    /// Stops the machine and deletes its root.
    pub(crate) fn delete(self) -> Result<(), Failure> {
        let folder = self.folder.clone();
        drop(self);
        remove(&folder)
    }
}

impl Drop for DebianRoot {
    /// Asks the first process to power off. If it does not, it is killed, and the others end with it.
    fn drop(&mut self) {
        let stop = "kill -s RTMIN+4 $0
            for attempt in $(seq 150); do kill -0 $0 2>/dev/null || exit; sleep 0.2; done
            kill -s KILL $0";
        let _ = Command::new("sh").args(["-c", stop]).arg(self.init.to_string()).status();
        let _ = self.container.wait();
    }
}

/// Makes a root with these packages and what they need.
pub(crate) fn make(folder: &Path, packages: &str) -> Result<(), Failure> {
    say(&format!("making a Debian root in {}", folder.display()));
    run(Command::new("mmdebstrap")
        .args(["--quiet", "--variant=minbase", &format!("--include={packages}"), SUITE])
        .arg(folder)
        .arg(MIRROR))
}

fn command_name(process: u32) -> String {
    std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default().trim().to_owned()
}

fn remove(folder: &Path) -> Result<(), Failure> {
    // Not std::fs: a mount that was left behind must not be emptied.
    run(Command::new("rm").args(["--recursive", "--force", "--one-file-system"]).arg(folder))
}
