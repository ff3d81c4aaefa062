//! Removes the machines: processes, mounts and namespaces, however the run ends.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use super::network::{APP, FOLDER, Node};
use crate::{Failure, say};

/// Only one run at a time, because the names of namespaces are those of the whole machine.
const LOCK: &str = "/run/lotwire-failover.lock";

/// The machines of this run. When it is dropped, or this process ends in another way, a shell of its own removes them: it reads a
/// pipe from this process, which the kernel closes.
pub(super) struct Teardown {
    shell: Child,
    _lock: File,
}

impl Teardown {
    /// Removes what a killed run left, and prepares the removal.
    pub(super) fn prepare() -> Result<Self, Failure> {
        let lock = File::create(LOCK).map_err(|error| format!("{LOCK}: {error}; this needs root"))?;
        if lock.try_lock().is_err() {
            say("another run is under way on this machine; waiting for its end");
            lock.lock().map_err(|error| format!("{LOCK}: {error}"))?;
        }
        let script = script();
        super::network::shell(&script)?;
        let shell = Command::new("sh")
            .args(["-uc", &format!("cat >/dev/null\n{script}")])
            .process_group(0)
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("sh: {error}"))?;
        Ok(Self { shell, _lock: lock })
    }
}

impl Drop for Teardown {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

fn script() -> String {
    let mut namespaces: Vec<String> = Node::ALL.into_iter().map(Node::namespace).collect();
    namespaces.push(APP.to_owned());
    let namespaces = namespaces.join(" ");
    format!(
        "for space in {namespaces}; do
            [ -e /run/netns/$space ] || continue
            for attempt in $(seq 100); do
                processes=$(ip netns pids $space)
                [ -n \"$processes\" ] || break
                kill -s KILL $processes 2>/dev/null || true
                sleep 0.1
            done
            ip netns delete $space
        done
        for mount in $(cut -d ' ' -f 2 /proc/self/mounts | grep '^{FOLDER}/' || true); do umount $mount; done
        rm --recursive --force --one-file-system {FOLDER}"
    )
}
